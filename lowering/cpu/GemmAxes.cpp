#include "lowering/cpu/GemmAxes.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/LinearReads.h"
#include "lowering/cpu/Gemm.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::cpu {

/// Columns that are too few for panels.
constexpr int64_t kFewColumns = 64;

GemmAxes::GemmAxes(GemmOp op)
    : a(op.getA(), op.typeOfA(), op.getALabels(), op.elementOfA()), b(op.getB(), op.typeOfB(), op.getBLabels(), op.elementOfB()),
      block(op.getBody().front()), rank(op.getRank()) {
  for (const GemmSide *side : {&a, &b})
    for (auto [dim, label] : llvm::enumerate(side->labels))
      sizes.try_emplace(label, sizesOf(side->type)[dim]);
  sort();
  findRanges();
}

/// An operand that is 0 but where a tensor of truth values is true, at its own places. Labels of it that both operands have are
/// those of steps, or of a batch, of which nothing is left out.
void GemmAxes::findCondition() {
  for (GemmSide *side : {&a, &b}) {
    auto choice = side->element ? side->element->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>() : nullptr;
    auto read = choice ? choice.getCondition().getDefiningOp<AtOp>() : nullptr;
    if (!read || read->getBlock() != side->element || read.getIndices().empty() ||
        !matchPattern(choice.getFalseValue(), m_AnyZeroFloat()))
      continue;
    Labels labels;
    bool summed = true, own = true;
    for (Value index : read.getIndices()) {
      auto argument = dyn_cast<BlockArgument>(index);
      if (!argument || argument.getOwner() != side->element)
        break;
      labels.push_back(side->labels[argument.getArgNumber()]);
      summed &= labels.back() >= rank;
      own &= !(side == &a ? b : a).has(labels.back());
    }
    if (labels.size() != read.getIndices().size() || !(summed || own))
      continue;
    where = read.getTensor();
    whereLabels = labels;
    if (own && side == &b) // rows are listed, not columns
      std::swap(a, b);
    return;
  }
}

/// The label of the last index of the first put: the direction in which the result is contiguous.
int64_t GemmAxes::contiguousLabel() const {
  for (PutOp put : block.getOps<PutOp>())
    if (!put.getIndices().empty())
      if (auto index = dyn_cast<BlockArgument>(put.getIndices().back()); index && index.getOwner() == &block)
        return index.getArgNumber();
  return rank - 1;
}

/// Sorts labels into rows, columns, depth and batch. An operand in memory whose depth is no strided dimension is brought in
/// order first (A), or read element by element where it is packed (B).
void GemmAxes::sort() {
  if (!b.has(contiguousLabel()) && a.has(contiguousLabel()))
    std::swap(a, b);
  if (setDepth(); a.element && !b.element && !isRun(b, depth)) // B would be read element by element, A is so anyway
    std::swap(a, b);
  findCondition();
  setDepth();
  Labels onlyA, onlyB, both;
  for (int64_t label : a.labels)
    if (!b.has(label))
      onlyA.push_back(label);
    else if (label < rank)
      both.push_back(label);
  for (int64_t label : b.labels)
    if (!a.has(label))
      onlyB.push_back(label);
  isReordered = !isRun(a, depth) && !where;
  isGathered = !isRun(b, depth) || listsSteps();
  isOfB = !isReordered && isScattered(onlyA, onlyB);
  if (isReordered || isOfB) {
    Labels outer(both);
    outer.append(isOfB ? onlyB : onlyA);
    reorder(isOfB ? b : a, outer);
    isReordered = true;
    isGathered &= !isOfB;
  }
  rows = where ? onlyA : a.runOf(onlyA, sizes); // what is listed is read by index
  if (!where && isSlice(onlyA)) {               // a batch of its outer dimension would pack B for each entry
    a.readInRanges(rows.back(), sizes.lookup(rows.back()));
    rows = onlyA;
  }
  joinRows(onlyA);
  columns = b.element || isGathered ? columnsOfResult(onlyB) : b.runOf(onlyB, sizes);
  joinColumns(onlyB);
  batch = both;
  for (int64_t label : onlyA)
    if (!llvm::is_contained(rows, label))
      batch.push_back(label);
  for (int64_t label : onlyB)
    if (!llvm::is_contained(columns, label))
      batch.push_back(label);
  llvm::sort(batch);
}

/// Whether B is read element by element, for more than one block of rows, from memory where neither steps of K nor columns lie
/// side by side (a weight [O, C, KY, KX] summed over O, KY and KX).
bool GemmAxes::isScattered(const Labels &onlyA, const Labels &onlyB) const {
  constexpr int64_t kBlockOfRows = 384;
  const std::optional<int64_t> ofRows = placesOf(onlyA);
  if (!isGathered || where || b.element || !ofRows || *ofRows <= kBlockOfRows)
    return false;
  Labels candidates(columnsOfResult(onlyB));
  candidates.append(depth);
  const int64_t near = b.contiguous(candidates, sizes);
  const Labels pieces = b.runOf(depth, sizes);
  return near >= 0 && llvm::is_contained(depth, near) && !llvm::is_contained(pieces, near);
}

std::optional<int64_t> GemmAxes::placesOf(const Labels &labels) const {
  AffineExpr places = getAffineConstantExpr(1, a.type.getContext());
  for (int64_t label : labels)
    places = places * sizes.lookup(label);
  auto number = dyn_cast<AffineConstantExpr>(places);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

/// The side as lines of its depth, one for each place of `outer`.
void GemmAxes::reorder(GemmSide &side, const Labels &outer) {
  inMemory = side;
  ordering = outer;
  ordering.append(depth);
  AffineExpr stride = getAffineConstantExpr(1, a.type.getContext());
  for (int64_t label : llvm::reverse(ordering)) {
    side.strides[llvm::find(side.labels, label) - side.labels.begin()] = stride;
    stride = stride * sizes.lookup(label);
  }
  side.offset = getAffineConstantExpr(0, a.type.getContext());
}

/// Few rows that are evenly apart would have B packed for each such piece: a tile copies all rows instead.
void GemmAxes::joinRows(const Labels &onlyA) {
  constexpr int64_t kFewRows = 64;
  const std::optional<int64_t> ofRows = placesOf(rows), all = placesOf(onlyA);
  if (a.element || isReordered || where || !a.ranges.empty() || !ofRows || !all || *ofRows >= kFewRows || *all <= *ofRows ||
      *all < kFewRows)
    return;
  isCopied = true;
  rows = onlyA;
}

/// Few columns side by side in memory leave panels empty, and A is read for each such piece: the result's are taken instead,
/// where there are more of them.
void GemmAxes::joinColumns(const Labels &onlyB) {
  constexpr int64_t kFewRows = 16;
  const std::optional<int64_t> ofRows = placesOf(rows), ofColumns = placesOf(columns);
  if (b.element || isGathered || columns.empty() || !ofColumns || *ofColumns >= kFewColumns || *ofColumns % kPanelWidth == 0 ||
      (ofRows && *ofRows < kFewRows))
    return;
  if (Labels all = columnsOfResult(onlyB); all.size() > columns.size() && llvm::is_contained(all, columns.back())) {
    isGathered = true;
    columns = all;
  }
}

SmallVector<RandomKeepOp> GemmAxes::keptRuns() const {
  SmallVector<RandomKeepOp> runs;
  for (RandomKeepOp keep : block.getOps<RandomKeepOp>()) {
    AffineExpr expected = getAffineConstantExpr(1, keep.getContext());
    bool neighbours = !columns.empty();
    for (int64_t label : llvm::reverse(columns)) {
      neighbours &= growthOf(keep.getIndex(), label, block) == expected;
      expected = expected * sizes.lookup(label);
    }
    if (neighbours)
      runs.push_back(keep);
  }
  return runs;
}

/// Ranges of rows of A, or of steps of B, that are read where they lie: A row by row, as strips of micro-kernels, B where it is
/// packed. Other operands with ranges are copied into scratch.
void GemmAxes::findRanges() {
  hasRowsInRanges = !where && a.hasLinesInRanges(rows, depth, sizes);
  auto isEven = [](AffineExpr start) { return start.isMultipleOf(2); }; // pairs are not cut
  hasStepsInRanges = !listsSteps() && b.hasLinesInRanges(depth, columns, sizes) && !isGathered &&
                     (!isOfPairs(b.type.getElementType()) || llvm::all_of(b.starts, isEven));
}

/// Whether A is some rows of each entry of an outer dimension, as many as make strips, known (few rows read B where it is).
bool GemmAxes::isSlice(const Labels &lines) const {
  constexpr int64_t kFewestOfEntry = 16;
  if (a.element || isReordered || lines.size() != 2 || rows.size() != 1 || depth.empty())
    return false;
  auto size = dyn_cast<AffineConstantExpr>(sizes.lookup(rows.back()));
  return size && size.getValue() >= kFewestOfEntry && isOneElement(a.strideOf(depth, sizes));
}

bool GemmAxes::isRun(const GemmSide &side, const Labels &labels) const {
  return side.runOf(labels, sizes).size() == labels.size();
}

/// Sets `depth` in the order of A, or in that of B where more operands have it in memory, or are computed side by side.
void GemmAxes::setDepth() {
  auto orderOf = [&](const GemmSide &side) {
    Labels order;
    for (int64_t label : side.labels)
      if (label >= rank)
        order.push_back(label);
    return order;
  };
  auto gain = [&](const GemmSide &side, const Labels &order) {
    if (!side.element)
      return isRun(side, order) ? 2 : 0;
    Labels wide;
    for (int64_t label : order)
      if (!isOneElement(sizes.lookup(label)))
        wide.push_back(label);
    return !wide.empty() && side.contiguous(side.labels, sizes) == wide.back() ? 1 : 0;
  };
  const Labels ofA = orderOf(a), ofB = orderOf(b);
  depth = gain(a, ofB) + gain(b, ofB) > gain(a, ofA) + gain(b, ofA) ? ofB : ofA;
}

/// Of labels that B alone has, where its elements are read one by one: those along which the result is contiguous; all, where
/// these are too few for panels.
Labels GemmAxes::columnsOfResult(Labels labels) const {
  PutOp put = block.getOps<PutOp>().empty() ? PutOp() : *block.getOps<PutOp>().begin();
  Labels ordered, near;
  bool isNear = true;
  for (Value index : put ? llvm::to_vector(llvm::reverse(put.getIndices())) : SmallVector<Value>()) {
    auto argument = dyn_cast<BlockArgument>(index);
    const int64_t label = argument && argument.getOwner() == &block ? int64_t(argument.getArgNumber()) : -1;
    if (llvm::is_contained(labels, label) && !llvm::is_contained(ordered, label)) {
      ordered.insert(ordered.begin(), label);
      if (isNear)
        near.insert(near.begin(), label);
    } else {
      isNear &= label >= 0 && isOneElement(sizes.lookup(label));
    }
  }
  if (ordered.size() != labels.size())
    return labels;
  SmallVector<AffineExpr> factors;
  for (int64_t label : near)
    factors.push_back(sizes.lookup(label));
  auto places = dyn_cast<AffineConstantExpr>(product(factors, a.type.getContext()));
  return places && places.getValue() < kFewColumns ? ordered : near;
}

} // namespace tenon::cpu
