#include "lowering/cpu/NestCut.h"
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Cut.h"
#include "lowering/cpu/KnownNumbers.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

constexpr llvm::StringLiteral kRows = "rows", kBySize = "by_size";

/// A tile is worth waking a thread for when it takes about 20 us. Costs are picoseconds of one core with 8 lanes: rough, and only
/// the shape enters, so that the cut never depends on the machine.
constexpr int64_t kTilePicoseconds = 20'000'000;

/// Whether it stores an element: it has no value and no code of its own.
bool isStore(Operation &op) {
  return op.getNumResults() == 0 && op.getNumRegions() == 0 && !op.hasTrait<OpTrait::IsTerminator>();
}

int64_t opCost(Operation &op) {
  if (!tensorOperands(&op).empty()) // it loads one
    return 100;
  if (isStore(op))
    return 150;
  if (isa<DrawOpInterface>(op))
    return 3000;
#define TENON_FUNCTION(name, library, real, wide, picoseconds)                                                                   \
  if (isa<math::name>(op))                                                                                                       \
    return picoseconds;
#include "lowering/code/Functions.def"
  return isa<math::MathDialect>(op.getDialect()) ? 500 : 30;
}

Block &bodyOf(InnerLoopOpInterface loop) { return loop->getRegion(0).front(); }

/// Cost of running the block once, over the dims. `lanes`: the ops work on 16 elements at a time, else one by one.
AffineExpr blockCost(Block &block, bool lanes) {
  MLIRContext *context = block.getParentOp()->getContext();
  AffineExpr cost = getAffineConstantExpr(0, context);
  int64_t simple = 0;
  for (Operation &op : block) {
    if (auto loop = dyn_cast<InnerLoopOpInterface>(op))
      cost = cost + product(llvm::to_vector(loop.getSizes().getResults()), context) * blockCost(bodyOf(loop), true) + 5000;
    else
      simple += opCost(op) * (lanes ? 1 : 8);
  }
  return cost + simple;
}

template <class Numbers> struct NestRule {
  using Number = NumberOf<Numbers>;
  Number wanted, tiles, rowsPerTile, rowTiles; // tiles of any kind, and of whole rows
  Number parts, partSize;

  NestRule(Numbers &emit, int64_t work, Number rowCount, Number rowCost)
      : wanted(emit.max(emit.div(emit.mul(rowCost, rowCount), emit.constant(work)), emit.constant(1))),
        tiles(emit.max(emit.min(wanted, rowCount), emit.constant(1))),
        rowsPerTile(emit.max(emit.ceilDiv(rowCount, tiles), emit.constant(1))), rowTiles(emit.ceilDiv(rowCount, rowsPerTile)) {}
  /// Where there are fewer rows than tiles wanted, along `size`.
  void cutRows(Numbers &emit, Number size, int64_t step) {
    Number steps = emit.max(emit.ceilDiv(size, emit.constant(step)), emit.constant(1));
    Number most = emit.max(emit.min(emit.div(wanted, tiles), steps), emit.constant(1));
    Number stepsPerPart = emit.ceilDiv(steps, most);
    partSize = emit.mul(stepsPerPart, emit.constant(step));
    parts = emit.ceilDiv(steps, stepsPerPart);
  }
};

} // namespace

NestCut::NestCut(NestOp nest) : nest(nest) {
  Block &block = nest.getBody().front();
  rows = nest.parallelDomain();
  lastOnLanes = !rows.empty() && llvm::none_of(block, [](Operation &op) { return isa<InnerLoopOpInterface>(op); });
  cost = blockCost(block, lastOnLanes);
  if (lastOnLanes) {
    cutSize = rows.pop_back_val();
    cost = cost * cutSize;
  } else if (InnerLoopOpInterface loop = onlyLoop()) {
    cutSize = loop.getSizes().getResult(0);
    step = loop.getSizes().getNumResults() == 1 ? 64 : 1;
  }
  rowCount = product(rows, nest.getContext());
  if (step == 64)
    nest.walk([&](DrawOpInterface draw) { step = std::max(step, draw.elementsOfBlock()); }); // evaluated once, for all of them
}

/// The one loop of a body that does nothing else of weight and makes no value: its range may be shared out when there are few
/// rows.
InnerLoopOpInterface NestCut::onlyLoop() const {
  InnerLoopOpInterface found;
  for (Operation &op : NestOp(nest).getBody().front()) {
    auto loop = dyn_cast<InnerLoopOpInterface>(op);
    if (isStore(op) || (loop && (found || op.getNumResults() > 0)))
      return {};
    if (loop)
      found = loop;
  }
  return found && found.getSizes().getNumResults() > 0 ? found : InnerLoopOpInterface();
}

std::optional<NestCut::KnownSizes> NestCut::knownSizes() const {
  auto count = dyn_cast<AffineConstantExpr>(rowCount), each = dyn_cast<AffineConstantExpr>(cost);
  auto size = cutSize ? dyn_cast<AffineConstantExpr>(cutSize) : AffineConstantExpr();
  if (!count || !each || (cutSize && !size))
    return std::nullopt;
  return KnownSizes{count.getValue(), each.getValue(), size ? size.getValue() : 0};
}

DictionaryAttr NestCut::choose() const {
  std::optional<KnownSizes> known = knownSizes();
  if (!known)
    return makeChoice(NestOp(nest).getContext(), kBySize, {{"work", kTilePicoseconds}});
  KnownNumbers numbers;
  NestRule<KnownNumbers> rule(numbers, kTilePicoseconds, known->rows, known->cost);
  SmallVector<std::pair<StringRef, int64_t>> chosen{{"rows", rule.rowsPerTile}};
  if (cutSize) {
    rule.cutRows(numbers, known->size, step);
    chosen.push_back({"part", rule.partSize});
  }
  return makeChoice(NestOp(nest).getContext(), kRows, chosen);
}

LogicalResult NestCut::take(Tier tier) {
  SmallVector<ChoiceForm> forms;
  if (std::optional<KnownSizes> known = knownSizes()) {
    forms.push_back({kRows, {{"rows", 1, std::max<int64_t>(known->rows, 1)}}});
    if (cutSize)
      forms.back().numbers.push_back({"part", step, KnownNumbers::roundUp(std::max<int64_t>(known->size, 1), step), step});
  }
  forms.push_back({kBySize, {{"work", 1, kAnyNumber}}});
  FailureOr<Choice> choice = choiceForTier(nest, tier, forms);
  if (failed(choice))
    return failure();
  chosenRows = choice->number("rows").value_or(0);
  chosenPart = choice->number("part").value_or(0);
  work = choice->number("work").value_or(0);
  return success();
}

NestCut::Tiles NestCut::tilesOf(FunctionCode &code) const {
  Emitter emit(code.builder, code.builder.getLoc());
  Value count = code.size(rowCount), one = emit.constant(1), none = emit.constant(0);
  if (chosenRows) {
    Value rowTiles = emit.ceilDiv(count, chosenRows);
    Value parts = cutSize ? emit.max(emit.ceilDiv(code.size(cutSize), chosenPart), one) : one;
    return {count, emit.constant(chosenRows), rowTiles, parts, emit.constant(chosenPart)};
  }
  NestRule<Emitter> rule(emit, work, count, code.size(cost));
  if (!cutSize)
    return {count, rule.rowsPerTile, rule.rowTiles, one, none};
  rule.cutRows(emit, code.size(cutSize), step);
  return {count, rule.rowsPerTile, rule.rowTiles, rule.parts, rule.partSize};
}

SmallVector<CutSide> NestCut::sides() const {
  SmallVector<CutSide> all{{rowCount, chosenRows}};
  if (cutSize)
    all.push_back({cutSize, chosenPart, /*isInPoints=*/!lastOnLanes});
  return all;
}

} // namespace tenon::cpu
