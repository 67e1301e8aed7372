#include "lowering/cpu/TileKernel.h"
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/Pack.h"

#include "llvm/ADT/Twine.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// The instructions, with tiles by number.
class TileCode {
public:
  explicit TileCode(Emitter &emit) : emit(emit) {}
  void configure(Value memory) { call("ldtilecfg", memory); }
  void release() { call("tilerelease", {}); }
  void clear(int64_t tile) { call("tilezero", number(tile)); }
  void load(int64_t tile, Value memory, Value rowBytes) { call("tileloadd64", {number(tile), memory, rowBytes}); }
  void store(int64_t tile, Value memory, Value rowBytes) { call("tilestored64", {number(tile), memory, rowBytes}); }
  void multiply(int64_t sum, int64_t a, int64_t b) { call("tdpbf16ps", {number(sum), number(a), number(b)}); }

private:
  Value number(int64_t tile) {
    return LLVM::ConstantOp::create(emit.builder, emit.location, emit.builder.getI8IntegerAttr(static_cast<int8_t>(tile)));
  }
  void call(llvm::StringRef name, ValueRange arguments) {
    LLVM::CallIntrinsicOp::create(emit.builder, emit.location, emit.builder.getStringAttr("llvm.x86." + name), arguments);
  }
  Emitter &emit;
};

constexpr int64_t kTiles = 8, kFirstOfA = 4, kFirstOfB = 6;
int64_t sumOf(int64_t row, int64_t column) { return 2 * row + column; }

// The memory that `ldtilecfg` reads: palette, 15 bytes of zero, 16 x 2 bytes per row, 16 numbers of rows.
constexpr int64_t kConfigurationBytes = 64, kBytesPerRow = 16, kRows = 48;

void emitConfiguration(Emitter &emit, Value rows) {
  OpBuilder &builder = emit.builder;
  Type byte = builder.getI8Type();
  auto all = VectorType::get({kConfigurationBytes}, byte);
  Value memory = LLVM::AllocaOp::create(builder, emit.location, emit.pointerType(), all, emit.constant(1), 64);
  SmallVector<int8_t> fixed(kConfigurationBytes, 0);
  fixed[0] = 1; // the palette
  for (int64_t tile = 0; tile < kTiles; ++tile) {
    fixed[kBytesPerRow + 2 * tile] = kTileBytes;
    fixed[kRows + tile] = kTileRows;
  }
  emit.store(arith::ConstantOp::create(builder, emit.location, DenseElementsAttr::get(all, ArrayRef<int8_t>(fixed))), memory, 64);
  Value first = emit.min(rows, kTileRows);
  Value second = emit.max(emit.sub(rows, kTileRows), 1); // an unused tile must have rows, too
  auto setRows = [&](int64_t tile, Value count) {
    emit.store(builder.createOrFold<arith::TruncIOp>(emit.location, byte, count), emit.at(memory, byte, kRows + tile), 1);
  };
  for (int64_t half : {0, 1}) {
    for (int64_t column : {0, 1})
      setRows(sumOf(half, column), half == 0 ? first : second);
    setRows(kFirstOfA + half, half == 0 ? first : second);
  }
  TileCode(emit).configure(memory);
}

/// Emits the body of one kernel. Sums stay in tiles from beginning to end; loops carry nothing but pointers.
class TileBody {
public:
  TileBody(Emitter &emit, const TileKernel &kernel, ValueRange arguments)
      : emit(emit), tiles(emit), kernel(kernel), whole(arguments[0]), hasRest(arguments[1]), a(arguments[2]),
        aRowBytes(arguments[3]), aRest(arguments[4]), b(arguments[5]), c(arguments[6]), accumulate(arguments[7]),
        byte(emit.builder.getI8Type()), panelBytes(emit.constant(4 * kernel.width)) {}

  void run() {
    emit.branch(
        accumulate, [&] { sums([&](int64_t tile, Value place) { tiles.load(tile, place, panelBytes); }); },
        [&] { sums([&](int64_t tile, Value) { tiles.clear(tile); }); });
    emit.loop(emit.constant(0), whole, 1,
              [&](Value block) { multiply(emit.at(a, byte, emit.mul(block, kTileBytes)), aRowBytes, block); });
    emit.branch(hasRest, [&] { multiply(aRest, emit.constant(kTileBytes), whole); });
    sums([&](int64_t tile, Value place) { tiles.store(tile, place, panelBytes); });
  }

private:
  void sums(llvm::function_ref<void(int64_t tile, Value place)> use) {
    for (int64_t row = 0; row < kernel.rowTiles; ++row)
      for (int64_t column = 0; column < kernel.columnTiles; ++column)
        use(sumOf(row, column), emit.at(c, byte, row * kTileRows * 4 * kernel.width + column * kTileBytes));
  }

  /// One block of 32 steps.
  void multiply(Value left, Value rowBytes, Value block) {
    Value right = emit.at(b, byte, emit.mul(block, kTileSteps / 2 * 4 * kernel.width));
    for (int64_t column = 0; column < kernel.columnTiles; ++column)
      tiles.load(kFirstOfB + column, emit.at(right, byte, column * kTileBytes), panelBytes);
    for (int64_t row = 0; row < kernel.rowTiles; ++row) {
      tiles.load(kFirstOfA + row, emit.at(left, byte, emit.mul(rowBytes, row * kTileRows)), rowBytes);
      for (int64_t column = 0; column < kernel.columnTiles; ++column)
        tiles.multiply(sumOf(row, column), kFirstOfA + row, kFirstOfB + column);
    }
  }

  Emitter &emit;
  TileCode tiles;
  const TileKernel &kernel;
  Value whole, hasRest, a, aRowBytes, aRest, b, c, accumulate;
  Type byte;
  Value panelBytes; ///< of a pair of steps of B, and of a row of C
};

/// Emits the body of one function that writes rows of A.
class RowsBody {
public:
  RowsBody(Emitter &emit, ValueRange arguments)
      : emit(emit), half(emit.builder.getI16Type()), row(VectorType::get({kTileSteps}, half)), rows(arguments[0]),
        k(arguments[1]), source(arguments[2]), rowStride(arguments[3]), colStride(arguments[4]), target(arguments[5]),
        pitch(arguments[6]), zero(emit.constant(0)) {}

  void copyRows() {
    emit.loop(zero, rows, 1, [&](Value number) {
      Value from = emit.at(source, half, emit.mul(number, rowStride)), to = rowOfTarget(number);
      Value bulk = emit.mul(emit.div(k, kTileSteps), kTileSteps);
      auto copy = [&](Value step, Value mask) {
        emit.store(emitVectorLoad(emit.builder, emit.location, row, emit.at(from, half, step), mask), emit.at(to, half, step),
                   kTileBytes);
      };
      emit.loop(zero, bulk, kTileSteps, [&](Value step) { copy(step, {}); });
      emit.loop(bulk, k, kTileSteps, [&](Value step) { copy(step, emit.firstLanes(emit.sub(k, step), kTileSteps)); });
    });
  }

  /// Squares of 16 rows by 16 pairs of steps are transposed in registers.
  void transposeSquares() {
    Value bulk = emit.mul(emit.div(k, kTileSteps), kTileSteps);
    emit.loop(zero, rows, kTileRows, [&](Value first) {
      Value present = emit.sub(rows, first);
      Value isWhole = emit.lessEqual(emit.constant(kTileRows), present);
      Value end = emit.select(isWhole, bulk, zero);
      emit.loop(zero, end, kTileSteps, [&](Value step) { square(first, step, {}); });
      emit.loop(end, k, kTileSteps, [&](Value step) { square(first, step, present); });
    });
  }

  void copyElements() {
    Value nothing = arith::ConstantOp::create(emit.builder, emit.location, emit.builder.getZeroAttr(half));
    emit.loop(zero, rows, 1, [&](Value number) {
      Value from = emit.at(source, half, emit.mul(number, rowStride)), to = rowOfTarget(number);
      emit.loop(zero, k, 1, [&](Value step) {
        emit.store(emit.load(half, emit.at(from, half, emit.mul(step, colStride)), 2), emit.at(to, half, step), 2);
      });
      emit.loop(k, emit.roundUp(k, kTileSteps), 1, [&](Value step) { emit.store(nothing, emit.at(to, half, step), 2); });
    });
  }

private:
  Value rowOfTarget(Value number) { return emit.at(target, half, emit.mul(number, pitch)); }

  /// Rows [first, first + 16) of steps [step, step + 32). `present`: rows that are there; steps that are not read the last one
  /// that is, with no lane, so that no address leaves the matrix.
  void square(Value first, Value step, Value present) {
    auto neighbours = VectorType::get({kTileRows}, half);
    auto stepAt = [&](int64_t offset) {
      Value number = emit.add(step, offset), mask;
      if (present) {
        Value lanes = emit.select(emit.less(number, k), present, zero);
        mask = emit.firstLanes(lanes, kTileRows);
        number = emit.min(number, emit.sub(k, 1));
      }
      Value from = emit.at(source, half, emit.add(first, emit.mul(number, colStride)));
      return emitVectorLoad(emit.builder, emit.location, neighbours, from, mask);
    };
    SmallVector<int64_t> interleaved;
    for (int64_t lane = 0; lane < kTileRows; ++lane)
      interleaved.append({lane, lane + kTileRows});
    SmallVector<Value> pairs;
    auto words = VectorType::get({kTileRows}, emit.builder.getI32Type());
    for (int64_t pair = 0; pair < kTileSteps / 2; ++pair) {
      Value even = stepAt(2 * pair), odd = stepAt(2 * pair + 1);
      pairs.push_back(LLVM::BitcastOp::create(emit.builder, emit.location, words, emit.shuffle(even, odd, interleaved)));
    }
    for (auto [lane, line] : llvm::enumerate(emitTranspose(emit.builder, emit.location, pairs)))
      emit.store(line, emit.at(rowOfTarget(emit.add(first, static_cast<int64_t>(lane))), half, step), kTileBytes);
  }

  Emitter &emit;
  Type half;
  VectorType row;
  Value rows, k, source, rowStride, colStride, target, pitch, zero;
};

} // namespace

func::FuncOp getTileConfiguration(OpBuilder &builder, Location location, Tier tier) {
  return getOrCreateKernel(builder, location, ("tn_gemm_tiles_" + tierName(tier) + "_configure").str(), {builder.getI64Type()},
                           [&](Emitter &emit, ValueRange values) { emitConfiguration(emit, values[0]); });
}

void emitTileRelease(OpBuilder &builder, Location location) {
  Emitter emit(builder, location);
  TileCode(emit).release();
}

func::FuncOp getTileKernel(OpBuilder &builder, Location location, const TileKernel &kernel) {
  std::string name = ("tn_gemm_micro_" + tierName(kernel.tier) + "_tiles_" + llvm::Twine(kernel.rowTiles) + "x" +
                      llvm::Twine(kernel.columnTiles) + "_" + llvm::Twine(kernel.width))
                         .str();
  Type index = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return getOrCreateKernel(builder, location, name,
                           {index, builder.getI1Type(), pointer, index, pointer, pointer, pointer, builder.getI1Type()},
                           [&](Emitter &emit, ValueRange values) { TileBody(emit, kernel, values).run(); });
}

func::FuncOp getTileRows(OpBuilder &builder, Location location, Tier tier, FormOfRows form) {
  llvm::StringRef way = form == FormOfRows::AlongDepth ? "copy" : form == FormOfRows::AlongRows ? "transpose" : "strided";
  Type index = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return getOrCreateKernel(builder, location, ("tn_gemm_tiles_" + tierName(tier) + "_rows_" + way).str(),
                           {index, index, pointer, index, index, pointer, index}, [&](Emitter &emit, ValueRange values) {
                             RowsBody body(emit, values);
                             if (form == FormOfRows::AlongDepth)
                               body.copyRows();
                             else if (form == FormOfRows::AlongRows)
                               body.transposeSquares();
                             else
                               body.copyElements();
                           });
}

} // namespace tenon::cpu
