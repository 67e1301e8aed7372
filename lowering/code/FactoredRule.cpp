#include "lowering/code/FactoredRule.h"
#include "dialect/ElementModel.h"
#include "lowering/artifact/Scalars.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using tenon::schema::Bound;
using tenon::schema::Decay;

namespace tenon {

static Value sum(ImplicitLocOpBuilder &builder, Value a, Value b) { return arith::AddFOp::create(builder, a, b); }
static Value minus(ImplicitLocOpBuilder &builder, Value a, Value b) { return arith::SubFOp::create(builder, a, b); }
static Value times(ImplicitLocOpBuilder &builder, Value a, Value b) { return arith::MulFOp::create(builder, a, b); }
static Value over(ImplicitLocOpBuilder &builder, Value a, Value b) { return arith::DivFOp::create(builder, a, b); }
static Value root(ImplicitLocOpBuilder &builder, Value a) { return math::SqrtOp::create(builder, a); }
static Value larger(ImplicitLocOpBuilder &builder, Value a, Value b) { return arith::MaximumFOp::create(builder, a, b); }

/// `Least` is bounded by the distance of 1 to the next number of the parameters' type, as PyTorch has it.
static double epsilonOf(OptimizeOp op, Bound bound, Type element) {
  const double next = std::ldexp(1.0, -(cast<FloatType>(element).getFPMantissaWidth() - 1));
  return op.number("eps", bound == Bound::Least ? next : 1e-30);
}

Value factoredRest(ImplicitLocOpBuilder &builder, OptimizeOp op, Value updates, const LibraryCall &library) {
  Value power = arith::ConstantOp::create(builder, builder.getF64FloatAttr(-settingOf(op, "beta2_decay")));
  return library("pow", {updates, power});
}

FactoredCode::FactoredCode(ImplicitLocOpBuilder &builder, OptimizeOp op, Type element, Value updates, Value rest)
    : builder(builder), op(op), form(formOf(op)), eps(epsilonOf(op, form.bound, element)), updates(updates),
      beta2(minus(builder, real(1), rest)), rest2(rest) {}

Value FactoredCode::real(double value) { return arith::ConstantOp::create(builder, builder.getF64FloatAttr(value)); }
Value FactoredCode::like(Value value, Value other) {
  return value.getType() == other.getType() ? value : vector::BroadcastOp::create(builder, other.getType(), value).getResult();
}

Value FactoredCode::square(Value g) { return times(builder, g, g); }

Value FactoredCode::mean(Value squares, Value count) {
  Value result = over(builder, squares, like(count, squares));
  return form.bound == Bound::Added ? sum(builder, result, like(real(eps), squares)) : result;
}

Value FactoredCode::faded(Value before, Value now) {
  return sum(builder, times(builder, like(beta2, before), before), times(builder, like(rest2, now), now));
}

Value FactoredCode::rowFactor(Value mean, Value meanOfRows) {
  if (form.bound == Bound::Least)
    return over(builder, mean, larger(builder, meanOfRows, real(eps)));
  return over(builder, real(1), root(builder, over(builder, mean, meanOfRows)));
}

Value FactoredCode::columnFactor(Value mean) {
  return form.bound == Bound::Least ? mean : over(builder, like(real(1), mean), root(builder, mean));
}

Value FactoredCode::direction(Value g, Value rowFactor, Value columnFactor) {
  Value product = times(builder, like(rowFactor, columnFactor), columnFactor);
  return form.bound == Bound::Least ? direction(g, product) : times(builder, g, product);
}

Value FactoredCode::direction(Value g, Value mean) {
  if (form.bound == Bound::Least)
    mean = larger(builder, mean, like(real(eps * eps), mean));
  return over(builder, g, root(builder, mean));
}

FactoredCode::Sizes FactoredCode::sizes(Value parameters, Value directions, Value count) {
  auto ofNumbers = [&](Value squares) { return root(builder, over(builder, squares, count)); };
  auto scales = op.getSettings().getAs<BoolAttr>("scale_parameter");
  const bool isScaled = !scales || scales.getValue();
  Value scale = isScaled ? larger(builder, real(settingOf(op, "eps_scale")), ofNumbers(parameters)) : real(1);
  Value beyond = over(builder, ofNumbers(directions), real(settingOf(op, "clip_threshold")));
  return {scale, over(builder, scale, larger(builder, real(1), beyond))};
}

Value FactoredCode::rate(Value scheduled) {
  if (form.bound != Bound::Least)
    return scheduled;
  return arith::MinimumFOp::create(builder, scheduled, over(builder, real(1), root(builder, updates)));
}

Value FactoredCode::kept(Value scheduled, Value scale, Value decay) {
  Value shrinks = times(builder, scheduled, decay);
  return minus(builder, real(1), form.decay == Decay::Scaled ? times(builder, shrinks, scale) : shrinks);
}

} // namespace tenon
