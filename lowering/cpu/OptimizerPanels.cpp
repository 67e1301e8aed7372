// tenon.optimize: parameters that lie in panels. Gradients, moments and remainders are row-major, so tiles, and the order of all
// sums, are those of row-major parameters; only the place of a vector of a parameter is another one.
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/OptimizerKernels.h"
#include "lowering/cpu/ShortReals.h"

using namespace mlir;

namespace tenon::cpu {

/// Pairs of lines of a panel in front of which they are asked for.
constexpr int64_t kPairsAhead = 2;

/// The matrices of a segment in panels, one behind the other, and the part of them that a tile has.
class OptimizerKernels::PanelWalk {
public:
  PanelWalk(OptimizerKernels &kernels, FunctionCode &code, const Piece &piece, const Places &places, LaneCode &lanes)
      : kernels(kernels), builder(code.builder), code(code), places(places), lanes(lanes), width(kernels.part.panels->width),
        first(piece.first), end(add(builder, piece.first, piece.count)), lines(kernels.wholeColumn(code, piece.segment, 4)),
        columns(kernels.wholeColumn(code, piece.segment, 5)) {
    Piece segment = piece;
    segment.offset = kernels.wholeColumn(code, piece.segment, 0);
    matrices = kernels.arena(code, TN_ARENA_PARAMS, segment);
    lanes.setLanes(true);
  }

  /// In the order of row-major elements; of pairs each line by itself.
  void read(llvm::function_ref<void(LaneValue, Value)> visit) {
    forLoop(builder, divide(builder, first, columns), ceilDivide(builder, end, columns), [&](Value row) {
      Value half = remainder(builder, row, number(steps()));
      forColumnsOfTile(row, [&](LaneValue index, Value place) {
        if (steps() == 1)
          return visit(index, lanes.load(kernels.part.stored, matrices, neighbours(place)).base);
        Value shift = arith::MulIOp::create(builder, half, number(16));
        shift = arith::TruncIOp::create(builder, builder.getI32Type(), shift);
        Value bits = arith::ShRUIOp::create(builder, loadPairs(place), vector::BroadcastOp::create(builder, pairs(), shift));
        visit(index, kernels.widened(code, lanes, index, places, narrow(bits)));
      });
    });
  }

  /// `step` gives the new value of a vector; of pairs, two lines at a time: those of which the first element of the first line
  /// belongs to the tile.
  void update(StepOfElements step) {
    if (steps() == 1)
      return forLoop(builder, divide(builder, first, columns), ceilDivide(builder, end, columns), [&](Value row) {
        forColumnsOfTile(row, [&](LaneValue index, Value place) {
          Value value = step(index, lanes.load(kernels.part.stored, matrices, neighbours(place)).base);
          lanes.store(kernels.part.stored, matrices, neighbours(place), LaneValue::lanes(value));
        });
      });
    Value both = multiply(builder, columns, number(2));
    forLoop(builder, ceilDivide(builder, first, both), ceilDivide(builder, end, both), [&](Value pair) {
      Value row = multiply(builder, pair, number(2));
      forColumns(row, number(0), columns, [&](LaneValue index, Value place) {
        fetchAhead(place);
        Value bits = loadPairs(place), upper = arith::ShRUIOp::create(builder, bits, spread(16));
        Value even = updated(index, narrow(bits), step);
        Value odd = updated(neighbours(add(builder, index.base, columns)), narrow(upper), step);
        odd = arith::ShLIOp::create(builder, arith::ExtUIOp::create(builder, pairs(), odd), spread(16));
        storePairs(arith::OrIOp::create(builder, arith::ExtUIOp::create(builder, pairs(), even), odd), place);
      });
    });
  }

private:
  int64_t steps() { return kernels.part.panels->steps; }
  Value number(int64_t value) { return constant(builder, value); }
  LaneValue neighbours(Value place) { return LaneValue::affine(place, number(1), lanes.lanes()); }
  VectorType pairs() { return VectorType::get({lanes.lanes()}, builder.getI32Type()); }
  Value spread(int32_t value) { return arith::ConstantOp::create(builder, DenseElementsAttr::get(pairs(), value)); }
  Value narrow(Value bits) { return arith::TruncIOp::create(builder, pairs().clone(builder.getI16Type()), bits); }
  Value addressOfPairs(Value place) { return elementAddress(builder, matrices, builder.getI32Type(), place); }
  Value loadPairs(Value place) { return LLVM::LoadOp::create(builder, pairs(), addressOfPairs(place), 64); }
  /// A row goes over all panels, two cache lines of each, which no hardware prefetcher follows: those of a later row are asked
  /// for. Into the second-level cache: panels are whole pages long, so these lines share a set of the first.
  void fetchAhead(Value place) {
    Value later = addressOfPairs(add(builder, place, number(kPairsAhead * width)));
    LLVM::Prefetch::create(builder, later, /*rw=*/0, /*hint=*/2, /*cache=*/1);
  }
  void storePairs(Value bits, Value place) { LLVM::StoreOp::create(builder, bits, addressOfPairs(place), 64); }

  /// The bits that replace `bits` of a vector at `index`; its remainder is read and written.
  Value updated(LaneValue index, Value bits, StepOfElements step) {
    Value value = step(index, kernels.widened(code, lanes, index, places, bits));
    return kernels.narrowed(code, lanes, index, places, value);
  }

  /// Columns of a row that the tile has.
  void forColumnsOfTile(Value row, llvm::function_ref<void(LaneValue, Value)> body) {
    Value start = multiply(builder, row, columns);
    forColumns(row, maximum(builder, subtract(builder, first, start), number(0)),
               minimum(builder, subtract(builder, end, start), columns), body);
  }

  /// Calls `body` with the number of the first element of each vector, row-major in the tile, and its place: of elements, or of
  /// pairs of them. Tiles begin and panels end at whole vectors.
  void forColumns(Value row, Value low, Value high, llvm::function_ref<void(LaneValue, Value)> body) {
    Value matrix = divide(builder, row, lines), line = subtract(builder, row, multiply(builder, matrix, lines));
    Value groups = divide(builder, lines, number(steps())), group = divide(builder, line, number(steps()));
    Value length = multiply(builder, groups, number(width)); // of a panel
    Value start =
        add(builder, multiply(builder, matrix, multiply(builder, groups, columns)), multiply(builder, group, number(width)));
    Value index = subtract(builder, multiply(builder, row, columns), first);
    forLoop(builder, low, high, number(lanes.lanes()), {}, [&](Value column, ValueRange) -> SmallVector<Value> {
      Value panel = divide(builder, column, number(width)), inside = remainder(builder, column, number(width));
      Value place = add(builder, add(builder, start, inside), multiply(builder, panel, length));
      body(neighbours(add(builder, index, column)), place);
      return {};
    });
  }

  OptimizerKernels &kernels;
  ImplicitLocOpBuilder &builder;
  FunctionCode &code;
  const Places &places;
  LaneCode &lanes;
  const int64_t width;
  Value first, end, lines, columns, matrices;
};

/// Emits one of two forms of code, by the segment of the tile.
void OptimizerKernels::inPanels(FunctionCode &code, const Piece &piece, llvm::function_ref<void()> panels,
                                llvm::function_ref<void()> rowMajor) {
  auto &builder = code.builder;
  if (!part.panels)
    return rowMajor();
  Value some =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, wholeColumn(code, piece.segment, 4), constant(builder, 0));
  auto branch = scf::IfOp::create(builder, TypeRange(), some, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  panels();
  builder.setInsertionPointToStart(branch.elseBlock());
  rowMajor();
}

void OptimizerKernels::readParameters(FunctionCode &code, const Piece &piece, const Places &places,
                                      llvm::function_ref<void(LaneCode &, LaneValue, Value)> visit) {
  inPanels(
      code, piece,
      [&] {
        LaneCode lanes(code, {}, laneCount());
        PanelWalk(*this, code, piece, places, lanes).read([&](LaneValue index, Value p) { visit(lanes, index, p); });
      },
      [&] {
        LaneCode lanes(code, {}, laneCount());
        lanes.forLanes(constant(code.builder, 0), piece.count,
                       [&](LaneValue index) { visit(lanes, index, readParameter(code, lanes, index, places)); });
      });
}

void OptimizerKernels::updateParameters(FunctionCode &code, const Piece &piece, const Places &places,
                                        llvm::function_ref<Value(LaneCode &, LaneValue, Value)> step) {
  inPanels(
      code, piece,
      [&] {
        LaneCode lanes(code, {}, laneCount());
        PanelWalk(*this, code, piece, places, lanes).update([&](LaneValue index, Value p) { return step(lanes, index, p); });
      },
      [&] {
        LaneCode lanes(code, {}, laneCount());
        lanes.forLanes(constant(code.builder, 0), piece.count, [&](LaneValue index) {
          writeParameter(code, lanes, index, places, step(lanes, index, readParameter(code, lanes, index, places)));
        });
      });
}

} // namespace tenon::cpu
