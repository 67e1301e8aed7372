// Softmax over tiles of keys, of the pairs that a warp has in registers: for the forward kernels by tensor cores.
#pragma once
#include "lowering/gpu/AttentionFragments.h"
#include <array>

namespace tenon::gpu {

class OnlineSoftmax {
public:
  using Numbers = AttentionFragments::Numbers;
  using Fragments = AttentionFragments::Fragments;
  /// Of a lane's two rows: the largest score so far, and the sum of what its own columns weigh.
  struct Rows {
    Value largest[2], total[2];
  };

  OnlineSoftmax(AttentionOp op, AttentionFragments &on);

  /// Whether scores are scaled with the shift by the maximum: none of them has more to it than its sum of products.
  static bool scalesLate(const AttentionOperands &operands);
  Rows start();
  /// Makes scores what the pairs weigh, and takes them into the rows; what earlier sums of each row are to be multiplied by.
  std::array<Value, 2> weigh(Numbers &scores, Rows &rows);
  static void rescale(ImplicitLocOpBuilder &builder, Numbers &sums, const std::array<Value, 2> &factors);
  /// Weights as lines of the product with the values: without those that dropout takes, rounded.
  Fragments weights(Numbers &scores, const WarpPairs &pairs);
  /// Results of the rows: statistics, and the sums of values divided by the totals. A row that saw no key gives 0; NaN stays NaN.
  void store(const WarpPairs &pairs, const Rows &rows, const Numbers &sums);

private:
  void storeRow(Value query, const Rows &rows, const Numbers &sums, size_t which);
  AttentionOp op;
  AttentionFragments &on;
  ImplicitLocOpBuilder &builder;
  const AttentionOperands &operands;
  const bool isLate;
  const double factor; // of scores, as exponents of 2
};

} // namespace tenon::gpu
