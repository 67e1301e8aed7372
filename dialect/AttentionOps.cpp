// Attention: verifiers, decompositions, gradient rule.
#include "dialect/AttentionMasks.h"
#include "dialect/Build.h"

using namespace mlir;
using namespace tenon;

static SmallVector<int64_t> labelsOf(Attribute attribute) {
  if (auto dense = dyn_cast<DenseI64ArrayAttr>(attribute))
    return SmallVector<int64_t>(dense.asArrayRef());
  SmallVector<int64_t> labels;
  for (Attribute label : cast<ArrayAttr>(attribute))
    labels.push_back(cast<IntegerAttr>(label).getInt());
  return labels;
}

LogicalResult AttendOp::verify() {
  int64_t key = tensorOf(getY()).getRank();
  llvm::SmallDenseMap<int64_t, AffineExpr> sizes;
  for (auto [i, size] : llvm::enumerate(sizesOf(tensorOf(getY()))))
    sizes[i] = size;
  llvm::SmallDenseSet<int64_t> mentioned;
  SmallVector<Value> operands(getScores());
  llvm::append_range(operands, getMasks());
  operands.push_back(getValue());
  if (getFactor())
    operands.push_back(getFactor());
  if (getLabels().size() != operands.size())
    return emitOpError("expects labels for each of ") << operands.size() << " operands, got " << getLabels().size();
  for (auto [operand, attribute] : llvm::zip(operands, getLabels())) {
    SmallVector<int64_t> labels = labelsOf(attribute);
    auto type = tensorOf(operand);
    if (int64_t(labels.size()) != type.getRank())
      return emitOpError("expects one label per dimension of ") << type;
    if (operand != getFactor() && !llvm::is_contained(labels, key)) // C1
      return emitOpError("expects every score, mask and value to have the key dimension, label ") << key;
    for (auto [label, size] : llvm::zip(labels, sizesOf(type))) {
      auto [it, inserted] = sizes.try_emplace(label, size);
      if (!inserted && it->second != size) // C2
        return emitOpError("expects label ") << label << " to have one size, got " << textOf(it->second) << " and " << textOf(size);
      mentioned.insert(label);
    }
  }
  for (int64_t i = 0; i < key; ++i)
    if (!mentioned.contains(i)) // C3
      return emitOpError("expects result dimension ") << i << " in an operand";
  return success();
}

/// The general form in elementwise ops, reductions and a contraction, over the index space of scores and masks.
SmallVector<Value> AttendOp::decompose(OpBuilder &builder) {
  Build g(builder, getLoc());
  int64_t key = tensorOf(getY()).getRank();
  SmallVector<Value> operands(getScores());
  llvm::append_range(operands, getMasks());
  SmallVector<SmallVector<int64_t>> labels;
  for (Attribute attribute : getLabels())
    labels.push_back(labelsOf(attribute));
  // The space of p: the union of the labels of scores and masks, the key last.
  SmallVector<int64_t> space;
  llvm::SmallDenseMap<int64_t, AffineExpr> sizes;
  unsigned dimCount = 0;
  for (auto [operand, own] : llvm::zip(operands, labels)) {
    dimCount = std::max(dimCount, dimCountOf(tensorOf(operand)));
    for (auto [label, size] : llvm::zip(own, sizesOf(tensorOf(operand)))) {
      sizes[label] = size;
      if (label != key && !llvm::is_contained(space, label))
        space.push_back(label);
    }
  }
  llvm::sort(space);
  space.push_back(key);
  SmallVector<AffineExpr> spaceSizes;
  for (int64_t label : space)
    spaceSizes.push_back(sizes[label]);
  auto real = tensorType(spaceSizes, tensorOf(getValue()).getElementType(), dimCount);
  auto spread = [&](Value x, ArrayRef<int64_t> own) {
    SmallVector<int64_t> dims;
    for (int64_t label : own)
      dims.push_back(llvm::find(space, label) - space.begin());
    return g.broadcast(x, dims, withElement(real, tensorOf(x).getElementType()));
  };
  Value score, visible;
  for (size_t i = 0; i < getScores().size(); ++i) {
    Value term = spread(getScores()[i], labels[i]);
    score = score ? g.add(score, term) : term;
  }
  score = g.scale(score, getScale().convertToDouble());
  if (getFactor())
    score = g.mul(score, spread(getFactor(), labels.back()));
  for (size_t i = 0; i < getMasks().size(); ++i) {
    Value term = spread(getMasks()[i], labels[getScores().size() + i]);
    visible = visible ? Value(AndOp::create(builder, getLoc(), term.getType(), visible, term)) : term;
  }
  // A row that sees no key: its maximum is replaced, its sum is 0 and gives p = 0.
  double lowest = -1e30;
  Value shown = visible ? g.select(visible, score, g.constant(real, lowest)) : score;
  // softmax is invariant under the shift: no gradient flows through the maximum.
  Value maximum = g.unary<StopGradientOp>(g.reduceLast(Reduction::max, shown));
  Value p = g.unary<ExpOp>(g.sub(shown, g.alongLast(maximum, real)));
  if (visible)
    p = g.select(visible, p, g.constant(real, 0));
  Value sum = g.reduceLast(Reduction::sum, p), zero = g.zerosLike(sum);
  Value safe = g.select(g.compare(Comparison::lt, zero, sum), sum, g.constant(sum.getType(), 1));
  p = g.div(p, g.alongLast(safe, real));
  if (getRate().convertToDouble() > 0)
    p = DropoutOp::create(builder, getLoc(), p.getType(), p, getDepth(), getRateAttr(), getSiteAttr(), builder.getDenseI64ArrayAttr({}));
  return {g.dot(p, space, getValue(), labels[getScores().size() + getMasks().size()], tensorOf(getY()))};
}

// ---- attention

static LogicalResult verifyMasks(AttentionOp op, AffineExpr batch, AffineExpr queries, AffineExpr keys) {
  int64_t count = op.getMaskOperands().size();
  std::string problem;
  bool known = true;
  for (Attribute attribute : op.getMask()) {
    std::optional<Mask> mask = toMask(attribute, problem);
    if (!mask) // C3
      return op.emitOpError("has a mask that is none: ") << problem;
    forEachOperand(*mask, [&](int64_t operand) { known &= operand >= 0 && operand < count; });
  }
  if (!known) // C3
    return op.emitOpError("has a mask that names an operand beyond the ") << count << " it has";
  if (int64_t(op.getMaskLabels().size()) != count)
    return op.emitOpError("expects labels for each of ") << count << " mask operands, got " << op.getMaskLabels().size();
  AffineExpr sizes[] = {batch, queries, keys};
  for (auto [operand, attribute] : llvm::zip(op.getMaskOperands(), op.getMaskLabels())) {
    SmallVector<int64_t> labels = labelsOf(attribute);
    auto type = tensorOf(operand);
    if (int64_t(labels.size()) != type.getRank())
      return op.emitOpError("expects one label per dimension of ") << type;
    for (auto [label, size] : llvm::zip(labels, sizesOf(type)))
      if (label < 0 || label > 2 || sizes[label] != size) // C4
        return op.emitOpError("expects mask operand ") << type << " to have the sizes of its labels";
  }
  return success();
}

LogicalResult AttentionOp::verify() {
  auto query = tensorOf(getQuery()), key = tensorOf(getKey()), value = tensorOf(getValue()), y = tensorOf(getY());
  for (RankedTensorType type : {query, key, value, y})
    if (type.getRank() != 4 || type.getElementType() != query.getElementType())
      return emitOpError("expects query, key, value and result of rank 4 and one element type, got ") << type;
  SmallVector<AffineExpr> q = sizesOf(query), k = sizesOf(key), v = sizesOf(value), out = sizesOf(y);
  bool agree = q[0] == k[0] && q[0] == v[0] && k[1] == v[1] && q[2] == k[2] && q[2] == v[2] && q[3] == k[3];
  agree &= out[0] == q[0] && out[1] == q[1] && out[2] == q[2] && out[3] == v[3];
  if (!agree) // C1
    return emitOpError("expects query [B, I, H, E], key [B, J, H, E], value [B, J, H, F] and result [B, I, H, F]");
  if (query.isDynamicDim(2) || query.isDynamicDim(3) || value.isDynamicDim(3)) // C1
    return emitOpError("expects numbers of heads and widths that are known");
  if (getContentBias() || getPositionBias() || getTable() || getSegmentBias() || getSegments() || getScoreTable() || getQuerySegment() || getKeySegment() ||
      getPlace() || getBack()) // C2
    return emitOpError("not supported yet: a term besides the content term");
  double rate = getRate().convertToDouble();
  if (!(rate >= 0 && rate < 1)) // C5
    return emitOpError("expects a rate in 0 .. 1 (1 excluded), got ") << rate;
  SmallVector<AffineExpr> rows{q[0], q[2], q[1]};
  for (Value statistic : {getRowMax(), getRowSumInverse()})
    if (sizesOf(tensorOf(statistic)) != rows) // C6
      return emitOpError("expects row statistics of shape [B, H, I], got ") << statistic.getType();
  return verifyMasks(*this, q[0], q[1], k[1]);
}

SmallVector<Value> AttentionOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  SmallVector<Value> gradients(getOperation()->getNumOperands());
  if (!resultGradients[0])
    return gradients; // the statistics are constants of the gradient
  auto grad = AttentionGradOp::create(builder, getLoc(), getQuery().getType(), getKey().getType(), getValue().getType(), Type(), Type(), Type(), Type(), Type(),
                                      Type(), resultGradients[0], getY(), getRowMax(), getRowSumInverse(), getQuery(), getKey(), getValue(), Value(), Value(), Value(),
                                      Value(), Value(), Value(), Value(), Value(), Value(), Value(), getMaskOperands(), getDepth(), getScaleAttr(), getLowAttr(),
                                      getClipAttr(), getMaskAttr(), getMaskLabelsAttr(), getRateAttr(), getSiteAttr());
  gradients[0] = grad.getDquery();
  gradients[1] = grad.getDkey();
  gradients[2] = grad.getDvalue();
  return gradients;
}
