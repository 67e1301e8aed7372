#include "runtime/data/LengthBatches.h"
#include "runtime/data/Random.h"
#include <algorithm>

namespace tenon::data {

namespace {

/// Permutations of one epoch are told apart by their number: of the rows of each group, and of all batches.
constexpr uint64_t kOrders = 256, kBatchOrder = kOrders - 1;

} // namespace

std::vector<int64_t> batchLengths(int64_t greatest) {
  std::vector<int64_t> lengths;
  for (int64_t length = 8; length < greatest && lengths.size() + 2 < kOrders;) {
    lengths.push_back(length);
    length = std::max(length + 1, length * 5 / 4);
    length = length > 32 ? (length + 7) / 8 * 8 : length;
  }
  lengths.push_back(greatest);
  return lengths;
}

int64_t rowsFor(int64_t tokens, int64_t length, int64_t multiple) {
  return std::max<int64_t>(1, tokens / length / multiple) * multiple;
}

Status LengthBatches::make(const std::vector<int64_t> &lengths, int64_t greatest, int64_t tokens, int64_t multiple) {
  all.clear();
  places.clear();
  const std::vector<int64_t> borders = batchLengths(greatest);
  auto groupOfLength = [&](int64_t length) {
    return static_cast<size_t>(std::lower_bound(borders.begin(), borders.end(), length) - borders.begin());
  };
  std::vector<std::vector<uint64_t>> byLength(borders.size());
  for (uint64_t row = 0; row < lengths.size(); ++row)
    byLength[groupOfLength(lengths[row])].push_back(row);
  for (size_t i = 0; i < borders.size(); ++i) {
    if (byLength[i].empty())
      continue;
    all.push_back({borders[i], rowsFor(tokens, borders[i], multiple), places.size(), byLength[i].size()});
    places.insert(places.end(), byLength[i].begin(), byLength[i].end());
  }
  std::vector<uint64_t> withheld(all.size(), 0);
  count(withheld);
  // The longest rows are too few for a batch of their own: the next shorter group that has a batch gives one up to them, or they
  // would be left out in every epoch.
  while (all.back().batches == 0) {
    auto given = std::find_if(all.rbegin(), all.rend(), [](const Group &group) { return group.batches > 0; });
    if (given == all.rend())
      return inputError("there are ", runtime::counted(static_cast<uint64_t>(lengths.size()), "row"), ", fewer than the ",
                        all.back().rows, " of one batch with ", all.back().length, " of tokens = ", tokens,
                        " in each; fewer tokens make smaller batches");
    ++withheld[static_cast<size_t>(all.rend() - given) - 1];
    count(withheld);
  }
  filled.clear();
  for (const Group &group : all)
    if (group.batches > 0)
      filled.push_back(group);
  return {};
}

/// Batches of each group, with what the shorter ones leave over.
void LengthBatches::count(const std::vector<uint64_t> &withheld) {
  uint64_t carried = 0;
  total = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    Group &group = all[i];
    group.carried = carried;
    group.before = total;
    const uint64_t rows = group.own + carried;
    group.batches = rows / static_cast<uint64_t>(group.rows) - withheld[i];
    carried = rows - group.used();
    total += group.batches;
  }
}

uint64_t LengthBatches::batchAt(uint64_t seed, uint64_t index) const {
  return Permutation(seed, index / total * kOrders + kBatchOrder, total)(index % total);
}

size_t LengthBatches::groupOf(uint64_t seed, uint64_t index) const {
  const uint64_t batch = batchAt(seed, index);
  size_t group = 0;
  while (batch >= filled[group].before + filled[group].batches)
    ++group;
  return group;
}

uint64_t LengthBatches::row(uint64_t seed, uint64_t index, uint64_t b) const {
  const uint64_t batch = batchAt(seed, index);
  size_t group = 0;
  while (batch >= all[group].before + all[group].batches)
    ++group;
  return rowOf(group, (batch - all[group].before) * static_cast<uint64_t>(all[group].rows) + b, seed, index / total);
}

/// Rows that were left over come first, so that they are not left over again; of the longest group last, which leaves out the
/// end.
uint64_t LengthBatches::rowOf(size_t group, uint64_t place, uint64_t seed, uint64_t epoch) const {
  for (;; --group) {
    const Group &here = all[group];
    const uint64_t ownBegin = group + 1 == all.size() ? 0 : here.carried;
    if (place >= ownBegin && place - ownBegin < here.own)
      return places[here.begin + Permutation(seed, epoch * kOrders + group, here.own)(place - ownBegin)];
    place = all[group - 1].used() + (ownBegin > 0 ? place : place - here.own);
  }
}

} // namespace tenon::data
