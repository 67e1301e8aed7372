#include "lowering/tensor/AttentionPlaces.h"
#include "dialect/ElementCode.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon {

static RankedTensorType scalarLike(Value value) { return RankedTensorType::get({}, tensorOf(value).getElementType()); }

std::string ComputedPlace::read(const Labelled &index, AffineExpr first) {
  Value place = of(index);
  if (!place)
    return "the place in its table is given for pairs of places and lacks a batch";
  addResult(place, first);
  return {};
}

void ComputedPlace::read(const MaskForm &form, AffineExpr queries, AffineExpr keys, AffineExpr first) {
  auto along = [&](AffineExpr size, int64_t factor) {
    auto type = tensorType({size}, builder.getI32Type(), form.dimCount);
    Value number = IotaOp::create(builder, location, type, 0);
    return factor == 1 ? number : build.scale(number, double(factor));
  };
  Value ofQuery = along(queries, form.query), ofKey = along(keys, form.key);
  ofQuery = build.add(ofQuery, build.sizeLike(form.rest, tensorOf(ofQuery)));
  addResult(build.add(argument({ofQuery, {kQuery}}), argument({ofKey, {kKey}})), first);
}

void ComputedPlace::addResult(Value place, AffineExpr first) {
  if (auto number = dyn_cast<AffineConstantExpr>(first); number && number.getValue() == 0) {
    results.push_back(place);
    return;
  }
  Value before = build.sizeLike(first, tensorOf(place)); // rows of the tables in front of its own
  results.push_back(build.add(place, constantOf(before) ? before : argument({before, {}})));
}

/// The element of what is no function of the pair, or of integers of pairs that the data give.
Value ComputedPlace::argument(const Labelled &x) {
  std::optional<int64_t> number = indices.operand(x.value, x.labels);
  if (!number)
    return {};
  for (auto &[operand, element] : arguments)
    if (operand == *number)
      return element;
  Value element = build.constant(scalarLike(x.value), 0); // stands for the argument
  arguments.push_back({*number, element});
  return element;
}

/// A sum of integers: what belongs to the query alone is added up before, and so for the key, so that two integers are left of
/// `(i div X - j div X) * Y + i mod X - j mod X`.
Value ComputedPlace::sum(const Labelled &x) {
  Value total, ofQuery, ofKey;
  int64_t number = 0;
  auto accumulate = [&](Value &to, Value term, int64_t factor) {
    term = factor == 1 ? term : build.scale(term, double(factor));
    to = to ? build.add(to, term) : term;
  };
  bool good = forEachTerm(x, 1, [&](const Labelled &leaf, int64_t factor) {
    if (std::optional<double> constant = constantOf(leaf.value)) {
      number += factor * int64_t(*constant);
      return true;
    }
    if (leaf.labels == Labels{kQuery} || leaf.labels == Labels{kKey}) {
      accumulate(leaf.has(kKey) ? ofKey : ofQuery, leaf.value, factor);
      return true;
    }
    Value part = of(leaf);
    if (part)
      accumulate(total, part, factor);
    return bool(part);
  });
  if (!good)
    return {};
  for (auto [part, label] : {std::pair(ofQuery, kQuery), std::pair(ofKey, kKey)}) {
    if (!part)
      continue;
    if (number != 0)
      part = build.add(part, build.constant(part.getType(), double(number)));
    number = 0;
    accumulate(total, argument({part, {label}}), 1);
  }
  return number == 0 ? total : build.add(total, build.constant(total.getType(), double(number)));
}

Value ComputedPlace::of(Labelled x) {
  x = withoutBroadcasts(x);
  if (std::optional<double> constant = constantOf(x.value))
    return build.constant(scalarLike(x.value), *constant);
  if (!x.has(kQuery) || !x.has(kKey))
    return argument(x);
  for (const Known &each : known)
    if (each.tensor == x)
      return each.scalar;
  Operation *op = x.value.getDefiningOp();
  auto product = dyn_cast_or_null<MulOp>(op);
  const bool isSum =
      isa_and_nonnull<AddOp, SubOp, NegOp>(op) || (product && (constantOf(product.getA()) || constantOf(product.getB())));
  Value made;
  if (isSum) {
    made = sum(x);
  } else if (op && op->hasTrait<ElementFormula>()) {
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value inner = of({operand, x.labels});
      if (!inner)
        return {};
      mapping.map(operand, inner);
    }
    Operation *copy = builder.clone(*op, mapping);
    copy->getResult(0).setType(scalarLike(x.value));
    made = copy->getResult(0);
  } else {
    made = argument(x);
  }
  if (made)
    known.push_back({x, made});
  return made;
}

void ComputedPlace::fill(Region &region) const {
  SmallVector<Type> types;
  for (Value operand : indices.operands)
    types.push_back(tensorOf(operand).getElementType());
  OpBuilder inside(builder.getContext());
  Block *block = inside.createBlock(&region, {}, types, SmallVector<Location>(types.size(), location));
  ElementCode code(inside, [](Value) { return Value(); });
  for (auto &[number, element] : arguments)
    code.define(element, {}, block->getArgument(number));
  SmallVector<Value> places;
  for (Value result : results)
    places.push_back(code.element(result, {}));
  YieldOp::create(inside, location, places);
}

} // namespace tenon
