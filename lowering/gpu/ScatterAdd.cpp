// tenon.scatter_add: the transpose of a gather. First dx gets what it starts from, then each thread takes the elements of dx at
// one place of all but the gathered dimension and adds the terms of dy in their order, so that no two threads meet.
#include "dialect/Refusal.h"
#include "dialect/TensorSizes.h"
#include "lowering/gpu/ScalarCode.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

class ScatterAddKernel {
public:
  ScatterAddKernel(ScatterAddOp op, LaunchSequence &sequence)
      : op(op), sequence(sequence), dy(cast<RankedTensorType>(op.getDy().getType())),
        dx(cast<RankedTensorType>(op.getDx().getType())), index(cast<RankedTensorType>(op.getIndex().getType())),
        dySizes(sizesOf(dy)), dxSizes(sizesOf(dx)) {
    for (int64_t k = 0; k < dx.getRank(); ++k)
      if (k != int64_t(op.getDim()))
        outer.push_back(k);
    for (int64_t i = 0; i < dy.getRank(); ++i)
      if (!llvm::is_contained(op.getXDims(), i))
        summed.push_back(i);
  }

  LogicalResult generate() {
    if (Type element = dx.getElementType(); element.isBF16() || element.isF16() || dy.getElementType() != element)
      return notSupported(op) << "terms of " << elementModel(dy.getElementType()).name() << " added to elements of "
                              << elementModel(element).name() << " on a GPU";
    auto target = sequence.bufferOf(op.getDx());
    auto base = op.getBase() ? sequence.bufferOf(op.getBase()) : std::nullopt;
    if (!(target && base && base->samePlace(*target))) // else dx lies where the base lies
      addFill();
    Launch launch{"scatter_add", op.getLoc(), {op.getDy(), op.getIndex()}, {op.getDx()}, {}, {}, {}, {}, 1, false, {}};
    AffineExpr places = product(op.parallelDomain(), op.getContext());
    launch.threads = threadsFor(places);
    launch.blocks = [=, threads = launch.threads](EntryCode &code) { return blocksFor(code, code.size(places), threads); };
    launch.body = [this, places](KernelCode &code) {
      ScalarCode scalars(code, {});
      code.overGrid(code.size(places), [&](Value number) { emitPlace(code, scalars, number); });
    };
    sequence.add(launch);
    return success();
  }

private:
  static SmallVector<AffineExpr> sizesAt(ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(dims, [&](int64_t dim) { return sizes[size_t(dim)]; });
  }

  void addFill() {
    Launch launch{"scatter_start", op.getLoc(), {}, {op.getDx()}, {}, {}, {}, {}, 1, false, {}};
    if (op.getBase())
      launch.reads.push_back(op.getBase());
    AffineExpr count = product(dxSizes, op.getContext());
    launch.threads = threadsFor(count);
    launch.blocks = [=, threads = launch.threads](EntryCode &code) { return blocksFor(code, code.size(count), threads); };
    launch.body = [this, count](KernelCode &code) {
      ScalarCode scalars(code, {});
      Type element = dx.getElementType();
      Value zero = arith::ConstantOp::create(code.builder, code.builder.getZeroAttr(element));
      code.overGrid(code.size(count), [&](Value number) {
        scalars.store(element, code.pointer(op.getDx()), number,
                      op.getBase() ? scalars.load(element, code.pointer(op.getBase()), number) : zero);
      });
    };
    sequence.add(launch);
  }

  void emitPlace(KernelCode &code, ScalarCode &scalars, Value number) {
    auto &builder = code.builder;
    SmallVector<Value> place(size_t(dx.getRank())), source(size_t(dy.getRank()));
    for (auto [dim, at] : llvm::zip_equal(outer, scalars.split(number, sizesAt(dxSizes, outer))))
      place[size_t(dim)] = at;
    for (auto [k, dim] : llvm::enumerate(op.getXDims()))
      if (dim >= 0 && k != op.getDim())
        source[size_t(dim)] = place[k];
    SmallVector<AffineExpr> sizes = sizesAt(dySizes, summed);
    code.strided(constant(builder, 0), constant(builder, 1), code.size(product(sizes, op.getContext())), [&](Value term) {
      for (auto [dim, at] : llvm::zip_equal(summed, scalars.split(term, sizes)))
        source[size_t(dim)] = at;
      place[op.getDim()] = target(code, scalars, source);
      Type element = dx.getElementType();
      Value to = scalars.linearIndex(dx, place);
      Value more = scalars.load(element, code.pointer(op.getDy()), scalars.linearIndex(dy, source));
      Value old = scalars.load(element, code.pointer(op.getDx()), to);
      scalars.store(element, code.pointer(op.getDx()), to, arith::AddFOp::create(builder, old, more));
    });
  }

  /// The place along the gathered dimension that the index tensor names; clipped where the op says so.
  Value target(KernelCode &code, ScalarCode &scalars, ArrayRef<Value> source) {
    auto &builder = code.builder;
    SmallVector<Value> indices = llvm::map_to_vector(op.getIndexDims(), [&](int64_t dim) { return source[size_t(dim)]; });
    Value at = scalars.load(index.getElementType(), code.pointer(op.getIndex()), scalars.linearIndex(index, indices));
    if (!at.getType().isInteger(64))
      at = arith::ExtSIOp::create(builder, builder.getI64Type(), at);
    if (!op.getClamp())
      return at;
    Value last = subtract(builder, code.size(dxSizes[op.getDim()]), constant(builder, 1));
    return maximum(builder, minimum(builder, at, last), constant(builder, 0));
  }

  ScatterAddOp op;
  LaunchSequence &sequence;
  RankedTensorType dy, dx, index;
  SmallVector<AffineExpr> dySizes, dxSizes;
  SmallVector<int64_t> outer;  // other dimensions of dx
  SmallVector<int64_t> summed; // dimensions of dy that dx does not have
};

} // namespace

LogicalResult generateScatterAdd(ScatterAddOp op, LaunchSequence &sequence) { return ScatterAddKernel(op, sequence).generate(); }

} // namespace tenon::gpu
