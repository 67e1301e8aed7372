// Elementwise functions of the summed score (a soft cap: 30 * tanh(s / 30)), which become the step of tenon.attention.
#pragma once
#include "lowering/tensor/AttentionSpace.h"

namespace tenon {

/// score = function(inner), the function made of elementwise ops and numbers, inner a sum that score terms can be read from.
struct AttentionStep {
  Labelled score, inner;
};

/// Nothing if the score is a sum of terms as it stands.
std::optional<AttentionStep> stepOf(const Labelled &score);

/// Fills the region of an attention op: scale * function and its derivative, as the ops' own element code and gradient rules say.
/// `builder` stands where tensor ops may be left that nobody reads.
void buildStep(mlir::OpBuilder &builder, const AttentionStep &step, double scale, mlir::Region &region);

} // namespace tenon
