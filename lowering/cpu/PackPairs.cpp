#include "lowering/cpu/PackPairs.h"
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/TileKernel.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

constexpr int64_t kLanes = 16; // pairs in a register

class PairCode {
public:
  explicit PairCode(Emitter &emit)
      : emit(emit), half(emit.builder.getI16Type()), pair(emit.builder.getI32Type()), halves(VectorType::get({2 * kLanes}, half)),
        pairs(VectorType::get({kLanes}, pair)), zero(emit.constant(0)) {}

  /// Rows k and k + 1 of `source`, whose columns are neighbours, side by side in row k / 2 of `target`, in whole vectors of 32
  /// columns. `asksAhead`: for the next 32 columns, too, which the panel behind this one is made of.
  void interleaveRows(Value k, Value columns, Value source, Value rowStride, Value target, Value pitch, bool asksAhead = false) {
    auto row = [&](Value step, bool isSingle) {
      Value even = emit.at(source, half, emit.mul(step, rowStride)), odd = emit.at(even, half, rowStride);
      Value to = emit.at(target, pair, emit.mul(emit.div(step, 2), pitch));
      auto columnsFrom = [&](Value column, Value mask) {
        auto load = [&](Value from) {
          return emitVectorLoad(emit.builder, emit.location, halves, emit.at(from, half, column), mask);
        };
        if (asksAhead)
          for (Value from : {even, odd})
            LLVM::Prefetch::create(emit.builder, emit.location, emit.at(from, half, emit.add(column, 2 * kLanes)), /*rw=*/0,
                                   /*hint=*/2, /*cache=*/1);
        Value below = load(even), above = isSingle ? emit.zero(halves) : load(odd);
        for (bool upper : {false, true})
          emit.store(interleavePairs(emit, below, above, upper), emit.at(emit.at(to, pair, column), pair, upper ? kLanes : 0),
                     64);
      };
      Value bulk = emit.mul(emit.div(columns, 2 * kLanes), 2 * kLanes);
      emit.loop(zero, bulk, 2 * kLanes, [&](Value column) { columnsFrom(column, {}); });
      emit.loop(bulk, columns, 2 * kLanes,
                [&](Value column) { columnsFrom(column, emit.firstLanes(emit.sub(columns, column), 2 * kLanes)); });
    };
    Value even = emit.mul(emit.div(k, 2), 2);
    emit.loop(zero, even, 2, [&](Value step) { row(step, false); });
    emit.loop(even, k, 1, [&](Value step) { row(step, true); });
  }

  /// Columns of `source` along K: squares of 16 columns by 16 pairs are transposed in registers.
  void transposeSquares(int64_t width, Value k, Value columns, Value source, Value colStride, Value panel) {
    emit.loop(zero, emit.constant(width), kLanes, [&](Value first) {
      Value inside = emit.sub(columns, first);
      Value isWhole = emit.lessEqual(emit.constant(kLanes), inside);
      Value bulk = emit.select(isWhole, emit.mul(emit.div(k, 2 * kLanes), 2 * kLanes), zero);
      auto square = [&](Value step, Value present) {
        Value mask = present ? emit.firstLanes(emit.sub(k, step), 2 * kLanes) : Value();
        SmallVector<Value> rows;
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          Value column = emit.add(first, lane);
          if (present) // an absent column reads one that exists and is cleared: no address leaves the matrix
            column = emit.min(column, emit.sub(columns, 1));
          Value from = emit.at(source, half, emit.add(emit.mul(column, colStride), step));
          rows.push_back(asPairs(emitVectorLoad(emit.builder, emit.location, halves, from, mask)));
        }
        Value to = emit.at(panel, pair, emit.add(emit.mul(emit.div(step, 2), width), first));
        Value exists = present ? emit.firstLanes(present, kLanes) : Value();
        for (auto [index, value] : llvm::enumerate(emitTranspose(emit.builder, emit.location, rows))) {
          Value kept =
              exists ? Value(arith::SelectOp::create(emit.builder, emit.location, exists, value, emit.zero(pairs))) : value;
          emit.store(kept, emit.at(to, pair, int64_t(index) * width), 64);
        }
      };
      emit.loop(zero, bulk, 2 * kLanes, [&](Value step) { square(step, {}); });
      emit.loop(bulk, k, 2 * kLanes, [&](Value step) { square(step, inside); });
    });
  }

  /// Any strides, element by element: element (step, column) to half step % 2 of pair [step / 2][column], zero up to `width`
  /// columns and two steps.
  void copyElements(int64_t width, Value k, Value columns, Value source, Value rowStride, Value colStride, Value panel) {
    Value nothing = arith::ConstantOp::create(emit.builder, emit.location, emit.builder.getZeroAttr(half));
    emit.loop(zero, emit.roundUp(k, 2), 1, [&](Value step) {
      Value from = emit.at(source, half, emit.mul(step, rowStride));
      Value number = emit.div(step, 2), which = emit.sub(step, emit.mul(number, 2));
      Value to = emit.at(panel, half, emit.add(emit.mul(number, 2 * width), which));
      Value present = emit.select(emit.less(step, k), columns, zero);
      emit.loop(zero, present, 1, [&](Value column) {
        emit.store(emit.load(half, emit.at(from, half, emit.mul(column, colStride)), 2), emit.at(to, half, emit.mul(column, 2)),
                   2);
      });
      emit.loop(present, emit.constant(width), 1,
                [&](Value column) { emit.store(nothing, emit.at(to, half, emit.mul(column, 2)), 2); });
    });
  }

  /// Zeros behind the last pair, up to whole tiles.
  void completeTile(int64_t width, Value k, Value panel) {
    emit.loop(emit.ceilDiv(k, 2), emit.mul(emit.ceilDiv(k, kTileSteps), kTileSteps / 2), 1, [&](Value number) {
      for (int64_t column = 0; column < width; column += kLanes)
        emit.store(emit.zero(pairs), emit.at(emit.at(panel, pair, emit.mul(number, width)), pair, column), 64);
    });
  }

  /// Any strides: rows of K side by side, and a zero behind.
  void copyRows(Value rows, Value k, Value source, Value rowStride, Value colStride, Value target, Value pitch) {
    Value nothing = arith::ConstantOp::create(emit.builder, emit.location, emit.builder.getZeroAttr(half));
    emit.loop(zero, rows, 1, [&](Value row) {
      Value from = emit.at(source, half, emit.mul(row, rowStride)), to = emit.at(target, pair, emit.mul(row, pitch));
      emit.loop(zero, k, 1, [&](Value step) {
        emit.store(emit.load(half, emit.at(from, half, emit.mul(step, colStride)), 2), emit.at(to, half, step), 2);
      });
      emit.store(nothing, emit.at(to, half, k), 2);
    });
  }

private:
  Value asPairs(Value vector) { return LLVM::BitcastOp::create(emit.builder, emit.location, pairs, vector); }

  Emitter &emit;
  Type half, pair;
  VectorType halves, pairs;
  Value zero;
};

} // namespace

Value interleavePairs(Emitter &emit, Value below, Value above, bool upper) {
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    for (int64_t which : {0, 1})
      mask.push_back((upper ? kLanes : 0) + lane + which * 2 * kLanes);
  auto pairs = VectorType::get({kLanes}, emit.builder.getI32Type());
  return LLVM::BitcastOp::create(emit.builder, emit.location, pairs, emit.shuffle(below, above, mask));
}

func::FuncOp getPackPairs(OpBuilder &builder, Location location, Tier tier, int64_t width, LayoutOfB layout) {
  assert(width % (2 * kLanes) == 0 && "packing writes whole vectors of 32 columns");
  llvm::StringRef form = layout == LayoutOfB::RowMajor ? "rows" : layout == LayoutOfB::Transposed ? "transpose" : "strided";
  std::string name = ("tn_gemm_pairs_" + tierName(tier) + "_" + form + "_" + llvm::Twine(width)).str();
  Type index = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return getOrCreateKernel(builder, location, name, {index, index, pointer, index, index, pointer},
                           [&](Emitter &emit, ValueRange values) {
                             PairCode code(emit);
                             Value k = values[0], columns = values[1], source = values[2], rowStride = values[3],
                                   colStride = values[4], panel = values[5];
                             const bool hasTiles = multipliesTiles(tier, builder.getBF16Type());
                             if (layout == LayoutOfB::RowMajor)
                               code.interleaveRows(k, columns, source, rowStride, panel, emit.constant(width), hasTiles);
                             else if (layout == LayoutOfB::Transposed)
                               code.transposeSquares(width, k, columns, source, colStride, panel);
                             else
                               code.copyElements(width, k, columns, source, rowStride, colStride, panel);
                             // Squares are whole tiles.
                             if (hasTiles && layout != LayoutOfB::Transposed)
                               code.completeTile(width, k, panel);
                           });
}

func::FuncOp getPairRows(OpBuilder &builder, Location location, Tier tier, bool neighbours) {
  std::string name = ("tn_gemm_pairs_" + tierName(tier) + (neighbours ? "_left" : "_left_strided")).str();
  Type index = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return getOrCreateKernel(
      builder, location, name, {index, index, pointer, index, index, pointer, index}, [&](Emitter &emit, ValueRange values) {
        if (neighbours)
          PairCode(emit).interleaveRows(values[1], values[0], values[2], values[4], values[5], values[6]);
        else
          PairCode(emit).copyRows(values[0], values[1], values[2], values[3], values[4], values[5], values[6]);
      });
}

} // namespace tenon::cpu
