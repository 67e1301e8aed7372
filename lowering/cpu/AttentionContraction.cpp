// Contractions of fused attention: functions over packed panels that leave out what no row reaches, and those of few rows.
#include "lowering/cpu/Attention.h"
#include "lowering/cpu/StreamColumns.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

using Trim = BlockContraction::Trim;

std::string stepName(int64_t step) { return step == 0 ? "" : step > 0 ? "r" : "f"; }

/// Asks for rows [first, first + count) of those that exist.
void prefetch(Emitter &emit, const RowsAhead &rows, Value first, Value count) {
  Type stored = memoryType(rows.first.storage);
  emit.loop(first, emit.min(emit.add(first, count), rows.rows), 1, [&](Value row) {
    Value address = emit.at(rows.first.address, stored, emit.mul(row, rows.stride));
    for (int64_t column = 0; column < rows.width; column += 512 / stored.getIntOrFloatBitWidth()) // a line of the cache
      LLVM::Prefetch::create(emit.builder, emit.location, emit.at(address, stored, column), rows.write, /*hint=*/2,
                             /*cache=*/1);
  });
}

/// Columns that one of the rows [first, first + count) reaches, within [0, size).
KeyRange columnsReached(Emitter &emit, const Staircase &stairs, Value first, Value count, Value size) {
  KeyRange range{emit.constant(0), size};
  Value last = emit.sub(emit.add(first, count), 1);
  auto along = [&](Value bound, int64_t step, Value row) { return step > 0 ? emit.add(bound, row) : emit.sub(bound, row); };
  if (stairs.lowStep != 0)
    range.low = emit.max(range.low, along(stairs.low, stairs.lowStep, stairs.lowStep > 0 ? first : last));
  if (stairs.highStep != 0)
    range.high = emit.min(range.high, along(stairs.high, stairs.highStep, stairs.highStep > 0 ? last : first));
  return range;
}

/// The function of a block contraction, in tiles of rows of nearly equal height. Along rows: panels outside, so that one stays in
/// the first-level cache. Transposed: tiles outside; the few steps' panels all stay there, and the columns of A that a tile
/// reads.
class BlockFunction {
public:
  /// Of `shape` the trim, its steps and the walk over A.
  BlockFunction(AttentionCode &on, const BlockContraction &shape)
      : builder(on.builder), location(on.builder.getLoc()), tier(on.code.tier), element(on.element), width(on.width),
        lanes(on.lanes), accumulate(shape.accumulate), rowMajor(Emitter::constantOf(shape.aColStride) == int64_t(1)),
        trim(shape.trim), ahead(shape.ahead) {
    stairs.lowStep = shape.stairs.lowStep, stairs.highStep = shape.stairs.highStep;
    if (stairs.lowStep == 0 && stairs.highStep == 0)
      trim = Trim::None;
  }

  func::FuncOp get() {
    Type i64 = builder.getI64Type(), address = LLVM::LLVMPointerType::get(builder.getContext());
    SmallVector<Type> types{i64, i64, i64, address, i64, address, i64, address, i64, i64, i64};
    for (size_t list = 0; list < ahead.size(); ++list)
      types.append({address, i64, i64});
    return getOrCreateKernel(builder, location, name(), types,
                             [&](Emitter &emit, ValueRange arguments) { fill(emit, arguments); });
  }

private:
  std::string name() const {
    std::string steps = trim == Trim::None ? ""
                                           : (trim == Trim::ColumnsOfC ? "_columns" : "_depth") +
                                                 ("_" + stepName(stairs.lowStep)) + "_" + stepName(stairs.highStep);
    for (const RowsAhead &rows : ahead)
      steps += (rows.write ? "_w" : "_r") + std::to_string(rows.width) +
               (rows.first.storage == element ? "" : elementModel(rows.first.storage).name().str());
    return ("tn_attention_block_" + helperTierName(tier) + "_" + elementModel(element).name() +
            (rowMajor ? "_row" : "_transposed") + (accumulate ? "_add" : "_set") + steps)
        .str();
  }

  /// From three arguments for each list. How many of its rows each tile fetches.
  SmallVector<Value> takeRowsAhead(Emitter &emit, ValueRange arguments, Value panels, Value strips) {
    SmallVector<Value> each;
    for (auto [list, rows] : llvm::enumerate(ahead)) {
      rows.first.address = arguments[3 * list], rows.stride = arguments[3 * list + 1], rows.rows = arguments[3 * list + 2];
      each.push_back(emit.ceilDiv(rows.rows, emit.max(emit.mul(panels, strips), int64_t(1))));
    }
    return each;
  }

  void fill(Emitter &emit, ValueRange arguments) {
    Value m = arguments[0], n = arguments[1], k = arguments[2], a = arguments[3], aStride = arguments[4], b = arguments[5],
          panelStride = arguments[6], c = arguments[7], cStride = arguments[8];
    stairs.low = arguments[9], stairs.high = arguments[10];
    Value zero = emit.constant(0), strips = emit.max(emit.ceilDiv(m, microTile(tier).rows), int64_t(1));
    Value height = emit.div(m, strips), taller = emit.sub(m, emit.mul(height, strips));
    Value panels = emit.ceilDiv(n, width);
    SmallVector<Value> each = takeRowsAhead(emit, arguments.drop_front(11), panels, strips);
    auto tile = [&](Value panel, Value strip) {
      Value number = rowMajor ? emit.add(emit.mul(panel, strips), strip) : emit.add(emit.mul(strip, panels), panel);
      for (auto [rows, count] : llvm::zip(ahead, each))
        prefetch(emit, rows, emit.mul(number, count), count);
      Value column = emit.mul(panel, width);
      Value right = emit.at(b, element, emit.mul(panel, panelStride)), out = emit.at(c, element, column);
      Value row = emit.add(emit.mul(strip, height), emit.min(strip, taller));
      Value rows = emit.select(emit.less(strip, taller), emit.add(height, 1), height);
      Value left = emit.at(a, element, rowMajor ? emit.mul(row, aStride) : row),
            to = emit.at(out, element, emit.mul(row, cStride));
      auto call = [&](Value left, Value right, Value depth, Value to, bool narrow) {
        callMicroKernel(emit, rows,
                        {depth, left, rowMajor ? aStride : emit.constant(1), rowMajor ? emit.constant(1) : aStride, right, to,
                         cStride, emit.flag(accumulate)},
                        narrow);
      };
      if (trim == Trim::ColumnsOfC) {
        // A panel of which only one vector is reached: that one.
        KeyRange columns = columnsOf(emit, row, rows, n);
        Value low = emit.max(emit.sub(columns.low, column), int64_t(0)), high = emit.min(emit.sub(columns.high, column), width);
        emit.branch(emit.less(low, high), [&] {
          Value skipped = emit.select(emit.lessEqual(emit.constant(width - lanes), low), emit.constant(width - lanes), zero);
          emit.branch(
              emit.lessEqual(emit.sub(high, skipped), emit.constant(lanes)),
              [&] { call(left, emit.at(right, element, skipped), k, emit.at(to, element, skipped), true); },
              [&] { call(left, right, k, to, false); });
        });
        return;
      }
      if (!rowMajor) // of the next tile down: few steps follow in which its sums could come
        prefetch(emit, {{emit.at(to, element, emit.mul(rows, cStride)), element}, cStride, rows, width, /*write=*/true}, zero,
                 rows);
      KeyRange depth = rowMajor ? columnsOf(emit, row, rows, k) : rowsOf(emit, row, rows, k);
      Value some = accumulate && trim != Trim::None ? emit.less(depth.low, depth.high) : emit.flag(true);
      Value steps = trim == Trim::None ? k : emit.max(emit.sub(depth.high, depth.low), int64_t(0));
      Value from = emit.at(left, element, rowMajor ? depth.low : emit.mul(depth.low, aStride)),
            with = emit.at(right, element, emit.mul(depth.low, width));
      emit.branch(some, [&] {
        emit.branch(
            emit.lessEqual(emit.sub(n, column), emit.constant(lanes)), [&] { call(from, with, steps, to, true); },
            [&] { call(from, with, steps, to, false); });
      });
    };
    auto overStrips = [&](llvm::function_ref<void(Value)> body) { emit.loop(zero, strips, 1, body); };
    auto overPanels = [&](llvm::function_ref<void(Value)> body) { emit.loop(zero, panels, 1, body); };
    if (rowMajor)
      overPanels([&](Value panel) { overStrips([&](Value strip) { tile(panel, strip); }); });
    else
      overStrips([&](Value strip) { overPanels([&](Value panel) { tile(panel, strip); }); });
  }

  /// Columns that one of the rows [first, first + count) reaches, within [0, size).
  KeyRange columnsOf(Emitter &emit, Value first, Value count, Value size) {
    return trim == Trim::None ? KeyRange{emit.constant(0), size} : columnsReached(emit, stairs, first, count, size);
  }

  /// Rows that reach one of the columns [first, first + count), within [0, size).
  KeyRange rowsOf(Emitter &emit, Value first, Value count, Value size) {
    KeyRange range{emit.constant(0), size};
    if (trim == Trim::None)
      return range;
    Value end = emit.add(first, count);
    auto notBefore = [&](Value row) { range.low = emit.max(range.low, row); };
    auto before = [&](Value row) { range.high = emit.min(range.high, row); };
    if (stairs.highStep > 0) // high + row > first
      notBefore(emit.add(emit.sub(first, stairs.high), 1));
    if (stairs.highStep < 0) // high - row > first
      before(emit.sub(stairs.high, first));
    if (stairs.lowStep > 0) // low + row < end
      before(emit.sub(end, stairs.low));
    if (stairs.lowStep < 0) // low - row < end
      notBefore(emit.add(emit.sub(stairs.low, end), 1));
    return range;
  }

  void callMicroKernel(Emitter &emit, Value rows, ArrayRef<Value> arguments, bool narrow) {
    SmallVector<int64_t> cases;
    for (int64_t count = 1; count < microTile(tier).rows; ++count)
      cases.push_back(count);
    Value selector = arith::IndexCastOp::create(emit.builder, emit.location, emit.builder.getIndexType(), rows);
    auto choice = scf::IndexSwitchOp::create(emit.builder, emit.location, TypeRange(), selector, cases, cases.size());
    OpBuilder::InsertionGuard guard(emit.builder);
    auto fill = [&](Region &region, int64_t count) {
      emit.builder.createBlock(&region);
      WalkOfA walk = rowMajor ? WalkOfA::RowMajor : WalkOfA::Transposed;
      func::FuncOp kernel =
          getMicroKernel(emit.builder, emit.location, {tier, element, count, narrow ? 1 : width / lanes, walk, width});
      func::CallOp::create(emit.builder, emit.location, kernel, arguments);
      scf::YieldOp::create(emit.builder, emit.location);
    };
    fill(choice.getDefaultRegion(), microTile(tier).rows);
    for (auto [position, count] : llvm::enumerate(cases))
      fill(choice.getCaseRegions()[position], count);
  }

  OpBuilder &builder;
  Location location;
  Tier tier;
  Type element;
  int64_t width, lanes;
  bool accumulate, rowMajor;
  Trim trim;
  SmallVector<RowsAhead> ahead;
  Staircase stairs;
};

} // namespace

void AttentionCode::contract(const BlockContraction &block) {
  bool rowMajor = Emitter::constantOf(block.aColStride) == int64_t(1);
  auto known = [&](Value bound) { return bound ? bound : number(0); };
  SmallVector<Value> arguments{block.m,
                               block.n,
                               block.k,
                               block.a,
                               rowMajor ? block.aRowStride : block.aColStride,
                               block.b,
                               block.panelStride,
                               block.c,
                               block.cRowStride,
                               known(block.stairs.low),
                               known(block.stairs.high)};
  for (const RowsAhead &rows : block.ahead)
    arguments.append({rows.first.address, rows.stride, rows.rows});
  func::CallOp::create(builder, BlockFunction(*this, block).get(), arguments);
}

void AttentionCode::stream(const StreamedBlock &block) {
  const StreamedMatrix matrix{block.b.storage, block.rounding, /*isWidened=*/true};
  assert(!(block.alongDepth && block.accumulate) && "sums along columns begin with zero");
  func::FuncOp function = block.alongDepth ? getStreamColumns(builder, builder.getLoc(), code.tier, matrix)
                                           : getStreamRows(builder, builder.getLoc(), code.tier, matrix, block.accumulate);
  func::CallOp::create(builder, function,
                       ValueRange{block.m, block.k, block.n, block.a, block.aRowStride, number(1), block.b.address, block.bStride,
                                  block.c, block.cRowStride});
}

KeyRange AttentionCode::reached(const Staircase &stairs, Value rows, Value size) {
  return columnsReached(emit, stairs, emit.constant(0), rows, size);
}

void AttentionCode::fetch(const RowsAhead &rows) { prefetch(emit, rows, number(0), rows.rows); }

} // namespace tenon::cpu
