// Masks of fused attention: ranges of keys per strip and row, lanes of predicates for the rest.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Attention.h"
#include "lowering/cpu/Gemm.h"

using namespace mlir;

namespace tenon::cpu {

AttentionMask::AttentionMask(ArrayAttr masks, ArrayAttr operandLabels, ValueRange operandValues) : operands(operandValues) {
  for (Attribute attribute : operandLabels) {
    auto &own = labels.emplace_back();
    if (auto dense = dyn_cast<DenseI64ArrayAttr>(attribute))
      own.assign(dense.asArrayRef().begin(), dense.asArrayRef().end());
    else
      for (Attribute label : cast<ArrayAttr>(attribute))
        own.push_back(cast<IntegerAttr>(label).getInt());
  }
  for (Attribute attribute : masks) {
    std::string problem;
    Mask mask = *toMask(attribute, problem); // verified
    bool ofKey = false, ofQuery = false;
    for (const MaskForm::Term &term : mask.form.terms) {
      ofKey |= dependsOn(term.operand, 2);
      ofQuery |= dependsOn(term.operand, 1);
    }
    if (mask.kind == Mask::Kind::AtMostZero && !ofKey && (mask.form.key == 1 || mask.form.key == -1))
      (mask.form.key == 1 ? upper : lower).push_back({mask.form, !ofQuery});
    else
      rest.push_back(mask);
  }
}

Value AttentionMask::indexOf(FunctionCode &code, int64_t operand, Place place) const {
  auto &builder = code.builder;
  auto type = cast<RankedTensorType>(operands[operand].getType());
  Value index = constant(builder, 0);
  for (auto [label, stride] : llvm::zip(labels[operand], rowMajorStrides(type)))
    if (label != 2)
      index = add(builder, index, multiply(builder, label == 0 ? place.batch : place.query, code.size(stride)));
  return index;
}

static Type storedType(ImplicitLocOpBuilder &builder, Type element) { return element.isInteger(1) ? Type(builder.getI8Type()) : element; }

/// i64.
Value AttentionMask::scalarOperand(FunctionCode &code, int64_t operand, Place place) const {
  auto &builder = code.builder;
  Type stored = storedType(builder, cast<RankedTensorType>(operands[operand].getType()).getElementType());
  Value address = elementAddress(builder, code.pointer(operands[operand]), stored, indexOf(code, operand, place));
  Value value = LLVM::LoadOp::create(builder, stored, address, unsigned(elementBytes(stored)));
  return stored.isInteger(64) ? value : Value(arith::ExtSIOp::create(builder, builder.getI64Type(), value));
}

/// The form without its key part: what bounds the key.
Value AttentionMask::boundAt(FunctionCode &code, const MaskForm &form, Place place) const {
  auto &builder = code.builder;
  Value sum = add(builder, code.size(form.rest), multiply(builder, place.query, constant(builder, form.query)));
  for (const MaskForm::Term &term : form.terms)
    sum = add(builder, sum, multiply(builder, scalarOperand(code, term.operand, place), constant(builder, term.coefficient)));
  return sum;
}

/// key + bound <= 0: key < 1 - bound. -key + bound <= 0: key >= bound.
KeyRange AttentionMask::ofRow(FunctionCode &code, Place place, Value keys) const {
  auto &builder = code.builder;
  KeyRange range{constant(builder, 0), keys};
  for (const Bound &bound : upper)
    range.high = minimum(builder, range.high, subtract(builder, constant(builder, 1), boundAt(code, bound.form, place)));
  for (const Bound &bound : lower)
    range.low = maximum(builder, range.low, boundAt(code, bound.form, place));
  return range;
}

/// Bounds are linear in the query, so that they are widest at the first or the last one.
KeyRange AttentionMask::ofStrip(FunctionCode &code, Value batch, Value first, Value last, Value keys) const {
  auto &builder = code.builder;
  KeyRange range{constant(builder, 0), keys};
  for (const Bound &bound : upper) {
    if (!bound.onStrip)
      continue;
    Value least = minimum(builder, boundAt(code, bound.form, {batch, first}), boundAt(code, bound.form, {batch, last}));
    range.high = minimum(builder, range.high, subtract(builder, constant(builder, 1), least));
  }
  for (const Bound &bound : lower)
    if (bound.onStrip)
      range.low = maximum(builder, range.low, minimum(builder, boundAt(code, bound.form, {batch, first}), boundAt(code, bound.form, {batch, last})));
  range.high = maximum(builder, range.high, constant(builder, 0));
  range.low = minimum(builder, range.low, range.high);
  return range;
}

/// vector<lanes x i64>, or vector<lanes x i1> of a truth value.
Value AttentionMask::laneOperand(FunctionCode &code, int64_t operand, Place place, Value firstKey, int64_t lanes, Value inside) const {
  auto &builder = code.builder;
  auto type = cast<RankedTensorType>(operands[operand].getType());
  Type stored = storedType(builder, type.getElementType());
  auto vector = VectorType::get({lanes}, stored);
  Value index = indexOf(code, operand, place), loaded;
  Value base = code.pointer(operands[operand]);
  if (!dependsOn(operand, 2)) {
    Value value = LLVM::LoadOp::create(builder, stored, elementAddress(builder, base, stored, index), unsigned(elementBytes(stored)));
    loaded = vector::BroadcastOp::create(builder, vector, value);
  } else {
    Value stride = constant(builder, 1);
    for (auto [label, step] : llvm::zip(labels[operand], rowMajorStrides(type)))
      if (label == 2)
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
      steps = arith::MulIOp::create(builder, steps, vector::BroadcastOp::create(builder, wide, stride));
      steps = arith::AddIOp::create(builder, steps, vector::BroadcastOp::create(builder, wide, index));
      Value all = LLVM::GEPOp::create(builder, VectorType::get({lanes}, pointer(builder)), stored, base, ValueRange{steps});
      Value nothing = arith::ConstantOp::create(builder, builder.getZeroAttr(vector));
      loaded = LLVM::masked_gather::create(builder, vector, all, inside, ValueRange{nothing}, unsigned(elementBytes(stored)));
    }
  }
  if (type.getElementType().isInteger(1)) {
    Value nothing = arith::ConstantOp::create(builder, builder.getZeroAttr(vector));
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, loaded, nothing);
  }
  auto wide = VectorType::get({lanes}, builder.getI64Type());
  return stored.isInteger(64) ? loaded : Value(arith::ExtSIOp::create(builder, wide, loaded));
}

Value AttentionMask::form(FunctionCode &code, const MaskForm &form, Place place, Value firstKey, int64_t lanes, Value inside) const {
  auto &builder = code.builder;
  auto wide = VectorType::get({lanes}, builder.getI64Type());
  auto spread = [&](Value value) -> Value { return vector::BroadcastOp::create(builder, wide, value); };
  Value scalar = add(builder, code.size(form.rest), multiply(builder, place.query, constant(builder, form.query)));
  scalar = add(builder, scalar, multiply(builder, firstKey, constant(builder, form.key)));
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(builder.getI64IntegerAttr(lane * form.key));
  Value sum = arith::AddIOp::create(builder, spread(scalar), arith::ConstantOp::create(builder, DenseElementsAttr::get(wide, numbers)));
  for (const MaskForm::Term &term : form.terms) {
    Value operand = laneOperand(code, term.operand, place, firstKey, lanes, inside);
    if (cast<VectorType>(operand.getType()).getElementType().isInteger(1))
      operand = arith::ExtUIOp::create(builder, wide, operand);
    sum = arith::AddIOp::create(builder, sum, arith::MulIOp::create(builder, operand, spread(constant(builder, term.coefficient))));
  }
  return sum;
}

Value AttentionMask::evaluate(FunctionCode &code, const Mask &mask, Place place, Value firstKey, int64_t lanes, Value inside) const {
  auto &builder = code.builder;
  auto truth = VectorType::get({lanes}, builder.getI1Type());
  auto all = [&](bool value) -> Value { return arith::ConstantOp::create(builder, DenseElementsAttr::get(truth, value)); };
  switch (mask.kind) {
  case Mask::Kind::Holds:
    return laneOperand(code, mask.operand, place, firstKey, lanes, inside);
  case Mask::Kind::AtMostZero:
  case Mask::Kind::IsZero: {
    Value sum = form(code, mask.form, place, firstKey, lanes, inside);
    Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(sum.getType()));
    auto predicate = mask.kind == Mask::Kind::IsZero ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle;
    return arith::CmpIOp::create(builder, predicate, sum, zero);
  }
  case Mask::Kind::Not:
    return arith::XOrIOp::create(builder, evaluate(code, mask.parts[0], place, firstKey, lanes, inside), all(true));
  case Mask::Kind::And:
  case Mask::Kind::Or:
    break;
  }
  Value result = all(mask.kind == Mask::Kind::And);
  for (const Mask &part : mask.parts) {
    Value value = evaluate(code, part, place, firstKey, lanes, inside);
    result = mask.kind == Mask::Kind::And ? Value(arith::AndIOp::create(builder, result, value)) : Value(arith::OrIOp::create(builder, result, value));
  }
  return result;
}

Value AttentionMask::others(FunctionCode &code, Place place, Value firstKey, int64_t lanes, Value inside) const {
  Value result;
  for (const Mask &mask : rest) {
    Value value = evaluate(code, mask, place, firstKey, lanes, inside);
    result = result ? Value(arith::AndIOp::create(code.builder, result, value)) : value;
  }
  return result;
}

} // namespace tenon::cpu
