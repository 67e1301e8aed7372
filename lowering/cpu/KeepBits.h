// The bits of tenon.random_keep for neighbouring elements, drawn many at a time: one Philox call gives 128 of them.
#pragma once
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

/// Runs of elements of one random site. The bits of a run lie in memory from the last multiple of 128 before its first element
/// on.
class KeepBits {
public:
  /// `depth`: of the stack around the site (i64), null without one. `threshold`: kept are the elements whose 16 bits are not
  /// below it.
  KeepBits(FunctionCode &code, int64_t site, int64_t threshold, Value depth)
      : code(code), site(site), threshold(threshold), depth(depth) {}

  /// Bytes for runs of at most `count` elements, wherever they begin; a multiple of 16.
  static constexpr int64_t bytes(int64_t count) { return ((count + 127) / 128 + 2) * 16; }
  /// Draws the elements [first, first + count) (i64) into `memory`.
  void draw(Value first, Value count, Value memory);
  /// vector<lanes x i1> of the elements from first + offset on, of the run that began at `first`.
  Value load(Value memory, Value first, Value offset, int64_t lanes);

private:
  FunctionCode &code;
  int64_t site, threshold;
  Value depth;
};

} // namespace tenon::cpu
