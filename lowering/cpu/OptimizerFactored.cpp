// tenon.optimize by rules whose means of squares are taken apart: of a matrix means by rows and columns are kept alone. Means
// first, then the directions, which replace the gradients, since how far a tensor moves depends on their size; then the update.
#include "lowering/artifact/Abi.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/OptimizerKernels.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::cpu {

namespace {
/// Columns of the table of segments; OptimizerKernels::collectTables has them all.
enum : int64_t { kFirstTile = 2, kMeansOfRows = 6, kMeansOfColumns, kRows, kColumns, kTileElements, kColumnSums };
} // namespace

void OptimizerKernels::addFactoredUpdate() {
  addKernels("row_means", true, &OptimizerKernels::emitRowMeans);
  addSegmentKernels("column_means", &OptimizerKernels::emitColumnMeans);
  addKernels("directions", true, &OptimizerKernels::emitFactoredDirections);
  addSegmentKernels("ratios", &OptimizerKernels::emitFactoredRatio);
  addKernels("update", true, &OptimizerKernels::emitFactoredUpdate, /*isUpdate=*/true);
}

void OptimizerKernels::addSegmentKernels(StringRef name, void (OptimizerKernels::*emit)(FunctionCode &, Value)) {
  for (const OptimizerPart &each : table.parts) {
    part = each;
    const std::string own = table.parts.size() > 1 ? (name + "_" + elementModel(part.stored).name()).str() : name.str();
    addKernel(own, int64_t(part.count), true, [this, emit, each](FunctionCode &code) {
      part = each;
      (this->*emit)(code, add(code.builder, code.tile, constant(code.builder, int64_t(each.first))));
    });
  }
}

FactoredCode OptimizerKernels::factoredOf(FunctionCode &code) {
  const LibraryCall library = libraryOf(code);
  Value updates = ruleNumbers(code.builder, op, code.field(abi::Step), library).updates;
  return FactoredCode(code.builder, op, part.element, updates, factoredRest(code.builder, op, updates, library));
}

Value OptimizerKernels::meansAddress(FunctionCode &code, Value segment, int64_t column) {
  auto &builder = code.builder;
  Value arenas = code.pointerField(abi::Arenas);
  Value base =
      LLVM::LoadOp::create(builder, pointer(builder), byteAddress(builder, arenas, constant(builder, 8 * TN_ARENA_MOMENT1)), 8);
  return byteAddress(builder, base, wholeColumn(code, segment, column));
}

namespace {

Value widen(FunctionCode &code, Value x) {
  const Type f64 = code.builder.getF64Type();
  auto vector = dyn_cast<VectorType>(x.getType());
  const Type wide = vector ? Type(vector.clone(f64)) : f64;
  return x.getType() == wide ? x : arith::ExtFOp::create(code.builder, wide, x).getResult();
}
Value narrow(FunctionCode &code, Value x, Type element) {
  auto vector = dyn_cast<VectorType>(x.getType());
  const Type to = vector ? Type(vector.clone(element)) : element;
  return x.getType() == to ? x : arith::TruncFOp::create(code.builder, to, x).getResult();
}
Value realOf(FunctionCode &code, Value whole) { return arith::UIToFPOp::create(code.builder, code.builder.getF64Type(), whole); }

/// A number of an array of `element`, as f64.
Value load(FunctionCode &code, Type element, Value base, Value index) {
  return widen(code, LLVM::LoadOp::create(code.builder, element, elementAddress(code.builder, base, element, index)));
}

} // namespace

/// Per tile the means of its rows and sums by columns, and the sum of squares of parameters.
void OptimizerKernels::emitRowMeans(FunctionCode &code) {
  auto &builder = code.builder;
  Piece piece = pieceOf(code);
  Places places = placesOf(code, piece);
  SquareSum parameters(code, laneCount()), row(code, laneCount());
  readParameters(code, piece, places, [&](LaneCode &, LaneValue, Value p) { parameters.add(p); });
  storeArea(code, areas.parameters, piece.tile, parameters.total());
  Value columns = wholeColumn(code, piece.segment, kColumns);
  Value isMatrix = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, columns, constant(builder, 0));
  auto branch = scf::IfOp::create(builder, TypeRange(), isMatrix, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  auto clipped = clipping(code, piece);
  FactoredCode rules = factoredOf(code);
  const Type f64 = builder.getF64Type();
  Value sums = areaAddress(code, areas.columns,
                           add(builder, wholeColumn(code, piece.segment, kColumnSums),
                               divide(builder, multiply(builder, piece.first, columns), tileElementsOf(code, piece.segment))));
  Value means = meansAddress(code, piece.segment, kMeansOfRows), firstRow = divide(builder, piece.first, columns);
  LaneCode lanes(code, {}, laneCount());
  Value none = arith::ConstantOp::create(builder, builder.getZeroAttr(VectorType::get({laneCount()}, f64)));
  lanes.forLanes(constant(builder, 0), columns, [&](LaneValue index) { lanes.store(f64, sums, index, LaneValue::lanes(none)); });
  forLoop(builder, constant(builder, 0), divide(builder, piece.count, columns), [&](Value number) {
    Value gradients = elementAddress(builder, places.gradients, part.element, multiply(builder, number, columns));
    row.restart();
    lanes.forLanes(constant(builder, 0), columns, [&](LaneValue index) {
      fetchAhead(code, index, gradients);
      Value g = widen(code, clipped(lanes.load(part.element, gradients, index).base));
      row.add(g);
      Value sum = arith::AddFOp::create(builder, lanes.load(f64, sums, index).base, rules.square(g));
      lanes.store(f64, sums, index, LaneValue::lanes(sum));
    });
    Value place = add(builder, firstRow, number);
    Value now = rules.faded(load(code, part.element, means, place), rules.mean(row.total(), realOf(code, columns)));
    LLVM::StoreOp::create(builder, narrow(code, now, part.element), elementAddress(builder, means, part.element, place));
  });
}

/// Of a matrix: means by columns, from the sums of its tiles in their order; the mean over its rows.
void OptimizerKernels::emitColumnMeans(FunctionCode &code, Value segment) {
  auto &builder = code.builder;
  const Type f64 = builder.getF64Type();
  Value columns = wholeColumn(code, segment, kColumns), rows = wholeColumn(code, segment, kRows);
  FactoredCode rules = factoredOf(code);
  Value tiles = ceilDivide(builder, wholeColumn(code, segment, 1), tileElementsOf(code, segment));
  Value sums = areaAddress(code, areas.columns, wholeColumn(code, segment, kColumnSums));
  Value means = meansAddress(code, segment, kMeansOfColumns), ofRows = meansAddress(code, segment, kMeansOfRows);
  LaneCode lanes(code, {}, laneCount());
  lanes.forLanes(constant(builder, 0), columns, [&](LaneValue index) {
    Value none = arith::ConstantOp::create(builder, builder.getZeroAttr(VectorType::get({laneCount()}, f64)));
    Value sum = forLoop(builder, constant(builder, 0), tiles, constant(builder, 1), none, [&](Value tile, ValueRange carried) {
      Value own = elementAddress(builder, sums, f64, multiply(builder, tile, columns));
      return SmallVector<Value>{arith::AddFOp::create(builder, carried[0], lanes.load(f64, own, index).base)};
    })[0];
    Value before = widen(code, lanes.load(part.element, means, index).base);
    Value now = narrow(code, rules.faded(before, rules.mean(sum, realOf(code, rows))), part.element);
    lanes.store(part.element, means, index, LaneValue::lanes(now));
    lanes.store(f64, sums, index, LaneValue::lanes(rules.columnFactor(widen(code, now))));
  });
  Value isMatrix = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, columns, constant(builder, 0));
  Value counted = arith::SelectOp::create(builder, isMatrix, rows, constant(builder, 0));
  Value sum =
      forLoop(builder, constant(builder, 0), counted, constant(builder, 1), {real(code, 0)}, [&](Value row, ValueRange carried) {
        Value mean = load(code, part.element, ofRows, row);
        return SmallVector<Value>{arith::AddFOp::create(builder, carried[0], mean)};
      })[0];
  storeArea(code, areas.rowMeans, segment, arith::DivFOp::create(builder, sum, realOf(code, rows)));
}

/// Directions in the place of gradients, and per tile the sum of their squares.
void OptimizerKernels::emitFactoredDirections(FunctionCode &code) {
  auto &builder = code.builder;
  Piece piece = pieceOf(code);
  Places places = placesOf(code, piece);
  auto clipped = clipping(code, piece);
  FactoredCode rules = factoredOf(code);
  SquareSum squares(code, laneCount());
  const Type f64 = builder.getF64Type();
  Value columns = wholeColumn(code, piece.segment, kColumns);
  Value means = meansAddress(code, piece.segment, kMeansOfRows);
  Value isMatrix = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, columns, constant(builder, 0));
  LaneCode lanes(code, {}, laneCount());
  auto replace = [&](Value gradients, LaneValue index, llvm::function_ref<Value(Value)> direction) {
    fetchAhead(code, index, gradients);
    Value moves = direction(widen(code, clipped(lanes.load(part.element, gradients, index).base)));
    squares.add(moves);
    lanes.store(part.element, gradients, index, LaneValue::lanes(narrow(code, moves, part.element)));
  };
  auto branch = scf::IfOp::create(builder, TypeRange(), isMatrix, true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value factors = areaAddress(code, areas.columns, wholeColumn(code, piece.segment, kColumnSums));
    Value firstRow = divide(builder, piece.first, columns), meanOfRows = loadArea(code, areas.rowMeans, piece.segment);
    forLoop(builder, constant(builder, 0), divide(builder, piece.count, columns), [&](Value number) {
      Value gradients = elementAddress(builder, places.gradients, part.element, multiply(builder, number, columns));
      Value ofRow = rules.rowFactor(load(code, part.element, means, add(builder, firstRow, number)), meanOfRows);
      lanes.forLanes(constant(builder, 0), columns, [&](LaneValue index) {
        replace(gradients, index, [&](Value g) { return rules.direction(g, ofRow, lanes.load(f64, factors, index).base); });
      });
    });
    builder.setInsertionPointToStart(branch.elseBlock());
    Value own = elementAddress(builder, means, part.element, piece.first);
    lanes.forLanes(constant(builder, 0), piece.count, [&](LaneValue index) {
      replace(places.gradients, index, [&](Value g) {
        Value square = rules.square(g), one = arith::ConstantOp::create(builder, builder.getF64FloatAttr(1));
        Value before = widen(code, lanes.load(part.element, own, index).base);
        Value now = narrow(code, rules.faded(before, rules.mean(square, one)), part.element);
        lanes.store(part.element, own, index, LaneValue::lanes(now));
        return rules.direction(g, widen(code, now));
      });
    });
  }
  storeArea(code, areas.directions, piece.tile, squares.total());
}

/// From the sums of a tensor's tiles, in their order.
void OptimizerKernels::emitFactoredRatio(FunctionCode &code, Value segment) {
  auto &builder = code.builder;
  Value first = wholeColumn(code, segment, kFirstTile), count = wholeColumn(code, segment, 1);
  Value end = add(builder, first, ceilDivide(builder, count, tileElementsOf(code, segment)));
  auto sums =
      forLoop(builder, first, end, constant(builder, 1), {real(code, 0), real(code, 0)}, [&](Value tile, ValueRange carried) {
        auto more = [&](Value sum, int64_t area) -> Value {
          return arith::AddFOp::create(builder, sum, loadArea(code, area, tile));
        };
        return SmallVector<Value>{more(carried[0], areas.parameters), more(carried[1], areas.directions)};
      });
  const FactoredCode::Sizes sizes = factoredOf(code).sizes(sums[0], sums[1], realOf(code, count));
  storeArea(code, areas.scales, segment, sizes.scale);
  storeArea(code, areas.ratios, segment, sizes.ratio);
}

void OptimizerKernels::emitFactoredUpdate(FunctionCode &code) {
  auto &builder = code.builder;
  Piece piece = pieceOf(code);
  Places places = placesOf(code, piece);
  FactoredCode rules = factoredOf(code);
  auto spread = [&](Value value) -> Value {
    return vector::BroadcastOp::create(builder, vectorType(), convertReal(builder, builder.getLoc(), value, part.element));
  };
  auto times = [&](Value a, Value b) -> Value { return arith::MulFOp::create(builder, a, b); };
  Value scheduled = times(scalarOf(code, rateScalar), piece.rate);
  Value far = spread(times(rules.rate(scheduled), loadArea(code, areas.ratios, piece.segment)));
  Value kept = spread(rules.kept(scheduled, loadArea(code, areas.scales, piece.segment), piece.decay));
  const double momentum = settingOf(op, "momentum");
  updateParameters(code, piece, places, [&](LaneCode &lanes, LaneValue index, Value p) -> Value {
    fetchAhead(code, index, {places.gradients, places.second});
    Value moves = times(far, lanes.load(part.element, places.gradients, index).base);
    if (places.second) {
      Value before = times(spread(real(code, momentum)), lanes.load(part.element, places.second, index).base);
      moves = arith::AddFOp::create(builder, before, times(spread(real(code, 1 - momentum)), moves));
      lanes.store(part.element, places.second, index, LaneValue::lanes(moves));
    }
    return arith::SubFOp::create(builder, times(p, kept), moves);
  });
}

} // namespace tenon::cpu
