#include "lowering/gpu/TensorAttentionGradient.h"
#include "dialect/TensorSizes.h"
#include "lowering/gpu/TensorAttention.h"
#include "lowering/gpu/TensorGradient.h"

using namespace mlir;

namespace tenon::gpu {

using Rows = GradientPart::Rows;

/// The kernels, in their order: that of queries leaves statistics for the others.
static SmallVector<GradientPart> partsOf(AttentionGradOp op, const AttentionOperands &operands) {
  const WantedGradients wanted(op);
  SmallVector<GradientPart> parts{{"attention_queries_mma", Rows::Queries, wanted.query, {}, wanted.positionQuery}};
  constexpr int64_t most = 128; // columns of sums that a thread has registers for, beside what they are made of
  const bool fits = operands.keyWidth() + operands.valueWidth() <= most;
  if (wanted.key || (fits && wanted.value))
    parts.push_back({"attention_keys_mma", Rows::Keys, wanted.key, fits ? wanted.value : Value(), {}});
  if (!fits && wanted.value)
    parts.push_back({"attention_values_mma", Rows::Keys, {}, wanted.value, {}});
  if (wanted.table)
    parts.push_back({"attention_table_mma", Rows::Places, wanted.table, {}, {}});
  return parts;
}

constexpr int64_t kOfThreeBlocks = 168; // registers, so that a processor has three blocks
static bool isSmall(const AttentionOperands &operands) {
  return std::max(operands.keyWidth(), operands.valueWidth()) <= 64 && !operands.step && operands.threshold() == 0 &&
         operands.testsOfTiles().empty();
}

/// The kernel of the table has bands of keys and of values, beside what it meets: its tiles are smaller where memory asks for it.
static GradientTile tileOf(AttentionGradOp op, const AttentionOperands &operands, GradientTile tile, const GradientPart &part) {
  auto fits = [&] { return TensorGradient::sharedBytes(op, operands, tile, part) <= kBlockBytes; };
  // It sums one product where the others have two; rows of other widths take more registers for places in shared memory.
  const bool arePowers =
      llvm::isPowerOf2_64(uint64_t(operands.keyWidth())) && llvm::isPowerOf2_64(uint64_t(operands.valueWidth()));
  if (part.rows == Rows::Places && isSmall(operands) && arePowers)
    tile.registers = std::min(tile.registers, kOfThreeBlocks);
  while (part.rows == Rows::Places && tile.side > tile.columns && !fits())
    tile.side /= 2;
  return tile;
}

/// Types and terms of scores.
static bool takes(AttentionGradOp op, const AttentionOperands &operands) {
  const Type storage = operands.storage();
  if (!isShortReal(storage))
    return false;
  for (Value tensor : {operands.key, operands.value, Value(op.getDy()), Value(op.getDquery()), Value(op.getDkey()),
                       Value(op.getDvalue()), Value(op.getDpositionQuery()), operands.positionQuery, operands.table})
    if (tensor && cast<RankedTensorType>(tensor.getType()).getElementType() != storage)
      return false;
  if (operands.selectedScores || operands.scoreTable || operands.valueTable || operands.keyTable || operands.placeCode)
    return false;
  // The table of a head is met by the keys of one head.
  return !operands.table || (RelativePlaces::takes(operands) && operands.heads() == operands.keyHeads());
}

std::optional<GradientTile> tensorGradientTile(AttentionGradOp op) {
  const AttentionOperands operands(op);
  constexpr int64_t widest = 128; // what a thread has registers for
  const int64_t wide = std::max(operands.keyWidth(), operands.valueWidth());
  if (operands.keyWidth() % 16 || operands.valueWidth() % 16 || wide > widest || !takes(op, operands))
    return std::nullopt;
  const bool isSimple = isSmall(operands) && !operands.table;
  for (int64_t side : {64, 32, 16}) {
    const GradientTile tile{side, 16, isSimple ? kOfThreeBlocks : 255};
    const int64_t most = operands.threshold() == 0 && !operands.testsMuch() ? 64 : operands.table ? 16 : 32;
    if (side > most) // unrolled further, draws and tests would spill
      continue;
    if (llvm::all_of(partsOf(op, operands), [&](const GradientPart &part) {
          return TensorGradient::sharedBytes(op, operands, tileOf(op, operands, tile, part), part) <= kBlockBytes;
        }))
      return tile;
  }
  return std::nullopt;
}

ChoiceForm tensorGradientForm(GradientTile largest) {
  return {kTensorForm, {{"side", 16, largest.side, 1, true}, {"columns", 16, largest.side, 1, true}, {"registers", 32, 255}}};
}

LogicalResult addTensorGradients(AttentionGradOp op, const AttentionOperands &operands, GradientTile tile,
                                 LaunchSequence &sequence) {
  if (tile.columns > tile.side)
    return op.emitOpError("expects in ") << kChosen << " columns inside of the side, got " << tile.columns << " of " // S11
                                         << tile.side;
  const int64_t ofQuery = 2 * 4 * operands.heads();
  const unsigned statistics = sequence.temporary(operands.batches() * operands.queries() * ofQuery);
  for (const GradientPart &part : partsOf(op, operands)) {
    const bool ofKeys = part.rows == Rows::Keys;
    const AffineExpr lines = ofKeys ? operands.keys() : part.rows == Rows::Queries ? operands.queries() : operands.rowsOfTables();
    Launch launch =
        gradientLaunch(part.name, op, operands, PairTile{tile.kRows}, ofKeys ? operands.keyHeads() : operands.heads(), lines);
    const GradientTile own = tileOf(op, operands, tile, part);
    launch.threads = own.kThreads;
    launch.registers = own.registers;
    for (Value result : {part.byScores, part.byWeights, part.byPosition})
      if (result)
        launch.writes.push_back(result);
    launch.temporaries.push_back(statistics);
    launch.body = [&](KernelCode &code) { TensorGradient(op, code, operands, own, part).emit(); };
    sequence.add(launch);
  }
  return success();
}

} // namespace tenon::gpu
