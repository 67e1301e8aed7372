// tenon.nest as a kernel: a thread per element, or, where a row is reduced, a block per row whose threads share the row's inner
// dimensions. Where neighbours in memory belong to neighbouring rows a block has 32 rows; sums of columns: ColumnFolds.h.
#include "dialect/TensorSizes.h"
#include "lowering/gpu/ColumnFolds.h"
#include "lowering/gpu/OnlineFolds.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

/// Rows of so few inner elements are the work of one thread.
constexpr int64_t kFewElements = 16;
/// Rows of a block that has several, whose elements threads beside each other read.
constexpr int64_t kRowsOfBlock = 32, kThreadsOfRows = 256;
/// A thread per element, a block per row, a block for several rows.
constexpr llvm::StringLiteral kElements = "elements", kRow = "row", kRows = "rows";

class NestKernel {
public:
  explicit NestKernel(NestOp nest) : nest(nest), block(nest.getBody().front()), rows(nest.parallelDomain()) { findInner(); }

  DictionaryAttr choose() {
    if (DictionaryAttr choice = ColumnFolds(nest, flattened).choose())
      return choice;
    auto known = dyn_cast<AffineConstantExpr>(inner);
    if (flattened || (known && known.getValue() <= kFewElements))
      return makeChoice(nest.getContext(), kElements, {{"threads", threadsFor(elements())}});
    if (readsAcrossRows())
      return makeChoice(nest.getContext(), kRows, {{"rows", kRowsOfBlock}, {"threads", kThreadsOfRows}});
    return makeChoice(nest.getContext(), kRow, {{"threads", threadsFor(inner)}});
  }

  LogicalResult generate(LaunchSequence &sequence) {
    const ChoiceNumber ofBlock{"threads", 32, 1024, 32};
    SmallVector<ChoiceForm> forms{{kElements, {ofBlock}}};
    if (!flattened)
      forms.push_back({kRow, {ofBlock}});
    if (!flattened && readsAcrossRows())
      forms.push_back({kRows, {{"rows", 2, 32, 1, true}, ofBlock}});
    ColumnFolds columns(nest, flattened);
    if (columns.fits())
      forms.push_back(ColumnFolds::form());
    FailureOr<Choice> choice = sequence.choiceOf(nest, forms);
    if (failed(choice))
      return failure();
    perBlock = choice->form() != kElements;
    rowsOfBlock = choice->number("rows").value_or(1);
    llvm::SetVector<Value> read;
    nest.walk([&](AtOp at) { read.insert(at.getTensor()); });
    Launch launch{
        "nest", nest.getLoc(), llvm::to_vector(read), llvm::to_vector_of<Value>(nest->getResults()), {}, {}, {}, {}, 1, false,
        {}};
    nest.walk([&](Operation *op) { launch.draws |= isa<RandomKeepOp, RandomBitsOp>(op); });
    launch.threads = *choice->number("threads");
    if (choice->form() == ColumnFolds::kForm)
      return columns.generate(sequence, *choice, launch);
    launch.blocks = [this, threads = launch.threads](EntryCode &code) {
      return blocksFor(code, code.size(elements()), perBlock ? rowsOfBlock : threads);
    };
    bool good = true;
    launch.body = [&](KernelCode &code) {
      ScalarCode scalars(code, nest->getResults());
      scalars.bindOutside(nest);
      if (!perBlock)
        code.overGrid(code.size(elements()), [&](Value number) { good = emitElement(scalars, number); });
      else
        emitRows(code, [&](Value row, Value exists) { good = emitRow(code, scalars, row, exists); });
    };
    sequence.add(launch);
    return success(good);
  }

private:
  void findInner() {
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
    if (each && alone) // the rows' dimensions and those of its body are one space
      flattened = each;
  }
  /// Whether neighbours in memory are elements of neighbouring rows.
  bool readsAcrossRows() {
    if (rows.empty())
      return false;
    Value last = block.getArguments().back();
    bool across = false, within = false;
    nest.walk([&](AtOp at) {
      if (at->getBlock() == &block || !llvm::is_contained(at.getIndices(), last))
        return;
      (at.getIndices().back() == last ? across : within) = true;
    });
    return across && !within;
  }

  /// Calls `body` for the block's rows, one after the other or at the same time, and whether the row exists.
  void emitRows(KernelCode &code, llvm::function_ref<void(Value, Value)> body) {
    auto &builder = code.builder;
    Value count = code.size(elements());
    if (rowsOfBlock == 1) {
      code.strided(code.block(), code.blocks(), count, [&](Value row) { body(row, {}); });
      return;
    }
    Value size = constant(builder, rowsOfBlock);
    code.strided(multiply(builder, code.block(), size), multiply(builder, code.blocks(), size), count, [&](Value first) {
      Value row = add(builder, first, remainder(builder, code.thread(), size));
      Value exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, row, count);
      body(minimum(builder, row, subtract(builder, count, constant(builder, 1))), exists);
    });
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
  bool emitRow(KernelCode &code, ScalarCode &scalars, Value row, Value exists) {
    auto &builder = code.builder;
    scalars.bindSplit(block.getArguments(), row, rows);
    // Of the row's inner dimensions a thread has those from `first` on in steps of `step`.
    Value size = constant(builder, rowsOfBlock);
    Value first = divide(builder, code.thread(), size), step = constant(builder, code.threads / rowsOfBlock);
    auto ifRow = [&](Value condition, llvm::function_ref<void()> body) {
      Value both = !condition ? exists : !exists ? condition : arith::AndIOp::create(builder, condition, exists).getResult();
      if (both)
        code.ifThen(both, body);
      else
        body();
    };
    FoldOp known; // with the one before it
    for (Operation &op : block) {
      bool good = true;
      auto fold = dyn_cast<FoldOp>(op);
      if (fold && fold == known)
        continue;
      if (fold && rowsOfBlock == 1 && (known = sumUnder(fold))) {
        MaximumAndSum both = foldOnline(code, scalars, fold);
        good = bool(both.sum);
        scalars.bind(fold.getValue(), both.maximum);
        scalars.bind(known.getValue(), both.sum);
      } else if (fold) {
        Value part = scalars.foldPart(fold, first, step);
        good = bool(part);
        if (good)
          scalars.bind(fold.getValue(), code.combineBlock(fold.getKind(), part, rowsOfBlock));
      } else if (auto each = dyn_cast<EachOp>(op)) {
        SmallVector<AffineExpr> inside = llvm::to_vector(each.getSizes().getResults());
        ifRow({}, [&] {
          code.strided(first, step, code.size(product(inside, nest.getContext())), [&](Value number) {
            scalars.bindSplit(each.getBody().front().getArguments(), number, inside);
            good = scalars.emitOps(each.getBody().front());
          });
        });
        code.barrier();
      } else if (isa<PutOp>(op)) {
        code.barrier();
        Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, first, constant(builder, 0));
        ifRow(isFirst, [&] { good = scalars.emitOp(op); });
      } else {
        good = scalars.emitOp(op);
      }
      if (!good)
        return false;
    }
    return true;
  }

  NestOp nest;
  Block &block;
  SmallVector<AffineExpr> rows;
  EachOp flattened;      // null: rows alone are the parallel space
  AffineExpr inner;      // the most places of an inner dimension of a row, where these are known
  bool perBlock = false; // a block per row, or for several
  int64_t rowsOfBlock = 1;
};

} // namespace

DictionaryAttr chooseNest(NestOp op) { return NestKernel(op).choose(); }
LogicalResult generateNest(NestOp op, LaunchSequence &sequence) { return NestKernel(op).generate(sequence); }

} // namespace tenon::gpu
