// tenon.map: scalar code over whole tensors; how decompositions make it, what it costs, verifier.
#include "dialect/Build.h"
#include "dialect/Rules.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tenon;

namespace {
/// What a value of a block is computed from.
struct Origin {
  Origin(Value value, Block &block) : values{value} {
    for (Operation &inner : llvm::reverse(block.without_terminator()))
      if (llvm::any_of(inner.getResults(), [&](Value result) { return values.contains(result); })) {
        ops.push_back(&inner);
        values.insert(inner.operand_begin(), inner.operand_end());
      }
    std::reverse(ops.begin(), ops.end());
  }
  llvm::DenseSet<Value> values;
  SmallVector<Operation *> ops; // in their order
};
} // namespace

SmallVector<Value> Build::map(Block &code, ValueRange inputs, RankedTensorType space) {
  SmallVector<Value> results;
  for (Value value : code.getTerminator()->getOperands()) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      results.push_back(inputs[argument.getArgNumber()]);
      continue;
    }
    Origin origin(value, code);
    auto isRead = [&](BlockArgument argument) { return origin.values.contains(argument); };
    SmallVector<BlockArgument> arguments = llvm::to_vector(llvm::make_filter_range(code.getArguments(), isRead));
    SmallVector<Value> read;
    for (BlockArgument argument : arguments)
      read.push_back(inputs[argument.getArgNumber()]);
    auto made = MapOp::create(builder, location, withElement(space, value.getType()), read);
    OpBuilder inside(builder.getContext());
    Block *own = inside.createBlock(&made.getCode());
    IRMapping copies;
    for (BlockArgument argument : arguments)
      copies.map(argument, own->addArgument(argument.getType(), argument.getLoc()));
    for (Operation *inner : origin.ops)
      inside.clone(*inner, copies);
    YieldOp::create(inside, location, copies.lookup(value));
    results.push_back(made.getY());
  }
  return results;
}

Value MapOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Block &code = getCode().front();
  IRMapping scalars;
  for (auto [argument, input] : llvm::zip_equal(code.getArguments(), getInputs()))
    scalars.map(argument, read(input, indices));
  for (Operation &inner : code.without_terminator())
    builder.clone(inner, scalars);
  return scalars.lookup(code.getTerminator()->getOperand(0));
}

/// In additions, as the ops of the tensor form say it of themselves: what computes a function of libm takes about 12.
static unsigned costOf(Operation &op) {
  if (op.hasTrait<OpTrait::ConstantLike>())
    return 0;
  if (isa<arith::DivFOp, math::SqrtOp>(op))
    return 3;
  const bool isExact = isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp, math::RoundEvenOp,
                           math::RoundOp, math::TruncOp>(op);
  return isa<math::MathDialect>(op.getDialect()) && isa<FloatType>(op.getResult(0).getType()) && !isExact ? 12 : 1;
}

unsigned MapOp::elementCost() {
  unsigned cost = 0;
  for (Operation &inner : getCode().front().without_terminator())
    cost += costOf(inner);
  return std::min(cost, kCostOfRow - 1); // which says that it is no pass over a row
}

LogicalResult MapOp::verify() {
  for (Value input : getInputs())
    if (tensorOf(input) != withElement(tensorOf(getY()), tensorOf(input).getElementType())) // C1
      return emitOpError("expects inputs of the shape of the result, got ") << input.getType() << " and " << getY().getType();
  SmallVector<Type> elements;
  for (Value input : getInputs())
    elements.push_back(tensorOf(input).getElementType());
  return verifyArguments(*this, getCode().front(), 0, elements); // C2
}

LogicalResult MapOp::verifyRegions() {
  Block &code = getCode().front();
  if (Operation *inner = findNoScalarCode(code)) // C3
    return emitOpError("expects scalar code, got ") << inner->getName();
  auto yield = dyn_cast<YieldOp>(code.getTerminator());
  if (!yield || yield->getOperandTypes() != TypeRange{tensorOf(getY()).getElementType()}) // C4
    return emitOpError("expects code that yields ")
           << tensorOf(getY()).getElementType() << ", got (" << code.getTerminator()->getOperandTypes() << ")";
  return success();
}
