// The keys that a strip of queries goes through: runs of tiles that masks do not hide, and of a row what is visible in them.
#include "lowering/cpu/Attention.h"

using namespace mlir;

namespace tenon::cpu {

/// Truth values are bytes that are 0 or 1.
TileVisibility IndexOperands::overPairs(FunctionCode &code, int64_t operand, Interval queries, Interval keys) const {
  constexpr int64_t bytes = 16;
  auto &builder = code.builder;
  Emitter emit(builder, builder.getLoc());
  Type byte = builder.getI8Type(), i64 = builder.getI64Type();
  auto lanes = VectorType::get({bytes}, byte), words = VectorType::get({2}, i64);
  auto all = [&](Type type, int64_t value) -> Value {
    Attribute one = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(builder, DenseElementsAttr::get(vector, one));
    return arith::ConstantOp::create(builder, cast<TypedAttr>(one));
  };
  Value end = emit.add(keys.high, 1), one = emit.constant(1);
  Value whole = emit.add(keys.low, emit.mul(emit.div(emit.max(emit.sub(end, keys.low), int64_t(0)), bytes), bytes));
  auto joined = [&](Value loaded, ValueRange before) -> SmallVector<Value> {
    return {arith::OrIOp::create(builder, before[0], loaded), arith::AndIOp::create(builder, before[1], loaded)};
  };
  const SmallVector<Value> start{all(lanes, 0), all(lanes, 1), all(byte, 0), all(byte, 1)};
  SmallVector<Value> found =
      forLoop(builder, queries.low, emit.add(queries.high, 1), one, start, [&](Value query, ValueRange before) {
        Value row = emit.at(code.pointer(operands[operand]), byte, indexOf(code, operand, {{}, query}));
        auto load = [&](Type type, Value key) { return emit.load(type, emit.at(row, byte, key), 1); };
        auto results = forLoop(builder, keys.low, whole, emit.constant(bytes), before.take_front(2),
                               [&](Value key, ValueRange now) { return joined(load(lanes, key), now); });
        llvm::append_range(results, forLoop(builder, whole, end, one, before.drop_front(2),
                                            [&](Value key, ValueRange now) { return joined(load(byte, key), now); }));
        return results;
      });
  auto word = [&](Value vector, int64_t which) -> Value {
    return vector::ExtractOp::create(builder, vector::BitCastOp::create(builder, words, vector), ArrayRef<int64_t>{which});
  };
  Value some = arith::OrIOp::create(builder, word(found[0], 0), word(found[0], 1));
  some = arith::OrIOp::create(builder, some, arith::ExtUIOp::create(builder, i64, found[2]));
  Value every = arith::AndIOp::create(builder, word(found[1], 0), word(found[1], 1));
  Value rest = emit.equal(found[3], all(byte, 1));
  return {emit.compare(arith::CmpIPredicate::ne, some, emit.constant(0)),
          emit.select(emit.equal(every, emit.constant(0x0101010101010101)), rest, emit.flag(false))};
}

KeyRuns AttentionCode::findRuns(const AttentionMask &mask, Value memory, Value batch, Interval queries, Value start, Value low,
                                Value high) {
  const int64_t side = KeyRuns::kTileKeys;
  assert(side % width == 0 && side % rowLanes == 0 && "runs begin at whole panels and vectors");
  Type i64 = builder.getI64Type();
  auto numberAt = [&](Value record, int64_t which) {
    return emit.at(memory, i64, emit.add(emit.mul(record, KeyRuns::kNumbers), which));
  };
  auto load = [&](Value record, int64_t which) { return emit.load(i64, numberAt(record, which), 8); };
  emit.store(number(-1), numberAt(number(0), 1), 8);
  Value count = forLoop(builder, emit.div(low, side), emit.ceilDiv(high, side), number(1), number(0),
                        [&](Value tile, ValueRange carried) -> SmallVector<Value> {
                          Value last = carried[0], first = emit.max(emit.mul(tile, side), low),
                                end = emit.min(emit.mul(emit.add(tile, 1), side), high);
                          TileVisibility seen =
                              mask.ofTile(code, batch, queries, {emit.add(start, first), emit.sub(emit.add(start, end), 1)});
                          Value isFull = arith::ExtUIOp::create(builder, i64, seen.all);
                          Value joins =
                              emit.select(emit.equal(load(last, 1), first), emit.equal(load(last, 2), isFull), emit.flag(false));
                          Value record = emit.select(joins, last, emit.add(last, 1));
                          return ifThen(builder, seen.some, last, [&]() -> SmallVector<Value> {
                            emit.store(emit.select(joins, load(last, 0), first), numberAt(record, 0), 8);
                            emit.store(end, numberAt(record, 1), 8);
                            emit.store(isFull, numberAt(record, 2), 8);
                            return {record};
                          });
                        })[0];
  return {{low, high, {}}, memory, count};
}

SmallVector<Value> AttentionCode::forRuns(const KeyRuns &runs, ValueRange carried,
                                          llvm::function_ref<SmallVector<Value>(const KeyRun &, ValueRange)> body) {
  if (!runs.memory)
    return body(runs.whole, carried);
  return forLoop(builder, number(1), emit.add(runs.count, 1), number(1), carried, [&](Value record, ValueRange now) {
    Type i64 = builder.getI64Type();
    Value address = emit.at(runs.memory, i64, emit.mul(record, KeyRuns::kNumbers));
    auto load = [&](int64_t which) { return emit.load(i64, emit.at(address, i64, which), 8); };
    return body({load(0), load(1), emit.equal(load(2), number(1))}, now);
  });
}

void AttentionCode::forRuns(const KeyRuns &runs, llvm::function_ref<void(const KeyRun &)> body) {
  forRuns(runs, {}, [&](const KeyRun &run, ValueRange) -> SmallVector<Value> {
    body(run);
    return {};
  });
}

RowParts AttentionCode::partsIn(const KeyRuns &runs, const KeyRun &run, const RowParts &parts) {
  if (!runs.memory)
    return parts;
  Value end = emit.roundUp(run.high, rowLanes); // that of the last run is no multiple
  auto inside = [&](Value key) { return emit.min(emit.max(key, run.low), end); };
  return {inside(parts.begin), inside(parts.innerBegin), inside(parts.innerEnd), inside(parts.end)};
}

RowParts AttentionCode::partsOf(const AttentionMask &mask, QueryPlace place, Value start, Value low, Value high) {
  KeyRange range = mask.ofRow(code, place, keys);
  Value last = emit.max(emit.min(emit.sub(range.high, start), high), low);
  Value first = mask.hasLowerBound() ? emit.min(emit.max(emit.sub(range.low, start), low), last) : low;
  RowParts parts;
  parts.begin = roundDown(first, rowLanes);
  parts.end = roundDown(emit.add(last, rowLanes - 1), rowLanes);
  parts.innerBegin = emit.min(roundDown(emit.add(first, rowLanes - 1), rowLanes), parts.end);
  parts.innerEnd = emit.max(roundDown(last, rowLanes), parts.innerBegin);
  return parts;
}

SmallVector<Value> AttentionCode::forVisible(const AttentionMask &mask, QueryPlace place, const RowParts &parts, Value isFull,
                                             Value start, Value high, ValueRange carried,
                                             llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
  KeyRange range = mask.ofRow(code, place, keys);
  auto masked = [&](Value from, Value to, bool tests, ValueRange values) {
    return alongRow(from, to, values, [&](Value key, ValueRange now) {
      Value firstKey = emit.add(start, key);
      Value inside = firstLanes(code, emit.sub(emit.min(range.high, emit.add(start, high)), firstKey), rowLanes);
      if (mask.hasLowerBound()) {
        Value before = firstLanes(code, emit.sub(range.low, firstKey), rowLanes);
        Value all =
            arith::ConstantOp::create(builder, DenseElementsAttr::get(VectorType::get({rowLanes}, builder.getI1Type()), true));
        inside = arith::AndIOp::create(builder, inside, arith::XOrIOp::create(builder, before, all));
      }
      Value others = tests ? mask.others(code, place, firstKey, rowLanes, inside) : Value();
      return body(key, others ? Value(arith::AndIOp::create(builder, inside, others)) : inside, now);
    });
  };
  auto tested = [&] { return masked(parts.begin, parts.end, true, carried); };
  auto bounded = [&] {
    SmallVector<Value> state(carried);
    if (mask.hasLowerBound())
      state = masked(parts.begin, parts.innerBegin, false, state);
    state = alongRow(parts.innerBegin, parts.innerEnd, state, [&](Value key, ValueRange now) { return body(key, Value(), now); });
    return masked(parts.innerEnd, parts.end, false, state);
  };
  if (!mask.hasOthers())
    return bounded();
  return isFull ? ifElse(builder, isFull, TypeRange(carried), bounded, tested) : tested();
}

} // namespace tenon::cpu
