#include "lowering/code/MaskTiles.h"
#include "lowering/artifact/Scalars.h"
#include "lowering/code/FormParts.h"

using namespace mlir;

namespace tenon {

static bool isOfBatch(OperandLabels labels, int64_t operand) {
  return !llvm::is_contained(labels[size_t(operand)], kQueryLabel) && !llvm::is_contained(labels[size_t(operand)], kKeyLabel);
}

static bool isBounded(OperandLabels labels, const MaskForm &form) {
  return llvm::all_of(form.terms, [&](const MaskForm::Term &term) { return isOfBatch(labels, term.operand); }) &&
         llvm::all_of(form.parts, [&](const MaskForm::Part &part) { return !part.isQuotient || isBounded(labels, part.of); });
}

bool isOfPairs(OperandLabels labels, int64_t operand) {
  return labels[size_t(operand)] == llvm::SmallVector<int64_t>{kQueryLabel, kKeyLabel};
}

bool decidesTiles(OperandLabels labels, const Mask &mask, bool negated, bool readsPairs) {
  switch (mask.kind) {
  case Mask::Kind::Holds:
    return isOfBatch(labels, mask.operand) || (readsPairs && isOfPairs(labels, mask.operand));
  case Mask::Kind::AtMostZero:
  case Mask::Kind::IsZero:
    return isBounded(labels, mask.form);
  case Mask::Kind::Not:
    return decidesTiles(labels, mask.parts[0], !negated, readsPairs);
  case Mask::Kind::And:
  case Mask::Kind::Or:
    break;
  }
  auto part = [&](const Mask &each) { return decidesTiles(labels, each, negated, readsPairs); };
  return (mask.kind == Mask::Kind::And) != negated ? llvm::any_of(mask.parts, part) : llvm::all_of(mask.parts, part);
}

static Value flag(ImplicitLocOpBuilder &builder, bool value) {
  return arith::ConstantOp::create(builder, builder.getBoolAttr(value));
}
static Value select(ImplicitLocOpBuilder &builder, Value condition, Value a, Value b) {
  return builder.createOrFold<arith::SelectOp>(condition, a, b);
}
static Value atMost(ImplicitLocOpBuilder &builder, Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, a, b);
}

/// Remainders rise within one period.
Interval MaskTiles::ofPart(const MaskForm::Part &part, Interval queries, Interval keys) const {
  Interval value{constant(builder, 0), constant(builder, part.divisor - 1)};
  std::optional<Interval> of = over(part.of, queries, keys);
  if (!of)
    return value;
  MaskForm::Part quotient = part;
  quotient.isQuotient = true;
  const Interval quotients{partOfForm(builder, quotient, of->low), partOfForm(builder, quotient, of->high)};
  if (part.isQuotient)
    return quotients;
  Value rises = builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, quotients.low, quotients.high);
  return {select(builder, rises, partOfForm(builder, part, of->low), value.low),
          select(builder, rises, partOfForm(builder, part, of->high), value.high)};
}

std::optional<Interval> MaskTiles::over(const MaskForm &form, Interval queries, Interval keys) const {
  if (!isBounded(labels, form))
    return std::nullopt;
  Value rest = size(form.rest);
  for (const MaskForm::Term &term : form.terms)
    rest = add(builder, rest, multiply(builder, ofBatch(term.operand), constant(builder, term.coefficient)));
  Interval sum{rest, rest};
  auto plus = [&](Interval term, int64_t times) {
    Value factor = constant(builder, times);
    sum.low = add(builder, sum.low, multiply(builder, times < 0 ? term.high : term.low, factor));
    sum.high = add(builder, sum.high, multiply(builder, times < 0 ? term.low : term.high, factor));
  };
  if (form.query != 0)
    plus(queries, form.query);
  if (form.key != 0)
    plus(keys, form.key);
  for (const MaskForm::Part &part : form.parts)
    plus(ofPart(part, queries, keys), part.coefficient);
  return sum;
}

TileVisibility MaskTiles::over(const Mask &mask, Interval queries, Interval keys) const {
  Value no = flag(builder, false), yes = flag(builder, true), zero = constant(builder, 0);
  const TileVisibility unknown{yes, no};
  switch (mask.kind) {
  case Mask::Kind::Holds: {
    if (ofPairs && isOfPairs(labels, mask.operand))
      return ofPairs(mask.operand, queries, keys);
    if (!isOfBatch(labels, mask.operand))
      return unknown;
    Value holds = builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, ofBatch(mask.operand), zero);
    return {holds, holds};
  }
  case Mask::Kind::AtMostZero:
  case Mask::Kind::IsZero: {
    std::optional<Interval> values = over(mask.form, queries, keys);
    if (!values)
      return unknown;
    Value someBelow = atMost(builder, values->low, zero), allBelow = atMost(builder, values->high, zero);
    if (mask.kind == Mask::Kind::AtMostZero)
      return {someBelow, allBelow};
    return {select(builder, someBelow, atMost(builder, zero, values->high), no),
            select(builder, allBelow, atMost(builder, zero, values->low), no)};
  }
  case Mask::Kind::Not: {
    const TileVisibility part = over(mask.parts[0], queries, keys);
    return {select(builder, part.all, no, yes), select(builder, part.some, no, yes)};
  }
  case Mask::Kind::And:
  case Mask::Kind::Or:
    break;
  }
  return joined(mask.kind == Mask::Kind::And, mask.parts, queries, keys);
}

TileVisibility MaskTiles::joined(bool isAnd, ArrayRef<Mask> masks, Interval queries, Interval keys) const {
  TileVisibility result{flag(builder, isAnd), flag(builder, isAnd)};
  auto join = [&](Value a, Value b) {
    return isAnd ? select(builder, a, b, flag(builder, false)) : select(builder, a, flag(builder, true), b);
  };
  for (const Mask &each : masks) {
    const TileVisibility part = over(each, queries, keys);
    result = {join(result.some, part.some), join(result.all, part.all)};
  }
  return result;
}

TileVisibility MaskTiles::over(ArrayRef<Mask> masks, Interval queries, Interval keys) const {
  return joined(true, masks, queries, keys);
}

} // namespace tenon
