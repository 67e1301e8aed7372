#include "lowering/cpu/CopyRows.h"
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/ShortReals.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// A vector of columns at a time, and all rows of these one after the other, so that a mask is made once for all rows.
class CopyBody {
public:
  CopyBody(Emitter &emit, const CopyRows &copy, ValueRange arguments)
      : emit(emit), copy(copy), element(memoryType(copy.storage)),
        lanes(tierLanes(copy.tier, elementModel(copy.storage).compute)), vector(VectorType::get({lanes}, element)),
        bytes(elementBytes(copy.storage)), zero(emit.constant(0)), rows(arguments[0]), count(arguments[3]), source(arguments[6]),
        start(arguments[7]), sourceStride(arguments[8]), target(arguments[9]), targetStride(arguments[10]) {
    filled = vector::BroadcastOp::create(emit.builder, emit.location, vector, arguments[11]);
    auto clamp = [&](Value value, Value low, Value high) { return emit.max(low, emit.min(value, high)); };
    low = clamp(arguments[4], zero, count);
    high = clamp(arguments[5], low, count);
    rowLow = clamp(arguments[1], zero, rows);
    rowHigh = clamp(arguments[2], rowLow, rows);
  }

  void run() {
    Value vectors = emit.ceilDiv(count, lanes);
    firstWhole = emit.ceilDiv(low, lanes);
    endWhole = emit.max(emit.div(high, lanes), firstWhole);
    // From behind: what is written behind a row is the beginning of the next one, which comes later.
    Value behind = emit.sub(vectors, endWhole);
    emit.loop(zero, emit.add(behind, firstWhole), 1, [&](Value number) {
      Value fromEnd = emit.sub(emit.sub(vectors, 1), number), fromStart = emit.sub(number, behind);
      copyColumns(emit.mul(emit.select(emit.less(number, behind), fromEnd, fromStart), lanes), /*isMasked=*/true);
    });
    emit.branch(
        emit.less(rows, emit.sub(endWhole, firstWhole)), [&] { copyLines(); },
        [&] {
          emit.loop(firstWhole, endWhole, 1, [&](Value number) { copyColumns(emit.mul(number, lanes), /*isMasked=*/false); });
        });
  }

private:
  /// Few rows, of many vectors that are whole.
  void copyLines() {
    auto lines = [&](Value from, Value end, bool isInside) {
      emit.loop(from, end, 1, [&](Value row) {
        emit.loop(firstWhole, endWhole, 1, [&](Value number) {
          Value column = emit.mul(number, lanes);
          store(isInside ? load(row, column) : filled, row, column);
        });
      });
    };
    lines(zero, rowLow, false);
    lines(rowLow, rowHigh, true);
    lines(rowHigh, rows, false);
  }

  /// All rows of the vector that begins at `column`.
  void copyColumns(Value column, bool isMasked) {
    Value exists, inside, insideSource;
    if (isMasked) {
      Value from = emit.sub(low, column), end = emit.sub(high, column);
      inside = between(from, end, 1);
      insideSource = copy.step == 1 ? inside : between(from, end, copy.step);
      exists = copy.overruns ? Value() : emit.firstLanes(emit.sub(count, column), lanes);
    }
    auto put = [&](Value value, Value row) {
      if (exists)
        value = choose(exists, value, emit.load(vector, addressIn(row, column), bytes));
      store(value, row, column);
    };
    auto fill = [&](Value from, Value end) { emit.loop(from, end, 1, [&](Value row) { put(filled, row); }); };
    fill(zero, rowLow);
    emit.loop(rowLow, rowHigh, 1, [&](Value row) {
      put(isMasked ? choose(inside, loadInside(row, column, insideSource), filled) : load(row, column), row);
    });
    fill(rowHigh, rows);
  }

  /// Lanes [from, end) of a vector, spread `step` elements apart.
  Value between(Value from, Value end, int64_t step) {
    Type number = emit.builder.getI32Type();
    SmallVector<int32_t> numbers(lanes * step, -1);
    for (int64_t lane = 0; lane < lanes; ++lane)
      numbers[lane * step] = int32_t(lane);
    auto type = VectorType::get({lanes * step}, number);
    Value ramp = arith::ConstantOp::create(emit.builder, emit.location, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
    auto limit = [&](Value value) -> Value {
      Value clamped = emit.max(emit.min(value, lanes), int64_t(0));
      return vector::BroadcastOp::create(emit.builder, emit.location, type,
                                         emit.builder.createOrFold<arith::TruncIOp>(emit.location, number, clamped));
    };
    Value reached = emit.compare(arith::CmpIPredicate::sge, ramp, limit(from));
    return emit.builder.createOrFold<arith::AndIOp>(emit.location, reached,
                                                    emit.compare(arith::CmpIPredicate::slt, ramp, limit(end)));
  }

  Value choose(Value condition, Value a, Value b) {
    return arith::SelectOp::create(emit.builder, emit.location, condition, a, b);
  }
  /// Maybe outside of the tensor, where nothing is read.
  Value addressOf(Value row, Value column, int64_t further = 0) {
    Value place = emit.add(emit.add(start, emit.mul(row, sourceStride)), emit.add(emit.mul(column, copy.step), further));
    return LLVM::GEPOp::create(emit.builder, emit.location, source.getType(), element, source, ArrayRef<LLVM::GEPArg>{place});
  }
  Value addressIn(Value row, Value column) { return emit.at(target, element, emit.add(emit.mul(row, targetStride), column)); }
  void store(Value value, Value row, Value column) { emit.store(value, addressIn(row, column), bytes); }

  Value load(Value row, Value column) {
    Value first = emit.load(vector, addressOf(row, column), bytes);
    if (copy.step == 1)
      return first;
    // The second half ends with the last element that is wanted.
    Value second = emit.load(vector, addressOf(row, column, lanes - 1), bytes);
    SmallVector<int64_t> even;
    for (int64_t lane = 0; lane < lanes; ++lane)
      even.push_back(2 * lane < lanes ? 2 * lane : 2 * lane + 1);
    return emit.shuffle(first, second, even);
  }
  Value loadInside(Value row, Value column, Value mask) {
    auto wide = VectorType::get({lanes * copy.step}, element);
    Value loaded = emitVectorLoad(emit.builder, emit.location, wide, addressOf(row, column), mask);
    if (copy.step == 1)
      return loaded;
    SmallVector<int64_t> every;
    for (int64_t lane = 0; lane < lanes; ++lane)
      every.push_back(lane * copy.step);
    return emit.shuffle(loaded, loaded, every);
  }

  Emitter &emit;
  const CopyRows &copy;
  Type element;
  int64_t lanes;
  VectorType vector;
  unsigned bytes;
  Value zero, rows, count, source, start, sourceStride, target, targetStride, filled;
  Value low, high, rowLow, rowHigh, firstWhole, endWhole; ///< the last ones: numbers of vectors
};

} // namespace

func::FuncOp getCopyRows(OpBuilder &builder, Location location, const CopyRows &copy) {
  assert((copy.step == 1 || copy.step == CopyRows::kMostStep) && "a vector of every second element is two");
  Type index = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type element = memoryType(copy.storage);
  llvm::StringRef type = isShortReal(copy.storage) ? llvm::StringRef("short") : elementModel(copy.storage).name();
  std::string name = ("tn_gemm_copy_rows_" + helperTierName(copy.tier) + "_" + type + "_" + llvm::Twine(copy.step) +
                      (copy.overruns ? "_over" : ""))
                         .str();
  return getOrCreateKernel(builder, location, name,
                           {index, index, index, index, index, index, pointer, index, index, pointer, index, element},
                           [&](Emitter &emit, ValueRange values) { CopyBody(emit, copy, values).run(); });
}

} // namespace tenon::cpu
