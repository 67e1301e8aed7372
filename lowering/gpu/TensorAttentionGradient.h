// The gradient of fused attention of 16 bits by tensor cores: which ops have it, how it is cut, its launches.
#pragma once
#include "lowering/gpu/AttentionGradient.h"

namespace tenon::gpu {

/// How the kernels of one op are cut.
struct GradientTile {
  int64_t side, columns; // of what a block meets: in a stage, and at a time in registers
  int64_t registers;     // the most of a thread
  static constexpr int64_t kRows = 64, kStages = 2, kThreads = 128;
};

/// What is chosen; none: the op stays with the kernels of fused multiply-adds.
std::optional<GradientTile> tensorGradientTile(AttentionGradOp op);
/// The forms of tiles up to the chosen one.
ChoiceForm tensorGradientForm(GradientTile largest);
mlir::LogicalResult addTensorGradients(AttentionGradOp op, const AttentionOperands &operands, GradientTile tile,
                                       LaunchSequence &sequence);

} // namespace tenon::gpu
