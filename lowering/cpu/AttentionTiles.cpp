// Which tiles of queries x keys masks hide: interval arithmetic over the tile. What it cannot tell counts as visible.
#include "lowering/code/FormParts.h"
#include "lowering/cpu/AttentionMask.h"
#include "lowering/cpu/Emitter.h"

using namespace mlir;

namespace tenon::cpu {

bool IndexOperands::isBounded(const MaskForm &form) const {
  const bool known = llvm::none_of(form.terms, [&](const MaskForm::Term &term) {
    return dependsOn(term.operand, kQueryLabel) || dependsOn(term.operand, kKeyLabel);
  });
  return known && llvm::all_of(form.parts, [&](const MaskForm::Part &part) { return !part.isQuotient || isBounded(part.of); });
}

bool IndexOperands::decides(const Mask &mask, bool negated) const {
  switch (mask.kind) {
  case Mask::Kind::Holds:
    return !dependsOn(mask.operand, kQueryLabel) && !dependsOn(mask.operand, kKeyLabel);
  case Mask::Kind::AtMostZero:
  case Mask::Kind::IsZero:
    return isBounded(mask.form);
  case Mask::Kind::Not:
    return decides(mask.parts[0], !negated);
  case Mask::Kind::And:
  case Mask::Kind::Or:
    break;
  }
  auto part = [&](const Mask &each) { return decides(each, negated); };
  return (mask.kind == Mask::Kind::And) != negated ? llvm::any_of(mask.parts, part) : llvm::all_of(mask.parts, part);
}

std::optional<Interval> IndexOperands::over(FunctionCode &code, const MaskForm &form, Value batch, Interval queries,
                                            Interval keys) const {
  auto &builder = code.builder;
  Emitter emit(builder, builder.getLoc());
  if (!isBounded(form))
    return std::nullopt;
  Value rest = code.size(form.rest);
  for (const MaskForm::Term &term : form.terms)
    rest = emit.add(rest, emit.mul(scalar(code, term.operand, {batch, queries.low}), term.coefficient));
  Interval sum{rest, rest};
  auto plus = [&](Interval term, int64_t times) {
    sum.low = emit.add(sum.low, emit.mul(times < 0 ? term.high : term.low, times));
    sum.high = emit.add(sum.high, emit.mul(times < 0 ? term.low : term.high, times));
  };
  if (form.query != 0)
    plus(queries, form.query);
  if (form.key != 0)
    plus(keys, form.key);
  for (const MaskForm::Part &part : form.parts) {
    Interval value{emit.constant(0), emit.constant(part.divisor - 1)}; // of a remainder
    if (std::optional<Interval> of = over(code, part.of, batch, queries, keys)) {
      MaskForm::Part quotient = part;
      quotient.isQuotient = true;
      const Interval quotients{partOfForm(builder, quotient, of->low), partOfForm(builder, quotient, of->high)};
      if (part.isQuotient) {
        value = quotients;
      } else { // they rise within one period
        Value rises = emit.equal(quotients.low, quotients.high);
        value.low = emit.select(rises, partOfForm(builder, part, of->low), value.low);
        value.high = emit.select(rises, partOfForm(builder, part, of->high), value.high);
      }
    }
    plus(value, part.coefficient);
  }
  return sum;
}

TileVisibility IndexOperands::over(FunctionCode &code, const Mask &mask, Value batch, Interval queries, Interval keys) const {
  Emitter emit(code.builder, code.builder.getLoc());
  const TileVisibility unknown{emit.flag(true), emit.flag(false)};
  switch (mask.kind) {
  case Mask::Kind::Holds: {
    if (!decides(mask))
      return unknown;
    Value holds = emit.compare(arith::CmpIPredicate::ne, scalar(code, mask.operand, {batch, queries.low}), emit.constant(0));
    return {holds, holds};
  }
  case Mask::Kind::AtMostZero:
  case Mask::Kind::IsZero: {
    std::optional<Interval> values = over(code, mask.form, batch, queries, keys);
    if (!values)
      return unknown;
    Value zero = emit.constant(0), someBelow = emit.lessEqual(values->low, zero), allBelow = emit.lessEqual(values->high, zero);
    if (mask.kind == Mask::Kind::AtMostZero)
      return {someBelow, allBelow};
    return {emit.select(someBelow, emit.lessEqual(zero, values->high), emit.flag(false)),
            emit.select(allBelow, emit.lessEqual(zero, values->low), emit.flag(false))};
  }
  case Mask::Kind::Not: {
    auto inverse = [&](Value truth) { return emit.select(truth, emit.flag(false), emit.flag(true)); };
    TileVisibility part = over(code, mask.parts[0], batch, queries, keys);
    return {inverse(part.all), inverse(part.some)};
  }
  case Mask::Kind::And:
  case Mask::Kind::Or:
    break;
  }
  const bool isAnd = mask.kind == Mask::Kind::And;
  TileVisibility result{emit.flag(isAnd), emit.flag(isAnd)};
  auto join = [&](Value a, Value b) { return isAnd ? emit.select(a, b, emit.flag(false)) : emit.select(a, emit.flag(true), b); };
  for (const Mask &each : mask.parts) {
    TileVisibility part = over(code, each, batch, queries, keys);
    result = {join(result.some, part.some), join(result.all, part.all)};
  }
  return result;
}

bool AttentionMask::skipsTiles() const {
  return llvm::any_of(ofTiles, [&](const Mask &mask) { return indices.decides(mask); });
}

TileVisibility AttentionMask::ofTile(FunctionCode &code, Value batch, Interval queries, Interval keys) const {
  Mask all;
  all.parts.assign(ofTiles.begin(), ofTiles.end());
  return indices.over(code, all, batch, queries, keys);
}

} // namespace tenon::cpu
