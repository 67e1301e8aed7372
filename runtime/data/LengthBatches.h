// Batches of rows of about one length (Vaswani et al. 2017, section 5.3; tensor2tensor, utils/data_reader.py, bucket boundaries):
// short rows are many to a batch and long ones few, so that each batch has about as many symbols, and little of it is filling.
#pragma once
#include "runtime/data/Task.h"

namespace tenon::data {

/// Lengths that rows are filled up to, ascending: from 8 on each about a quarter longer than the one before, from 32 on
/// whole eights; the last is `greatest`.
std::vector<int64_t> batchLengths(int64_t greatest);
/// Rows of a batch: as many as `tokens` symbols allow, a multiple of `multiple`, and at least that.
int64_t rowsFor(int64_t tokens, int64_t length, int64_t multiple);

/// Which rows are in which batch. In an epoch each row is in at most one batch. Within a length the order is another one in each
/// epoch; what is left over for no whole batch is in one of the next length, so that less than one batch of the longest is left
/// out: there are as many batches of each length in every epoch. The order of the batches is drawn for each epoch, too.
class LengthBatches {
public:
  struct Group {
    int64_t length = 0, rows = 0;     // of a batch
    uint64_t begin = 0, own = 0;      // rows of this length: `own` from `begin` on in `places`
    uint64_t carried = 0;             // rows that shorter groups have left over
    uint64_t batches = 0, before = 0; // of an epoch: in this group, and in shorter ones
    uint64_t used() const { return batches * static_cast<uint64_t>(rows); }
  };
  /// `lengths`: of every row, from 1 to `greatest`. Fails where the rows are fewer than those of any batch.
  Status make(const std::vector<int64_t> &lengths, int64_t greatest, int64_t tokens, int64_t multiple);
  /// Those that have batches, the longest last.
  const std::vector<Group> &groups() const { return filled; }
  uint64_t batches() const { return total; }
  /// Of batch `index` of the run: the position of its group, and the row that stands in its place b.
  size_t groupOf(uint64_t seed, uint64_t index) const;
  uint64_t row(uint64_t seed, uint64_t index, uint64_t b) const;

private:
  void count(const std::vector<uint64_t> &withheld);
  uint64_t batchAt(uint64_t seed, uint64_t index) const;
  uint64_t rowOf(size_t group, uint64_t place, uint64_t seed, uint64_t epoch) const;

  std::vector<Group> all, filled; // `all`: of every length that rows have
  std::vector<uint64_t> places;   // rows, by their length
  uint64_t total = 0;
};

} // namespace tenon::data
