// tenon.optimize by rules whose means of squares are taken apart: of a matrix means by rows and columns are kept alone. Means
// first, then the directions, which replace the gradients, since how far a tensor moves depends on their size; then the update.
#include "lowering/gpu/OptimizerKernels.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::gpu {

namespace {
/// Rows of a block of `row_means`, and of a strip of sums by columns.
constexpr int64_t kRowsOfBlock = 8, kRowsOfStrip = 512;
/// Columns of the table of segments; OptimizerKernels::collectTables has them all.
enum : int64_t { kOffset = 0, kNorm = 3, kMeansOfRows, kMeansOfColumns, kRows, kColumns, kColumnSums };
/// Arguments of these kernels, as readParameter wants the first and the ninth.
enum : unsigned { kParameters, kGradients, kMeans, kSteps, kRate, kUpdates, kRest, kUnused, kBeside };

int64_t stripsOf(const OptimizerSegment &segment) { return llvm::divideCeil(segment.means.rowCount, kRowsOfStrip); }
Value realOf(KernelCode &code, Value whole) { return arith::UIToFPOp::create(code.builder, code.builder.getF64Type(), whole); }
Value widen(KernelCode &code, Value x) { return convertReal(code.builder, code.builder.getLoc(), x, code.builder.getF64Type()); }
Value narrow(KernelCode &code, Value x, Type element) { return convertReal(code.builder, code.builder.getLoc(), x, element); }

/// Sums from 0, f64: over the numbers from `first` on in steps of `step`, below `count`.
SmallVector<Value> sums(KernelCode &code, unsigned results, Value first, Value step, Value count,
                        llvm::function_ref<SmallVector<Value>(Value)> terms) {
  auto &builder = code.builder;
  Value none = arith::ConstantOp::create(builder, builder.getF64FloatAttr(0));
  auto loop = scf::ForOp::create(builder, first, count, step, SmallVector<Value>(results, none));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> more = terms(loop.getInductionVar());
  for (unsigned i = 0; i < results; ++i)
    more[i] = arith::AddFOp::create(builder, loop.getRegionIterArgs()[i], more[i]);
  scf::YieldOp::create(builder, more);
  return SmallVector<Value>(loop.getResults());
}
} // namespace

OptimizerKernels::Cover OptimizerKernels::cover(llvm::function_ref<int64_t(const OptimizerSegment &)> blocksOf) {
  Cover result;
  for (size_t i = part.first; i < part.first + part.count; ++i) {
    const OptimizerSegment &segment = table.segments[i];
    result.firsts.push_back(int64_t(result.segments.size()));
    if (segment.means.columnCount > 0)
      result.segments.append(size_t(blocksOf(segment)), int32_t(i));
  }
  return result;
}

int64_t OptimizerKernels::columnSumsOf(const OptimizerSegment &segment) { return stripsOf(segment) * segment.means.columnCount; }

int64_t OptimizerKernels::countColumnSums() {
  int64_t count = 0;
  for (const OptimizerSegment &segment : table.segments)
    count += columnSumsOf(segment);
  return count;
}

void OptimizerKernels::addFactoredUpdate() {
  for (const OptimizerPart &each : table.parts) {
    part = each;
    addRowMeans();
    addColumnSums();
    addColumnMeans();
    addMeansOfRows();
    addFactored("directions", tileCountOf(part), [this](KernelCode &code) { emitFactoredDirections(code); });
  }
  addFactored("ratios", int64_t(llvm::divideCeil(segmentCount(), kThreads)), [this](KernelCode &code) {
    code.overGrid(constant(code.builder, segmentCount()), [&](Value segment) { emitFactoredRatio(code, segment); });
  });
  for (const OptimizerPart &each : table.parts) {
    part = each;
    addFactored("update", tileCountOf(part), [this](KernelCode &code) { emitFactoredUpdate(code); });
  }
}

void OptimizerKernels::addFactored(StringRef name, int64_t count, std::function<void(KernelCode &)> body) {
  if (count == 0)
    return;
  Launch launch = launchOf(table.parts.size() > 1 ? (name + "_" + elementModel(part.stored).name()).str() : name.str());
  launch.blocks = blocks(count, true);
  Type f64 = Float64Type::get(op.getContext());
  auto updates = [this](EntryCode &code) {
    return ruleNumbers(code.builder, op, code.field(abi::Step), libraryOf(code)).updates;
  };
  auto rest = [this, updates](EntryCode &code) { return factoredRest(code.builder, op, updates(code), libraryOf(code)); };
  launch.numbers = {arena(TN_ARENA_PARAMS),
                    arena(TN_ARENA_GRADS),
                    arena(TN_ARENA_MOMENT1),
                    arena(momentCount(op) > 1 ? TN_ARENA_MOMENT2 : TN_ARENA_PARAMS),
                    {f64, [this](EntryCode &code) { return rateOf(code); }},
                    {f64, updates},
                    {f64, rest},
                    {f64, rest}};
  if (part.isSplit || part.copies)
    launch.numbers.push_back(arena(part.isSplit ? TN_ARENA_REMAINDERS : TN_ARENA_COPIES));
  launch.body = [this, own = part, body](KernelCode &code) {
    part = own;
    code.ifThen(isFinite(code.builder, loadArea(code, areas.norm)), [&] { body(code); });
  };
  sequence.add(launch);
}

FactoredCode OptimizerKernels::factoredOf(KernelCode &code) {
  return FactoredCode(code.builder, op, part.element, code.number(kUpdates), code.number(kRest));
}

/// Address of the means of a segment.
Value OptimizerKernels::meansOf(KernelCode &code, Value segment, int64_t column) {
  return elementAddress(code.builder, code.number(kMeans), part.element, wholeOf(code, segment, column));
}

std::function<Value(Value)> OptimizerKernels::clippingOf(KernelCode &code, Value segment) {
  Piece piece = {};
  piece.gradient = factorOf(code, segment, 1);
  piece.norm = wholeOf(code, segment, kNorm);
  piece.segment = segment;
  return clipping(code, piece);
}

/// Of a block: its segment, and its number among those of the segment.
std::pair<Value, Value> OptimizerKernels::placeIn(KernelCode &code, StringRef name, const Cover &of) {
  auto &builder = code.builder;
  Value segment = entryOf<int32_t>(code, (name + "_segments").str(), builder.getI32Type(), of.segments, code.block());
  segment = arith::ExtUIOp::create(builder, builder.getI64Type(), segment);
  Value row = subtract(builder, segment, constant(builder, int64_t(part.first)));
  return {segment, subtract(builder, code.block(),
                            entryOf<int64_t>(code, (name + "_firsts").str(), builder.getI64Type(), of.firsts, row))};
}

void OptimizerKernels::addRowMeans() {
  Cover all = cover([](const OptimizerSegment &segment) { return llvm::divideCeil(segment.means.rowCount, kRowsOfBlock); });
  const int64_t count = int64_t(all.segments.size());
  addFactored("row_means", count, [this, all](KernelCode &code) {
    auto &builder = code.builder;
    ScalarCode scalars(code, {});
    auto [segment, number] = placeIn(code, "row_means", all);
    auto clipped = clippingOf(code, segment);
    FactoredCode rules = factoredOf(code);
    Value columns = wholeOf(code, segment, kColumns), means = meansOf(code, segment, kMeansOfRows);
    Value first = multiply(builder, number, constant(builder, kRowsOfBlock));
    Value end = minimum(builder, add(builder, first, constant(builder, kRowsOfBlock)), wholeOf(code, segment, kRows));
    auto rows = scf::ForOp::create(builder, first, end, constant(builder, 1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(rows.getBody());
    Value row = rows.getInductionVar();
    Value start = add(builder, wholeOf(code, segment, kOffset), multiply(builder, row, columns));
    Value mine = sums(code, 1, code.thread(), constant(builder, kThreads), columns, [&](Value column) -> SmallVector<Value> {
      return {
          rules.square(widen(code, clipped(scalars.load(part.element, code.number(kGradients), add(builder, start, column)))))};
    })[0];
    Value total = code.combineBlock(Reduction::sum, mine, 1, /*onlyFirst=*/true);
    ifFirst(code, [&] {
      Value before = widen(code, scalars.load(part.element, means, row));
      Value now = rules.faded(before, rules.mean(total, realOf(code, columns)));
      scalars.store(part.element, means, row, narrow(code, now, part.element));
    });
    code.barrier();
  });
}

/// Of each strip of rows, a thread per column.
void OptimizerKernels::addColumnSums() {
  Cover all = cover([](const OptimizerSegment &segment) {
    return stripsOf(segment) * int64_t(llvm::divideCeil(segment.means.columnCount, kThreads));
  });
  const int64_t count = int64_t(all.segments.size());
  addFactored("column_sums", count, [this, all](KernelCode &code) {
    auto &builder = code.builder;
    ScalarCode scalars(code, {});
    auto [segment, number] = placeIn(code, "column_sums", all);
    auto clipped = clippingOf(code, segment);
    FactoredCode rules = factoredOf(code);
    Value columns = wholeOf(code, segment, kColumns), chunks = ceilDivide(builder, columns, constant(builder, kThreads));
    Value strip = divide(builder, number, chunks), chunk = remainder(builder, number, chunks);
    Value column = add(builder, multiply(builder, chunk, constant(builder, kThreads)), code.thread());
    Value first = multiply(builder, strip, constant(builder, kRowsOfStrip));
    Value end = minimum(builder, add(builder, first, constant(builder, kRowsOfStrip)), wholeOf(code, segment, kRows));
    code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, column, columns), [&] {
      Value start = add(builder, wholeOf(code, segment, kOffset), column);
      Value sum = sums(code, 1, first, constant(builder, 1), end, [&](Value row) -> SmallVector<Value> {
        Value at = add(builder, start, multiply(builder, row, columns));
        return {rules.square(widen(code, clipped(scalars.load(part.element, code.number(kGradients), at))))};
      })[0];
      Value place = add(builder, multiply(builder, strip, columns), column);
      storeArea(code, areas.columns, add(builder, wholeOf(code, segment, kColumnSums), place), sum);
    });
  });
}

/// From the sums of strips in their order, a thread per column, which alone reads them.
void OptimizerKernels::addColumnMeans() {
  Cover all = cover([](const OptimizerSegment &segment) { return llvm::divideCeil(segment.means.columnCount, kThreads); });
  const int64_t count = int64_t(all.segments.size());
  addFactored("column_means", count, [this, all](KernelCode &code) {
    auto &builder = code.builder;
    ScalarCode scalars(code, {});
    auto [segment, number] = placeIn(code, "column_means", all);
    FactoredCode rules = factoredOf(code);
    Value columns = wholeOf(code, segment, kColumns), rows = wholeOf(code, segment, kRows);
    Value column = add(builder, multiply(builder, number, constant(builder, kThreads)), code.thread());
    Value place = add(builder, wholeOf(code, segment, kColumnSums), column), means = meansOf(code, segment, kMeansOfColumns);
    code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, column, columns), [&] {
      Value strips = ceilDivide(builder, rows, constant(builder, kRowsOfStrip));
      Value sum = sums(code, 1, constant(builder, 0), constant(builder, 1), strips, [&](Value strip) -> SmallVector<Value> {
        return {loadArea(code, areas.columns, add(builder, place, multiply(builder, strip, columns)))};
      })[0];
      Value before = widen(code, scalars.load(part.element, means, column));
      Value now = narrow(code, rules.faded(before, rules.mean(sum, realOf(code, rows))), part.element);
      scalars.store(part.element, means, column, now);
      storeArea(code, areas.columns, place, rules.columnFactor(widen(code, now)));
    });
  });
}

void OptimizerKernels::addMeansOfRows() {
  Cover all = cover([](const OptimizerSegment &) { return 1; });
  const int64_t count = int64_t(all.segments.size());
  addFactored("means_of_rows", count, [this, all](KernelCode &code) {
    auto &builder = code.builder;
    ScalarCode scalars(code, {});
    Value segment = placeIn(code, "means_of_rows", all).first;
    Value rows = wholeOf(code, segment, kRows), means = meansOf(code, segment, kMeansOfRows);
    Value mine = sums(code, 1, code.thread(), constant(builder, kThreads), rows,
                      [&](Value row) -> SmallVector<Value> { return {widen(code, scalars.load(part.element, means, row))}; })[0];
    Value total = code.combineBlock(Reduction::sum, mine, 1, /*onlyFirst=*/true);
    ifFirst(code, [&] { storeArea(code, areas.rowMeans, segment, arith::DivFOp::create(builder, total, realOf(code, rows))); });
  });
}

/// Directions in the place of gradients; per tile the sums of squares of parameters and of directions.
void OptimizerKernels::emitFactoredDirections(KernelCode &code) {
  auto &builder = code.builder;
  ScalarCode scalars(code, {});
  Piece piece = pieceOf(code);
  auto clipped = clipping(code, piece);
  FactoredCode rules = factoredOf(code);
  Value columns = wholeOf(code, piece.segment, kColumns), means = meansOf(code, piece.segment, kMeansOfRows);
  auto replaced = [&](llvm::function_ref<Value(Value g, Value element)> direction) {
    return sums(code, 2, code.thread(), constant(builder, kThreads), piece.count, [&](Value number) -> SmallVector<Value> {
      Value at = add(builder, piece.offset, number);
      Value element = subtract(builder, at, wholeOf(code, piece.segment, kOffset));
      Value moves = direction(widen(code, clipped(scalars.load(part.element, code.number(kGradients), at))), element);
      scalars.store(part.element, code.number(kGradients), at, narrow(code, moves, part.element));
      return {rules.square(widen(code, readParameter(code, scalars, piece, at))), rules.square(moves)};
    });
  };
  Value isMatrix = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, columns, constant(builder, 0));
  const Type f64 = builder.getF64Type();
  auto branch = scf::IfOp::create(builder, TypeRange{f64, f64}, isMatrix, true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value factors = wholeOf(code, piece.segment, kColumnSums), meanOfRows = loadArea(code, areas.rowMeans, piece.segment);
    scf::YieldOp::create(builder, replaced([&](Value g, Value element) {
                           Value row = divide(builder, element, columns), column = remainder(builder, element, columns);
                           Value ofRow = rules.rowFactor(widen(code, scalars.load(part.element, means, row)), meanOfRows);
                           return rules.direction(g, ofRow, loadArea(code, areas.columns, add(builder, factors, column)));
                         }));
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, replaced([&](Value g, Value element) {
                           Value before = widen(code, scalars.load(part.element, means, element));
                           Value now =
                               narrow(code, rules.faded(before, rules.mean(rules.square(g), real(code, 1))), part.element);
                           scalars.store(part.element, means, element, now);
                           return rules.direction(g, widen(code, now));
                         }));
  }
  Value parameters = code.combineBlock(Reduction::sum, branch.getResult(0), 1, /*onlyFirst=*/true);
  Value directions = code.combineBlock(Reduction::sum, branch.getResult(1), 1, /*onlyFirst=*/true);
  ifFirst(code, [&] {
    storeArea(code, areas.parameters, piece.tile, parameters);
    storeArea(code, areas.directions, piece.tile, directions);
  });
}

void OptimizerKernels::emitFactoredRatio(KernelCode &code, Value segment) {
  const FactoredCode::Sizes sizes =
      factoredOf(code).sizes(sumOfSegment(code, areas.parameters, segment), sumOfSegment(code, areas.directions, segment),
                             realOf(code, wholeOf(code, segment, 1)));
  storeArea(code, areas.scales, segment, sizes.scale);
  storeArea(code, areas.ratios, segment, sizes.ratio);
}

void OptimizerKernels::emitFactoredUpdate(KernelCode &code) {
  auto &builder = code.builder;
  ScalarCode scalars(code, {});
  Piece piece = pieceOf(code);
  FactoredCode rules = factoredOf(code);
  auto times = [&](Value a, Value b) -> Value { return arith::MulFOp::create(builder, a, b); };
  auto exact = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, builder.getFloatAttr(part.element, value));
  };
  Value scheduled = times(code.number(kRate), piece.rate);
  Value far = narrow(code, times(rules.rate(scheduled), loadArea(code, areas.ratios, piece.segment)), part.element);
  Value kept = narrow(code, rules.kept(scheduled, loadArea(code, areas.scales, piece.segment), piece.decay), part.element);
  const double momentum = settingOf(op, "momentum");
  code.overBlock(piece.count, [&](Value number) {
    Value at = add(builder, piece.offset, number), p = readParameter(code, scalars, piece, at);
    Value moves = times(far, scalars.load(part.element, code.number(kGradients), at));
    if (momentum > 0) {
      Value before = times(exact(momentum), scalars.load(part.element, code.number(kSteps), at));
      moves = arith::AddFOp::create(builder, before, times(exact(1 - momentum), moves));
      scalars.store(part.element, code.number(kSteps), at, moves);
    }
    writeParameter(code, scalars, piece, at, arith::SubFOp::create(builder, times(p, kept), moves));
  });
}

} // namespace tenon::gpu
