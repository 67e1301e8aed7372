// What an evaluation over several batches makes of the results of each.
#pragma once
#include "frontend/Program.h"

namespace tenon::sema {

/// A result that depends on how the data are cut into batches.
struct BatchResult {
  std::string name;
  /// A reduction over the rows inside of what is reduced over them; a formula too large to be taken apart; something else that no
  /// batches combine.
  enum class Why { Inside, Large, Other } why;
};

/// Fills `parts` and `averages` of an entry `eval` (Program.h, Average). The first axis of the inputs is the batch; what is
/// reduced over it is kept per row, and per place where the reduction runs over the second axis of the symbols (or of the first
/// input) too. Adds nodes behind the others.
std::vector<BatchResult> addAverages(Entry &entry);

/// Of the axes of a part, the one that runs over the places of a row, or over a slice of them.
std::optional<AxisId> placesAmong(const Entry &entry, const std::vector<AxisId> &axes);

/// Sizes for the dims of an entry, large primes, so that only the same products of them are equal.
std::vector<int64_t> nominalDims(const Entry &entry);
/// The product of sizes and numbers that a scalar is, for one choice of the dims; nullopt if there is anything else in it.
std::optional<double> productOfSizes(const Entry &entry, NodeId id, const std::vector<int64_t> &dims);

} // namespace tenon::sema
