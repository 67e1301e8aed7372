#include "lowering/gpu/ColumnFolds.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/Reductions.h"

using namespace mlir;

namespace tenon::gpu {

/// Columns of a block, which lie beside each other; terms that a slice is worth having for; slices at most, and blocks that they
/// are to make.
constexpr int64_t kColumns = 32, kThreads = 256, kTermsOfSlice = 64, kMostSlices = 128, kBlocks = 2048;
/// Of columns whose number is not known: their parts take 8 times the memory of the result.
constexpr int64_t kUnknownBlocks = kBlocks / 8;
/// Terms that a thread reads before it adds them: one at a time would wait for memory each time.
constexpr int64_t kAtOnce = 4;

ColumnFolds::ColumnFolds(NestOp nest, EachOp flattened)
    : nest(nest), context(nest.getContext()), sizes(nest.parallelDomain()), indices(nest.getBody().getArguments()) {
  for (Operation &op : nest.getBody().front())
    if (&op != flattened.getOperation())
      ops.push_back(&op);
  if (flattened) {
    llvm::append_range(sizes, flattened.getSizes().getResults());
    llvm::append_range(indices, flattened.getBody().getArguments());
    for (Operation &op : flattened.getBody().front())
      ops.push_back(&op);
  }
  for (Operation *op : ops) {
    bool needsFold = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        needsFold |= behind.contains(operand.getDefiningOp()) || isa_and_nonnull<FoldOp>(operand.getDefiningOp());
    });
    if (needsFold)
      behind.insert(op);
    auto fold = dyn_cast<FoldOp>(op);
    if (isa<EachOp>(op) || (fold && (needsFold || !readsAcross(fold)))) {
      folds.clear();
      return;
    }
    if (fold)
      folds.push_back(fold);
  }
}

/// Whether neighbours in memory are terms of neighbouring columns.
bool ColumnFolds::readsAcross(FoldOp fold) const {
  bool across = false, within = false;
  if (!indices.empty())
    fold.walk([&](AtOp at) {
      if (llvm::is_contained(at.getIndices(), indices.back()))
        (at.getIndices().back() == indices.back() ? across : within) = true;
    });
  return across && !within;
}

AffineExpr ColumnFolds::columns() const { return product(sizes, context); }

AffineExpr ColumnFolds::termsOf(FoldOp fold) const { return product(llvm::to_vector(fold.getSizes().getResults()), context); }

DictionaryAttr ColumnFolds::choose() {
  int64_t useful = 1; // slices, of the longest fold
  for (FoldOp fold : folds) {
    auto terms = dyn_cast<AffineConstantExpr>(termsOf(fold));
    useful = std::max(useful, terms ? terms.getValue() / kTermsOfSlice : kMostSlices);
  }
  auto known = dyn_cast<AffineConstantExpr>(columns());
  const int64_t blocks = known ? std::max<int64_t>(llvm::divideCeil(known.getValue(), kColumns), 1) : kUnknownBlocks;
  const int64_t room = std::clamp<int64_t>(kBlocks / blocks, 1, kMostSlices);
  const auto slices = int64_t(std::min(llvm::bit_floor(uint64_t(room)), llvm::bit_ceil(uint64_t(useful))));
  if (slices == 1)
    return {};
  return makeChoice(nest.getContext(), kForm, {{"slices", slices}, {"threads", kThreads}});
}

ChoiceForm ColumnFolds::form() { return {kForm, {{"slices", 1, kMostSlices, 1, true}, {"threads", 32, 1024, 32}}}; }

/// As many as the longest fold has terms for.
Value ColumnFolds::slicesOf(EntryCode &code) const {
  auto &builder = code.builder;
  Value terms = constant(builder, 0);
  for (FoldOp fold : folds)
    terms = maximum(builder, terms, code.size(termsOf(fold)));
  Value useful = divide(builder, terms, constant(builder, kTermsOfSlice));
  return maximum(builder, minimum(builder, useful, constant(builder, mostSlices)), constant(builder, 1));
}

LogicalResult ColumnFolds::generate(LaunchSequence &sequence, const Choice &choice, Launch launch) {
  mostSlices = *choice.number("slices");
  launch.numbers = {{IntegerType::get(nest.getContext(), 64), [this](EntryCode &code) { return slicesOf(code); }}};
  for (FoldOp fold : folds)
    launch.temporaries.push_back(sequence.temporary(columns() * (mostSlices * elementBytes(fold.getType()))));
  bool good = true;
  Launch parts = launch;
  parts.name = "nest_parts";
  parts.writes.clear();
  parts.blocks = [this](EntryCode &code) {
    return multiply(code.builder, slicesOf(code), blocksFor(code, code.size(columns()), kColumns));
  };
  parts.body = [&](KernelCode &code) { good &= emitParts(code); };
  sequence.add(parts);
  launch.blocks = [this](EntryCode &code) { return blocksFor(code, code.size(columns()), kColumns); };
  launch.body = [&](KernelCode &code) { good &= emitResults(code); };
  sequence.add(launch);
  return success(good);
}

void ColumnFolds::overColumns(KernelCode &code, ScalarCode &scalars, Value block, Value blocks,
                              llvm::function_ref<void(Value, Value)> body) const {
  auto &builder = code.builder;
  Value size = constant(builder, kColumns), count = code.size(columns());
  scalars.bindOutside(nest);
  code.strided(multiply(builder, block, size), multiply(builder, blocks, size), count, [&](Value first) {
    Value column = add(builder, first, remainder(builder, code.thread(), size));
    Value exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, column, count);
    column = minimum(builder, column, subtract(builder, count, constant(builder, 1)));
    scalars.bindSplit(indices, column, sizes);
    body(column, exists);
    if (folds.size() == 1) // else the memory in which it combines is behind the barriers of another one
      code.barrier();
  });
}

/// The terms from `first` on in steps of `step`, in their order. Null: reported.
static Value foldStrided(KernelCode &code, ScalarCode &scalars, FoldOp fold, Value count, Value first, Value step) {
  auto &builder = code.builder;
  SmallVector<AffineExpr> sizes = llvm::to_vector(fold.getSizes().getResults());
  Block &block = fold.getBody().front();
  Value all = multiply(builder, step, constant(builder, kAtOnce));
  Value end = subtract(builder, count, multiply(builder, step, constant(builder, kAtOnce - 1)));
  auto loop =
      scf::ForOp::create(builder, first, end, all, ValueRange{neutralElement(builder, fold.getKind(), fold.getType()), first});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value sum = loop.getRegionIterArgs()[0], number = loop.getInductionVar();
    for (int64_t k = 0; k < kAtOnce; ++k) {
      scalars.bindSplit(block.getArguments(), number, sizes);
      if (!scalars.emitOps(block))
        return {};
      sum = combine(builder, fold.getKind(), sum, scalars.get(cast<YieldOp>(block.getTerminator()).getOperand(0)));
      number = add(builder, number, step);
    }
    scf::YieldOp::create(builder, ValueRange{sum, number});
  }
  Value rest = scalars.foldPart(fold, loop.getResult(1), step);
  return rest ? combine(builder, fold.getKind(), loop.getResult(0), rest) : Value();
}

/// A thread has every so manieth term of one column, from that of its own number on.
bool ColumnFolds::emitParts(KernelCode &code) const {
  auto &builder = code.builder;
  ScalarCode scalars(code, {});
  bool good = true;
  Value slices = code.number(0), lanes = constant(builder, code.threads / kColumns);
  Value slice = remainder(builder, code.block(), slices), lane = divide(builder, code.thread(), constant(builder, kColumns));
  Value first = add(builder, multiply(builder, slice, lanes), lane), step = multiply(builder, slices, lanes);
  overColumns(code, scalars, divide(builder, code.block(), slices), divide(builder, code.blocks(), slices),
              [&](Value column, Value exists) {
                Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, lane, constant(builder, 0));
                Value stores = arith::AndIOp::create(builder, exists, isFirst);
                Value place = add(builder, multiply(builder, slice, code.size(columns())), column);
                unsigned number = 0;
                for (Operation *op : ops) {
                  auto fold = dyn_cast<FoldOp>(op);
                  if (!fold && !behind.contains(op) && !isa<PutOp, YieldOp>(op))
                    good = good && scalars.emitOp(*op);
                  Value part = good && fold ? foldStrided(code, scalars, fold, code.size(termsOf(fold)), first, step) : Value();
                  good = good && (part || !fold);
                  if (!part)
                    continue;
                  part = code.combineBlock(fold.getKind(), part, kColumns, /*onlyFirst=*/true);
                  code.ifThen(stores, [&] { scalars.store(part.getType(), code.temporary(number), place, part); });
                  ++number;
                }
              });
  return good;
}

bool ColumnFolds::emitResults(KernelCode &code) const {
  auto &builder = code.builder;
  ScalarCode scalars(code, nest->getResults());
  bool good = true;
  Value slices = code.number(0), lane = divide(builder, code.thread(), constant(builder, kColumns));
  Value lanes = constant(builder, code.threads / kColumns);
  overColumns(code, scalars, code.block(), code.blocks(), [&](Value column, Value exists) {
    for (auto [number, one] : llvm::enumerate(folds)) {
      FoldOp fold = one;
      const Type element = fold.getType();
      auto loop = scf::ForOp::create(builder, lane, slices, lanes, ValueRange{neutralElement(builder, fold.getKind(), element)});
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value place = add(builder, multiply(builder, loop.getInductionVar(), code.size(columns())), column);
      Value part = scalars.load(element, code.temporary(unsigned(number)), place);
      scf::YieldOp::create(builder, ValueRange{combine(builder, fold.getKind(), loop.getRegionIterArgs()[0], part)});
      builder.setInsertionPointAfter(loop);
      scalars.bind(fold.getValue(), code.combineBlock(fold.getKind(), loop.getResult(0), kColumns, /*onlyFirst=*/true));
    }
    Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, lane, constant(builder, 0));
    code.ifThen(arith::AndIOp::create(builder, exists, isFirst), [&] {
      for (Operation *op : ops)
        good = good && (isa<FoldOp, YieldOp>(op) || scalars.emitOp(*op));
    });
  });
  return good;
}

} // namespace tenon::gpu
