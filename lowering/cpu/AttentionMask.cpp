// Masks of fused attention: ranges of keys per strip and row, lanes of predicates for the rest.
#include "lowering/cpu/AttentionMask.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/FormParts.h"
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"
#include <limits>

using namespace mlir;

namespace tenon::cpu {

Value firstLanes(FunctionCode &code, Value count, int64_t lanes) {
  return Emitter(code.builder, code.builder.getLoc()).firstLanes(count, lanes);
}

static Type storedType(ImplicitLocOpBuilder &builder, Type element) {
  return element.isInteger(1) ? Type(builder.getI8Type()) : element;
}
static Value spread(ImplicitLocOpBuilder &builder, Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(builder, VectorType::get({lanes}, scalar.getType()), scalar);
}

IndexOperands::IndexOperands(ArrayAttr operandLabels, ValueRange operandValues) : operands(operandValues) {
  for (Attribute attribute : operandLabels) {
    auto &own = labels.emplace_back();
    if (auto dense = dyn_cast<DenseI64ArrayAttr>(attribute))
      own.assign(dense.asArrayRef().begin(), dense.asArrayRef().end());
    else
      for (Attribute label : cast<ArrayAttr>(attribute))
        own.push_back(cast<IntegerAttr>(label).getInt());
  }
}

Type IndexOperands::elementOf(int64_t operand) const {
  return cast<RankedTensorType>(operands[operand].getType()).getElementType();
}

bool IndexOperands::dependsOn(const MaskForm &form, int64_t label) const {
  bool depends = false;
  forEachOperand(form, [&](int64_t operand) { depends |= dependsOn(operand, label); });
  return depends;
}

bool IndexOperands::usesKey(const MaskForm &form) const {
  bool uses = dependsOn(form, kKeyLabel);
  forEachForm(form, [&](const MaskForm &each) { uses |= each.key != 0; });
  return uses;
}

/// Linear index of the element without its key.
Value IndexOperands::indexOf(FunctionCode &code, int64_t operand, QueryPlace place) const {
  auto &builder = code.builder;
  auto type = cast<RankedTensorType>(operands[operand].getType());
  Value index = constant(builder, 0);
  for (auto [label, stride] : llvm::zip(labels[operand], rowMajorStrides(type)))
    if (label != kKeyLabel)
      index = add(builder, index, multiply(builder, label == kBatchLabel ? place.batch : place.query, code.size(stride)));
  return index;
}

Value IndexOperands::scalar(FunctionCode &code, int64_t operand, QueryPlace place) const {
  auto &builder = code.builder;
  Type stored = storedType(builder, elementOf(operand));
  Value address = elementAddress(builder, code.pointer(operands[operand]), stored, indexOf(code, operand, place));
  Value value = LLVM::LoadOp::create(builder, stored, address, unsigned(elementBytes(stored)));
  return stored.isInteger(64) ? value : Value(arith::ExtSIOp::create(builder, builder.getI64Type(), value));
}

Value IndexOperands::withoutKey(FunctionCode &code, const MaskForm &form, QueryPlace place) const {
  auto &builder = code.builder;
  Value sum = add(builder, code.size(form.rest), multiply(builder, place.query, constant(builder, form.query)));
  for (const MaskForm::Term &term : form.terms)
    sum = add(builder, sum, multiply(builder, scalar(code, term.operand, place), constant(builder, term.coefficient)));
  for (const MaskForm::Part &part : form.parts) {
    Value value = partOfForm(builder, part, withoutKey(code, part.of, place));
    sum = add(builder, sum, multiply(builder, value, constant(builder, part.coefficient)));
  }
  return sum;
}

Value IndexOperands::laneOperand(FunctionCode &code, int64_t operand, QueryPlace place, Value firstKey, int64_t lanes,
                                 Value inside) const {
  auto &builder = code.builder;
  auto type = cast<RankedTensorType>(operands[operand].getType());
  Type stored = storedType(builder, type.getElementType());
  auto vector = VectorType::get({lanes}, stored);
  Value index = indexOf(code, operand, place), loaded;
  Value base = code.pointer(operands[operand]);
  if (!dependsOn(operand, kKeyLabel)) {
    Value value =
        LLVM::LoadOp::create(builder, stored, elementAddress(builder, base, stored, index), unsigned(elementBytes(stored)));
    loaded = vector::BroadcastOp::create(builder, vector, value);
  } else {
    Value stride = constant(builder, 1);
    for (auto [label, step] : llvm::zip(labels[operand], rowMajorStrides(type)))
      if (label == kKeyLabel)
        stride = code.size(step);
    index = add(builder, index, multiply(builder, firstKey, stride));
    if (asConstant(stride) == 1) {
      loaded = emitVectorLoad(builder, builder.getLoc(), vector, elementAddress(builder, base, stored, index), inside);
    } else {
      SmallVector<Attribute> numbers;
      for (int64_t lane = 0; lane < lanes; ++lane)
        numbers.push_back(builder.getI64IntegerAttr(lane));
      auto wide = VectorType::get({lanes}, builder.getI64Type());
      Value steps = arith::ConstantOp::create(builder, DenseElementsAttr::get(wide, numbers));
      steps = arith::MulIOp::create(builder, steps, spread(builder, stride, lanes));
      steps = arith::AddIOp::create(builder, steps, spread(builder, index, lanes));
      Value all = LLVM::GEPOp::create(builder, VectorType::get({lanes}, pointer(builder)), stored, base, ValueRange{steps});
      Value nothing = arith::ConstantOp::create(builder, builder.getZeroAttr(vector));
      Value exists = inside ? inside
                            : Value(arith::ConstantOp::create(
                                  builder, DenseElementsAttr::get(VectorType::get({lanes}, builder.getI1Type()), true)));
      loaded = LLVM::masked_gather::create(builder, vector, all, exists, ValueRange{nothing}, unsigned(elementBytes(stored)));
    }
  }
  if (!type.getElementType().isInteger(1))
    return loaded;
  Value nothing = arith::ConstantOp::create(builder, builder.getZeroAttr(vector));
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, loaded, nothing);
}

/// The form in i64 lanes.
Value IndexOperands::laneForm(FunctionCode &code, const MaskForm &form, QueryPlace place, Value firstKey, int64_t lanes,
                              Value inside) const {
  auto &builder = code.builder;
  auto wide = VectorType::get({lanes}, builder.getI64Type());
  MaskForm uniform = form; // of the query alone
  uniform.terms.clear();
  llvm::erase_if(uniform.parts, [&](const MaskForm::Part &part) { return usesKey(part.of); });
  Value scalar = add(builder, withoutKey(code, uniform, place), multiply(builder, firstKey, constant(builder, form.key)));
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(builder.getI64IntegerAttr(lane * form.key));
  Value sum = arith::AddIOp::create(builder, spread(builder, scalar, lanes),
                                    arith::ConstantOp::create(builder, DenseElementsAttr::get(wide, numbers)));
  for (const MaskForm::Term &term : form.terms) {
    Value operand = laneOperand(code, term.operand, place, firstKey, lanes, inside);
    Type element = cast<VectorType>(operand.getType()).getElementType();
    if (element.isInteger(1))
      operand = arith::ExtUIOp::create(builder, wide, operand);
    else if (!element.isInteger(64))
      operand = arith::ExtSIOp::create(builder, wide, operand);
    sum = arith::AddIOp::create(
        builder, sum, arith::MulIOp::create(builder, operand, spread(builder, constant(builder, term.coefficient), lanes)));
  }
  for (const MaskForm::Part &part : form.parts)
    if (usesKey(part.of)) {
      Value value = partOfForm(builder, part, laneForm(code, part.of, place, firstKey, lanes, inside));
      Value times = spread(builder, constant(builder, part.coefficient), lanes);
      sum = arith::AddIOp::create(builder, sum, builder.createOrFold<arith::MulIOp>(value, times));
    }
  return sum;
}

SmallVector<Value> IndexOperands::computed(FunctionCode &code, Region &region, QueryPlace place, Value firstKey, int64_t lanes,
                                           Value inside) const {
  auto &builder = code.builder;
  Block &block = region.front();
  LaneCode on(code, {}, lanes);
  on.mask = inside;
  for (BlockArgument argument : block.getArguments()) {
    const int64_t number = argument.getArgNumber();
    if (argument.use_empty())
      continue;
    if (dependsOn(number, kKeyLabel)) {
      on.bind(argument, LaneValue::lanes(laneOperand(code, number, place, firstKey, lanes, inside)));
      continue;
    }
    Value element = scalar(code, number, place);
    if (argument.getType().isInteger(1))
      element = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, element, constant(builder, 0));
    else if (!argument.getType().isInteger(64))
      element = builder.createOrFold<arith::TruncIOp>(argument.getType(), element);
    on.bind(argument, LaneValue::uniform(element));
  }
  on.emitOps(block);
  SmallVector<Value> places;
  for (Value result : block.getTerminator()->getOperands())
    places.push_back(on.lanesOf(on.get(result)));
  return places;
}

/// form <= 0, form = 0. Three forms need no arithmetic in lanes of i64: nothing that depends on the key, the key itself, one i32
/// operand along the key.
Value IndexOperands::testForm(FunctionCode &code, const Mask &mask, QueryPlace place, Value firstKey, int64_t lanes,
                              Value inside) const {
  auto &builder = code.builder;
  Emitter emit(builder, builder.getLoc());
  const MaskForm &form = mask.form;
  const bool equal = mask.kind == Mask::Kind::IsZero;
  const MaskForm::Term *alongKey = nullptr;
  unsigned count = 0;
  MaskForm others = form;
  others.terms.clear();
  for (const MaskForm::Term &term : form.terms)
    if (dependsOn(term.operand, kKeyLabel))
      alongKey = &term, ++count;
    else
      others.terms.push_back(term);
  const int64_t sign = count == 1 ? alongKey->coefficient : form.key;
  const bool rounds = llvm::any_of(form.parts, [&](const MaskForm::Part &part) { return usesKey(part.of); });
  const bool one = count + (form.key != 0) == 1 && (sign == 1 || sign == -1) && !rounds;
  if (count == 0 && form.key == 0 && !rounds) {
    Value sum = withoutKey(code, others, place), zero = constant(builder, 0);
    return spread(builder, equal ? emit.equal(sum, zero) : emit.lessEqual(sum, zero), lanes);
  }
  auto narrow = VectorType::get({lanes}, builder.getI32Type());
  Value keys;
  Value bound = one ? withoutKey(code, others, place) : Value(); // sign * x + bound
  if (one && count == 1 && elementOf(alongKey->operand).isInteger(32)) {
    keys = laneOperand(code, alongKey->operand, place, firstKey, lanes, inside);
  } else if (one && count == 0) {
    SmallVector<int32_t> numbers;
    for (int64_t lane = 0; lane < lanes; ++lane)
      numbers.push_back(int32_t(lane));
    keys = arith::ConstantOp::create(builder, DenseIntElementsAttr::get(narrow, numbers));
    bound = emit.add(bound, sign == 1 ? firstKey : emit.sub(constant(builder, 0), firstKey));
  }
  if (!keys) {
    Value sum = laneForm(code, form, place, firstKey, lanes, inside);
    Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(sum.getType()));
    return arith::CmpIOp::create(builder, equal ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle, sum, zero);
  }
  // x <= -bound, x >= bound or x = -sign * bound, the limit clamped to i32; beyond the clamp nothing or everything passes.
  const int64_t least = std::numeric_limits<int32_t>::min(), most = std::numeric_limits<int32_t>::max();
  Value limit = sign == 1 ? emit.sub(constant(builder, 0), bound) : bound;
  Value clamped = emit.max(emit.min(limit, most), least);
  Value possible = equal       ? emit.equal(limit, clamped)
                   : sign == 1 ? emit.lessEqual(constant(builder, least), limit)
                               : emit.lessEqual(limit, constant(builder, most));
  Value limits = spread(builder, builder.createOrFold<arith::TruncIOp>(builder.getI32Type(), clamped), lanes);
  auto predicate = equal ? arith::CmpIPredicate::eq : sign == 1 ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge;
  Value passes = arith::CmpIOp::create(builder, predicate, keys, limits);
  return arith::AndIOp::create(builder, passes, spread(builder, possible, lanes));
}

Value IndexOperands::test(FunctionCode &code, const Mask &mask, QueryPlace place, Value firstKey, int64_t lanes,
                          Value inside) const {
  auto &builder = code.builder;
  auto truth = VectorType::get({lanes}, builder.getI1Type());
  auto all = [&](bool value) -> Value { return arith::ConstantOp::create(builder, DenseElementsAttr::get(truth, value)); };
  switch (mask.kind) {
  case Mask::Kind::Holds:
    return laneOperand(code, mask.operand, place, firstKey, lanes, inside);
  case Mask::Kind::AtMostZero:
  case Mask::Kind::IsZero:
    return testForm(code, mask, place, firstKey, lanes, inside);
  case Mask::Kind::Not:
    return arith::XOrIOp::create(builder, test(code, mask.parts[0], place, firstKey, lanes, inside), all(true));
  case Mask::Kind::And:
  case Mask::Kind::Or:
    break;
  }
  Value result = all(mask.kind == Mask::Kind::And);
  for (const Mask &part : mask.parts) {
    Value value = test(code, part, place, firstKey, lanes, inside);
    result = mask.kind == Mask::Kind::And ? Value(arith::AndIOp::create(builder, result, value))
                                          : Value(arith::OrIOp::create(builder, result, value));
  }
  return result;
}

/// Not of `form <= 0` is `1 - form <= 0`.
static Mask withoutNot(Mask mask) {
  if (mask.kind != Mask::Kind::Not || mask.parts[0].kind != Mask::Kind::AtMostZero)
    return mask;
  Mask result = mask.parts[0];
  result.form = result.form.negated();
  return result;
}

AttentionMask::AttentionMask(ArrayAttr masks, const IndexOperands &indices) : indices(indices) {
  for (Attribute attribute : masks) {
    std::string problem;
    add(*toMask(attribute, problem)); // verified
  }
}

void AttentionMask::add(const Mask &given) {
  if (given.kind == Mask::Kind::And) {
    for (const Mask &part : given.parts)
      add(part);
    return;
  }
  Mask mask = withoutNot(given);
  const bool bounds = mask.kind == Mask::Kind::AtMostZero && (mask.form.key == 1 || mask.form.key == -1) &&
                      !indices.dependsOn(mask.form, kKeyLabel) &&
                      llvm::none_of(mask.form.parts, [&](const MaskForm::Part &part) { return indices.usesKey(part.of); });
  const bool onStrip = bounds && mask.form.isLinear() && !indices.dependsOn(mask.form, kQueryLabel);
  if (bounds)
    (mask.form.key == 1 ? upper : lower).push_back({mask.form, onStrip});
  else
    rest.push_back(mask);
  if (!onStrip)
    ofTiles.push_back(mask);
}

/// key + bound <= 0: key < 1 - bound. -key + bound <= 0: key >= bound.
KeyRange AttentionMask::ofRow(FunctionCode &code, QueryPlace place, Value keys) const {
  auto &builder = code.builder;
  KeyRange range{constant(builder, 0), keys};
  for (const Bound &bound : upper)
    range.high =
        minimum(builder, range.high, subtract(builder, constant(builder, 1), indices.withoutKey(code, bound.form, place)));
  for (const Bound &bound : lower)
    range.low = maximum(builder, range.low, indices.withoutKey(code, bound.form, place));
  return range;
}

/// Bounds are linear in the query, so that they are widest at the first or the last one.
KeyRange AttentionMask::ofStrip(FunctionCode &code, Value batch, Value first, Value last, Value keys) const {
  auto &builder = code.builder;
  KeyRange range{constant(builder, 0), keys};
  auto least = [&](const Bound &bound) {
    return minimum(builder, indices.withoutKey(code, bound.form, {batch, first}),
                   indices.withoutKey(code, bound.form, {batch, last}));
  };
  for (const Bound &bound : upper)
    if (bound.onStrip)
      range.high = minimum(builder, range.high, subtract(builder, constant(builder, 1), least(bound)));
  for (const Bound &bound : lower)
    if (bound.onStrip)
      range.low = maximum(builder, range.low, least(bound));
  range.high = maximum(builder, range.high, constant(builder, 0));
  range.low = minimum(builder, range.low, range.high);
  return range;
}

const AttentionMask::Bound *AttentionMask::moving(ArrayRef<Bound> bounds) {
  const Bound *found = llvm::find_if(
      bounds, [](const Bound &bound) { return bound.onStrip && (bound.form.query == 1 || bound.form.query == -1); });
  return found == bounds.end() ? nullptr : found;
}

Staircase AttentionMask::staircase(FunctionCode &code, Value batch, Value first) const {
  Staircase result;
  if (const Bound *bound = moving(upper)) {
    result.high = subtract(code.builder, constant(code.builder, 1), indices.withoutKey(code, bound->form, {batch, first}));
    result.highStep = -bound->form.query;
  }
  if (const Bound *bound = moving(lower)) {
    result.low = indices.withoutKey(code, bound->form, {batch, first});
    result.lowStep = bound->form.query;
  }
  return result;
}

Value AttentionMask::others(FunctionCode &code, QueryPlace place, Value firstKey, int64_t lanes, Value inside) const {
  Value result;
  for (const Mask &mask : rest) {
    Value value = indices.test(code, mask, place, firstKey, lanes, inside);
    result = result ? Value(arith::AndIOp::create(code.builder, result, value)) : value;
  }
  return result;
}

bool AttentionMask::skipsTiles() const {
  return llvm::any_of(ofTiles,
                      [&](const Mask &mask) { return decidesTiles(indices.allLabels(), mask, false, /*readsPairs=*/true); });
}

TileVisibility AttentionMask::ofTile(FunctionCode &code, Value batch, Interval queries, Interval keys) const {
  auto size = [&](AffineExpr formula) { return code.size(formula); };
  auto ofBatch = [&](int64_t operand) { return indices.scalar(code, operand, {batch, {}}); };
  auto ofPairs = [&](int64_t operand, Interval ofQueries, Interval ofKeys) {
    return indices.overPairs(code, operand, ofQueries, ofKeys);
  };
  return MaskTiles(code.builder, indices.allLabels(), size, ofBatch, ofPairs).over(ofTiles, queries, keys);
}

} // namespace tenon::cpu
