// The gradient of fused attention of 16 bits by tensor cores. A block has 64 rows, 16 of each of its four warps, and goes through
// tiles of what these meet: where rows are queries it makes the gradients of queries, where they are keys those of keys and
// values. Scores and their gradients stay in registers: the sums of one product are, rounded, the first operand of the next.
#pragma once
#include "lowering/gpu/AttentionFragments.h"
#include "lowering/gpu/AttentionGradient.h"

namespace tenon::gpu {

/// How the kernels of one op are cut.
struct GradientTile {
  int64_t side, columns; // of what a block meets: in a stage, and at a time in registers
  int64_t registers;     // the most of a thread
  static constexpr int64_t kRows = 64, kStages = 2, kThreads = 128;
  /// None: heads are too wide.
  static std::optional<GradientTile> fitting(const AttentionOperands &operands);
  int64_t sharedBytes(const AttentionOperands &operands) const;
};

/// Whether the gradients of queries, keys and values have kernels of this kind.
bool takesTensorGradient(AttentionGradOp op);
mlir::DictionaryAttr chooseTensorGradient(AttentionGradOp op);
/// The numbers of the choice that is legal for the op.
ChoiceForm formOfTensorGradient(const AttentionOperands &operands);
mlir::LogicalResult addTensorGradients(AttentionGradOp op, const AttentionOperands &operands, GradientTile tile,
                                       LaunchSequence &sequence);

} // namespace tenon::gpu
