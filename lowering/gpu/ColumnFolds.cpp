#include "lowering/gpu/ColumnFolds.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/Reductions.h"
#include "lowering/gpu/Places.h"

using namespace mlir;

namespace tenon::gpu {

/// Columns of a block at least, which lie beside each other, and threads that share a row of them at least: 128 bytes. Terms that
/// are worth slices; slices at most, and blocks that they make at most: about as many as a device runs at once (8 on each of an
/// H100's 132 processors, of an A100's 108), since the few beyond that would take as long as all others.
constexpr int64_t kColumns = 32, kThreadsOfRow = 8, kThreads = 256, kLeastTerms = 128, kMostSlices = 128, kBlocks = 1024;
/// Of columns whose number is not known: their parts take 8 times the memory of the result.
constexpr int64_t kUnknownBlocks = kBlocks / 8;
/// Terms that a thread reads before it adds them: one at a time would wait for memory each time. Of several folds fewer, and of
/// terms that together would be more bytes than a thread has registers for.
constexpr int64_t kAtOnce = 4, kAtOnceOfSeveral = 2, kBytesAtOnce = 256;
/// Terms of a slice at least, as a text may have it.
constexpr int64_t kMostTerms = int64_t(1) << 20;

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

int64_t ColumnFolds::mostLanes() const {
  SmallVector<Block *> blocks;
  for (FoldOp fold : folds)
    blocks.push_back(&fold.getBody().front());
  return fits() && llvm::all_of(folds, [](FoldOp fold) { return isComputed(fold.getType()); })
             ? lanesOf(blocks, indices.back(), sizes.back())
             : 1;
}

static int64_t columnsOfBlock(int64_t lanes) { return std::max(kColumns, kThreadsOfRow * lanes); }

/// Those that keep all threads of a block reading several at once, and are worth a part that is added later.
static int64_t leastTermsOfSlice(int64_t lanes) {
  const int64_t rows = kThreads / (columnsOfBlock(lanes) / lanes);
  return std::max(kLeastTerms / 2, rows * kAtOnce);
}

/// Bytes that a term of each of the folds reads for one column.
static int64_t bytesOfTerm(ArrayRef<FoldOp> folds) {
  llvm::SmallDenseSet<Value> tensors;
  int64_t bytes = 0;
  for (FoldOp fold : folds)
    fold.walk([&](AtOp at) {
      if (tensors.insert(at.getTensor()).second)
        bytes += elementBytes(at.getType());
    });
  return bytes;
}

static int64_t termsAtOnce(ArrayRef<FoldOp> folds, int64_t lanes) {
  int64_t terms = folds.size() == 1 ? kAtOnce : kAtOnceOfSeveral;
  while (terms > 1 && terms * lanes * bytesOfTerm(folds) > kBytesAtOnce)
    terms /= 2;
  return terms;
}

/// Folds over one space that stand beside each other are made in one pass.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>> choosePasses(ArrayRef<FoldOp> folds, int64_t lanes) {
  SmallVector<int64_t> passes, apart;
  for (ArrayRef<FoldOp> rest = folds; !rest.empty();) {
    ArrayRef<FoldOp> equal = rest.take_while([&](FoldOp fold) { return fold.getSizes() == FoldOp(rest.front()).getSizes(); });
    const int64_t number = passes.empty() ? 0 : passes.back() + 1;
    passes.append(equal.size(), number);
    apart.append(equal.size(), termsAtOnce(equal, lanes));
    rest = rest.drop_front(equal.size());
  }
  return {passes, apart};
}

DictionaryAttr ColumnFolds::choose() {
  const int64_t lanes = mostLanes(), least = leastTermsOfSlice(lanes);
  int64_t longest = 0; // fold
  for (FoldOp fold : folds) {
    auto terms = dyn_cast<AffineConstantExpr>(termsOf(fold));
    longest = std::max(longest, terms ? terms.getValue() : kMostSlices * least);
  }
  auto known = dyn_cast<AffineConstantExpr>(columns());
  const int64_t blocks = known ? std::max<int64_t>(llvm::divideCeil(known.getValue(), columnsOfBlock(lanes)), 1) : kUnknownBlocks;
  if (longest < kLeastTerms || blocks > kBlocks)
    return {};
  const int64_t room = std::min(kBlocks / blocks, kMostSlices), useful = std::max<int64_t>(longest / least, 1);
  const auto slices = int64_t(std::min(llvm::bit_floor(uint64_t(room)), llvm::bit_ceil(uint64_t(useful))));
  auto [passes, atOnce] = choosePasses(folds, lanes);
  return makeChoice(nest.getContext(), kForm, {{"slices", slices}, {"terms", least}, {"threads", kThreads}, {"vector", lanes}},
                    {{"pass", passes}, {"apart", atOnce}});
}

ChoiceForm ColumnFolds::form() const {
  ChoiceForm form{kForm,
                  {{"slices", 1, kMostSlices, 1, true},
                   {"terms", 1, kMostTerms},
                   {"threads", 32, 1024, 32},
                   {"vector", 1, mostLanes(), 1, true}},
                  {{"pass", "fold"}, {"apart", "fold"}}};
  for (size_t i = 0; i < folds.size(); ++i) {
    form.lists[0].numbers.push_back({"pass", 0, int64_t(i)});
    form.lists[1].numbers.push_back({"apart", 1, kMostApart});
  }
  return form;
}

LogicalResult ColumnFolds::checkPasses() const {
  for (size_t i = 1; i < folds.size(); ++i) {
    FoldOp fold = folds[i], before = folds[i - 1];
    const bool isNext = pass[i] == pass[i - 1] + 1;
    if (!isNext && (pass[i] != pass[i - 1] || apart[i] != apart[i - 1] || fold.getSizes() != before.getSizes()))
      return NestOp(nest).emitOpError("expects in ")
             << kChosen << " passes that count on by 1, of folds over one space, with terms apart alike, got fold " << i // S11
             << " in pass " << pass[i];
  }
  return success();
}

/// As many as the longest fold has terms for: of the same number for each thread of a slice, as far as that goes.
Value ColumnFolds::slicesOf(EntryCode &code) const {
  auto &builder = code.builder;
  Value terms = constant(builder, 0);
  for (FoldOp fold : folds)
    terms = maximum(builder, terms, code.size(termsOf(fold)));
  Value ofSlice = constant(builder, termsOfSlice), one = constant(builder, 1);
  Value rounds = ceilDivide(builder, terms, multiply(builder, ofSlice, constant(builder, mostSlices))); // of a thread
  Value useful = divide(builder, terms, multiply(builder, ofSlice, maximum(builder, rounds, one)));
  return maximum(builder, minimum(builder, useful, constant(builder, mostSlices)), one);
}

LogicalResult ColumnFolds::generate(LaunchSequence &sequence, const Choice &choice, Launch launch) {
  mostSlices = *choice.number("slices");
  vector = *choice.number("vector");
  termsOfSlice = *choice.number("terms");
  pass = llvm::to_vector(choice.list("pass"));
  apart = llvm::to_vector(choice.list("apart"));
  if (failed(checkPasses()))
    return failure();
  launch.numbers = {{IntegerType::get(nest.getContext(), 64), [this](EntryCode &code) { return slicesOf(code); }}};
  for (FoldOp fold : folds)
    launch.temporaries.push_back(sequence.temporary(columns() * (mostSlices * elementBytes(fold.getType()))));
  Launch parts = launch;
  parts.name = "nest_parts";
  parts.writes.clear();
  parts.blocks = [this](EntryCode &code) {
    return multiply(code.builder, slicesOf(code), blocksFor(code, code.size(columns()), columnsOfBlock(vector)));
  };
  parts.body = [this](KernelCode &code) { emitParts(code); };
  sequence.add(parts);
  launch.blocks = [this](EntryCode &code) { return blocksFor(code, code.size(columns()), kColumns); };
  launch.body = [this](KernelCode &code) { emitResults(code); };
  sequence.add(launch);
  return success();
}

void ColumnFolds::overColumns(KernelCode &code, ScalarCode &scalars, Value block, Value blocks, int64_t lanes,
                              llvm::function_ref<void(Value, Value)> body) const {
  auto &builder = code.builder;
  Value size = constant(builder, columnsOfBlock(lanes)), own = constant(builder, lanes), count = code.size(columns());
  Value threads = constant(builder, columnsOfBlock(lanes) / lanes);
  scalars.bindOutside(nest);
  code.strided(multiply(builder, block, size), multiply(builder, blocks, size), count, [&](Value first) {
    Value column = add(builder, first, multiply(builder, remainder(builder, code.thread(), threads), own));
    Value exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, column, count);
    column = minimum(builder, column, subtract(builder, count, own));
    scalars.bindSplit(indices, column, sizes);
    body(column, exists);
    if (folds.size() == 1) // else the memory in which it combines is behind the barriers of another one
      code.barrier();
  });
}

/// The terms from `first` on in steps of `step`, in their order, of folds over one space: a part for each of them and each of the
/// columns of `columns`.
static SmallVector<Value> foldStrided(KernelCode &code, const LaneCode &columns, ArrayRef<FoldOp> folds, Value count, Value first,
                                      Value step, int64_t lanes, int64_t apart) {
  auto &builder = code.builder;
  SmallVector<AffineExpr> sizes = llvm::to_vector(FoldOp(folds.front()).getSizes().getResults());
  SmallVector<Value> carried;
  for (FoldOp fold : folds)
    carried.append(size_t(lanes), neutralElement(builder, fold.getKind(), fold.getType()));
  carried.push_back(first);
  auto addTerms = [&](MutableArrayRef<Value> sums, Value number) {
    for (auto [k, one] : llvm::enumerate(folds)) {
      FoldOp fold = one;
      Block &block = fold.getBody().front();
      LaneCode own = columns;
      own.bindSplit(block.getArguments(), number, sizes);
      own.emitOps(block);
      for (auto [i, term] : llvm::enumerate(own.get(cast<YieldOp>(block.getTerminator()).getOperand(0)))) {
        Value &sum = sums[k * size_t(lanes) + i];
        sum = combine(builder, fold.getKind(), sum, term);
      }
    }
  };
  auto overTerms = [&](int64_t atOnce) {
    Value all = multiply(builder, step, constant(builder, atOnce));
    Value end = subtract(builder, count, multiply(builder, step, constant(builder, atOnce - 1)));
    auto loop = scf::ForOp::create(builder, carried.back(), end, all, carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> sums = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
    Value number = loop.getInductionVar();
    for (int64_t k = 0; k < atOnce; ++k, number = add(builder, number, step))
      addTerms(MutableArrayRef(sums).drop_back(), number);
    sums.back() = number;
    scf::YieldOp::create(builder, sums);
    carried = llvm::to_vector_of<Value>(loop.getResults());
  };
  overTerms(apart);
  overTerms(1);
  carried.pop_back();
  return carried;
}

/// A thread has every so manieth term of its columns, from that of its own number on. Blocks beside each other have columns
/// beside each other, so that together they read whole rows.
void ColumnFolds::emitParts(KernelCode &code) const {
  auto &builder = code.builder;
  ScalarCode scalars(code, {});
  const int64_t threads = columnsOfBlock(vector) / vector;
  Value slices = code.number(0), rows = constant(builder, code.threads / threads), size = constant(builder, threads);
  Value blocks = divide(builder, code.blocks(), slices), slice = divide(builder, code.block(), blocks);
  Value row = divide(builder, code.thread(), size), first = add(builder, multiply(builder, slice, rows), row);
  Value step = multiply(builder, slices, rows);
  overColumns(code, scalars, remainder(builder, code.block(), blocks), blocks, vector, [&](Value column, Value exists) {
    Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, row, constant(builder, 0));
    Value stores = arith::AndIOp::create(builder, exists, isFirst);
    Value place = add(builder, multiply(builder, slice, code.size(columns())), column);
    LaneCode lanes(code, scalars, {}, indices.back(), vector);
    for (Operation *op : ops)
      if (!isa<FoldOp, PutOp, YieldOp>(op) && !behind.contains(op))
        lanes.emitOp(*op);
    for (size_t number = 0; number < folds.size();) {
      const auto ofPass = size_t(llvm::count(pass, pass[number]));
      ArrayRef<FoldOp> equal = ArrayRef(folds).slice(number, ofPass);
      Value count = code.size(termsOf(equal.front()));
      SmallVector<Value> parts = foldStrided(code, lanes, equal, count, first, step, vector, apart[number]);
      for (size_t k = 0; k < equal.size(); ++k, ++number) {
        MutableArrayRef<Value> own = MutableArrayRef(parts).slice(k * size_t(vector), size_t(vector));
        code.combineBlock(FoldOp(equal[k]).getKind(), own, threads, /*onlyFirst=*/true);
        code.ifThen(stores, [&] {
          for (auto [i, part] : llvm::enumerate(own))
            scalars.store(part.getType(), code.temporary(unsigned(number)), add(builder, place, constant(builder, int64_t(i))),
                          part);
        });
      }
    }
  });
}

void ColumnFolds::emitResults(KernelCode &code) const {
  auto &builder = code.builder;
  ScalarCode scalars(code, nest->getResults());
  Value slices = code.number(0), lane = divide(builder, code.thread(), constant(builder, kColumns));
  Value lanes = constant(builder, code.threads / kColumns);
  overColumns(code, scalars, code.block(), code.blocks(), 1, [&](Value column, Value exists) {
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
        if (!isa<FoldOp, YieldOp>(op))
          scalars.emitOp(*op);
    });
  });
}

} // namespace tenon::gpu
