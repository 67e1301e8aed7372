#include "lowering/gpu/AttentionKernels.h"
#include "lowering/gpu/ScalarCode.h"
#include "lowering/gpu/TensorAttention.h"
#include "lowering/gpu/TensorAttentionGradient.h"
#include "lowering/gpu/WarpgroupAttention.h"

using namespace mlir;

namespace tenon::gpu {

static std::optional<PairTile> tileFor(const AttentionOperands &operands, ArrayRef<int64_t> widths, int64_t planes) {
  std::optional<PairTile> tile = PairTile::fitting(widths, planes, operands.element());
  if (tile && operands.placeCode && operands.table) // each pair reads vectors of its own, whose addresses take registers
    tile->side = std::min<int64_t>(tile->side, 16);
  return tile;
}

std::optional<PairTile> forwardTile(const AttentionOperands &operands) {
  const int64_t width = operands.keyWidth();
  return tileFor(operands, {width, width, operands.valueWidth()}, 1);
}

std::optional<PairTile> backwardTile(const AttentionOperands &operands) {
  const int64_t width = operands.keyWidth(), valueWidth = operands.valueWidth();
  return tileFor(operands, {width, width, valueWidth, valueWidth}, 2);
}

static DictionaryAttr choiceOf(Operation *op, PairTile tile) {
  return makeChoice(op->getContext(), kPairsForm, {{"side", tile.side}});
}
DictionaryAttr chooseAttention(AttentionOp op, const Chip &chip) {
  const AttentionOperands operands(op);
  if (chip.hasWarpgroups)
    if (std::optional<WarpgroupAttentionTile> tile = warpgroupAttentionTile(operands))
      return choiceOf(op.getContext(), *tile);
  if (std::optional<TensorTile> tile = tensorTile(operands))
    return makeChoice(
        op.getContext(), kTensorForm,
        {{"rows", tile->rows}, {"warp_rows", tile->warpRows}, {"keys", tile->keys}, {"registers", tile->registers}});
  return choiceOf(op, *forwardTile(operands));
}
DictionaryAttr chooseAttentionGradient(AttentionGradOp op) {
  if (std::optional<GradientTile> tile = tensorGradientTile(op))
    return makeChoice(op.getContext(), kTensorForm,
                      {{"side", tile->side}, {"columns", tile->columns}, {"registers", tile->registers}});
  return choiceOf(op, *backwardTile(AttentionOperands(op)));
}

ChoiceForm pairsForm(PairTile largest) { return {kPairsForm, {{"side", 8, largest.side, 1, true}}}; }

Launch attentionLaunch(StringRef name, Location location, const AttentionOperands &operands, int64_t side, int64_t threads,
                       int64_t heads, AffineExpr lines) {
  Launch launch{name.str(), location, operands.tensors(), {}, {}, {}, {}, {}, threads, operands.threshold() > 0, {}};
  if (!operands.anyTable() && !operands.element().isF64()) // with tables the assembler would spill some
    launch.registers = 128;
  if (operands.placeCode) // else the assembler would spill some for more warps
    launch.registers = 255;
  launch.blocks = [batches = operands.batches(), side, heads, lines](EntryCode &code) {
    auto &builder = code.builder;
    Value tiles = ceilDivide(builder, code.size(lines), constant(builder, side));
    return multiply(builder, multiply(builder, code.size(batches), constant(builder, heads)), tiles);
  };
  return launch;
}

Launch gradientLaunch(StringRef name, AttentionGradOp op, const AttentionOperands &operands, PairTile tile, int64_t heads,
                      AffineExpr lines) {
  Launch launch = attentionLaunch(name, op.getLoc(), operands, tile.side, tile.threads(), heads, lines);
  launch.reads.append({op.getDy(), op.getY(), op.getRowMax(), op.getRowSumInverse()});
  return launch;
}

static bool hasCodeFor(Region *region) { return !region || llvm::all_of(region->front().without_terminator(), hasCode); }

template <class Op>
static std::optional<std::string> refusal(Op op, std::optional<PairTile> (*tileOf)(const AttentionOperands &)) {
  AttentionOperands operands(op);
  constexpr int64_t widest = 256; // what a thread has registers for
  if (std::max(operands.keyWidth(), operands.valueWidth()) > widest || !tileOf(operands))
    return "the GPU has no kernel for attention with heads of " +
           std::to_string(std::max(operands.keyWidth(), operands.valueWidth())) + " in " +
           elementModel(operands.element()).name().str();
  if (!hasCodeFor(operands.step) || !hasCodeFor(operands.placeCode))
    return "the GPU has no kernel for attention with this step";
  return std::nullopt;
}

std::optional<std::string> refusesAttention(AttentionOp op) { return refusal(op, forwardTile); }
std::optional<std::string> refusesAttention(AttentionGradOp op) { return refusal(op, backwardTile); }

} // namespace tenon::gpu
