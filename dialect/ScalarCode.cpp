#include "dialect/ScalarCode.h"
#include "dialect/Build.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon {
namespace {

class TensorCode {
public:
  TensorCode(OpBuilder &builder, Location location, RankedTensorType space, IRMapping &known)
      : builder(builder), g(builder, location), location(location), space(space), known(known) {}

  /// Null: no counterpart.
  Value of(Operation &inner) {
    op = &inner;
    type = withElement(space, inner.getResult(0).getType());
    if (auto constant = dyn_cast<arith::ConstantOp>(inner))
      return ofConstant(constant.getValue());
    if (Value made = isa<FloatType>(inner.getOperand(0).getType()) ? ofReals(inner) : ofIntegers(inner))
      return made;
    return llvm::TypeSwitch<Operation *, Value>(&inner)
        .Case([&](arith::SelectOp) { return g.select(at(0), at(1), at(2)); })
        .Case([&](arith::XOrIOp) { return Value(NotOp::create(builder, location, type, at(0))); }) // of a truth value with true
        .Case([&](arith::AndIOp) { return make<AndOp>(); })
        .Case([&](arith::OrIOp) { return make<OrOp>(); })
        .Default([](Operation *) { return Value(); });
  }

private:
  Value at(unsigned number) { return known.lookup(op->getOperand(number)); }
  template <typename OpTy> Value make() { return OpTy::create(builder, location, type, at(0), at(1)); }

  Value ofConstant(Attribute value) {
    if (auto real = dyn_cast<FloatAttr>(value))
      return g.constant(type, real.getValueAsDouble());
    auto number = cast<IntegerAttr>(value);
    return g.constant(type,
                      type.getElementType().isInteger(1) ? double(number.getValue().getZExtValue()) : double(number.getInt()));
  }
  Value ofReals(Operation &inner) {
    return llvm::TypeSwitch<Operation *, Value>(&inner)
        .Case([&](arith::AddFOp) { return g.add(at(0), at(1)); })
        .Case([&](arith::SubFOp) { return g.sub(at(0), at(1)); })
        .Case([&](arith::MulFOp) { return g.mul(at(0), at(1)); })
        .Case([&](arith::DivFOp) { return g.div(at(0), at(1)); })
        .Case([&](arith::NegFOp) { return g.neg(at(0)); })
        .Case([&](arith::CmpFOp compare) {
          using Predicate = arith::CmpFPredicate;
          const Predicate kind = compare.getPredicate();
          if (kind != Predicate::OLT && kind != Predicate::OLE && kind != Predicate::OEQ && kind != Predicate::UNE)
            return Value();
          return g.compare(kind == Predicate::OLT   ? Comparison::lt
                           : kind == Predicate::OLE ? Comparison::le
                           : kind == Predicate::OEQ ? Comparison::eq
                                                    : Comparison::ne,
                           at(0), at(1));
        })
        .Case([&](math::ExpOp) { return g.unary<ExpOp>(at(0)); })
        .Case([&](math::LogOp) { return g.unary<LogOp>(at(0)); })
        .Case([&](math::SqrtOp) { return g.unary<SqrtOp>(at(0)); })
        .Case([&](math::TanhOp) { return g.unary<TanhOp>(at(0)); })
        .Case([&](math::SinOp) { return g.unary<SinOp>(at(0)); })
        .Case([&](math::CosOp) { return g.unary<CosOp>(at(0)); })
        .Case([&](math::AtanOp) { return g.unary<AtanOp>(at(0)); })
        .Case([&](math::PowFOp) { return make<PowOp>(); })
        .Default([](Operation *) { return Value(); });
  }
  Value ofIntegers(Operation &inner) {
    return llvm::TypeSwitch<Operation *, Value>(&inner)
        .Case([&](arith::AddIOp) { return g.add(at(0), at(1)); })
        .Case([&](arith::SubIOp) { return g.sub(at(0), at(1)); })
        .Case([&](arith::MulIOp) { return g.mul(at(0), at(1)); })
        .Case([&](arith::FloorDivSIOp) { return make<FloorDivOp>(); })
        .Case([&](arith::CmpIOp compare) { return ofComparison(compare.getPredicate()); })
        .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>([&](auto) { return g.convert(at(0), type.getElementType()); })
        .Default([](Operation *) { return Value(); });
  }
  Value ofComparison(arith::CmpIPredicate kind) {
    using Predicate = arith::CmpIPredicate;
    switch (kind) {
    case Predicate::eq:
      return g.compare(Comparison::eq, at(0), at(1));
    case Predicate::ne:
      return g.compare(Comparison::ne, at(0), at(1));
    case Predicate::slt:
      return g.compare(Comparison::lt, at(0), at(1));
    case Predicate::sle:
      return g.compare(Comparison::le, at(0), at(1));
    case Predicate::sgt:
      return g.compare(Comparison::lt, at(1), at(0));
    case Predicate::sge:
      return g.compare(Comparison::le, at(1), at(0));
    default:
      return {};
    }
  }

  OpBuilder &builder;
  Build g;
  Location location;
  RankedTensorType space, type;
  IRMapping &known;
  Operation *op = nullptr;
};

} // namespace

bool elementwise(OpBuilder &builder, Location location, Block &block, RankedTensorType space, IRMapping &known) {
  TensorCode code(builder, location, space, known);
  for (Operation &inner : block.without_terminator()) {
    Value made = code.of(inner);
    if (!made)
      return false;
    known.map(inner.getResult(0), made);
  }
  return true;
}

} // namespace tenon
