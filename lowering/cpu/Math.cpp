#include "lowering/cpu/Math.h"
#include "lowering/artifact/RealLanes.h"
#include "lowering/artifact/Scalars.h"
#include "lowering/code/KernelScalars.h"
#include "lowering/cpu/TierChoice.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::cpu {

/// f64 is there for proofs, not for speed: one call of libm per lane.
static Value callLibrary(FunctionCode &code, StringRef name, ValueRange operands) {
  auto &builder = code.builder;
  LLVM::LLVMFuncOp function = code.sequence.libraryFunction(name, operands.size());
  auto vector = dyn_cast<VectorType>(operands[0].getType());
  if (!vector)
    return LLVM::CallOp::create(builder, function, operands).getResult();
  Value result = arith::ConstantOp::create(builder, builder.getZeroAttr(vector));
  for (int64_t lane = 0; lane < vector.getDimSize(0); ++lane) {
    SmallVector<Value> elements;
    for (Value operand : operands)
      elements.push_back(vector::ExtractOp::create(builder, operand, ArrayRef<int64_t>{lane}));
    Value element = LLVM::CallOp::create(builder, function, elements).getResult();
    result = vector::InsertOp::create(builder, element, result, ArrayRef<int64_t>{lane});
  }
  return result;
}

/// The code of the op itself.
static Value emitBody(FunctionCode &code, Operation &op, ValueRange operands) {
  if (getElementTypeOrSelf(operands[0].getType()).isF64())
    return callLibrary(code, libraryName(op), operands);
  return emitRealFunction(code.builder, op, operands);
}

static Value callFunction(FunctionCode &code, Operation &op, ValueRange operands) {
  auto &builder = code.builder;
  Type type = operands[0].getType();
  auto vector = dyn_cast<VectorType>(type);
  std::string name = ("tn_" + libraryName(op) + "_" + elementModel(getElementTypeOrSelf(type)).name() +
                      (vector ? "_" + llvm::Twine(vector.getDimSize(0)) : llvm::Twine()))
                         .str();
  auto function = dyn_cast_or_null<LLVM::LLVMFuncOp>(SymbolTable::lookupSymbolIn(code.sequence.module(), name));
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(code.sequence.module().getBody());
    function = LLVM::LLVMFuncOp::create(
        builder, name, LLVM::LLVMFunctionType::get(type, SmallVector<Type>(operands.size(), type)), LLVM::Linkage::Internal);
    function.setNoInline(true);
    Block *block = function.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    LLVM::ReturnOp::create(builder, emitBody(code, op, block->getArguments()));
  }
  return LLVM::CallOp::create(builder, function, operands).getResult();
}

/// Without an instruction of SSE4.1: a size that 2^23 (2^52) is added to keeps no digits behind the point, and is rounded to
/// even.
static Value emitRounding(ImplicitLocOpBuilder &builder, Operation &op, Value x) {
  Lanes l(builder, x);
  const bool isWide = getElementTypeOrSelf(x.getType()).isF64();
  auto number = [&](double value) { return isWide ? l.wide(value) : l.real(value); };
  Value size = math::AbsFOp::create(builder, x), large = number(isWide ? 0x1p52 : 0x1p23);
  Value whole = math::CopySignOp::create(builder, l.sub(l.add(size, large), large), x);
  if (isa<math::FloorOp>(op))
    whole = l.select(l.greater(whole, x), l.sub(whole, number(1)), whole);
  if (isa<math::CeilOp>(op))
    whole = math::CopySignOp::create(builder, l.select(l.less(whole, x), l.add(whole, number(1)), whole), x); // -0
  return l.select(l.less(size, large), whole, x);                                                             // NaN: stays
}

bool hasMathFunction(Operation &op) {
  if (isMathInstruction(op) || isa<math::RsqrtOp>(op))
    return true;
  return !libraryName(op).empty() && isComputed(op.getOperand(0).getType());
}

Value emitMathFunction(FunctionCode &code, Operation &op, ValueRange operands) {
  auto &builder = code.builder;
  Type element = getElementTypeOrSelf(operands[0].getType());
  if (code.tier == Tier::Portable && isa<math::RoundEvenOp, math::FloorOp, math::CeilOp>(op))
    return emitRounding(builder, op, operands[0]);
  if (isMathInstruction(op)) {
    OpBuilder &plain = builder;
    return plain.create(builder.getLoc(), op.getName().getIdentifier(), operands, operands[0].getType())->getResult(0);
  }
  if (isa<math::RsqrtOp>(op)) {
    Value one = arith::ConstantOp::create(builder, builder.getOneAttr(operands[0].getType()));
    return arith::DivFOp::create(builder, one, math::SqrtOp::create(builder, operands[0]));
  }
  assert(hasMathFunction(op) && "what there is no code for is refused before");
  const bool isCall = callsLibrary(code.tier, element) || isCalled(op, code.tier);
  return isCall ? callFunction(code, op, operands) : emitBody(code, op, operands);
}

} // namespace tenon::cpu
