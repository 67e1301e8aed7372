// tenon.attention of 16-bit elements by warpgroups of an H100. A block has a batch, a head and a tile of queries, 64 of which
// each warpgroup has. One thread has boxes of queries, and of keys and values in rings of stages, brought into shared memory.
// Scores are a product of both from there; their exponentials, rounded, are the first operand of the product with the values
// without going through memory. While a warpgroup computes exponentials, its product with the values before runs, and those of
// the other warpgroups: they take turns in starting products.
#include "lowering/gpu/WarpgroupAttention.h"
#include "dialect/Places.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/Parameters.h"
#include "lowering/gpu/AttentionKernels.h"
#include "lowering/gpu/GemmForm.h"
#include "lowering/gpu/OnlineSoftmax.h"
#include "lowering/gpu/TensorAttention.h"
#include "lowering/gpu/Warpgroups.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

using Numbers = AttentionFragments::Numbers;
using Fragment = AttentionFragments::Fragment;
using Fragments = AttentionFragments::Fragments;

constexpr int64_t kLines = 64, kStep = 16; // queries of a warpgroup, and columns of a piece in shared memory; of the depth
constexpr int64_t kRow = WarpgroupOperand::kRow, kBarrier = 8; // bytes

/// Bytes of vectors in shared memory, in pieces of 64 columns.
constexpr int64_t piecesOf(int64_t width) { return (width + kLines - 1) / kLines; }
constexpr int64_t bytesOf(int64_t rows, int64_t width) { return piecesOf(width) * rows * kRow; }

/// Dims of queries, keys or values, innermost first; a box has 64 columns of some of one head.
TensorMap mapOf(Value tensor, int64_t rows) {
  auto type = cast<RankedTensorType>(tensor.getType());
  const SmallVector<AffineExpr> sizes = sizesOf(type), strides = rowMajorStrides(type);
  return {tensor,
          getAffineConstantExpr(0, type.getContext()),
          {sizes.rbegin(), sizes.rend()},
          {strides.rbegin(), strides.rend()},
          {kLines, 1, rows, 1}};
}

class WarpgroupForward {
public:
  WarpgroupForward(AttentionOp op, KernelCode &code, const AttentionOperands &operands, WarpgroupAttentionTile tile)
      : on(code, operands), softmax(op, on), code(code), builder(code.builder), operands(operands), tile(tile),
        groups(tile.rows / kLines), group(divide(builder, code.thread(), on.number(kWarpgroup))) {
    Value memory = code.dynamicShared();
    auto take = [&](int64_t bytes) {
      return std::exchange(memory, elementAddress(builder, memory, builder.getI8Type(), on.number(bytes)));
    };
    queries = take(bytesOf(tile.rows, operands.keyWidth()));
    keys = take(tile.stages * keyBytes());
    values = take(tile.stages * valueBytes());
    keyRing.emplace(builder, take(StageRing::bytesOf(tile.stages)), tile.stages);
    valueRing.emplace(builder, take(StageRing::bytesOf(tile.stages)), tile.stages);
    queriesCame = memory;
  }

  void emit() {
    Value tiles = ceilDivide(builder, on.queries, on.number(tile.rows));
    Value number = on.enter(operands.heads(), tiles, on.head);
    on.keyHead = divide(builder, on.head, on.number(operands.heads() / operands.keyHeads()));
    // Under causal masks the last queries have most to do: they begin first.
    firstQuery = multiply(builder, subtract(builder, subtract(builder, tiles, on.number(1)), number), on.number(tile.rows));
    Value last = minimum(builder, add(builder, firstQuery, on.number(tile.rows)), on.queries);
    IndexRange range = on.seen(true, firstQuery, subtract(builder, last, on.number(1)), tile.keys);
    firstKey = range.low;
    Value keysSeen = maximum(builder, subtract(builder, range.high, range.low), on.number(0));
    count = ceilDivide(builder, keysSeen, on.number(tile.keys));
    auto init = [&] {
      keyRing->init(tile.consumers() / kWarp);
      valueRing->init(tile.consumers() / kWarp);
      initBarrier(builder, queriesCame, 1);
    };
    emitRoles(code, tile.consumers(), init, [&] { consume(); }, [&] { produce(); });
  }

private:
  static constexpr int64_t kWarp = 32;
  int64_t keyBytes() const { return bytesOf(tile.keys, operands.keyWidth()); }
  int64_t valueBytes() const { return bytesOf(tile.keys, operands.valueWidth()); }
  Value bytesFrom(Value memory, int64_t bytes) { return elementAddress(builder, memory, builder.getI8Type(), on.number(bytes)); }
  Value stageAt(Value ring, Value stage, int64_t bytes) {
    return elementAddress(builder, ring, builder.getI8Type(), multiply(builder, stage, on.number(bytes)));
  }
  Value compare(arith::CmpIPredicate how, Value a, Value b) { return builder.createOrFold<arith::CmpIOp>(how, a, b); }
  Value hasTiles() { return on.less(on.number(0), count); }
  WarpPairs pairsAt(Value key) {
    return {add(builder, firstQuery, multiply(builder, on.warp, on.number(16))), key, true, tile.keys / 8};
  }
  Value keyOf(Value index) { return add(builder, firstKey, multiply(builder, index, on.number(tile.keys))); }

  // ---- the thread that has tensors brought

  void bring(unsigned map, Value to, Value arrival, int64_t rows, int64_t width, Value head, Value first) {
    for (int64_t piece = 0; piece < piecesOf(width); ++piece)
      copyBox(builder, bytesFrom(to, piece * rows * kRow), arrival, code.map(map),
              {on.number(piece * kLines), head, first, on.batch});
  }

  void produce() {
    code.ifThen(hasTiles(), [&] {
      arriveExpecting(builder, queriesCame, bytesOf(tile.rows, operands.keyWidth()));
      bring(0, queries, queriesCame, tile.rows, operands.keyWidth(), on.head, firstQuery);
      StageRing::Turn turn = keyRing->first();
      auto loop = scf::ForOp::create(builder, on.number(0), count, on.number(1), ValueRange{turn.stage, turn.parity});
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      turn = {loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
      Value key = keyOf(loop.getInductionVar());
      bring(1, stageAt(keys, turn.stage, keyBytes()), keyRing->claim(turn, keyBytes()), tile.keys, operands.keyWidth(),
            on.keyHead, key);
      bring(2, stageAt(values, turn.stage, valueBytes()), valueRing->claim(turn, valueBytes()), tile.keys, operands.valueWidth(),
            on.keyHead, key);
      turn = keyRing->after(turn);
      scf::YieldOp::create(builder, ValueRange{turn.stage, turn.parity});
    });
  }

  // ---- warpgroups

  /// What goes from tile to tile: statistics and sums of values; what the pairs of the tile before weigh, whose values, in stage
  /// `turn`, are not in the sums yet.
  struct Carried {
    OnlineSoftmax::Rows rows;
    Numbers sums;
    Fragments weights;
    StageRing::Turn turn;
  };
  static SmallVector<Value> packed(const Carried &one) {
    SmallVector<Value> all{one.rows.largest[0], one.rows.largest[1], one.rows.total[0], one.rows.total[1]};
    all.append(one.sums);
    for (const Fragment &fragment : one.weights)
      all.append(fragment);
    if (one.turn.stage)
      all.append({one.turn.stage, one.turn.parity});
    return all;
  }
  Carried unpacked(ValueRange values) {
    SmallVector<Value> all(values);
    ArrayRef<Value> rest(all);
    Carried one{{{rest[0], rest[1]}, {rest[2], rest[3]}}, {}, {}, {}};
    rest = rest.drop_front(4);
    one.sums = Numbers(rest.take_front(size_t(operands.valueWidth() / 2)));
    for (rest = rest.drop_front(one.sums.size()); rest.size() >= 4; rest = rest.drop_front(4))
      one.weights.emplace_back(rest.take_front(4));
    if (!rest.empty())
      one.turn = {rest[0], rest[1]};
    return one;
  }

  void consume() {
    const LineLimits limits = on.limitsOf(pairsAt(on.number(0)));
    const Carried none{softmax.start(), on.zeros(operands.valueWidth() / 2), {}, {}};
    auto branch = scf::IfOp::create(builder, ValueRange(packed(none)).getTypes(), hasTiles(), true);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      Carried all = overTiles(none, limits);
      scf::YieldOp::create(builder, packed({all.rows, all.sums, {}, {}}));
      builder.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(builder, packed(none));
    }
    const Carried all = unpacked(branch.getResults());
    softmax.store(pairsAt(on.number(0)), all.rows, all.sums);
  }

  Carried overTiles(const Carried &none, const LineLimits &limits) {
    Carried now = firstTile(none, limits);
    auto loop = scf::ForOp::create(builder, on.number(1), count, on.number(1), packed(now));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      now = unpacked(loop.getRegionIterArgs());
      nextTile(loop.getInductionVar(), now, limits);
      scf::YieldOp::create(builder, packed(now));
    }
    now = unpacked(loop.getResults());
    valueRing->waitFull(now.turn);
    openProducts(builder);
    multiplyValues(now);
    finishProducts(0, now.sums);
    return now;
  }

  Carried firstTile(const Carried &none, const LineLimits &limits) {
    Carried now = none;
    now.turn = keyRing->first();
    keyRing->waitFull(now.turn);
    waitAt(builder, queriesCame, now.turn.parity);
    openProducts(builder);
    Numbers scores = multiplyKeys(now.turn);
    finishProducts(0, scores);
    release(*keyRing, now.turn);
    const WarpPairs pairs = pairsAt(firstKey);
    on.hide(scores, pairs, limits);
    softmax.weigh(scores, now.rows);
    now.weights = softmax.weights(scores, pairs);
    return now;
  }

  /// Scores of this tile and sums of the values before are products at a time; exponentials are computed while the second runs.
  /// Nothing branches between the products, or the assembler would have them wait for each other; the values were asked for
  /// before the keys.
  void nextTile(Value index, Carried &now, const LineLimits &limits) {
    const StageRing::Turn turn = keyRing->after(now.turn);
    keyRing->waitFull(turn);
    valueRing->waitFull(now.turn);
    takeTurn(index);
    openProducts(builder);
    Numbers scores = multiplyKeys(turn);
    multiplyValues(now);
    passTurn(index);
    finishProducts(1, scores);
    release(*keyRing, turn);
    const WarpPairs pairs = pairsAt(keyOf(index));
    on.hide(scores, pairs, limits);
    const auto factors = softmax.weigh(scores, now.rows);
    finishProducts(0, now.sums);
    release(*valueRing, now.turn);
    OnlineSoftmax::rescale(builder, now.sums, factors);
    now.weights = softmax.weights(scores, pairs);
    now.turn = turn;
  }

  Numbers multiplyKeys(StageRing::Turn turn) {
    const WarpgroupOperand both[] = {{true}, {true}};
    Value rows = elementAddress(builder, queries, builder.getI8Type(), multiply(builder, group, on.number(kLines * kRow)));
    Value a = both[0].descriptor(builder, rows), b = both[1].descriptor(builder, stageAt(keys, turn.stage, keyBytes()));
    Numbers scores(size_t(tile.keys / 2));
    for (int64_t step = 0; step < operands.keyWidth(); step += kStep) {
      const int64_t piece = step / kLines, inside = step % kLines / kStep;
      auto placeOf = [&](Value start, int64_t rowsOfPiece, int side) {
        return add(builder, start, on.number((piece * rowsOfPiece * kRow >> 4) + inside * both[side].perStep()));
      };
      multiplyAsync(builder, on.stored, placeOf(a, tile.rows, 0), placeOf(b, tile.keys, 1), both, scores, step == 0);
    }
    commitProducts(builder);
    return scores;
  }

  void multiplyValues(Carried &now) {
    const WarpgroupOperand both[] = {{true}, {false, tile.keys}};
    Value b = both[1].descriptor(builder, stageAt(values, now.turn.stage, valueBytes()));
    for (auto [step, fragment] : llvm::enumerate(now.weights))
      multiplyAsync(builder, on.stored, fragment, add(builder, b, on.number(int64_t(step) * both[1].perStep())), both, now.sums);
    commitProducts(builder);
  }

  void finishProducts(int64_t newest, Numbers &sums) {
    waitForProducts(builder, newest);
    holdBehind(builder, sums);
  }

  void release(StageRing &ring, StageRing::Turn turn) {
    code.ifThen(compare(arith::CmpIPredicate::eq, on.lane, on.number(0)), [&] { ring.release(turn); });
  }

  /// A warpgroup starts its products when the one before has started its own, the first one when the last has started those of
  /// the tile before. Each has a barrier, which it waits at.
  void takeTurn(Value index) {
    auto isFirst = [&] {
      return on.both(compare(arith::CmpIPredicate::eq, group, on.number(0)),
                     compare(arith::CmpIPredicate::eq, index, on.number(1)));
    };
    if (groups > 1)
      unless(isFirst(), [&] { barrierOf(builder, numberOf(group), 2 * kWarpgroup); });
  }
  void passTurn(Value index) {
    auto isLast = [&] {
      return on.both(compare(arith::CmpIPredicate::eq, group, on.number(groups - 1)),
                     compare(arith::CmpIPredicate::eq, index, subtract(builder, count, on.number(1))));
    };
    if (groups > 1)
      unless(isLast(), [&] {
        Value next = remainder(builder, add(builder, group, on.number(1)), on.number(groups));
        arriveAtBarrierOf(builder, numberOf(next), 2 * kWarpgroup);
      });
  }
  Value numberOf(Value ofGroup) { return on.wordOf(add(builder, ofGroup, on.number(1))); } // 0 is that of the block
  void unless(Value condition, llvm::function_ref<void()> body) {
    code.ifThen(arith::XOrIOp::create(builder, condition, arith::ConstantOp::create(builder, builder.getBoolAttr(true))), body);
  }

  AttentionFragments on;
  OnlineSoftmax softmax;
  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const AttentionOperands &operands;
  const WarpgroupAttentionTile tile;
  const int64_t groups;
  Value group;                              // of the thread
  Value queries, keys, values, queriesCame; // in shared memory; the barrier of queries
  std::optional<StageRing> keyRing, valueRing;
  Value firstQuery, firstKey, count; // of tiles
};

} // namespace

int64_t WarpgroupAttentionTile::consumers() const { return rows / kLines * kWarpgroup; }
int64_t WarpgroupAttentionTile::threads() const { return consumers() + 32; }
int64_t WarpgroupAttentionTile::shared(const AttentionOperands &operands) const {
  const int64_t ofStage = bytesOf(keys, operands.keyWidth()) + bytesOf(keys, operands.valueWidth());
  return bytesOf(rows, operands.keyWidth()) + stages * ofStage + 2 * StageRing::bytesOf(stages) + kBarrier;
}

/// Executed on the emulator and assembled, not yet on a GPU: so it is chosen where a schedule says so, and not by itself.
bool prefersWarpgroupAttention() { return false; }

std::optional<WarpgroupAttentionTile> warpgroupAttentionTile(const AttentionOperands &operands) {
  constexpr int64_t least = 64, most = 128;
  auto fits = [](int64_t width) { return width % kStep == 0 && width >= least && width <= most; };
  auto isStored = [&](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType() == operands.storage(); };
  if (operands.storage() == operands.element() || !fits(operands.keyWidth()) || !fits(operands.valueWidth()) ||
      !isStored(operands.key) || !isStored(operands.value) || operands.anyTable() || !OnlineSoftmax::scalesLate(operands) ||
      !boundsAll(operands.masks))
    return std::nullopt;
  return WarpgroupAttentionTile{128, operands.threshold() > 0 ? 64 : 128, 2, 224};
}

ChoiceForm warpgroupAttentionForm() {
  return {kWarpgroupForm, {{"rows", 64, 192, 64}, {"keys", 64, 128, 16}, {"stages", 2, 8}, {"registers", 32, 255}}};
}

DictionaryAttr choiceOf(MLIRContext *context, const WarpgroupAttentionTile &tile) {
  return makeChoice(context, kWarpgroupForm,
                    {{"rows", tile.rows}, {"keys", tile.keys}, {"stages", tile.stages}, {"registers", tile.registers}});
}

LogicalResult generateWarpgroupAttention(AttentionOp op, const AttentionOperands &operands, const Choice &choice,
                                         LaunchSequence &sequence) {
  auto number = [&](StringRef name) { return *choice.number(name); };
  const WarpgroupAttentionTile tile{number("rows"), number("keys"), number("stages"), number("registers")};
  if (failed(checkBlock(op, tile.threads(), tile.shared(operands), kMostShared)))
    return failure();
  Launch launch = attentionLaunch("attention_warpgroups", op.getLoc(), operands, tile.rows, tile.threads(), operands.heads(),
                                  operands.queries());
  launch.registers = tile.registers;
  launch.shared = tile.shared(operands);
  launch.maps = {mapOf(operands.query, tile.rows), mapOf(operands.key, tile.keys), mapOf(operands.value, tile.keys)};
  for (Value result : op->getResults())
    if (isRead(result))
      launch.writes.push_back(result);
  launch.body = [&](KernelCode &code) { WarpgroupForward(op, code, operands, tile).emit(); };
  sequence.add(launch);
  return success();
}

} // namespace tenon::gpu
