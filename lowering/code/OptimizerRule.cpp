// This file is compiled with -Werror=switch: an ingredient of the table of rules that has no code here is no rule silently
// computed as another one.
#include "lowering/code/OptimizerRule.h"
#include "dialect/ElementModel.h"
#include "lowering/artifact/Scalars.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using tenon::schema::Correction;
using tenon::schema::Decay;
using tenon::schema::Moments;
using tenon::schema::Trust;

namespace tenon {

/// Whether the second moment is a fading mean of squares: it is corrected, and the direction is divided by its root.
static bool averagesSquares(Moments moments) {
  switch (moments) {
  case Moments::Squares:
    return true;
  case Moments::Momentum:
  case Moments::Sign:
  case Moments::Largest:
  case Moments::Factored:
    return false;
  }
  llvm_unreachable("moments without code");
}

/// Short forms for reals.
static Value sum(ImplicitLocOpBuilder &builder, Value a, Value b) { return arith::AddFOp::create(builder, a, b); }
static Value minus(ImplicitLocOpBuilder &builder, Value a, Value b) { return arith::SubFOp::create(builder, a, b); }
static Value times(ImplicitLocOpBuilder &builder, Value a, Value b) { return arith::MulFOp::create(builder, a, b); }
static Value over(ImplicitLocOpBuilder &builder, Value a, Value b) { return arith::DivFOp::create(builder, a, b); }

Value RuleCode::real(double value) { return arith::ConstantOp::create(builder, builder.getF64FloatAttr(value)); }
Value RuleCode::spread(Value scalar) {
  const Type element = getElementTypeOrSelf(type);
  scalar = convertReal(builder, builder.getLoc(), scalar, element);
  return type == element ? scalar : vector::BroadcastOp::create(builder, type, scalar).getResult();
}

RuleNumbers ruleNumbers(ImplicitLocOpBuilder &builder, OptimizeOp op, Value step, const LibraryCall &library) {
  auto real = [&](double value) -> Value { return arith::ConstantOp::create(builder, builder.getF64FloatAttr(value)); };
  Value before = divide(builder, step, constant(builder, op.accumulate())); // batches to updates
  RuleNumbers numbers{sum(builder, arith::UIToFPOp::create(builder, builder.getF64Type(), before), real(1)), {}, {}};
  auto fading = [&](StringRef beta) {
    return minus(builder, real(1), library("pow", {real(settingOf(op, beta)), numbers.updates}));
  };
  if (formOf(op).correction == Correction::None)
    return numbers;
  numbers.fading1 = fading("beta1");
  if (averagesSquares(ruleOf(op).moments))
    numbers.fading2 = fading("beta2");
  return numbers;
}

RuleCode::RuleCode(ImplicitLocOpBuilder &builder, OptimizeOp op, Type type, const RuleNumbers &numbers, Value rate, Value decay)
    : builder(builder), op(op), type(type), rule(ruleOf(op)), form(formOf(op)), updates(numbers.updates) {
  const double b1 = settingOf(op, "beta1"), b2 = settingOf(op, "beta2");
  const bool usesSecond = averagesSquares(rule.moments);
  Value stepRate = rate;
  switch (form.correction) {
  case Correction::None:
    break;
  case Correction::Each:
    if (form.decay == Decay::Direction || form.trust != Trust::None) // the rate is that of the decay, too
      firstScale = spread(over(builder, real(1), numbers.fading1));
    else
      stepRate = over(builder, rate, numbers.fading1);
    if (usesSecond)
      secondScale = spread(over(builder, real(1), numbers.fading2));
    break;
  case Correction::Rate:
    stepRate = over(builder, rate, numbers.fading1);
    if (usesSecond)
      stepRate = times(builder, stepRate, math::SqrtOp::create(builder, numbers.fading2));
    break;
  case Correction::Rectified:
    stepRate = times(builder, over(builder, rate, numbers.fading1), rectification(numbers));
    break;
  }
  rates = spread(stepRate);
  decays = spread(decay);
  kept = spread(minus(builder, real(1), times(builder, rate, decay)));
  beta1 = spread(b1);
  rest1 = spread(1 - b1);
  beta2 = spread(b2);
  rest2 = spread(1 - b2);
  eps = spread(settingOf(op, "eps"));
  mass = spread(settingOf(op, "momentum"));
}

/// What is not a number while too few gradients are averaged is not taken.
Value RuleCode::rectification(const RuleNumbers &numbers) {
  const double most = 2 / (1 - settingOf(op, "beta2")) - 1;
  Value share = over(builder, minus(builder, real(1), numbers.fading2), numbers.fading2);
  Value averaged = minus(builder, real(most), times(builder, times(builder, real(2), updates), share));
  auto beyond = [&](double count) { return minus(builder, averaged, real(count)); };
  Value known = over(builder, times(builder, times(builder, beyond(4), beyond(2)), real(most)),
                     times(builder, real((most - 4) * (most - 2)), averaged));
  isRectified = arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, averaged, real(5));
  return arith::SelectOp::create(builder, isRectified, math::SqrtOp::create(builder, times(builder, known, numbers.fading2)),
                                 real(1));
}

/// The first sum is the gradient itself, whatever is damped later.
Value RuleCode::momentum(Value g, Value before, Value &sums) {
  if (!before)
    return g;
  Value given = g;
  if (const double damped = settingOf(op, "dampening"); damped > 0) {
    Value isFirst = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, updates, real(1));
    given = times(builder, spread(arith::SelectOp::create(builder, isFirst, real(1), real(1 - damped))), g);
  }
  sums = sum(builder, times(builder, mass, before), given);
  return op.isSet("nesterov") ? sum(builder, g, times(builder, mass, sums)) : sums;
}

Value RuleCode::faded(Value beta, Value before, Value rest, Value given) {
  return sum(builder, times(builder, beta, before), times(builder, rest, given));
}

/// -1, 0 or 1; what is not a number stays that.
Value RuleCode::sign(Value x) {
  auto chosen = [&](arith::CmpFPredicate predicate, double value, Value otherwise) -> Value {
    Value holds = arith::CmpFOp::create(builder, predicate, x, spread(0.0));
    return arith::SelectOp::create(builder, holds, spread(value), otherwise);
  };
  return chosen(arith::CmpFPredicate::OGT, 1, chosen(arith::CmpFPredicate::OLT, -1, x));
}

RuleCode::Step RuleCode::step(Value p, Value g, ElementMoments before) {
  Step result;
  if (form.decay == Decay::Gradient)
    g = sum(builder, g, times(builder, decays, p));
  switch (rule.moments) {
  case Moments::Momentum:
    result.direction = momentum(g, before.first, result.moments.first);
    return result;
  case Moments::Sign:
    result.direction = sign(faded(beta1, before.first, rest1, g));
    result.moments.first = faded(beta2, before.first, rest2, g);
    return result;
  case Moments::Squares:
    result.moments.second = faded(beta2, before.second, rest2, times(builder, g, g));
    break;
  case Moments::Largest:
    result.moments.second = arith::MaximumFOp::create(builder, times(builder, beta2, before.second),
                                                      sum(builder, math::AbsFOp::create(builder, g), eps));
    break;
  case Moments::Factored:
    llvm_unreachable("FactoredRule.cpp has such rules");
  }
  result.moments.first = faded(beta1, before.first, rest1, g);
  result.direction = direction(p, result.moments);
  return result;
}

Value RuleCode::direction(Value p, ElementMoments moments) {
  Value m = firstScale ? times(builder, moments.first, firstScale) : moments.first, v = moments.second;
  if (averagesSquares(rule.moments))
    v = sum(builder, math::SqrtOp::create(builder, secondScale ? times(builder, v, secondScale) : v), eps);
  Value result = over(builder, m, v);
  if (isRectified)
    result = arith::SelectOp::create(builder, isRectified, result, m);
  return form.decay == Decay::Direction ? sum(builder, result, times(builder, decays, p)) : result;
}

Value RuleCode::comparedDirection(Value p, ElementMoments moments, Value direction) {
  if (form.trust != Trust::RatioUpTo10)
    return direction;
  Value m = firstScale ? times(builder, moments.first, firstScale) : moments.first;
  Value v = secondScale ? times(builder, moments.second, secondScale) : moments.second;
  Value quotient = over(builder, m, math::SqrtOp::create(builder, sum(builder, v, eps)));
  return sum(builder, quotient, times(builder, spread(settingOf(op, rule.decay)), p));
}

Value RuleCode::moved(Value p, Value direction) {
  switch (form.decay) {
  case Decay::Before:
    p = times(builder, p, kept);
    break;
  case Decay::Gradient:
  case Decay::Direction:
  case Decay::After:
    break;
  case Decay::Scaled:
    llvm_unreachable("FactoredRule.cpp has such rules");
  }
  p = minus(builder, p, times(builder, rates, direction));
  return form.decay == Decay::After ? times(builder, p, kept) : p;
}

Value trustRatio(ImplicitLocOpBuilder &builder, Trust trust, Value parameters, Value directions, Value gradients, Value decay) {
  auto real = [&](double value) -> Value { return arith::ConstantOp::create(builder, builder.getF64FloatAttr(value)); };
  auto isAbove0 = [&](Value norm) -> Value { return arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, norm, real(0)); };
  auto chosen = [&](Value condition, Value a) -> Value { return arith::SelectOp::create(builder, condition, a, real(1)); };
  Value both = arith::AndIOp::create(builder, isAbove0(parameters), isAbove0(directions));
  switch (trust) {
  case Trust::None:
    return real(1);
  case Trust::All:
    return chosen(both, over(builder, parameters, directions));
  case Trust::NormUpTo10:
    return chosen(both, over(builder, arith::MinimumFOp::create(builder, parameters, real(10)), directions));
  case Trust::Decayed:
    return chosen(arith::AndIOp::create(builder, both, isAbove0(decay)), over(builder, parameters, directions));
  case Trust::RatioUpTo10:
    return chosen(arith::AndIOp::create(builder, isAbove0(parameters), isAbove0(gradients)),
                  arith::MinimumFOp::create(builder, over(builder, parameters, directions), real(10)));
  }
  llvm_unreachable("a kind of ratio without code");
}

} // namespace tenon
