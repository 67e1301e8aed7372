// Schedules of the learning rate: the curves of the table of rules (frontend/recipes/OptimizerRules.h). Compiled with
// -Werror=switch: a curve without code is no other one silently.
#include "lowering/code/LearningRate.h"
#include "dialect/OptimizeSettings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>

using namespace mlir;
using tenon::schema::Curve;

namespace tenon {
namespace {

class Schedule {
public:
  Schedule(ImplicitLocOpBuilder &builder, OptimizeOp op, const ScheduleNumbers &numbers)
      : builder(builder), op(op), rule(scheduleOf(op)), numbers(numbers), step(numbers.step), one(real(1)) {}

  Value factor() {
    readLengths();
    switch (rule.curve) {
    case Curve::Constant:
      return rising(one);
    case Curve::Power:
      return rising(above(lowest(), raised(sub(one, progress()))));
    case Curve::Cosine:
      return rising(above(lowest(), wave(progress())));
    case Curve::PowerOfAll:
      return rising(raised(sub(one, least(div(step, total), one))));
    case Curve::Product: {
      Value falling = sub(one, least(div(step, total), one));
      return warms ? mul(least(div(step, warmup), one), falling) : falling;
    }
    case Curve::CosineOfAll:
      return rising(wave(least(div(step, total), one)), arith::CmpFPredicate::OLE, step);
    case Curve::CosineLate:
      return chosen(arith::CmpFPredicate::OEQ, step, real(0), one, rising(above(lowest(), wave(least(div(step, total), one)))));
    case Curve::PowerFromFirst:
      return rising(above(lowest(), raised(sub(one, progress()))), arith::CmpFPredicate::OLE,
                    arith::MaximumFOp::create(builder, step, one));
    case Curve::Noam:
      return noam(add(step, one), setting("factor") / std::sqrt(setting("size")));
    case Curve::NoamPeak:
      return noam(add(step, one), std::sqrt(setting("warmup")));
    case Curve::NoamLate:
      return noam(step, 1);
    case Curve::InverseRoot:
      return rising(root(div(warmup, step)));
    case Curve::InverseRootOf:
      return div(one, root(arith::MaximumFOp::create(builder, step, real(setting("constant")))));
    case Curve::Steps:
      return power(real(setting("factor")), whole(div(behindStart(), updates("every"))));
    case Curve::Milestones:
      return rising(behindMilestones());
    case Curve::Restarts:
      return rising(above(lowest(), restarted()));
    case Curve::Plateau: {
      Value times = arith::UIToFPOp::create(builder, builder.getF64Type(), numbers.totalSteps()); // 0: nobody counts
      times = arith::MaximumFOp::create(builder, sub(times, one), real(0));
      return rising(arith::MaximumFOp::create(builder, power(real(setting("factor")), times), real(setting("floor"))));
    }
    }
    llvm_unreachable("a curve without code");
  }

private:
  double setting(StringRef key) { return settingOf(op, key); }

  /// Numbers of the recipe, or made of the length that the runtime knows when it has seen the data; that length is at least 1.
  void readLengths() {
    warms = setting("warmup") > 0 || op.number("warmup_share", 0) > 0;
    warmup = real(setting("warmup"));
    total = real(op.number("total", 1));
    if (!op.lengthAtStart())
      return;
    total = arith::UIToFPOp::create(builder, builder.getF64Type(), numbers.totalSteps());
    if (double share = op.number("warmup_share", 0); share > 0) {
      warmup = mul(real(share), total);
      if (rule.wholeWarmup)
        warmup = math::FloorOp::create(builder, warmup);
    }
  }
  /// s / w while s is below (or up to) w, for `begun` in the place of s; then `after`.
  Value rising(Value after, arith::CmpFPredicate below = arith::CmpFPredicate::OLT, Value begun = {}) {
    if (!warms)
      return after;
    Value risen = chosen(below, step, warmup, div(begun ? begun : step, warmup), after);
    return op.number("warmup_share", 0) > 0 ? chosen(arith::CmpFPredicate::OGT, warmup, real(0), risen, after)
                                            : risen; // whole: 0
  }
  Value progress() { return least(div(sub(step, warmup), sub(total, warmup)), one); }
  /// The share of the rate that is left at the end.
  double lowest() { return setting("end") > 0 ? setting("end") / setting("lr") : setting("floor"); }
  Value above(double low, Value shape) { return add(real(low), mul(real(1 - low), shape)); }
  Value raised(Value base) {
    const double exponent = op.getSettings().get("power") ? setting("power") : 1;
    return exponent == 1 ? base : power(base, real(exponent));
  }
  Value wave(Value share) {
    Value cosine = call("cos", {mul(real(M_PI), share)});
    return mul(real(0.5), add(one, cosine));
  }
  Value noam(Value t, double scale) {
    return mul(real(scale), least(div(one, root(t)), mul(t, real(std::pow(setting("warmup"), -1.5)))));
  }
  /// A setting that counts updates, or is a share of the length.
  Value updates(StringRef key) {
    const double share = op.number((key + "_share").str(), 0);
    return share > 0 ? mul(real(share), total) : real(setting(key));
  }
  /// Updates since the first `after`, none before.
  Value behindStart() {
    const bool waits = setting("after") > 0 || op.number("after_share", 0) > 0;
    return waits ? arith::MaximumFOp::create(builder, sub(step, updates("after")), real(0)) : step;
  }
  /// Whole ones of a quotient; a little more, since that of numbers that divide may be rounded below a whole one.
  Value whole(Value quotient) { return math::FloorOp::create(builder, add(quotient, real(1e-9))); }

  Value behindMilestones() {
    const bool shares = bool(op.getSettings().get("at_share"));
    Value factor = one;
    double reached = 1;
    for (double at : op.getSettings().getAs<DenseF64ArrayAttr>(shares ? "at_share" : "at").asArrayRef()) {
      Value done = div(step, shares ? mul(real(at), total) : real(at));
      factor = chosen(arith::CmpFPredicate::OGE, add(done, real(1e-9)), one, real(reached *= setting("factor")), factor);
    }
    return factor;
  }

  /// The cosine of the cycle that the update belongs to, the lengths of the first being 1.
  Value restarted() {
    const double growth = setting("growth"), cycles = setting("cycles");
    const double ofAll = growth == 1 ? 1 / cycles : (growth - 1) / (std::pow(growth, cycles) - 1);
    Value first = cycles > 0 ? mul(real(ofAll), sub(total, warmup)) : updates("period");
    Value place = div(sub(step, warmup), first), begin, length = one;
    if (growth == 1) {
      begin = whole(place);
    } else { // n cycles are (growth^n - 1) / (growth - 1)
      Value powers = add(one, mul(real(growth - 1), place));
      length = power(real(growth), whole(div(call("log", {powers}), real(std::log(growth)))));
      begin = div(sub(length, one), real(growth - 1));
    }
    Value shape = wave(div(sub(place, begin), length));
    const bool ends = op.getSettings().get("total") || op.lengthAtStart();
    return ends ? chosen(arith::CmpFPredicate::OLT, step, total, shape, real(0)) : shape;
  }

  Value call(StringRef name, ArrayRef<Value> operands) { return numbers.library(name, operands); }
  Value power(Value base, Value exponent) { return call("pow", {base, exponent}); }
  Value root(Value a) { return math::SqrtOp::create(builder, a); }
  Value real(double value) { return arith::ConstantOp::create(builder, builder.getF64FloatAttr(value)); }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(builder, a, b); }
  Value chosen(arith::CmpFPredicate predicate, Value a, Value b, Value then, Value otherwise) {
    return arith::SelectOp::create(builder, arith::CmpFOp::create(builder, predicate, a, b), then, otherwise);
  }
  Value least(Value a, Value b) { return chosen(arith::CmpFPredicate::OLT, a, b, a, b); }

  ImplicitLocOpBuilder &builder;
  OptimizeOp op;
  const schema::ScheduleRule &rule;
  const ScheduleNumbers &numbers;
  Value step, one, warmup, total;
  bool warms = false;
};

} // namespace

Value scheduleFactor(ImplicitLocOpBuilder &builder, OptimizeOp op, const ScheduleNumbers &numbers) {
  return Schedule(builder, op, numbers).factor();
}

} // namespace tenon
