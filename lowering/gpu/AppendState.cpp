// tenon.append_state: rows of the new places are copied to where the state keeps them, a thread per element.
#include "dialect/TensorSizes.h"
#include "lowering/gpu/ScalarCode.h"

using namespace mlir;

namespace tenon::gpu {

/// With the sizes before and behind the dimension as outer and inner: rows [outer, n, inner] go to whole [outer, capacity, inner]
/// from `position` on. The runtime has checked that the rows fit before it runs the entry.
LogicalResult generateAppendState(AppendStateOp append, LaunchSequence &sequence) {
  auto rows = cast<RankedTensorType>(append.getRows().getType()), whole = cast<RankedTensorType>(append.getWhole().getType());
  SmallVector<AffineExpr> sizes = sizesOf(whole), ofRows = sizesOf(rows);
  const size_t dim = append.getDim();
  MLIRContext *context = append.getContext();
  AffineExpr inner = product(ArrayRef(sizes).drop_front(dim + 1), context), total = product(append.parallelDomain(), context);
  AffineExpr capacity = sizes[dim], count = ofRows[dim];
  Value position = append.getPosition(), newRows = append.getRows(), kept = append.getWhole();
  Type stored = cast<RankedTensorType>(position.getType()).getElementType(), element = whole.getElementType();
  Launch launch{"append", append.getLoc(), {newRows, position}, {kept}, {}, {}, {}, {}, threadsFor(total), false, {}};
  launch.blocks = [=, threads = launch.threads](EntryCode &code) { return blocksFor(code, code.size(total), threads); };
  launch.body = [=](KernelCode &code) {
    auto &builder = code.builder;
    ScalarCode scalars(code, {});
    Value first = scalars.load(stored, code.pointer(position), constant(builder, 0));
    if (!stored.isInteger(64))
      first = arith::ExtSIOp::create(builder, builder.getI64Type(), first);
    code.overGrid(code.size(total), [&](Value number) {
      Value size = code.size(inner), row = divide(builder, number, size);
      Value outer = divide(builder, row, code.size(count));
      Value to = add(builder, multiply(builder, outer, code.size(capacity)),
                     add(builder, first, remainder(builder, row, code.size(count))));
      to = add(builder, multiply(builder, to, size), remainder(builder, number, size));
      scalars.store(element, code.pointer(kept), to, scalars.load(element, code.pointer(newRows), number));
    });
  };
  sequence.add(launch);
  return success();
}

} // namespace tenon::gpu
