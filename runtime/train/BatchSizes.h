// Batches whose sizes the data task chooses (`tokens` of a recipe): which dims of an entry these are.
#pragma once
#include "runtime/train/Recipe.h"

namespace tenon::train {

/// The dims of an entry that a data task with `tokens` sets; empty where the entry does not read that side.
struct BatchDims {
  std::string rows, source, target;
  /// `bind` with the sizes of a batch.
  std::map<std::string, int64_t> with(std::map<std::string, int64_t> bind, const data::BatchSize &size) const;
};

/// An error names what the entry has of one size, or keeps from batch to batch.
Expected<BatchDims> batchDims(const runtime::EntryInfo &entry, const std::string &task);

/// Tells a task with `tokens` the greatest lengths that it may choose, from `bind` (the command line's), else from `sizes` (the
/// recipe's), and what its rows are a multiple of. Nothing to do for others.
Status setLengths(const runtime::EntryInfo &entry, const std::map<std::string, int64_t> &bind,
                  const std::map<std::string, int64_t> &sizes, data::TaskSettings &task);

/// For lack of data: the sizes that `tenon inspect` shows an entry at, those of the greatest lengths, and in words which batches
/// there can be. Nothing where the recipe of the manifest has no `tokens`, or the entry is none of its own.
struct LengthReport {
  std::map<std::string, int64_t> sizes;
  std::string text;
};
std::optional<LengthReport> reportLengths(const runtime::Manifest &manifest, const runtime::EntryInfo &entry,
                                          const std::map<std::string, int64_t> &bind);

} // namespace tenon::train
