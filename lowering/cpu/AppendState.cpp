// tenon.append_state: rows of the new places are copied to where the state keeps them.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/Loops.h"

using namespace mlir;

namespace tenon::cpu {

/// With the sizes before and behind the dimension as outer and inner: rows [outer, n, inner] go to whole [outer, capacity, inner]
/// from `position` on. A tile is one outer index. The entry has checked that the rows fit (KernelSequence::emitWalkCheck).
LogicalResult generateAppendState(Operation *op, KernelSequence &sequence) {
  auto append = cast<AppendStateOp>(op);
  auto rows = cast<RankedTensorType>(append.getRows().getType()), whole = cast<RankedTensorType>(append.getWhole().getType());
  SmallVector<AffineExpr> sizes = sizesOf(whole);
  const size_t dim = append.getDim();
  AffineExpr outer = product(ArrayRef(sizes).take_front(dim), op->getContext());
  AffineExpr rowBytes = product(ArrayRef(sizes).drop_front(dim + 1), op->getContext()) * elementBytes(whole.getElementType());
  AffineExpr capacity = sizes[dim], count = sizesOf(rows)[dim];
  AffineExpr eachRow = product(ArrayRef(sizesOf(rows)).drop_front(dim), op->getContext());
  Value position = append.getPosition(), newRows = append.getRows(), kept = append.getWhole();
  Type stored = cast<RankedTensorType>(position.getType()).getElementType();
  Kernel kernel{"append", op->getLoc(), {newRows, position}, {kept}, {}, {}, 0, {}, {}};
  kernel.cut = {{outer, 1}, {eachRow, std::numeric_limits<int64_t>::max()}};
  kernel.tiles = [=](FunctionCode &code) { return code.size(outer); };
  kernel.body = [=](FunctionCode &code) {
    auto &builder = code.builder;
    Value first = LLVM::LoadOp::create(builder, stored, code.pointer(position), unsigned(elementBytes(stored)));
    if (!stored.isInteger(64))
      first = arith::ExtSIOp::create(builder, builder.getI64Type(), first);
    Value bytes = code.size(rowBytes), number = code.size(count);
    Value to = add(builder, multiply(builder, code.tile, code.size(capacity)), first),
          from = multiply(builder, code.tile, number);
    LLVM::MemcpyOp::create(builder, byteAddress(builder, code.pointer(kept), multiply(builder, to, bytes)),
                           byteAddress(builder, code.pointer(newRows), multiply(builder, from, bytes)),
                           multiply(builder, number, bytes), false);
  };
  sequence.add(kernel);
  return success();
}

} // namespace tenon::cpu
