// Checked program to tensor form: contractions, reductions, normalizers, losses, dropout, attention.
#include "dialect/ElementModel.h"
#include "frontend/mlirgen/MlirGenEntry.h"

using namespace mlir;

namespace tenon {

// ---- contractions, reductions, normalizers

Value EntryGenerator::generateLayer(const Node &node, NodeId id) {
  Build build(*at, current);
  Value x = operand(node, 0);
  const Axes &axes = axesOf(node.operands[0]);
  if (node.op == Op::Dot) {
    Axes labels = node.type.axes;
    labels.insert(labels.end(), node.axesFrom.begin(), node.axesFrom.end());
    Value a = build.convert(x, real), b = build.convert(operand(node, 1), real);
    return multiplyingIn(multiplied.lookup(id), DotOp::create(*at, current, typeOf(node.type), a, b, positions(axes, labels),
                                                              positions(axesOf(node.operands[1]), labels)));
  }
  Reduction kind = node.op == Op::Sum         ? Reduction::sum
                   : node.op == Op::ReduceMax ? Reduction::max
                   : node.op == Op::ReduceMin ? Reduction::min
                   : node.op == Op::All       ? Reduction::all
                                              : Reduction::any;
  if (kind != Reduction::all && kind != Reduction::any)
    x = build.convert(x, elementType(node.type));
  SmallVector<int64_t> dims;
  Axes rest;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (llvm::is_contained(node.axesFrom, axis))
      dims.push_back(i);
    else
      rest.push_back(axis);
  return spread(build.reduce(kind, x, dims), rest, node.type.axes);
}

Value EntryGenerator::generateAlongLast(const Node &node) {
  Build build(*at, current);
  Value x = build.convert(operand(node, 0), real);
  const Axes &axes = axesOf(node.operands[0]);
  Axes arranged;
  for (AxisId axis : axes)
    if (!llvm::is_contained(node.axesFrom, axis))
      arranged.push_back(axis);
  size_t rows = arranged.size(), count = node.axesFrom.size();
  arranged.insert(arranged.end(), node.axesFrom.begin(), node.axesFrom.end());
  x = spread(x, axes, arranged);
  SmallVector<int64_t> merge(rows, 1), split(rows, 1);
  RankedTensorType whole = tensorOf(x);
  if (count > 1) { // several axes are one row
    merge.push_back(-int64_t(count));
    split.push_back(count);
    SmallVector<AffineExpr> sizes = sizesOf(whole);
    AffineExpr length = product(ArrayRef(sizes).drop_front(rows), context);
    sizes.truncate(rows);
    sizes.push_back(length);
    x = ReshapeOp::create(*at, current, tensorType(sizes, real, entry.dims.size()), x, at->getDenseI64ArrayAttr(merge));
  }
  Value y;
  if (node.op == Op::Normalize) {
    auto row = withoutDims(tensorOf(x), {int64_t(rows)});
    y = NormalizeOp::create(*at, current, x.getType(), row, row, x, at->getF64FloatAttr(node.number)).getY();
  } else {
    y = SoftmaxOp::create(*at, current, x.getType(), x, node.op == Op::LogSoftmax ? at->getUnitAttr() : UnitAttr());
  }
  if (count > 1)
    y = ReshapeOp::create(*at, current, whole, y, at->getDenseI64ArrayAttr(split));
  return spread(y, arranged, node.type.axes);
}

Value EntryGenerator::generateCrossEntropy(const Node &node) {
  Build build(*at, current);
  const Axes &row = node.type.axes;
  Axes arranged = row;
  arranged.push_back(node.axesFrom[0]);
  Value logits = spread(build.convert(operand(node, 0), real), axesOf(node.operands[0]), arranged);
  Value labels = spread(build.convert(operand(node, 1), IntegerType::get(context, 32)), axesOf(node.operands[1]), row);
  Value where = node.operands.size() > 2 ? spread(operand(node, 2), axesOf(node.operands[2]), row) : Value();
  auto rowType = typeOf(row, real);
  const bool isShared = node.integer > 0; // `number` is what classes share whose count only a call knows
  Value nll =
      CrossEntropyOp::create(*at, current, rowType, rowType, logits, labels, where,
                             at->getF64FloatAttr(isShared ? 0 : node.number), at->getI64IntegerAttr(int64_t(node.index) - 1))
          .getLoss();
  if (!isShared)
    return nll;
  // number / V * sum_c -ln p_c + (1 - number) nll; where the label has no share, number / (V - 1) * (sum_c -ln p_c - nll) + (1 -
  // number) nll.
  auto wide = tensorOf(logits);
  Value all = build.neg(build.reduceLast(Reduction::sum, SoftmaxOp::create(*at, current, wide, logits, at->getUnitAttr())));
  Value count = build.sizeLike(sizesOf(wide).back(), rowType), one = build.constant(rowType, 1);
  const bool isOthers = node.integer == 2;
  if (isOthers) { // one class shares nothing: what there is to share is 0, too
    all = build.sub(all, nll);
    count = MaxOp::create(*at, current, rowType, build.sub(count, one), one);
  }
  Value loss = build.add(build.scale(build.div(all, count), node.number), build.scale(nll, 1 - node.number));
  return where ? build.select(where, loss, build.constant(rowType, 0)) : loss;
}

/// max(x, 0) - x y + ln(1 + exp(-|x|)): no overflow for large |x|.
Value EntryGenerator::generateBinaryCrossEntropy(const Node &node) {
  Build build(*at, current);
  const Axes &axes = node.type.axes;
  Value x = spread(build.convert(operand(node, 0), real), axesOf(node.operands[0]), axes);
  Value y = spread(build.convert(operand(node, 1), real), axesOf(node.operands[1]), axes);
  Value rest =
      build.unary<LogOp>(build.add(build.constant(x.getType(), 1), build.unary<ExpOp>(build.neg(build.unary<AbsOp>(x)))));
  return build.add(build.sub(build.unary<ReluOp>(x), build.mul(x, y)), rest);
}

Value EntryGenerator::generateDropout(const Node &node) {
  Value x = Build(*at, current).convert(operand(node, 0), real);
  if (!entry.training || node.number == 0)
    return x;
  return DropoutOp::create(*at, current, x.getType(), x, countedDepth(node.stack), at->getF64FloatAttr(node.number),
                           at->getI64IntegerAttr(program.sites[node.index].id), positions(node.axesFrom, node.type.axes));
}

Value EntryGenerator::generateAttend(const Node &node, NodeId id) {
  const AttendInfo &info = *node.attend;
  Axes labels = node.type.axes;
  labels.push_back(info.key);
  SmallVector<Attribute> labelAttributes;
  SmallVector<Value> scores, masks;
  Build build(*at, current);
  for (unsigned i = 0; i < node.operands.size(); ++i) {
    Value x = operand(node, i);
    labelAttributes.push_back(positions(axesOf(node.operands[i]), labels));
    if (i < info.scores)
      scores.push_back(build.convert(x, real));
    else if (i < info.scores + info.masks)
      masks.push_back(x);
  }
  unsigned next = info.scores + info.masks;
  Value valueTerm = build.convert(operand(node, next), real),
        factor = info.scaleOperand ? build.convert(operand(node, next + 1), real) : Value();
  SmallVector<StringRef> names(info.scoreNames.begin(), info.scoreNames.end());
  double rate = entry.training ? info.dropRate : 0;
  int64_t site = rate > 0 ? program.sites[info.site].id : 0;
  SmallVector<int64_t> queries;
  for (auto [place, axis] : llvm::enumerate(node.type.axes))
    if (llvm::is_contained(info.queries, axis))
      queries.push_back(place);
  return multiplyingIn(multiplied.lookup(id),
                       AttendOp::create(*at, current, typeOf(node.type), scores, masks, valueTerm, factor,
                                        /*drawn_at=*/Value(), countedDepth(node.stack), at->getArrayAttr(labelAttributes),
                                        at->getF64FloatAttr(info.scale), at->getF64FloatAttr(rate), at->getI64IntegerAttr(site),
                                        at->getStrArrayAttr(names), at->getDenseI64ArrayAttr(queries),
                                        /*drawn_of=*/AffineMapAttr()));
}

} // namespace tenon
