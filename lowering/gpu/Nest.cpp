// tenon.nest as a kernel: a thread per element, or, where a row is reduced, a block per row whose threads share the row's inner
// dimensions.
#include "dialect/TensorSizes.h"
#include "lowering/gpu/ScalarCode.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

/// Rows of so few inner elements are the work of one thread.
constexpr int64_t kFewElements = 16;

class NestKernel {
public:
  NestKernel(NestOp nest, LaunchSequence &sequence)
      : nest(nest), sequence(sequence), block(nest.getBody().front()), rows(llvm::to_vector(nest.getRows().getResults())) {
    findForm();
  }

  LogicalResult generate() {
    llvm::SetVector<Value> read;
    nest.walk([&](AtOp at) { read.insert(at.getTensor()); });
    Launch launch{
        "nest", nest.getLoc(), llvm::to_vector(read), llvm::to_vector_of<Value>(nest->getResults()), {}, {}, {}, {}, 1, false,
        {}};
    nest.walk([&](Operation *op) { launch.draws |= isa<RandomKeepOp, RandomBitsOp>(op); });
    launch.threads = threadsFor(perBlock ? inner : elements());
    launch.blocks = [this, threads = launch.threads](EntryCode &code) {
      return blocksFor(code, code.size(elements()), perBlock ? 1 : threads);
    };
    bool good = true;
    launch.body = [&](KernelCode &code) {
      ScalarCode scalars(code, nest->getResults());
      scalars.bindOutside(nest);
      if (!perBlock)
        code.overGrid(code.size(elements()), [&](Value number) { good = emitElement(scalars, number); });
      else
        code.strided(code.block(), code.blocks(), code.size(elements()), [&](Value row) { good = emitRow(code, scalars, row); });
    };
    sequence.add(launch);
    return success(good);
  }

private:
  void findForm() {
    EachOp each;
    bool alone = true;
    inner = getAffineConstantExpr(0, nest.getContext());
    for (Operation &op : block) {
      AffineExpr size;
      if (auto one = dyn_cast<EachOp>(op)) {
        alone &= !each;
        each = one;
        size = product(llvm::to_vector(one.getSizes().getResults()), nest.getContext());
      } else if (auto fold = dyn_cast<FoldOp>(op)) {
        alone = false;
        size = product(llvm::to_vector(fold.getSizes().getResults()), nest.getContext());
      } else {
        alone &= !isa<PutOp>(op);
        continue;
      }
      auto before = dyn_cast<AffineConstantExpr>(inner), now = dyn_cast<AffineConstantExpr>(size);
      inner = before && now ? getAffineConstantExpr(std::max(before.getValue(), now.getValue()), nest.getContext())
                            : (before ? size : inner);
    }
    if (each && alone) { // the rows' dimensions and those of its body are one space
      flattened = each;
      return;
    }
    auto known = dyn_cast<AffineConstantExpr>(inner);
    perBlock = !known || known.getValue() > kFewElements;
  }

  SmallVector<AffineExpr> sizes() {
    SmallVector<AffineExpr> all(rows);
    if (flattened)
      llvm::append_range(all, flattened.getSizes().getResults());
    return all;
  }
  AffineExpr elements() { return product(sizes(), nest.getContext()); }

  bool emitElement(ScalarCode &scalars, Value number) {
    SmallVector<Value> sources(block.getArguments());
    if (flattened)
      llvm::append_range(sources, flattened.getBody().front().getArguments());
    scalars.bindSplit(sources, number, sizes());
    for (Operation &op : block)
      if (auto each = dyn_cast<EachOp>(op);
          each && each == flattened ? !scalars.emitOps(each.getBody().front()) : !scalars.emitOp(op))
        return false;
    return true;
  }

  /// A result may lie where an operand lies whose element is read before: whatever other threads of the row still read is read
  /// before the next put.
  bool emitRow(KernelCode &code, ScalarCode &scalars, Value row) {
    scalars.bindSplit(block.getArguments(), row, rows);
    for (Operation &op : block) {
      bool good = true;
      if (auto fold = dyn_cast<FoldOp>(op)) {
        Value part = scalars.foldPart(fold, code.thread(), constant(code.builder, code.threads));
        good = bool(part);
        if (good)
          scalars.bind(fold.getValue(), code.combineBlock(fold.getKind(), part));
      } else if (auto each = dyn_cast<EachOp>(op)) {
        SmallVector<AffineExpr> inside = llvm::to_vector(each.getSizes().getResults());
        code.overBlock(code.size(product(inside, nest.getContext())), [&](Value number) {
          scalars.bindSplit(each.getBody().front().getArguments(), number, inside);
          good = scalars.emitOps(each.getBody().front());
        });
        code.barrier();
      } else if (isa<PutOp>(op)) {
        code.barrier();
        Value isFirst = arith::CmpIOp::create(code.builder, arith::CmpIPredicate::eq, code.thread(), constant(code.builder, 0));
        code.ifThen(isFirst, [&] { good = scalars.emitOp(op); });
      } else {
        good = scalars.emitOp(op);
      }
      if (!good)
        return false;
    }
    return true;
  }

  NestOp nest;
  LaunchSequence &sequence;
  Block &block;
  SmallVector<AffineExpr> rows;
  EachOp flattened;      // null: rows alone are the parallel space
  AffineExpr inner;      // the most places of an inner dimension of a row, where these are known
  bool perBlock = false; // a block per row
};

} // namespace

LogicalResult generateNest(NestOp op, LaunchSequence &sequence) { return NestKernel(op, sequence).generate(); }

} // namespace tenon::gpu
