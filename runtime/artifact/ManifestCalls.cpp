// Entries that other entries call: what one has to have for another.
#include "runtime/artifact/ManifestParts.h"
#include <algorithm>
#include <set>

namespace tenon::runtime {
namespace {

SizeForm inOrder(SizeForm size) {
  for (auto &[dims, coefficient] : size.products)
    std::sort(dims.begin(), dims.end());
  std::sort(size.terms.begin(), size.terms.end());
  std::sort(size.products.begin(), size.products.end());
  return size;
}

/// A size of one entry over the dims of another, which has them all.
SizeForm overDimsOf(const EntryInfo &other, const EntryInfo &entry, const SizeForm &size) {
  SizeForm result = size;
  for (auto &[dim, coefficient] : result.terms)
    dim = static_cast<uint32_t>(other.dimIndex(entry.dims[dim].name));
  for (auto &[dims, coefficient] : result.products)
    for (uint32_t &dim : dims)
      dim = static_cast<uint32_t>(other.dimIndex(entry.dims[dim].name));
  return inOrder(std::move(result));
}

/// Whether `walk` has room for what `entry` computes: its dims, and its states in place. The model's own belong to neither.
bool isPreparedBy(const EntryInfo &walk, const EntryInfo &entry) {
  for (const DimInfo &dim : entry.dims)
    if (walk.dimIndex(dim.name) < 0)
      return false;
  for (const StateInfo &state : entry.states) {
    auto same =
        std::find_if(walk.states.begin(), walk.states.end(), [&](const StateInfo &own) { return own.name == state.name; });
    if (state.ofModel)
      continue;
    if (same == walk.states.end() || !same->inPlace || state.inPlace || same->stack != state.stack || same->type != state.type ||
        same->shape.size() != state.shape.size())
      return false;
    for (size_t i = 0; i < state.shape.size(); ++i)
      if (overDimsOf(walk, entry, state.shape[i]) != inOrder(same->shape[i]))
        return false;
  }
  return true;
}

bool isSameTensor(const TensorInfo &a, const TensorInfo &b) {
  return a.name == b.name && a.type == b.type && a.axes == b.axes && a.shape == b.shape;
}

/// Made is f64 always, so that slices are added up in it; read is the type of the sum.
bool isMadeAs(const TensorInfo &total, const TensorInfo &output) {
  TensorInfo made = total;
  made.type = DataType::F64;
  return isSameTensor(made, output) && (total.type == DataType::F64 || total.type == DataType::I32);
}

/// Whether `entry` makes what `train` reads of a whole batch: of inputs that are that entry's, at the same dims.
bool makesTotalsOf(const EntryInfo &train, const EntryInfo &entry) {
  auto isKnown = [](const std::vector<TensorInfo> &list, const TensorInfo &input) {
    return std::any_of(list.begin(), list.end(), [&](const TensorInfo &own) { return isSameTensor(own, input); });
  };
  const auto sameDim = [](const DimInfo &a, const DimInfo &b) { return a.name == b.name; };
  return entry.kind == EntryInfo::Kind::Out && entry.walk.empty() && entry.slices == 1 && entry.states.empty() &&
         std::equal(train.dims.begin(), train.dims.end(), entry.dims.begin(), entry.dims.end(), sameDim) &&
         std::equal(train.totals.begin(), train.totals.end(), entry.outputs.begin(), entry.outputs.end(), isMadeAs) &&
         std::all_of(entry.inputs.begin(), entry.inputs.end(),
                     [&](const TensorInfo &input) { return isKnown(train.inputs, input); }) &&
         std::all_of(entry.totals.begin(), entry.totals.end(),
                     [&](const TensorInfo &total) { return isKnown(train.totals, total); });
}

} // namespace

void joinPrepared(const ManifestReader &reader, Manifest &manifest) {
  for (EntryInfo &walk : manifest.entries) {
    if (walk.prepare.empty())
      continue;
    auto entry = std::find_if(manifest.entries.begin(), manifest.entries.end(),
                              [&](const EntryInfo &other) { return other.name == walk.prepare; });
    if (entry == manifest.entries.end() || entry->kind != EntryInfo::Kind::Out || !entry->walk.empty() ||
        !isPreparedBy(walk, *entry))
      return reader.fail(concat("the entry '", walk.name, "' is not prepared by '", walk.prepare, "'"));
    entry->prepares = true;
    for (TensorInfo input : entry->inputs) {
      if (walk.inputIndex(input.name) >= 0)
        return reader.fail(concat("the input '", input.name, "' of '", walk.name, "' is prepared, too"));
      for (SizeForm &size : input.shape)
        size = overDimsOf(walk, *entry, size);
      if (input.bound)
        input.bound = overDimsOf(walk, *entry, *input.bound);
      input.prepared = true;
      walk.inputs.push_back(std::move(input));
    }
  }
}

void joinTotals(const ManifestReader &reader, Manifest &manifest) {
  std::set<std::string> makers;
  for (const EntryInfo &train : manifest.entries) {
    if (train.totalsEntry.empty())
      continue;
    auto entry = std::find_if(manifest.entries.begin(), manifest.entries.end(),
                              [&](const EntryInfo &other) { return other.name == train.totalsEntry; });
    if (train.slices == 1 || entry == manifest.entries.end() || !makesTotalsOf(train, *entry))
      return reader.fail(concat("the entry '", train.name, "' has no totals from '", train.totalsEntry, "'"));
    makers.insert(entry->name);
    entry->prepares = true;
  }
  for (const EntryInfo &entry : manifest.entries)
    if (!entry.totals.empty() && entry.totalsEntry.empty() && makers.count(entry.name) == 0)
      return reader.fail(concat("nothing makes the totals of the entry '", entry.name, "'"));
}

} // namespace tenon::runtime
