#include "lowering/tensor/AttentionDistances.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon {

TablePlace Distances::place() const {
  MaskForm form;
  form.rest = simplifyAffineExpr(queries - 1, dimCount, 0);
  form.dimCount = dimCount;
  form.query = -1, form.key = 1;
  TablePlace place;
  place.forms.push_back(form);
  return place;
}

Value Distances::along(Labelled index) {
  index = withoutBroadcasts(index);
  for (auto &[seen, rows] : known)
    if (seen == index)
      return rows;
  Value rows = rebuilt(index);
  known.push_back({index, rows});
  return rows;
}

/// Null if the index is not a linear form of the distance.
Value Distances::linear(const Labelled &index, RankedTensorType type) {
  int64_t query = 0, key = 0;
  AffineExpr rest = getAffineConstantExpr(0, builder.getContext());
  SmallVector<std::pair<Value, int64_t>> numbers;
  bool isLinear = forEachTerm(index, 1, [&](const Labelled &leaf, int64_t factor) {
    Operation *op = leaf.value.getDefiningOp();
    if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
      rest = rest + factor * int64_t(constant.getValue().convertToDouble());
      return true;
    }
    if (auto size = dyn_cast_or_null<SizeOp>(op)) {
      rest = rest + size.getForm().getResult(0) * factor;
      return true;
    }
    if (leaf.labels.empty()) { // one number for all places, such as how many a walk has brought
      numbers.push_back({leaf.value, factor});
      return true;
    }
    auto iota = dyn_cast_or_null<IotaOp>(op);
    int64_t label = iota ? leaf.labels[iota.getDim()] : kBatch;
    if (label != kQuery && label != kKey)
      return false;
    (label == kKey ? key : query) += factor;
    return true;
  });
  if (!isLinear || key != -query)
    return {};
  // j - i = d - (I - 1)
  AffineExpr shift = simplifyAffineExpr(rest - (queries - 1) * key, dimCount, 0);
  Value shifts = build.sizeLike(shift, type);
  for (auto [number, factor] : numbers) {
    Value everywhere = build.broadcast(number, {}, type);
    shifts = build.add(shifts, factor == 1 ? everywhere : build.scale(everywhere, factor));
  }
  if (key == 0)
    return shifts;
  Value distance = IotaOp::create(builder, location, type, 0);
  return build.add(key == 1 ? distance : build.scale(distance, key), shifts);
}

/// Any element type; the tree of elementwise ops down to linear forms is made again over the distance.
Value Distances::rebuilt(const Labelled &index) {
  Type element = tensorOf(index.value).getElementType();
  RankedTensorType type = tensorType({simplifyAffineExpr(count(), dimCount, 0)}, element, dimCount);
  if (std::optional<double> constant = constantOf(index.value))
    return build.constant(type, *constant);
  if (isa<IntegerType>(element) && !element.isInteger(1))
    if (Value result = linear(index, type))
      return result;
  Operation *op = index.value.getDefiningOp();
  if (!op || !op->hasTrait<ElementFormula>())
    return {};
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value inner = along({operand, index.labels});
    if (!inner)
      return {};
    mapping.map(operand, inner);
  }
  Operation *copy = builder.clone(*op, mapping);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

std::optional<Labelled> Distances::function(Labelled x) {
  x = withoutBroadcasts(x);
  if (std::optional<double> constant = constantOf(x.value))
    x = {build.constant(tensorType({}, tensorOf(x.value).getElementType(), dimCount), *constant), {}};
  if (!x.only({kQuery, kKey, kHead}))
    return std::nullopt;
  auto type = tensorOf(x.value);
  Operation *op = x.value.getDefiningOp();
  Labelled result{{}, {kPlace}};
  SmallVector<AffineExpr> sizes{simplifyAffineExpr(count(), dimCount, 0)};
  for (auto [label, size] : llvm::zip(x.labels, sizesOf(type)))
    if (kindOf(label) == kHead) {
      result.labels.push_back(label);
      sizes.push_back(size);
    }
  auto spread = [&](const Labelled &part) {
    SmallVector<int64_t> dims;
    for (int64_t label : part.labels)
      dims.push_back(llvm::find(result.labels, label) - result.labels.begin());
    return build.broadcast(part.value, dims, tensorType(sizes, tensorOf(part.value).getElementType(), dimCount));
  };
  if (!x.has(kQuery) && !x.has(kKey)) {
    result.value = spread(x);
    return result;
  }
  if (!isa<FloatType>(type.getElementType()) && !x.has(kHead))
    if (Value rows = along(x))
      return Labelled{rows, {kPlace}};
  if (auto gather = dyn_cast_or_null<GatherOp>(op)) {
    auto [table, index] = partsOf(gather, x.labels);
    Value rows = table.only({kPlace, kHead}) ? along(index) : Value();
    if (!rows)
      return std::nullopt;
    result.value = spread(ordered(table, kPlace, rows, gather.getClamp()));
    return result;
  }
  if (!op || !op->hasTrait<ElementFormula>())
    return std::nullopt;
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    std::optional<Labelled> inner = function({operand, x.labels});
    if (!inner)
      return std::nullopt;
    mapping.map(operand, spread(*inner));
  }
  Operation *copy = builder.clone(*op, mapping);
  copy->getResult(0).setType(tensorType(sizes, type.getElementType(), dimCount));
  result.value = copy->getResult(0);
  return result;
}

Labelled Distances::ordered(const Labelled &table, int64_t placeLabel, Value rows, bool clamp) {
  for (const Order &order : orders)
    if (order.table == table && order.rows == rows)
      return {order.result, table.labels};
  int64_t dim = llvm::find(table.labels, placeLabel) - table.labels.begin();
  auto type = tensorOf(table.value);
  SmallVector<AffineExpr> sizes = sizesOf(type);
  SmallVector<int64_t> dims;
  for (int64_t each = 0; each < type.getRank(); ++each)
    dims.push_back(each == dim ? -1 : each);
  sizes[dim] = sizesOf(tensorOf(rows))[0];
  Value result = GatherOp::create(builder, location, tensorType(sizes, type.getElementType(), dimCount), table.value, rows, dim,
                                  dims, ArrayRef<int64_t>{dim}, clamp);
  orders.push_back({table, rows, result});
  return {result, table.labels};
}

} // namespace tenon
