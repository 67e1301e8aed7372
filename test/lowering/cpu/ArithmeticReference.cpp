// Ops of one element: arith and math.
#include "mlir/Dialect/Math/IR/Math.h"
#include "test/lowering/cpu/Reference.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace tenon::test {

double rounded(Type element, double value) {
  APFloat number(value);
  bool inexact;
  number.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToDouble();
}

/// A function of one real.
static std::optional<double> functionOf(Operation &op, llvm::function_ref<double()> x) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(&op)
      .Case([&](math::ExpOp) { return std::exp(x()); })
      .Case([&](math::LogOp) { return std::log(x()); })
      .Case([&](math::TanhOp) { return std::tanh(x()); })
      .Case([&](math::ErfOp) { return std::erf(x()); })
      .Case([&](math::SinOp) { return std::sin(x()); })
      .Case([&](math::CosOp) { return std::cos(x()); })
      .Case([&](math::AtanOp) { return std::atan(x()); })
      .Case([&](math::RoundEvenOp) { return std::nearbyint(x()); })
      .Case([&](math::FloorOp) { return std::floor(x()); })
      .Case([&](math::CeilOp) { return std::ceil(x()); })
      .Case([&](math::SqrtOp) { return std::sqrt(x()); })
      .Case([&](math::RsqrtOp) { return 1 / std::sqrt(x()); })
      .Case([&](math::AbsFOp) { return std::fabs(x()); })
      .Default([](Operation *) { return std::nullopt; });
}

Scalar evaluateArithmetic(Operation &op, llvm::function_ref<Scalar(Value)> get) {
  auto x = [&](int i) { return get(op.getOperand(i)).real; };
  auto n = [&](int i) { return get(op.getOperand(i)).whole; };
  auto real = [](double value) { return Scalar{value, 0}; };
  auto whole = [](int64_t value) { return Scalar{0, value}; };
  auto floorDiv = [](int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); };
  if (auto value = functionOf(op, [&] { return x(0); }))
    return real(*value);
  return llvm::TypeSwitch<Operation *, Scalar>(&op)
      .Case([&](arith::ConstantOp c) {
        if (auto f = dyn_cast<FloatAttr>(c.getValue()))
          return real(f.getValueAsDouble());
        int64_t value = cast<IntegerAttr>(c.getValue()).getInt();
        return whole(c.getType().isInteger(1) ? value & 1 : value);
      })
      .Case([&](arith::AddFOp) { return real(x(0) + x(1)); })
      .Case([&](arith::SubFOp) { return real(x(0) - x(1)); })
      .Case([&](arith::MulFOp) { return real(x(0) * x(1)); })
      .Case([&](arith::DivFOp) { return real(x(0) / x(1)); })
      .Case([&](arith::NegFOp) { return real(-x(0)); })
      .Case([&](arith::MaximumFOp) { return real(std::isnan(x(0)) || std::isnan(x(1)) ? NAN : std::max(x(0), x(1))); })
      .Case([&](arith::MinimumFOp) { return real(std::isnan(x(0)) || std::isnan(x(1)) ? NAN : std::min(x(0), x(1))); })
      .Case([&](arith::ExtFOp) { return real(x(0)); })
      .Case([&](arith::TruncFOp) { return real(rounded(op.getResult(0).getType(), x(0))); })
      .Case([&](arith::SIToFPOp) { return real(double(n(0))); })
      .Case([&](arith::UIToFPOp) { return real(double(n(0))); })
      .Case([&](arith::AddIOp) { return whole(n(0) + n(1)); })
      .Case([&](arith::SubIOp) { return whole(n(0) - n(1)); })
      .Case([&](arith::MulIOp) { return whole(n(0) * n(1)); })
      .Case([&](arith::DivUIOp) { return whole(n(0) / n(1)); })
      .Case([&](arith::ShRUIOp) { return whole(n(0) >> n(1)); }) // of bits that are at least 0 here
      .Case([&](arith::DivSIOp) { return whole(n(0) / n(1)); })
      .Case([&](arith::RemSIOp) { return whole(n(0) % n(1)); })
      .Case([&](arith::FloorDivSIOp) { return whole(floorDiv(n(0), n(1))); })
      .Case([&](arith::MaxSIOp) { return whole(std::max(n(0), n(1))); })
      .Case([&](arith::MinSIOp) { return whole(std::min(n(0), n(1))); })
      .Case([&](arith::AndIOp) { return whole(n(0) & n(1)); })
      .Case([&](arith::OrIOp) { return whole(n(0) | n(1)); })
      .Case([&](arith::XOrIOp) { return whole(n(0) ^ n(1)); })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>([&](auto) { return whole(n(0)); })
      .Case([&](arith::SelectOp) { return n(0) ? get(op.getOperand(1)) : get(op.getOperand(2)); })
      .Case([&](arith::CmpIOp compare) {
        return whole(arith::applyCmpPredicate(compare.getPredicate(), APInt(64, n(0), true), APInt(64, n(1), true)));
      })
      .Case([&](arith::CmpFOp compare) {
        return whole(arith::applyCmpPredicate(compare.getPredicate(), APFloat(x(0)), APFloat(x(1))));
      })
      .Case([&](math::PowFOp) { return real(std::pow(x(0), x(1))); })
      .Case([&](math::FmaOp) { return real(x(0) * x(1) + x(2)); })
      .Default([&](Operation *other) -> Scalar { fail(other, "an op without a reference"); });
}

} // namespace tenon::test
