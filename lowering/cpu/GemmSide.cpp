#include "lowering/cpu/GemmSide.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/LinearReads.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// The argument of `block` with which `index` moves on, clamped or not, by one or more.
void collectMoving(Value index, Block *block, llvm::SmallDenseSet<unsigned> &moving) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    if (argument.getOwner() == block)
      moving.insert(argument.getArgNumber());
    return;
  }
  if (Operation *op = index.getDefiningOp();
      isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp, arith::FloorDivSIOp>(op))
    for (Value operand : op->getOperands())
      collectMoving(operand, block, moving);
}

/// Nominal length of a dimension.
int64_t lengthOf(AffineExpr size) { return nominalSize(size); }

} // namespace

GemmSide::GemmSide(Value operand, RankedTensorType type, ArrayRef<int64_t> labels, Block *code)
    : tensor(operand), type(type), labels(labels), element(code), strides(rowMajorStrides(type)), offset(zero()) {
  if (!element)
    return;
  const Value yielded = element->getTerminator()->getOperand(0);
  if (auto read = linearRead(yielded, *element, type.getElementType(), {})) {
    tensor = read->tensor;
    strides = read->strides;
    offset = read->offset;
    element = nullptr;
    return;
  }
  guarded = guardedRead(yielded, *element, type.getElementType());
  findRanges(yielded);
}

void GemmSide::findRanges(Value yielded) {
  std::optional<JoinedReads> join = joinedReads(yielded, *element, type);
  if (!join)
    return;
  joined = labels[join->dim];
  starts = join->starts;
  for (const LinearRead &read : join->reads) {
    GemmSide range(read.tensor, type, labels, nullptr);
    range.strides = read.strides;
    range.offset = read.offset;
    ranges.push_back(range);
  }
}

void GemmSide::readInRanges(int64_t label, AffineExpr size) {
  ranges.assign(1, *this);
  starts = {zero(), size};
  joined = label;
}

bool GemmSide::hasLinesInRanges(const Labels &lines, const Labels &inner, const SizesOfLabels &sizes) const {
  if (ranges.empty() || lines.empty() || lines.back() != joined)
    return false;
  return llvm::all_of(ranges, [&](const GemmSide &range) {
    return range.strideOf(joined) == ranges.front().strideOf(joined) && range.runOf(inner, sizes).size() == inner.size() &&
           isOneElement(range.strideOf(inner, sizes));
  });
}

AffineExpr GemmSide::strideOf(int64_t label) const {
  const auto *place = llvm::find(labels, label);
  return place == labels.end() ? zero() : strides[place - labels.begin()];
}

AffineExpr GemmSide::strideOf(const Labels &run, const SizesOfLabels &sizes) const {
  for (int64_t label : llvm::reverse(run))
    if (!isOneElement(sizes.lookup(label)))
      return strideOf(label);
  return run.empty() ? zero() : strideOf(run.back());
}

Labels GemmSide::runOf(ArrayRef<int64_t> list, const SizesOfLabels &sizes) const {
  if (element)
    return Labels(list);
  Labels run;
  AffineExpr next; // the stride of a label that may stand in front
  for (int64_t label : llvm::reverse(list)) {
    const AffineExpr size = sizes.lookup(label);
    if (!isOneElement(size)) {
      if (next && strideOf(label) != next)
        break;
      next = strideOf(label) * size;
    }
    run.insert(run.begin(), label);
  }
  return run;
}

int64_t GemmSide::contiguous(ArrayRef<int64_t> candidates, const SizesOfLabels &sizes) const {
  llvm::SmallDenseSet<unsigned> moving;
  if (element)
    element->walk([&](AtOp at) {
      if (!at.getIndices().empty())
        collectMoving(at.getIndices().back(), element, moving);
    });
  int64_t best = -1;
  for (auto [dim, label] : llvm::enumerate(labels)) {
    const bool isNear = element ? moving.contains(dim) : isOneElement(strides[dim]);
    if (isNear && llvm::is_contained(candidates, label) && !isOneElement(sizes.lookup(label)) &&
        (best < 0 || lengthOf(sizes.lookup(label)) >= lengthOf(sizes.lookup(best))))
      best = label;
  }
  return best;
}

} // namespace tenon::cpu
