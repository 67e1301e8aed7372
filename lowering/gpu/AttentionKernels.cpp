#include "lowering/gpu/AttentionKernels.h"
#include "lowering/gpu/AttentionGradient.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::gpu {

std::optional<PairTile> forwardTile(const AttentionOperands &operands) {
  const int64_t width = operands.keyWidth();
  return PairTile::fitting({width, width, operands.valueWidth()}, 1, operands.element());
}

std::optional<PairTile> backwardTile(const AttentionOperands &operands) {
  const int64_t width = operands.keyWidth(), valueWidth = operands.valueWidth();
  return PairTile::fitting({width, width, valueWidth, valueWidth}, 2, operands.element());
}

static constexpr llvm::StringLiteral kForm = "pairs";

static DictionaryAttr choiceOf(Operation *op, std::optional<PairTile> tile) {
  return makeChoice(op->getContext(), kForm, {{"side", tile->side}});
}
DictionaryAttr chooseAttention(AttentionOp op) { return choiceOf(op, forwardTile(AttentionOperands(op))); }
DictionaryAttr chooseAttentionGradient(AttentionGradOp op) { return choiceOf(op, backwardTile(AttentionOperands(op))); }

FailureOr<PairTile> chosenTile(Operation *op, PairTile largest, LaunchSequence &sequence) {
  FailureOr<Choice> choice = sequence.choiceOf(op, {{kForm, {{"side", 8, largest.side, 1, true}}}});
  if (failed(choice))
    return failure();
  return PairTile{*choice->number("side")};
}

Launch attentionLaunch(StringRef name, Location location, const AttentionOperands &operands, PairTile tile, int64_t heads,
                       AffineExpr lines) {
  Launch launch{name.str(), location, operands.tensors(), {}, {}, {}, {}, {}, tile.threads(), operands.threshold() > 0, {}};
  if (!operands.anyTable() && !operands.element().isF64()) // with tables the assembler would spill some
    launch.registers = 128;
  launch.blocks = [batches = operands.batches(), tile, heads, lines](EntryCode &code) {
    auto &builder = code.builder;
    Value tiles = ceilDivide(builder, code.size(lines), constant(builder, tile.side));
    return multiply(builder, multiply(builder, code.size(batches), constant(builder, heads)), tiles);
  };
  return launch;
}

Launch gradientLaunch(StringRef name, AttentionGradOp op, const AttentionOperands &operands, PairTile tile, int64_t heads,
                      AffineExpr lines) {
  Launch launch = attentionLaunch(name, op.getLoc(), operands, tile, heads, lines);
  launch.reads.append({op.getDy(), op.getY(), op.getRowMax(), op.getRowSumInverse()});
  return launch;
}

/// Whether there is code for a step's ops in a thread.
static bool hasCode(Region *region) {
  return !region || llvm::all_of(region->front().without_terminator(), [](Operation &op) {
    return isa<arith::ArithDialect>(op.getDialect()) ||
           isa<math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp, math::SinOp, math::CosOp, math::AtanOp, math::PowFOp,
               math::SqrtOp, math::RsqrtOp, math::AbsFOp, math::AbsIOp, math::FmaOp>(op);
  });
}

template <class Op>
static std::optional<std::string> refusal(Op op, std::optional<PairTile> (*tileOf)(const AttentionOperands &)) {
  AttentionOperands operands(op);
  constexpr int64_t widest = 256; // what a thread has registers for
  if (std::max(operands.keyWidth(), operands.valueWidth()) > widest || !tileOf(operands))
    return "the GPU has no kernel for attention with heads of " +
           std::to_string(std::max(operands.keyWidth(), operands.valueWidth())) + " in " +
           elementModel(operands.element()).name().str();
  if (!hasCode(operands.step) || !hasCode(operands.placeCode))
    return "the GPU has no kernel for attention with this step";
  return std::nullopt;
}

std::optional<std::string> refusesAttention(AttentionOp op) { return refusal(op, forwardTile); }
std::optional<std::string> refusesAttention(AttentionGradOp op) {
  if (op.getComputesPlace() && (WantedGradients(op).table || WantedGradients(op).scoreTable))
    return "the GPU has no kernel for gradients of tables at computed places";
  return refusal(op, backwardTile);
}

} // namespace tenon::gpu
