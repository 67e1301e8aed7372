#include "lowering/cpu/Pack.h"
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/StoredElements.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Where a step of K is written.
Value placeOf(Emitter &emit, DepthOrder order, Value step) {
  return order == DepthOrder::OddFirst ? Value(arith::XOrIOp::create(emit.builder, emit.location, step, emit.constant(1))) : step;
}
llvm::StringRef suffixOf(DepthOrder order) { return order == DepthOrder::OddFirst ? "_odd" : ""; }

/// Emits the body of one packing function.
class PackBody {
public:
  PackBody(Emitter &emit, Tier tier, Type storage, Type rounding, int64_t width, DepthOrder order, ValueRange arguments)
      : emit(emit), source(emit, tier, storage, rounding), order(order), element(elementModel(storage).compute),
        vector(tierVector(tier, element)), lanes(vector.getNumElements()), width(width), bytes(elementBytes(element)),
        k(arguments[0]), columns(arguments[1]), matrix(arguments[2]), rowStride(arguments[3]), colStride(arguments[4]),
        panel(arguments[5]) {}

  void copyRows() {
    emit.branch(
        emit.equal(columns, emit.constant(width)),
        [&] { emit.loop(emit.constant(0), k, 1, [&](Value row) { copyRow(row, /*masks=*/{}); }); },
        [&] {
          SmallVector<Value> masks;
          for (int64_t part = 0; part < width / lanes; ++part)
            masks.push_back(emit.firstLanes(emit.sub(columns, part * lanes), lanes));
          emit.loop(emit.constant(0), k, 1, [&](Value row) { copyRow(row, masks); });
        });
  }

  void transposeSquares() {
    emit.loop(emit.constant(0), emit.constant(width), lanes, [&](Value first) {
      Value inside = emit.sub(columns, first);
      Value whole = emit.lessEqual(emit.constant(lanes), inside);
      Value bulk = emit.select(whole, emit.mul(emit.div(k, lanes), lanes), emit.constant(0));
      emit.loop(emit.constant(0), bulk, lanes, [&](Value row) { transposeSquare(first, row, /*inside=*/nullptr); });
      emit.loop(bulk, k, lanes, [&](Value row) { transposeSquare(first, row, inside); });
    });
  }

  void copyElements() {
    Value zero = arith::ConstantOp::create(emit.builder, emit.location, emit.builder.getZeroAttr(element));
    emit.loop(emit.constant(0), k, 1, [&](Value row) {
      Value sourceRow = source.at(matrix, emit.mul(row, rowStride));
      Value panelRow = rowOfPanel(row);
      emit.loop(emit.constant(0), columns, 1, [&](Value column) {
        Value value = source.load(element, source.at(sourceRow, emit.mul(column, colStride)));
        emit.store(value, emit.at(panelRow, element, column), bytes);
      });
      emit.loop(columns, emit.constant(width), 1,
                [&](Value column) { emit.store(zero, emit.at(panelRow, element, column), bytes); });
    });
  }

  /// A row of zeros behind an odd K.
  void completePair() {
    emit.loop(k, emit.roundUp(k, 2), 1, [&](Value row) {
      for (int64_t column = 0; column < width; column += lanes)
        emit.store(emit.zero(vector), emit.at(rowOfPanel(row), element, column), bytes * lanes);
    });
  }

private:
  Value rowOfPanel(Value row) { return emit.at(panel, element, emit.mul(placeOf(emit, order, row), width)); }

  void copyRow(Value row, ArrayRef<Value> masks) {
    Value from = source.at(matrix, emit.mul(row, rowStride));
    Value to = rowOfPanel(row);
    for (int64_t part = 0; part < width / lanes; ++part) {
      Value mask = masks.empty() ? Value() : masks[part];
      Value value = source.load(vector, source.at(from, emit.constant(part * lanes)), mask);
      emit.store(value, emit.at(to, element, part * lanes), bytes * lanes);
    }
  }

  /// Columns [first, first + lanes) x rows [row, row + lanes). With `inside` (columns that exist, may be <= 0) both directions
  /// are masked: absent columns read an existing one and are cleared afterwards, so no address leaves the matrix.
  void transposeSquare(Value first, Value row, Value inside) {
    Value rowMask = inside ? emit.firstLanes(emit.sub(k, row), lanes) : Value();
    SmallVector<Value> square;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value column = emit.add(first, lane);
      if (inside)
        column = emit.min(column, emit.sub(columns, 1));
      Value from = source.at(matrix, emit.add(emit.mul(column, colStride), row));
      square.push_back(source.load(vector, from, rowMask));
    }
    square = emitTranspose(emit.builder, emit.location, square);
    Value to = emit.at(panel, element, emit.add(emit.mul(row, width), first));
    Value columnMask = inside ? emit.firstLanes(inside, lanes) : Value();
    for (auto [index, value] : llvm::enumerate(square)) {
      if (inside)
        value = arith::SelectOp::create(emit.builder, emit.location, columnMask, value, emit.zero(vector));
      int64_t place = order == DepthOrder::OddFirst ? static_cast<int64_t>(index) ^ 1 : static_cast<int64_t>(index);
      emit.store(value, emit.at(to, element, place * width), bytes * lanes);
    }
  }

  Emitter &emit;
  StoredElements source;
  DepthOrder order;
  Type element;
  VectorType vector;
  int64_t lanes, width;
  unsigned bytes;
  Value k, columns, matrix, rowStride, colStride, panel;
};

/// Emits the body of one widening function.
class WidenBody {
public:
  WidenBody(Emitter &emit, Tier tier, Type storage, FormOfA form, DepthOrder order, ValueRange arguments)
      : emit(emit), source(emit, tier, storage), form(form), order(order), element(elementModel(storage).compute),
        vector(tierVector(tier, element)), lanes(vector.getNumElements()), bytes(elementBytes(element)), rows(arguments[0]),
        columns(arguments[1]), matrix(arguments[2]), rowStride(arguments[3]), colStride(arguments[4]), target(arguments[5]),
        pitch(arguments[6]), zero(emit.constant(0)) {}

  void run() {
    emit.loop(zero, rows, 1, [&](Value row) {
      Value from = source.at(matrix, emit.mul(row, rowStride));
      if (form == FormOfA::Strided)
        copyElements(from, emit.at(target, element, emit.mul(row, pitch)));
      else
        copyRow(from, emit.at(target, element, emit.mul(form == FormOfA::AlongRows ? placeOf(emit, order, row) : row, pitch)));
    });
    if (form == FormOfA::AlongRows && order == DepthOrder::OddFirst)
      emit.loop(rows, emit.roundUp(rows, 2), 1, [&](Value row) {
        Value to = emit.at(target, element, emit.mul(placeOf(emit, order, row), pitch));
        emit.loop(zero, columns, lanes,
                  [&](Value column) { emit.store(emit.zero(vector), emit.at(to, element, column), bytes * lanes); });
      });
  }

private:
  void copyElements(Value from, Value to) {
    auto place = [&](Value column) { return emit.at(to, element, placeOf(emit, order, column)); };
    emit.loop(zero, columns, 1, [&](Value column) {
      emit.store(source.load(element, source.at(from, emit.mul(column, colStride))), place(column), bytes);
    });
    if (order == DepthOrder::OddFirst)
      emit.loop(columns, emit.roundUp(columns, 2), 1, [&](Value column) {
        emit.store(arith::ConstantOp::create(emit.builder, emit.location, emit.builder.getZeroAttr(element)), place(column),
                   bytes);
      });
  }

  void copyRow(Value from, Value to) {
    auto widen = [&](Value column, Value mask) {
      Value value = source.load(vector, source.at(from, column), mask);
      if (form == FormOfA::AlongDepth && order == DepthOrder::OddFirst) {
        SmallVector<int64_t> swapped;
        for (int64_t lane = 0; lane < lanes; ++lane)
          swapped.push_back(lane ^ 1);
        value = emit.shuffle(value, value, swapped);
      }
      emit.store(value, emit.at(to, element, column), bytes * lanes);
    };
    Value bulk = emit.mul(emit.div(columns, lanes), lanes);
    emit.loop(zero, bulk, lanes, [&](Value column) { widen(column, {}); });
    emit.loop(bulk, columns, lanes, [&](Value column) { widen(column, emit.firstLanes(emit.sub(columns, column), lanes)); });
  }

  Emitter &emit;
  StoredElements source;
  FormOfA form;
  DepthOrder order;
  Type element;
  VectorType vector;
  int64_t lanes, bytes;
  Value rows, columns, matrix, rowStride, colStride, target, pitch, zero;
};

/// Shuffle masks in terms of 128-bit blocks, the granularity of AVX shuffles: lane `lane` of block `block` of the result is
/// element pick(block, lane) of the two concatenated sources.
Value shuffleBlocks(Emitter &emit, Value a, Value b, int64_t lanes, int64_t blockLanes,
                    llvm::function_ref<int64_t(int64_t block, int64_t lane)> pick) {
  SmallVector<int64_t> mask;
  for (int64_t block = 0; block < lanes / blockLanes; ++block)
    for (int64_t lane = 0; lane < blockLanes; ++lane)
      mask.push_back(pick(block, lane));
  return emit.shuffle(a, b, mask);
}

/// unpcklps / unpckhps and their 64-bit forms: interleaves units of `unit` lanes of the low or high half of every block.
Value interleave(Emitter &emit, Value a, Value b, int64_t lanes, int64_t blockLanes, int64_t unit, bool high) {
  return shuffleBlocks(emit, a, b, lanes, blockLanes, [&](int64_t block, int64_t lane) {
    int64_t pair = lane / unit;
    int64_t element = block * blockLanes + (high ? blockLanes / 2 : 0) + (pair / 2) * unit + lane % unit;
    return element + (pair % 2 != 0 ? lanes : 0);
  });
}

/// vshuff32x4 / vperm2f128: the even or odd blocks of a, then those of b.
Value gatherBlocks(Emitter &emit, Value a, Value b, int64_t lanes, int64_t blockLanes, bool odd) {
  return shuffleBlocks(emit, a, b, lanes, blockLanes,
                       [&](int64_t block, int64_t lane) { return (2 * block + (odd ? 1 : 0)) * blockLanes + lane; });
}

/// Transposes a square of blocks: rows[g] block q -> result[q] block g.
SmallVector<Value> transposeBlocks(Emitter &emit, SmallVector<Value> rows, int64_t lanes, int64_t blockLanes) {
  if (rows.size() == 1)
    return rows;
  if (rows.size() == 2)
    return {gatherBlocks(emit, rows[0], rows[1], lanes, blockLanes, false),
            gatherBlocks(emit, rows[0], rows[1], lanes, blockLanes, true)};
  SmallVector<Value> result(4);
  for (bool odd : {false, true}) {
    Value low = gatherBlocks(emit, rows[0], rows[1], lanes, blockLanes, odd);
    Value high = gatherBlocks(emit, rows[2], rows[3], lanes, blockLanes, odd);
    result[odd ? 1 : 0] = gatherBlocks(emit, low, high, lanes, blockLanes, false);
    result[odd ? 3 : 2] = gatherBlocks(emit, low, high, lanes, blockLanes, true);
  }
  return result;
}

} // namespace

SmallVector<Value> emitTranspose(OpBuilder &builder, Location location, ArrayRef<Value> rows) {
  Emitter emit(builder, location);
  auto vector = cast<VectorType>(rows.front().getType());
  int64_t lanes = vector.getNumElements();
  int64_t blockLanes = 128 / vector.getElementTypeBitWidth();
  int64_t blocks = lanes / blockLanes;
  // Inside every group of blockLanes rows: transpose the squares of each 128-bit block.
  SmallVector<Value> grouped(rows);
  for (int64_t group = 0; group < blocks; ++group) {
    Value *row = &grouped[group * blockLanes];
    auto pair = [&](Value a, Value b, int64_t unit, bool high) { return interleave(emit, a, b, lanes, blockLanes, unit, high); };
    if (blockLanes == 2) {
      Value low = pair(row[0], row[1], 1, false), high = pair(row[0], row[1], 1, true);
      row[0] = low, row[1] = high;
      continue;
    }
    Value low01 = pair(row[0], row[1], 1, false), high01 = pair(row[0], row[1], 1, true);
    Value low23 = pair(row[2], row[3], 1, false), high23 = pair(row[2], row[3], 1, true);
    row[0] = pair(low01, low23, 2, false), row[1] = pair(low01, low23, 2, true);
    row[2] = pair(high01, high23, 2, false), row[3] = pair(high01, high23, 2, true);
  }
  // Across groups: column j of block q sits in vector j of every group.
  SmallVector<Value> result(lanes);
  for (int64_t column = 0; column < blockLanes; ++column) {
    SmallVector<Value> parts;
    for (int64_t group = 0; group < blocks; ++group)
      parts.push_back(grouped[group * blockLanes + column]);
    parts = transposeBlocks(emit, parts, lanes, blockLanes);
    for (int64_t block = 0; block < blocks; ++block)
      result[block * blockLanes + column] = parts[block];
  }
  return result;
}

func::FuncOp getPackPanel(OpBuilder &builder, Location location, Tier tier, Type storage, int64_t width, LayoutOfB layout,
                          DepthOrder order, Type rounding) {
  assert((!rounding || storage.isF32()) && "f32 is rounded");
  llvm::StringRef form = layout == LayoutOfB::RowMajor ? "copy" : layout == LayoutOfB::Transposed ? "transpose" : "strided";
  llvm::StringRef type = elementModel(storage).name();
  std::string name =
      ("tn_gemm_pack_" + helperTierName(tier) + "_" + type + "_" + form + "_" + llvm::Twine(width) + suffixOf(order)).str();
  if (rounding)
    name += "_to_" + elementModel(rounding).name().str();
  Type index = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return getOrCreateKernel(builder, location, name, {index, index, pointer, index, index, pointer},
                           [&](Emitter &emit, ValueRange values) {
                             PackBody body(emit, tier, storage, rounding, width, order, values);
                             if (layout == LayoutOfB::RowMajor)
                               body.copyRows();
                             else if (layout == LayoutOfB::Transposed)
                               body.transposeSquares();
                             else
                               body.copyElements();
                             if (order == DepthOrder::OddFirst)
                               body.completePair();
                           });
}

func::FuncOp getWidenRows(OpBuilder &builder, Location location, Tier tier, Type storage, FormOfA form, DepthOrder order) {
  llvm::StringRef formName = form == FormOfA::AlongDepth ? "_rows" : form == FormOfA::AlongRows ? "_columns" : "_strided";
  std::string name =
      ("tn_gemm_widen_" + helperTierName(tier) + "_" + elementModel(storage).name() + formName + suffixOf(order)).str();
  Type index = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return getOrCreateKernel(builder, location, name, {index, index, pointer, index, index, pointer, index},
                           [&](Emitter &emit, ValueRange values) { WidenBody(emit, tier, storage, form, order, values).run(); });
}

} // namespace tenon::cpu
