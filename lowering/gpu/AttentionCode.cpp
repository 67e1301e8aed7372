// Fused attention: operands, elements, masks, places in tables, ranges, dropout.
#include "lowering/gpu/AttentionCode.h"
#include "dialect/ElementModel.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/FormParts.h"
#include "lowering/code/Reductions.h"
#include "lowering/gpu/MaskWords.h"

using namespace mlir;

namespace tenon::gpu {

static SmallVector<AffineExpr> sizesOfTensor(Value tensor) { return sizesOf(cast<RankedTensorType>(tensor.getType())); }

AffineExpr AttentionOperands::batches() const { return sizesOfTensor(query)[0]; }
AffineExpr AttentionOperands::queries() const { return sizesOfTensor(query)[1]; }
AffineExpr AttentionOperands::keys() const { return sizesOfTensor(key)[1]; }
AffineExpr AttentionOperands::rowsOfTables() const { return sizesOfTensor(anyTable())[0]; }

void AttentionOperands::read(ArrayAttr mask, ArrayAttr place, ArrayAttr indexLabels, Attribute selection) {
  std::string problem; // none: the op is verified
  for (Attribute attribute : mask)
    masks.push_back(*toMask(attribute, problem));
  for (Attribute attribute : place)
    places.push_back(*toForm(attribute, problem));
  for (Attribute attribute : indexLabels)
    labels.push_back(labelsOf(attribute));
  if (selection)
    select = *toMask(selection, problem);
}

SmallVector<Value> AttentionOperands::tensors() const {
  SmallVector<Value> result{query, key, value};
  for (Value optional : {positionQuery, table, selectedScores, scoreTable, valueTable, positionKey, keyTable})
    if (optional)
      result.push_back(optional);
  llvm::append_range(result, indexOperands);
  return result;
}

bool AttentionOperands::dependsOn(const MaskForm &form, int64_t label) const {
  bool depends = false;
  forEachOperand(form, [&](int64_t operand) { depends |= llvm::is_contained(labels[operand], label); });
  return depends;
}

void collectParts(ArrayRef<Mask> masks, SmallVectorImpl<Mask> &parts) {
  for (const Mask &mask : masks)
    if (mask.kind == Mask::Kind::And)
      collectParts(mask.parts, parts);
    else
      parts.push_back(mask);
}

SmallVector<Mask> AttentionOperands::testsOfTiles() const {
  SmallVector<Mask> parts;
  collectParts(masks, parts);
  llvm::erase_if(parts, [&](const Mask &mask) {
    SmallVector<MaskForm> bounds;
    collectBounds(mask, bounds);
    return !bounds.empty() && (std::abs(bounds[0].key) == 1 || std::abs(bounds[0].query) == 1) &&
           !dependsOn(bounds[0], kKeyLabel) && !dependsOn(bounds[0], kQueryLabel);
  });
  return parts;
}

static int64_t partsIn(const Mask &mask) {
  int64_t count = 0;
  forEachForm(mask.form, [&](const MaskForm &form) { count += int64_t(form.parts.size()); });
  for (const Mask &part : mask.parts)
    count += partsIn(part);
  return count;
}

/// Comparisons and truth values of a mask.
static int64_t testsIn(const Mask &mask) {
  int64_t count = mask.parts.empty() ? 1 : 0;
  for (const Mask &part : mask.parts)
    count += testsIn(part);
  return count;
}

bool AttentionOperands::testsMuch() const {
  constexpr int64_t mostParts = 3, mostTests = 6; // quotients and remainders; with UniLM's eight the assembler spills
  int64_t parts = 0, tests = 0;
  for (const Mask &mask : testsOfTiles()) {
    parts += partsIn(mask);
    tests += testsIn(mask);
  }
  return parts > mostParts || tests > mostTests;
}

bool AttentionOperands::areTestsOfPlaces() const {
  return !testsMuch() && llvm::all_of(testsOfTiles(), [&](const Mask &mask) {
    return decidesTiles(labels, mask) && decidesTiles(labels, mask, /*negated=*/true);
  });
}

AttentionCode::AttentionCode(KernelCode &code, const AttentionOperands &operands)
    : code(code), builder(code.builder), operands(operands), element(operands.element()), scalars(code, ValueRange()),
      queries(code.size(operands.queries())), keys(code.size(operands.keys())), drops(operands.threshold() > 0) {
  if (operands.anyTable())
    rows = code.size(operands.rowsOfTables());
}

Value AttentionCode::enter(int64_t heads, Value tiles, Value &ofHeads, Value which) {
  which = which ? which : code.block();
  Value rest = divide(builder, which, tiles), count = number(heads);
  ofHeads = remainder(builder, rest, count);
  batch = divide(builder, rest, count);
  return remainder(builder, which, tiles);
}

/// Each thread combines with the one whose number differs in one bit: all get the same bits.
Value AttentionCode::across(Reduction kind, Value value, int64_t count) {
  for (int64_t lane = 1; lane < count; lane *= 2) {
    Value partner = code.ofPartner(value, lane);
    if (kind == Reduction::max)
      value = select(arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, partner, value), partner, value);
    else
      value = arith::AddFOp::create(builder, value, partner);
  }
  return value;
}

Value AttentionCode::offsetOfQuery(Value query, int64_t width) {
  Value index = add(builder, multiply(builder, batch, queries), query);
  return multiply(builder, add(builder, multiply(builder, index, number(operands.heads())), head), number(width));
}
Value AttentionCode::offsetOfKey(Value key, int64_t width) {
  Value index = add(builder, multiply(builder, batch, keys), key);
  return multiply(builder, add(builder, multiply(builder, index, number(operands.keyHeads())), keyHead), number(width));
}
Value AttentionCode::offsetOfPlace(Value place, int64_t width) {
  return multiply(builder, add(builder, multiply(builder, place, number(operands.heads())), head), number(width));
}
Value AttentionCode::statistic(Value tensor, Value query) {
  Value index = add(builder, multiply(builder, batch, number(operands.heads())), head);
  return elementAddress(builder, code.pointer(tensor), element, add(builder, multiply(builder, index, queries), query));
}

Value AttentionCode::widened(Value value, bool isRounded) {
  if (isRounded)
    value = arith::TruncFOp::create(builder, operands.storage(), value);
  return value.getType() == element ? value : arith::ExtFOp::create(builder, element, value).getResult();
}
Value AttentionCode::load(Value tensor, Value index) {
  return widened(scalars.load(storedType(tensor), code.pointer(tensor), index), rounds(tensor));
}
void AttentionCode::store(Value tensor, Value index, Value value) {
  const Type stored = storedType(tensor);
  if (stored != element)
    value = arith::TruncFOp::create(builder, stored, value);
  scalars.store(stored, code.pointer(tensor), index, value);
}

Value AttentionCode::elementOf(int64_t operand, Value query, Value key) {
  Value tensor = operands.indexOperands[size_t(operand)];
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> indices = llvm::map_to_vector(operands.labels[size_t(operand)], [&](int64_t label) {
    return label == kBatchLabel ? batch : label == kQueryLabel ? query : key;
  });
  return scalars.load(type.getElementType(), code.pointer(tensor), scalars.linearIndex(type, indices));
}

Value AttentionCode::integer(int64_t operand, Value query, Value key) {
  Value value = elementOf(operand, query, key);
  Type i64 = builder.getI64Type();
  if (value.getType().isInteger(64))
    return value;
  if (value.getType().isInteger(1))
    return arith::ExtUIOp::create(builder, i64, value);
  return arith::ExtSIOp::create(builder, i64, value);
}

Value AttentionCode::form(const MaskForm &form, Value query, Value key) {
  Value sum = code.size(form.rest);
  if (form.query)
    sum = add(builder, sum, multiply(builder, query, number(form.query)));
  if (form.key)
    sum = add(builder, sum, multiply(builder, key, number(form.key)));
  for (const MaskForm::Term &term : form.terms)
    sum = add(builder, sum, multiply(builder, integer(term.operand, query, key), number(term.coefficient)));
  for (const MaskForm::Part &part : form.parts)
    sum = add(builder, sum,
              multiply(builder, partOfForm(builder, part, this->form(part.of, query, key)), number(part.coefficient)));
  return sum;
}

Value AttentionCode::test(const Mask &mask, Value query, Value key) {
  Value truth = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  switch (mask.kind) {
  case Mask::Kind::Holds:
    return elementOf(mask.operand, query, key);
  case Mask::Kind::AtMostZero:
  case Mask::Kind::IsZero:
    return arith::CmpIOp::create(builder, mask.kind == Mask::Kind::IsZero ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle,
                                 form(mask.form, query, key), number(0));
  case Mask::Kind::Not:
    return arith::XOrIOp::create(builder, test(mask.parts[0], query, key), truth);
  case Mask::Kind::And:
  case Mask::Kind::Or:
    break;
  }
  const bool isAnd = mask.kind == Mask::Kind::And;
  Value result = isAnd ? truth : arith::ConstantOp::create(builder, builder.getBoolAttr(false)).getResult();
  for (const Mask &part : mask.parts) {
    Value value = test(part, query, key);
    result = isAnd ? builder.createOrFold<arith::AndIOp>(result, value) : builder.createOrFold<arith::OrIOp>(result, value);
  }
  return result;
}

Value AttentionCode::visible(Value query, Value key) {
  Value all = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  for (const Mask &mask : operands.masks)
    all = both(all, test(mask, query, key));
  return all;
}

Value AttentionCode::isSelected(Value query, Value key) { return test(*operands.select, query, key); }

SmallVector<Value> AttentionCode::placesOf(Value query, Value key) {
  SmallVector<Value> places;
  if (operands.placeCode) {
    Block &block = operands.placeCode->front();
    for (BlockArgument argument : block.getArguments())
      if (!argument.use_empty())
        scalars.bind(argument, elementOf(argument.getArgNumber(), query, key));
    scalars.emitOps(block);
    for (Value result : block.getTerminator()->getOperands()) {
      Value place = scalars.get(result);
      places.push_back(place.getType().isInteger(64) ? place
                                                     : Value(arith::ExtSIOp::create(builder, builder.getI64Type(), place)));
    }
  } else if (!operands.places.empty()) {
    Value place = form(operands.places[0], query, key);
    if (operands.back)
      place = select(elementOf(*operands.back, query, key), form(operands.places[1], query, key), place);
    places.push_back(place);
  }
  Value last = rows ? subtract(builder, rows, number(1)) : Value();
  for (Value &place : places) // of a masked pair it may be anything
    place = maximum(builder, minimum(builder, place, last), number(0));
  return places;
}

void collectBounds(const Mask &mask, SmallVectorImpl<MaskForm> &bounds) {
  if (mask.kind == Mask::Kind::And)
    for (const Mask &part : mask.parts)
      collectBounds(part, bounds);
  else if (mask.kind == Mask::Kind::AtMostZero && mask.form.isLinear())
    bounds.push_back(mask.form);
  else if (mask.kind == Mask::Kind::Not && mask.parts[0].kind == Mask::Kind::AtMostZero && mask.parts[0].form.isLinear())
    bounds.push_back(mask.parts[0].form.negated());
}

IndexRange AttentionCode::seen(bool ofKeys, Value first, Value last, int64_t side) {
  IndexRange range{number(0), ofKeys ? keys : queries};
  SmallVector<MaskForm> bounds;
  for (const Mask &mask : operands.masks)
    collectBounds(mask, bounds);
  for (const MaskForm &bound : bounds) {
    const int64_t sign = ofKeys ? bound.key : bound.query, other = ofKeys ? bound.query : bound.key;
    if ((sign != 1 && sign != -1) || operands.dependsOn(bound, kKeyLabel) || operands.dependsOn(bound, kQueryLabel))
      continue;
    MaskForm fixed = bound;
    fixed.query = fixed.key = 0;
    Value least = add(builder, form(fixed, {}, {}), multiply(builder, other < 0 ? last : first, number(other)));
    if (sign == 1)
      range.high = minimum(builder, range.high, subtract(builder, number(1), least));
    else
      range.low = maximum(builder, range.low, least);
  }
  Value ofSide = number(side);
  range.low = multiply(builder, divide(builder, range.low, ofSide), ofSide);
  return range;
}

TileVisibility AttentionCode::visibilityOf(ArrayRef<Mask> masks, Interval ofQueries, Interval ofKeys) {
  auto size = [&](AffineExpr formula) { return code.size(formula); };
  auto ofBatch = [&](int64_t operand) { return integer(operand, {}, {}); };
  auto ofPairs = [&](int64_t operand, Interval queries, Interval keys) {
    return visibilityByWords(*this, operand, queries, keys);
  };
  return MaskTiles(builder, operands.labels, size, ofBatch, operands.stored.empty() ? MaskTiles::OfPairs() : ofPairs)
      .over(masks, ofQueries, ofKeys);
}

SeenTiles AttentionCode::seenTiles(bool ofKeys, Interval own, int64_t side) {
  SmallVector<Mask> tests = operands.testsOfTiles();
  if (llvm::none_of(tests, [&](const Mask &mask) { return operands.decides(mask); }))
    return {};
  return [this, ofKeys, own, side, tests](Value first) {
    const Interval met{first, within(add(builder, first, number(side - 1)), ofKeys ? keys : queries)};
    return visibilityOf(tests, ofKeys ? own : met, ofKeys ? met : own).some;
  };
}

std::pair<Value, Value> AttentionCode::finishScore(Value sum, Value query, Value key, ArrayRef<Value> places) {
  if (operands.selectedScores) {
    Value which = arith::ExtUIOp::create(builder, builder.getI64Type(), isSelected(query, key));
    Value at = add(builder, offsetOfQuery(query, 2), which);
    sum = arith::AddFOp::create(builder, sum, load(operands.selectedScores, at));
  }
  if (operands.scoreTable)
    for (Value place : places)
      sum = arith::AddFOp::create(builder, sum, load(operands.scoreTable, offsetOfPlace(place, 1)));
  sum = arith::MulFOp::create(builder, sum, real(operands.scale));
  if (!operands.step)
    return {sum, {}};
  Block &block = operands.step->front();
  scalars.bind(block.getArgument(0), sum);
  scalars.emitOps(block);
  return {scalars.get(block.getTerminator()->getOperand(0)), scalars.get(block.getTerminator()->getOperand(1))};
}

Value AttentionCode::firstDrawn(Value query) {
  if (!operands.drawnAt)
    return multiply(builder, offsetOfQuery(query, 1), keys);
  Value place = add(builder, multiply(builder, batch, code.size(operands.drawnOf)), integer(*operands.drawnAt, query, {}));
  return multiply(builder, offsetOfPlace(place, 1), keys);
}

Value AttentionCode::keeps(Value query, Value key) {
  Value index = firstDrawn(query);
  Value depth = operands.depth ? code.scalar(operands.depth) : Value();
  return scalars.drawKeep(add(builder, index, key), depth, operands.site, operands.threshold());
}

} // namespace tenon::gpu
