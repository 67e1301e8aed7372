#include "lowering/cpu/StreamRows.h"
#include "lowering/cpu/MicroKernel.h"
#include "lowering/cpu/PackPairs.h"
#include "lowering/cpu/StoredElements.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Rows of B in one pass over the sums: as many streams as the processor fetches ahead, and as many loads of B for one of a sum.
constexpr int64_t kStreams = 8;

/// Emits the body: for each few rows of B, for each row of A, all columns. Sums are in the nearest cache.
class StreamBody {
public:
  StreamBody(Emitter &emit, Tier tier, const StreamedMatrix &matrix, bool adds, ValueRange arguments)
      : emit(emit), right(emit, tier, matrix.storage, matrix.rounding), isPairs(matrix.multipliesPairs(tier)), adds(adds),
        ofA(memoryType(matrix.storageOfA())), element(elementModel(matrix.storage).compute), vector(tierVector(tier, element)),
        lanes(vector.getNumElements()), bytes(elementBytes(element)), rows(arguments[0]), k(arguments[1]), columns(arguments[2]),
        a(arguments[3]), aRowStride(arguments[4]), aColStride(arguments[5]), b(arguments[6]), bRowStride(arguments[7]),
        sums(arguments[8]), pitch(arguments[9]) {}

  void run() {
    if (!adds)
      clearSums();
    Value bulk = emit.mul(emit.div(k, kStreams), kStreams);
    emit.loop(emit.constant(0), bulk, kStreams, [&](Value step) { pass(step, kStreams); });
    if (!isPairs)
      return emit.loop(bulk, k, 1, [&](Value step) { pass(step, 1); });
    Value even = emit.mul(emit.div(k, 2), 2);
    emit.loop(bulk, even, 2, [&](Value step) { pass(step, 2); });
    emit.loop(even, k, 1, [&](Value step) { pass(step, 1); });
  }

private:
  void clearSums() {
    const int64_t width = columnsAtOnce();
    emit.loop(emit.constant(0), rows, 1, [&](Value row) {
      emit.loop(emit.constant(0), emit.roundUp(columns, width), lanes,
                [&](Value column) { emit.store(emit.zero(vector), sumAt(row, column), bytes * lanes); });
    });
  }
  /// A register of 16 bits is interleaved with another one into two of pairs.
  int64_t columnsAtOnce() const { return isPairs ? 2 * lanes : lanes; }
  Value sumAt(Value row, Value column) { return emit.at(sums, element, emit.add(emit.mul(row, pitch), column)); }

  /// `count` steps of K from `step` on.
  void pass(Value step, int64_t count) {
    SmallVector<Value> rowsOfB;
    for (int64_t number = 0; number < count; ++number)
      rowsOfB.push_back(right.at(b, emit.mul(emit.add(step, number), bRowStride)));
    auto multiplyRow = [&](Value row, bool fetches) {
      SmallVector<Value> left = leftOf(row, step, count);
      const int64_t width = columnsAtOnce();
      Value whole = emit.mul(emit.div(columns, width), width);
      emit.loop(emit.constant(0), whole, width, [&](Value column) {
        if (fetches)
          fetchAhead(rowsOfB, column);
        multiply(rowsOfB, left, row, column, {});
      });
      emit.loop(whole, columns, width,
                [&](Value column) { multiply(rowsOfB, left, row, column, emit.firstLanes(emit.sub(columns, column), width)); });
    };
    multiplyRow(emit.constant(0), count == kStreams);
    emit.loop(emit.constant(1), rows, 1, [&](Value row) { multiplyRow(row, false); });
  }

  /// The rows of the next pass, into the second-level cache: more lines can be on their way there than to the first.
  void fetchAhead(ArrayRef<Value> rowsOfB, Value column) {
    Value next = emit.add(emit.mul(bRowStride, kStreams), column);
    for (Value start : rowsOfB)
      LLVM::Prefetch::create(emit.builder, emit.location, right.at(start, next), /*rw=*/0, /*hint=*/2, /*cache=*/1);
  }

  /// Elements, or pairs, of a row of A on all lanes.
  SmallVector<Value> leftOf(Value row, Value step, int64_t count) {
    SmallVector<Value> left;
    for (int64_t number = 0; number < count; number += isPairs ? 2 : 1) {
      Value place = emit.add(emit.mul(row, aRowStride), emit.mul(emit.add(step, number), aColStride));
      Value address = emit.at(a, ofA, place), factor;
      Type pair = emit.builder.getI32Type();
      if (!isPairs)
        factor = emit.load(element, address, bytes);
      else if (count == 1) // nothing is read behind the last step
        factor = arith::ExtUIOp::create(emit.builder, emit.location, pair, emit.load(ofA, address, 2));
      else
        factor = emit.load(pair, address, 2);
      left.push_back(vector::BroadcastOp::create(emit.builder, emit.location, isPairs ? vector.clone(pair) : vector, factor));
    }
    return left;
  }

  void multiply(ArrayRef<Value> rowsOfB, ArrayRef<Value> left, Value row, Value column, Value mask) {
    SmallVector<Value> factors;
    for (Value start : rowsOfB)
      factors.push_back(loadOfB(right.at(start, column), mask));
    if (isPairs && factors.size() == 1)
      factors.push_back(emit.zero(VectorType::get({columnsAtOnce()}, ofA)));
    for (int64_t part = 0; part < (isPairs ? 2 : 1); ++part) {
      Value address = emit.at(sumAt(row, column), element, part * lanes);
      Value sum = emit.load(vector, address, bytes * lanes);
      for (auto [number, factor] : llvm::enumerate(left))
        sum = isPairs ? emitDotPairs(emit, sum, factor,
                                     interleavePairs(emit, factors[2 * number], factors[2 * number + 1], part == 1))
                      : Value(math::FmaOp::create(emit.builder, emit.location, factor, factors[number], sum));
      emit.store(sum, address, bytes * lanes);
    }
  }

  /// Columns of a row of B: bits of pairs, or what is computed in.
  Value loadOfB(Value address, Value mask) {
    if (!isPairs)
      return right.load(vector, address, mask);
    return emitVectorLoad(emit.builder, emit.location, VectorType::get({columnsAtOnce()}, ofA), address, mask);
  }

  Emitter &emit;
  StoredElements right;
  bool isPairs, adds;
  Type ofA, element; ///< of A in memory; of sums
  VectorType vector;
  int64_t lanes;
  unsigned bytes;
  Value rows, k, columns, a, aRowStride, aColStride, b, bRowStride, sums, pitch;
};

} // namespace

std::string StreamedMatrix::name(Tier tier) const {
  const bool isPairs = multipliesPairs(tier);
  llvm::StringRef ofTier = isPairs ? tierName(tier) : helperTierName(tier);
  std::string name = (ofTier + "_" + elementModel(storage).name()).str();
  if (rounding)
    name += "_to_" + elementModel(rounding).name().str();
  if (isWidened && isShortReal(storage))
    name += "_widened";
  return name;
}

func::FuncOp getStreamRows(OpBuilder &builder, Location location, Tier tier, const StreamedMatrix &matrix, bool adds) {
  std::string name = "tn_gemm_stream_" + matrix.name(tier) + (adds ? "_add" : "");
  Type index = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return getOrCreateKernel(builder, location, name, {index, index, index, pointer, index, index, pointer, index, pointer, index},
                           [&](Emitter &emit, ValueRange values) { StreamBody(emit, tier, matrix, adds, values).run(); });
}

} // namespace tenon::cpu
