// tenon.nest as a kernel: a thread per element, or, where a row is reduced, a block per row whose threads share the row's inner
// dimensions. Where neighbours in memory belong to neighbouring rows a block has 32 rows; sums of columns: ColumnFolds.h.
#include "dialect/TensorSizes.h"
#include "lowering/gpu/ColumnFolds.h"
#include "lowering/gpu/LaneCode.h"
#include "lowering/gpu/OnlineFolds.h"
#include "lowering/gpu/Places.h"
#include "lowering/gpu/RowBarriers.h"
#include "lowering/gpu/RowLoops.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

/// Rows of so few inner elements are the work of one thread.
constexpr int64_t kFewElements = 16;
/// Rows of a block that has several, whose elements threads beside each other read.
constexpr int64_t kRowsOfBlock = 32, kThreadsOfRows = 256;
/// So many elements keep all threads of a GPU busy with several each.
constexpr int64_t kManyElements = int64_t(1) << 17;
/// Rows of so many elements that are no vectors are the work of a block, where there are so many of them: what a row shares is
/// read once, and no element asks for its row.
constexpr int64_t kLongRow = 1024, kManyRows = 256;
/// A thread per element, a block per row, a block for several rows.
constexpr llvm::StringLiteral kElements = "elements", kRow = "row", kRows = "rows";

class NestKernel {
public:
  explicit NestKernel(NestOp nest) : nest(nest), block(nest.getBody().front()), rows(nest.parallelDomain()), loops(nest) {
    findInner();
  }

  DictionaryAttr choose() {
    if (DictionaryAttr choice = ColumnFolds(nest, flattened).choose())
      return choice;
    auto known = dyn_cast<AffineConstantExpr>(inner);
    if (hasLongRows())
      return chooseRow(1);
    if (flattened || (known && known.getValue() <= kFewElements)) {
      const int64_t lanes = usefulLanes();
      return makeChoice(nest.getContext(), kElements,
                        {{"threads", threadsFor(elements())}, {"vector", lanes}, {"apart", usefulApart(lanes)}});
    }
    if (readsAcrossRows()) {
      SmallVector<ChosenList> lists = loops.chooseRows(kThreadsOfRows);
      lists.push_back(RowBarriers(nest, loops, kThreadsOfRows, kRowsOfBlock).choose());
      return makeChoice(nest.getContext(), kRows, {{"rows", kRowsOfBlock}, {"threads", kThreadsOfRows}}, lists);
    }
    return chooseRow(loops.mostLanes());
  }

  LogicalResult generate(LaunchSequence &sequence) {
    FailureOr<Choice> choice = sequence.choiceOf(nest, forms());
    if (failed(choice) || failed(checkScalars(nest)))
      return failure();
    perBlock = choice->form() != kElements;
    if (choice->form() == kRow)
      flattened = {};
    rowsOfBlock = choice->number("rows").value_or(1);
    barriers.emplace(nest, loops, *choice->number("threads"), rowsOfBlock);
    if ((choice->form() == kRow || choice->form() == kRows) && (failed(loops.read(*choice)) || failed(barriers->read(*choice))))
      return failure();
    vector = choice->number("vector").value_or(1);
    apart = choice->number("apart").value_or(1);
    if (!perBlock && vector > 1 && apart > 1)
      return nest.emitOpError("expects in ") << kChosen << " elements either beside each other or apart, got vector " // S11
                                             << vector << " and apart " << apart;
    llvm::SetVector<Value> read;
    nest.walk([&](AtOp at) { read.insert(at.getTensor()); });
    Launch launch{
        "nest", nest.getLoc(), llvm::to_vector(read), llvm::to_vector_of<Value>(nest->getResults()), {}, {}, {}, {}, 1, false,
        {}};
    nest.walk([&](DrawOpInterface) { launch.draws = true; });
    launch.threads = *choice->number("threads");
    if (choice->form() == ColumnFolds::kForm)
      return ColumnFolds(nest, flattened).generate(sequence, *choice, launch);
    launch.blocks = [this, threads = launch.threads](EntryCode &code) {
      return blocksFor(code, perBlock ? code.size(elements()) : vectors(code), perBlock ? rowsOfBlock : apart * threads);
    };
    launch.body = [&](KernelCode &code) {
      ScalarCode scalars(code, nest->getResults());
      scalars.bindOutside(nest);
      if (!perBlock)
        emitGrid(code, scalars);
      else
        emitRows(code, [&](Value row, Value exists) { emitRow(code, scalars, row, exists); });
    };
    sequence.add(launch);
    return success();
  }

private:
  /// What may be chosen.
  SmallVector<ChoiceForm> forms() {
    const ChoiceNumber ofBlock{"threads", 32, 1024, 32};
    const ChoiceNumber ofElements{"apart", 1, hasLoops() ? 1 : kMostApart};
    SmallVector<ChoiceForm> all{{kElements, {ofBlock, {"vector", 1, lanesOfElements(), 1, true}, ofElements}}};
    auto addRows = [&](StringRef name, SmallVector<ChoiceNumber> numbers, SmallVector<ChoiceList> lists) {
      lists.push_back(RowBarriers::listOf(nest));
      all.push_back({name, std::move(numbers), std::move(lists)});
    };
    if (!flattened || !rows.empty())
      addRows(kRow, {ofBlock}, loops.listsOfRow());
    if (!flattened && readsAcrossRows())
      addRows(kRows, {{"rows", 2, 32, 1, true}, ofBlock}, loops.listsOfRows());
    if (ColumnFolds columns(nest, flattened); columns.fits())
      all.push_back(columns.form());
    return all;
  }
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
  /// How many elements a thread can have where each is a thread's.
  int64_t lanesOfElements() {
    SmallVector<Block *> blocks{&block};
    if (flattened)
      blocks.push_back(&flattened.getBody().front());
    return rows.empty() && !flattened ? 1 : lanesOf(blocks, sources().back(), sizes().back());
  }
  int64_t usefulLanes() {
    auto known = dyn_cast<AffineConstantExpr>(elements());
    return known && known.getValue() < kManyElements ? 1 : lanesOfElements();
  }
  /// Whether an element has loops of its own.
  bool hasLoops() {
    return nest
        .walk([&](Operation *op) {
          return isa<FoldOp>(op) || (isa<EachOp>(op) && op != flattened) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }
  /// How many elements of different places a thread reads at once.
  int64_t usefulApart(int64_t lanes) {
    auto known = dyn_cast<AffineConstantExpr>(elements());
    return lanes == 1 && !hasLoops() && known && known.getValue() >= kManyElements * kApart ? kApart : 1;
  }
  DictionaryAttr chooseRow(int64_t lanes) {
    const int64_t threads = threadsFor(inner.floorDiv(lanes));
    SmallVector<ChosenList> lists = loops.chooseRow(threads, lanes);
    lists.push_back(RowBarriers(nest, loops, threads, 1).choose());
    return makeChoice(nest.getContext(), kRow, {{"threads", threads}}, lists);
  }
  bool hasLongRows() {
    auto known = dyn_cast<AffineConstantExpr>(inner), count = dyn_cast<AffineConstantExpr>(product(rows, nest.getContext()));
    return flattened && known && known.getValue() >= kLongRow && lanesOfElements() == 1 && !readsAcrossRows() &&
           (!count || count.getValue() >= kManyRows);
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

  SmallVector<Value> sources() {
    SmallVector<Value> all(block.getArguments());
    if (flattened)
      llvm::append_range(all, flattened.getBody().front().getArguments());
    return all;
  }
  template <class Code> Value vectors(Code &code) {
    return divide(code.builder, code.size(elements()), constant(code.builder, vector));
  }

  void emitGrid(KernelCode &code, ScalarCode &scalars) {
    auto &builder = code.builder;
    Value size = constant(builder, code.threads), step = multiply(builder, code.blocks(), size), count = vectors(code);
    Value first = add(builder, multiply(builder, code.block(), size), code.thread());
    if (apart > 1)
      first = emitApart(code, scalars, nest->getResults(), sources(), sizes(), {first, step, count, apart},
                        [&](LaneCode &lanes) { emitElement(lanes); });
    code.strided(first, step, count, [&](Value number) { emitElements(code, scalars, number); });
  }

  void emitElements(KernelCode &code, ScalarCode &scalars, Value number) {
    scalars.bindSplit(sources(), multiply(code.builder, number, constant(code.builder, vector)), sizes());
    if (vector == 1)
      return emitElement(scalars);
    LaneCode lanes(code, scalars, nest->getResults(), sources().back(), vector);
    emitElement(lanes);
  }
  template <class Code> void emitElement(Code &element) {
    for (Operation &op : block)
      if (flattened && &op == flattened.getOperation())
        element.emitOps(flattened.getBody().front());
      else
        element.emitOp(op);
  }

  /// The places of an inner dimension that are a thread's.
  void emitEach(KernelCode &code, ScalarCode &scalars, EachOp each, Value first, Value step) {
    auto &builder = code.builder;
    SmallVector<AffineExpr> inside = llvm::to_vector(each.getSizes().getResults());
    Block &body = each.getBody().front();
    const llvm::SetVector<Operation *> own = ownOps(body);
    for (Operation &op : body)
      if (!own.contains(&op) && !isa<YieldOp>(op))
        scalars.emitOp(op);
    auto emit = [&](auto &element) {
      for (Operation *op : own)
        element.emitOp(*op);
    };
    const int64_t lanes = loops.vectorOf(each), together = loops.apartOf(each);
    Value size = constant(builder, lanes), count = divide(builder, code.size(product(inside, nest.getContext())), size);
    if (together > 1)
      first = emitApart(code, scalars, nest->getResults(), body.getArguments(), inside, {first, step, count, together},
                        [&](LaneCode &all) { emit(all); });
    code.strided(first, step, count, [&](Value number) {
      scalars.bindSplit(body.getArguments(), multiply(builder, number, size), inside);
      LaneCode all(code, scalars, nest->getResults(), body.getArguments().back(), lanes);
      lanes == 1 ? emit(scalars) : emit(all);
    });
  }

  /// The folds of a pass over a row whose space threads share.
  void emitFolds(KernelCode &code, ScalarCode &scalars, ArrayRef<FoldOp> folds, Value first, Value step) {
    FoldOp fold = folds.front();
    if (loops.isOnline(folds)) {
      FoldOp sum = folds.back();
      MaximumAndSum both = foldOnline(code, scalars, fold, !loops.isBroadcast(sum));
      scalars.bind(fold.getValue(), both.maximum);
      scalars.bind(sum.getValue(), both.sum);
      return;
    }
    const int64_t lanes = loops.vectorOf(fold);
    SmallVector<Value> parts = lanes == 1 ? SmallVector<Value>{scalars.foldPart(fold, first, step)}
                                          : foldLanes(code, scalars, folds, first, step, lanes);
    for (auto [one, part] : llvm::zip_equal(folds, parts))
      scalars.bind(FoldOp(one).getValue(), code.combineBlock(FoldOp(one).getKind(), part, rowsOfBlock, !loops.isBroadcast(one)));
  }

  void emitRow(KernelCode &code, ScalarCode &scalars, Value row, Value exists) {
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
    llvm::DenseSet<Operation *> known; // with one before them
    for (Operation &op : block) {
      if (known.contains(&op))
        continue;
      if (isa<EachOp, PutOp>(op) && barriers->isBefore(op))
        code.barrier();
      if (auto fold = dyn_cast<FoldOp>(op)) {
        SmallVector<FoldOp> folds = loops.passOf(fold);
        emitFolds(code, scalars, folds, first, step);
        known.insert(folds.begin(), folds.end());
      } else if (auto each = dyn_cast<EachOp>(op)) {
        ifRow({}, [&] { emitEach(code, scalars, each, first, step); });
      } else if (isa<PutOp>(op)) {
        Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, first, constant(builder, 0));
        ifRow(isFirst, [&] { scalars.emitOp(op); });
      } else {
        scalars.emitOp(op);
      }
    }
    if (barriers->isAtEnd())
      code.barrier();
  }

  NestOp nest;
  Block &block;
  SmallVector<AffineExpr> rows;
  EachOp flattened;                    // null: rows alone are the parallel space
  AffineExpr inner;                    // the most places of an inner dimension of a row, where these are known
  RowLoops loops;                      // of a row
  std::optional<RowBarriers> barriers; // of a row, as read
  bool perBlock = false;               // a block per row, or for several
  int64_t rowsOfBlock = 1, vector = 1; // vector: elements beside each other that are a thread's
  int64_t apart = 1;                   // the same of elements that lie apart, where they are no vector
};

} // namespace

DictionaryAttr chooseNest(NestOp op) { return NestKernel(op).choose(); }
LogicalResult generateNest(NestOp op, LaunchSequence &sequence) { return NestKernel(op).generate(sequence); }

} // namespace tenon::gpu
