// Rows of what a walk keeps: copied from one text to another, as beams are chosen.
#pragma once
#include "runtime/context/Context.h"

namespace tenon::generate {

/// The kept states of a context whose entry walks an axis, by rows of its batch.
class KeptRows {
public:
  /// `batch`: the size that is the number of rows. "Not supported yet" for a state in which rows are no axis of their own.
  static runtime::Expected<KeptRows> of(runtime::Context &context, const runtime::SizeForm &batch, const std::string &batchAxis);

  /// What was kept of the places from .. to - 1 of row `source` becomes that of row `target`, in all states that grow; those of
  /// the last place, `to - 1`, are copied whole.
  runtime::Status copyPlaces(int64_t source, int64_t target, int64_t from, int64_t to) const;
  /// Rows of the states that another entry prepares: row r becomes that of row r / `times` of `prepared`.
  runtime::Status takePrepared(const runtime::Context &prepared, int64_t times) const;

private:
  struct Layout { // of one state: [outer, rows, between, places, inner] or [outer, places, between, rows, inner], in bytes
    int state;
    bool grows;                              // has places
    bool ofLastPlace = false;                // is what the last one left
    std::vector<int64_t> loops, loopStrides; // over what is neither a row nor in `run`
    int64_t rowStride = 0, placeStride = 0;
    int64_t fixed = 0; // places in front of those of the walk
    int64_t run = 0;   // bytes that lie together: of one place; without places, of one row
    bool placesLieTogether = false;
  };
  explicit KeptRows(runtime::Context &context) : context(&context) {}
  template <typename Visit> runtime::Status eachRun(const Layout &layout, Visit visit) const;

  runtime::Context *context;
  std::vector<Layout> layouts;
};

} // namespace tenon::generate
