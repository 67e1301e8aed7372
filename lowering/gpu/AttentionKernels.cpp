#include "lowering/gpu/AttentionKernels.h"
#include "lowering/gpu/ScalarCode.h"
#include "lowering/gpu/TensorAttention.h"
#include "lowering/gpu/TensorAttentionGradient.h"
#include "lowering/gpu/WarpgroupAttention.h"

using namespace mlir;

namespace tenon::gpu {

/// With two vectors of tables for each pair, or vectors at places of its own, a thread has registers for few of them; numbers of
/// f64 take two.
static int64_t mostSide(const AttentionOperands &operands) {
  const bool isWide = operands.element().isF64();
  return operands.back || operands.keyTable || (operands.placeCode && operands.table) || (operands.anyTable() && isWide) ? 16
                                                                                                                         : 32;
}

std::optional<PairTile> forwardTile(const AttentionOperands &operands) {
  const int64_t width = operands.keyWidth();
  return PairTile::fitting({width, width, operands.valueWidth()}, 1, operands.element(), mostSide(operands));
}

std::optional<PairTile> backwardTile(const AttentionOperands &operands) {
  const int64_t width = operands.keyWidth(), valueWidth = operands.valueWidth();
  return PairTile::fitting({width, width, valueWidth, valueWidth}, 2, operands.element(), mostSide(operands));
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
  // With vectors of tables, places that are computed and in f64 that would be too few. Without a limit the assembler would spill
  // some, to have more blocks at a time.
  const bool hasVectors = operands.table || operands.keyTable || operands.valueTable;
  for (const StoredMask &mask : operands.stored)
    launch.temporaries.push_back(mask.temporary);
  launch.onlyRead = launch.temporaries;
  launch.registers = hasVectors || operands.placeCode || operands.element().isF64() ? 255 : 128;
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
  launch.registers = std::max<int64_t>(launch.registers, 168);
  launch.reads.append({op.getDy(), op.getY(), op.getRowMax(), op.getRowSumInverse()});
  return launch;
}

static bool hasCodeFor(Region *region) { return !region || llvm::all_of(region->front().without_terminator(), hasCode); }

template <class Op>
static std::optional<std::string> refusal(Op op, std::optional<PairTile> (*tileOf)(const AttentionOperands &)) {
  if (op.getPairScores())
    return "the GPU has no kernel for attention with stored scores of pairs";
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
