#include "lowering/cpu/StreamColumns.h"
#include "lowering/cpu/MicroKernel.h"
#include "lowering/cpu/Pack.h"
#include "lowering/cpu/StoredElements.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Bytes of a column that are asked for ahead, of as many columns as a square has: the processor does not follow that many
/// streams by itself. With whole columns of that length the next square's come.
constexpr int64_t kBytesAhead = 4096;

/// Emits the body: for each few columns of B, square by square along K, for each row of A, one chain of additions per lane.
class ColumnBody {
public:
  ColumnBody(Emitter &emit, Tier tier, const StreamedMatrix &matrix, ValueRange arguments)
      : emit(emit), right(emit, tier, matrix.storage, matrix.rounding), isPairs(matrix.multipliesPairs(tier)),
        ofA(memoryType(matrix.storageOfA())), element(elementModel(matrix.storage).compute), vector(tierVector(tier, element)),
        lanes(vector.getNumElements()), stepsOfLane(isPairs ? 2 : 1), bytes(elementBytes(element)),
        bytesOfA(elementBytes(matrix.storageOfA())), bytesOfB(elementBytes(matrix.storage)), rows(arguments[0]), k(arguments[1]),
        columns(arguments[2]), a(arguments[3]), aRowStride(arguments[4]), aColStride(arguments[5]), b(arguments[6]),
        bColStride(arguments[7]), sums(arguments[8]), pitch(arguments[9]) {}

  void run() {
    Value zero = emit.constant(0);
    const int64_t depth = lanes * stepsOfLane; // of a square
    ahead = emit.min(k, kBytesAhead / bytesOfB);
    emit.loop(zero, columns, lanes, [&](Value column) {
      emit.loop(zero, rows, 1, [&](Value row) { emit.store(emit.zero(vector), sumAt(row, column), bytes * lanes); });
      Value present = emit.sub(columns, column);
      Value isWhole = emit.lessEqual(emit.constant(lanes), present);
      Value bulk = emit.select(isWhole, emit.mul(emit.div(k, depth), depth), zero);
      emit.loop(zero, bulk, depth, [&](Value step) { multiplySquare(column, step); });
      emit.loop(bulk, k, depth, [&](Value step) { multiplyRest(column, step, present); });
    });
  }

private:
  Value sumAt(Value row, Value column) { return emit.at(sums, element, emit.add(emit.mul(row, pitch), column)); }
  Value placeInB(Value column, Value step) { return right.at(b, emit.add(emit.mul(column, bColStride), step)); }
  Type unit() { return isPairs ? Type(emit.builder.getI32Type()) : element; } // of a lane of B

  /// Lanes along K of columns column, column + 1, ..; transposed: a vector of columns for each step, or pair of steps.
  SmallVector<Value> transposed(llvm::function_ref<Value(int64_t)> columnOf, Value step, Value mask) {
    SmallVector<Value> square;
    for (int64_t lane = 0; lane < lanes; ++lane)
      square.push_back(loadOfB(placeInB(columnOf(lane), step), mask));
    return emitTranspose(emit.builder, emit.location, square);
  }

  /// Steps of a column: pairs, or what is computed in.
  Value loadOfB(Value address, Value mask) {
    if (!isPairs)
      return right.load(vector, address, mask);
    Value line = emitVectorLoad(emit.builder, emit.location, VectorType::get({2 * lanes}, ofA), address, mask);
    return LLVM::BitcastOp::create(emit.builder, emit.location, vector.clone(unit()), line);
  }

  void multiplySquare(Value column, Value step) {
    fetchAhead(column, step);
    SmallVector<Value> square = transposed([&](int64_t lane) { return emit.add(column, lane); }, step, {});
    forRows(column, [&](Value row, Value sum) {
      for (auto [number, factors] : llvm::enumerate(square))
        sum = added(sum, emit.load(unit(), placeInA(row, emit.add(step, number * stepsOfLane)), bytesOfA), factors);
      return sum;
    });
  }

  /// At the end of K, or of the columns. An absent column reads one that exists: no address leaves the matrix.
  void multiplyRest(Value column, Value step, Value present) {
    Value last = emit.sub(columns, 1), mask = emit.firstLanes(emit.sub(k, step), lanes * stepsOfLane);
    SmallVector<Value> square = transposed([&](int64_t lane) { return emit.min(emit.add(column, lane), last); }, step, mask);
    Value exists = emit.firstLanes(present, lanes);
    for (Value &factors : square)
      factors =
          arith::SelectOp::create(emit.builder, emit.location, exists, factors, emit.zero(cast<VectorType>(factors.getType())));
    forRows(column, [&](Value row, Value sum) {
      for (auto [number, factors] : llvm::enumerate(square)) {
        Value here = emit.add(step, number * stepsOfLane);
        sum = emit.select(emit.less(here, k), added(sum, isPairs ? lastPair(row, here) : single(row, here), factors), sum);
      }
      return sum;
    });
  }

  void forRows(Value column, llvm::function_ref<Value(Value, Value)> multiply) {
    emit.loop(emit.constant(0), rows, 1, [&](Value row) {
      Value address = sumAt(row, column);
      emit.store(multiply(row, emit.load(vector, address, bytes * lanes)), address, bytes * lanes);
    });
  }

  Value placeInA(Value row, Value step) {
    return emit.at(a, ofA, emit.add(emit.mul(row, aRowStride), emit.mul(step, aColStride)));
  }
  /// Element of a row of A, the last one behind it.
  Value single(Value row, Value step) { return emit.load(ofA, placeInA(row, emit.min(step, emit.sub(k, 1))), bytesOfA); }
  /// A pair, whose upper half may lie behind the last step: it is zero then.
  Value lastPair(Value row, Value step) {
    auto wide = [&](Value half) { return arith::ExtUIOp::create(emit.builder, emit.location, unit(), half); };
    Value next = emit.add(step, 1), shift = arith::ConstantIntOp::create(emit.builder, emit.location, unit(), 16);
    Value none = arith::ConstantIntOp::create(emit.builder, emit.location, unit(), 0);
    Value upper = emit.select(emit.less(next, k), wide(single(row, next)), none);
    upper = arith::ShLIOp::create(emit.builder, emit.location, upper, shift);
    return arith::OrIOp::create(emit.builder, emit.location, wide(single(row, step)), upper);
  }

  Value added(Value sum, Value factor, Value factors) {
    Value left = vector::BroadcastOp::create(emit.builder, emit.location, vector.clone(unit()), factor);
    return isPairs ? emitDotPairs(emit, sum, left, factors)
                   : Value(math::FmaOp::create(emit.builder, emit.location, left, factors, sum));
  }

  /// The same columns' steps `ahead`, at their end the next columns' first ones, into the second-level cache: more lines can be
  /// on their way there than to the first.
  void fetchAhead(Value column, Value step) {
    Value next = emit.add(step, ahead), isOver = emit.lessEqual(k, next);
    Value from = emit.select(isOver, emit.add(column, lanes), column), place = emit.select(isOver, emit.sub(next, k), next);
    for (int64_t lane = 0; lane < lanes; ++lane)
      LLVM::Prefetch::create(emit.builder, emit.location, placeInB(emit.add(from, lane), place), /*rw=*/0, /*hint=*/2,
                             /*cache=*/1);
  }

  Emitter &emit;
  StoredElements right;
  bool isPairs;
  Type ofA, element; ///< of A in memory; of sums
  VectorType vector;
  int64_t lanes, stepsOfLane;
  unsigned bytes, bytesOfA, bytesOfB; ///< of a sum; of an element in memory
  Value rows, k, columns, a, aRowStride, aColStride, b, bColStride, sums, pitch;
  Value ahead; ///< steps
};

} // namespace

func::FuncOp getStreamColumns(OpBuilder &builder, Location location, Tier tier, const StreamedMatrix &matrix) {
  std::string name = "tn_gemm_stream_" + matrix.name(tier) + "_columns";
  Type index = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return getOrCreateKernel(builder, location, name, {index, index, index, pointer, index, index, pointer, index, pointer, index},
                           [&](Emitter &emit, ValueRange values) { ColumnBody(emit, tier, matrix, values).run(); });
}

} // namespace tenon::cpu
