#include "lowering/tensor/AttentionSpace.h"
#include "lowering/tensor/AttentionIndices.h"

using namespace mlir;

namespace tenon {

AttentionSpace::AttentionSpace(OpBuilder &builder, AttendOp attend, const AttentionRoles &roles)
    : builder(builder), build(builder, attend.getLoc()), attend(attend) {
  auto y = tensorOf(attend.getY());
  labelOf.assign(y.getRank() + 1, kKey);
  auto add = [&](int64_t kind, ArrayRef<int64_t> dimensions) {
    Labels &own = axesOf[kind];
    for (int64_t dimension : dimensions) {
      own.push_back(kind + kKinds * own.size());
      labelOf[dimension] = own.back();
      sizes[own.back()] = sizesOf(y)[dimension];
    }
    if (own.empty()) {
      own.push_back(kind);
      missing.push_back(kind);
    }
  };
  AffineExpr one = getAffineConstantExpr(1, builder.getContext());
  sizes[kBatch] = sizes[kHead] = sizes[kSharedHead] = one;
  sizes[kSelected] = one + 1;
  add(kBatch, roles.batches);
  add(kQuery, {roles.query});
  add(kHead, roles.heads);
  add(kWidth, roles.widths);
  axesOf[kKey] = {kKey};
  for (int64_t label : {kContracted, kPlace, kSelected})
    axesOf[label] = {label};
  dims = dimCountOf(y);
  SmallVector<Value> operands(attend.getScores());
  operands.push_back(attend.getValue());
  for (Value operand : operands)
    dims = std::max(dims, dimCountOf(tensorOf(operand)));
  size_t number = attend.getScores().size() + attend.getMasks().size();
  for (auto [label, size] : llvm::zip(labels(number), sizesOf(tensorOf(attend.getValue()))))
    sizes[label] = size;
}

Labels AttentionSpace::labels(size_t number) const {
  Labels result = labelsAt(attend, number);
  for (int64_t &label : result)
    label = labelOf[label];
  return result;
}

AffineExpr AttentionSpace::product(ArrayRef<int64_t> labels) const {
  SmallVector<AffineExpr> factors;
  for (int64_t label : labels)
    factors.push_back(size(label));
  return simplifyAffineExpr(tenon::product(factors, builder.getContext()), dims, 0);
}

Value AttentionSpace::arranged(const Labelled &x, ArrayRef<Labels> groups) {
  auto type = tensorOf(x.value);
  SmallVector<AffineExpr> apart, together;
  SmallVector<int64_t> order, dimensions, merges;
  for (const Labels &group : groups) {
    for (int64_t label : group)
      apart.push_back(size(label));
    llvm::append_range(order, group);
    together.push_back(product(group));
    merges.push_back(group.size() == 1 ? 1 : -int64_t(group.size()));
  }
  for (int64_t label : x.labels)
    dimensions.push_back(llvm::find(order, label) - order.begin());
  bool same = type.getRank() == int64_t(order.size()) && llvm::is_sorted(dimensions);
  Value result = same ? x.value : build.broadcast(x.value, dimensions, tensorType(apart, type.getElementType(), dims));
  if (order.size() == groups.size())
    return result;
  return ReshapeOp::create(builder, attend.getLoc(), tensorType(together, type.getElementType(), dims), result, merges);
}

Labelled AttentionSpace::merged(const Labelled &x, ArrayRef<int64_t> kinds) {
  SmallVector<Labels> groups;
  Labelled result;
  for (int64_t kind : kinds)
    if (x.has(kind)) {
      groups.push_back(axes(kind));
      result.labels.push_back(kind);
    }
  result.value = arranged(x, groups);
  return result;
}

Value AttentionSpace::split(Value y, RankedTensorType type) {
  SmallVector<AffineExpr> apart;
  SmallVector<int64_t> splits, units;
  for (int64_t kind : {kBatch, kQuery, kHead, kWidth}) {
    if (llvm::is_contained(missing, kind))
      units.push_back(apart.size());
    for (int64_t label : axes(kind))
      apart.push_back(size(label));
    splits.push_back(axes(kind).size());
  }
  if (apart.size() > splits.size())
    y = ReshapeOp::create(builder, attend.getLoc(), tensorType(apart, type.getElementType(), dims), y, splits);
  return units.empty() ? y : build.reduce(Reduction::sum, y, units);
}

} // namespace tenon
