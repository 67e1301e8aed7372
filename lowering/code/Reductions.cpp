#include "lowering/code/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

Value neutralElement(ImplicitLocOpBuilder &builder, Reduction kind, Type element) {
  if (kind == Reduction::sum || kind == Reduction::any)
    return arith::ConstantOp::create(builder, builder.getZeroAttr(element));
  if (kind == Reduction::all)
    return arith::ConstantOp::create(builder, builder.getOneAttr(element));
  const bool isMax = kind == Reduction::max;
  if (auto real = dyn_cast<FloatType>(element))
    return arith::ConstantOp::create(builder, FloatAttr::get(real, llvm::APFloat::getInf(real.getFloatSemantics(), isMax)));
  unsigned width = element.getIntOrFloatBitWidth();
  llvm::APInt value = isMax ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getSignedMaxValue(width);
  return arith::ConstantOp::create(builder, builder.getIntegerAttr(element, value));
}

Value combine(ImplicitLocOpBuilder &builder, Reduction kind, Value a, Value b) {
  const bool real = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  switch (kind) {
  case Reduction::sum:
    return real ? Value(arith::AddFOp::create(builder, a, b)) : Value(arith::AddIOp::create(builder, a, b));
  case Reduction::all:
    return arith::AndIOp::create(builder, a, b);
  case Reduction::any:
    return arith::OrIOp::create(builder, a, b);
  case Reduction::max:
  case Reduction::min:
    break;
  }
  const bool isMax = kind == Reduction::max;
  if (!real)
    return isMax ? Value(arith::MaxSIOp::create(builder, a, b)) : Value(arith::MinSIOp::create(builder, a, b));
  Value better = arith::CmpFOp::create(builder, isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, b, a);
  return arith::SelectOp::create(builder, better, b, a);
}

} // namespace tenon
