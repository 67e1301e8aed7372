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
#include "lowering/gpu/TileWalk.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

using Numbers = AttentionFragments::Numbers;
using Fragment = AttentionFragments::Fragment;
using Fragments = AttentionFragments::Fragments;

constexpr int64_t kLines = 64, kStep = 16; // queries of a warpgroup, and columns of a piece in shared memory; of the depth
constexpr int64_t kRow = WarpgroupOperand::kRow, kWarp = 32; // bytes; threads
constexpr int64_t kQueryStages = 2;                          // the next tile of queries comes while one is multiplied

/// Bytes of vectors in shared memory, in pieces of 64 columns.
constexpr int64_t piecesOf(int64_t width) { return (width + kLines - 1) / kLines; }
constexpr int64_t bytesOf(int64_t rows, int64_t width) { return piecesOf(width) * rows * kRow; }

/// Dims of queries, keys or values, innermost first; a box has 64 columns of some of one head.
TensorMap mapOf(Value tensor, int64_t rows) {
  auto type = cast<RankedTensorType>(tensor.getType());
  const SmallVector<AffineExpr> sizes = sizesOf(type), strides = rowMajorStrides(type);
  TensorMap map{tensor, getAffineConstantExpr(0, type.getContext()), {}, {}, {kLines, 1, rows, 1}};
  map.sizes.assign(sizes.rbegin(), sizes.rend());
  map.strides.assign(strides.rbegin(), strides.rend());
  return map;
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
    queries = take(kQueryStages * queryBytes());
    keys = take(tile.stages * keyBytes());
    values = take(tile.stages * valueBytes());
    queryRing.emplace(builder, take(StageRing::bytesOf(kQueryStages)), kQueryStages);
    keyRing.emplace(builder, take(StageRing::bytesOf(tile.stages)), tile.stages);
    valueRing.emplace(builder, take(StageRing::bytesOf(tile.stages)), tile.stages);
  }

  void emit() {
    tiles = ceilDivide(builder, on.queries, on.number(tile.rows));
    auto init = [&] {
      for (auto *ring : {&queryRing, &keyRing, &valueRing})
        (*ring)->init(tile.consumers() / kWarp);
    };
    emitRoles(code, tile.consumers(), init, [&] { consume(); }, [&] { produce(); }, tile.shares());
  }

private:
  int64_t queryBytes() const { return bytesOf(tile.rows, operands.keyWidth()); }
  int64_t keyBytes() const { return bytesOf(tile.keys, operands.keyWidth()); }
  int64_t valueBytes() const { return bytesOf(tile.keys, operands.valueWidth()); }
  Value stageAt(Value ring, Value stage, int64_t bytes) {
    return elementAddress(builder, ring, builder.getI8Type(), multiply(builder, stage, on.number(bytes)));
  }
  Value compare(arith::CmpIPredicate how, Value a, Value b) { return builder.createOrFold<arith::CmpIOp>(how, a, b); }
  WarpPairs pairsAt(Value key) {
    return {add(builder, firstQuery, multiply(builder, on.warp, on.number(16))), key, true, tile.keys / 8};
  }
  Value keyOf(Value index) { return add(builder, firstKey, multiply(builder, index, on.number(tile.keys))); }

  // ---- the tiles of queries of a block

  /// A step of each ring.
  struct Turns {
    StageRing::Turn query, key;
  };
  static SmallVector<Value> packed(const Turns &now) {
    return {now.query.stage, now.query.parity, now.key.stage, now.key.parity};
  }
  static Turns turnsOf(ValueRange values) { return {{values[0], values[1]}, {values[2], values[3]}}; }

  /// Blocks take two tiles of a head at a time, one from its begin and one from its end: under causal masks any such two have as
  /// much to do as any other.
  void overQueries(llvm::function_ref<Turns(const Turns &)> body) {
    Value none = on.number(0), one = on.number(1), two = on.number(2), halves = ceilDivide(builder, tiles, two);
    Value all = multiply(builder, multiply(builder, code.size(operands.batches()), on.number(operands.heads())), halves);
    Value rounds = ceilDivide(builder, subtract(builder, all, code.block()), code.blocks());
    auto loop =
        scf::ForOp::create(builder, none, multiply(builder, rounds, two), one, packed({queryRing->first(), keyRing->first()}));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value round = divide(builder, loop.getInductionVar(), two), isSecond = remainder(builder, loop.getInductionVar(), two);
    Value which = add(builder, code.block(), multiply(builder, round, code.blocks()));
    enterQueries(on.enter(operands.heads(), halves, on.head, which), compare(arith::CmpIPredicate::ne, isSecond, none));
    scf::YieldOp::create(builder, packed(body(turnsOf(loop.getRegionIterArgs()))));
  }

  void enterQueries(Value fromBegin, Value isSecond) {
    Value fromEnd = subtract(builder, subtract(builder, tiles, on.number(1)), fromBegin);
    on.keyHead = divide(builder, on.head, on.number(operands.heads() / operands.keyHeads()));
    // The last tiles have most to do. One in the middle is the first of its two; the second one lies behind all queries.
    Value second = on.select(compare(arith::CmpIPredicate::ne, fromBegin, fromEnd), fromBegin, tiles);
    firstQuery = multiply(builder, on.select(isSecond, second, fromEnd), on.number(tile.rows));
    Value last = minimum(builder, add(builder, firstQuery, on.number(tile.rows)), on.queries);
    IndexRange range = on.seen(true, firstQuery, subtract(builder, last, on.number(1)), tile.keys);
    firstKey = range.low;
    Value keysSeen = maximum(builder, subtract(builder, range.high, range.low), on.number(0));
    Value count = on.select(on.less(firstQuery, on.queries), ceilDivide(builder, keysSeen, on.number(tile.keys)), on.number(0));
    const SeenTiles seen = on.seenTiles(true, {firstQuery, subtract(builder, last, on.number(1))}, tile.keys);
    SeenTiles ofNumber = [this, seen](Value index) { return seen(keyOf(index)); };
    walk.emplace(builder, IndexRange{on.number(0), count}, 1, seen ? ofNumber : SeenTiles());
  }

  /// `body` gives what turns are behind it, and further values; without tiles of keys these are `none`.
  SmallVector<Value> ifAny(const Turns &turns, ArrayRef<Value> none, llvm::function_ref<SmallVector<Value>()> body) {
    SmallVector<Value> without = packed(turns);
    llvm::append_range(without, none);
    auto branch = scf::IfOp::create(builder, ValueRange(without).getTypes(), on.less(walk->first(), walk->end), true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, body());
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, without);
    return llvm::to_vector_of<Value>(branch.getResults());
  }

  // ---- the thread that has tensors brought

  void bring(unsigned map, Value to, Value arrival, int64_t rows, int64_t width, Value head, Value first) {
    for (int64_t piece = 0; piece < piecesOf(width); ++piece)
      copyBox(builder, stageAt(to, on.number(piece), rows * kRow), arrival, code.map(map),
              {on.number(piece * kLines), head, first, on.batch});
  }

  void produce() {
    overQueries([&](const Turns &turns) { return turnsOf(ifAny(turns, {}, [&] { return packed(produceTiles(turns)); })); });
  }

  Turns produceTiles(const Turns &turns) {
    bring(0, stageAt(queries, turns.query.stage, queryBytes()), queryRing->claim(turns.query, queryBytes()), tile.rows,
          operands.keyWidth(), on.head, firstQuery);
    const SmallVector<Value> start{turns.key.stage, turns.key.parity};
    const SmallVector<Value> end = walk->over(walk->first(), start, [&](Value index, Value, ArrayRef<Value> now) {
      StageRing::Turn turn{now[0], now[1]};
      Value key = keyOf(index);
      bring(1, stageAt(keys, turn.stage, keyBytes()), keyRing->claim(turn, keyBytes()), tile.keys, operands.keyWidth(),
            on.keyHead, key);
      bring(2, stageAt(values, turn.stage, valueBytes()), valueRing->claim(turn, valueBytes()), tile.keys, operands.valueWidth(),
            on.keyHead, key);
      turn = keyRing->after(turn);
      return SmallVector<Value>{turn.stage, turn.parity};
    });
    return {queryRing->after(turns.query), {end[0], end[1]}};
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
    code.ifThen(compare(arith::CmpIPredicate::eq, group, on.number(groups - 1)), [&] { passTurn(); });
    overQueries([&](const Turns &turns) {
      const LineLimits limits = on.limitsOf(pairsAt(on.number(0)));
      const Carried none{softmax.start(), on.zeros(operands.valueWidth() / 2), {}, {}};
      const SmallVector<Value> results = ifAny(turns, packed(none), [&] { return consumeTiles(turns, none, limits); });
      const Carried all = unpacked(ArrayRef(results).drop_front(4));
      softmax.store(pairsAt(on.number(0)), all.rows, all.sums);
      return turnsOf(ArrayRef(results).take_front(4));
    });
    code.ifThen(compare(arith::CmpIPredicate::eq, group, on.number(0)), [&] { takeTurn(); });
  }

  SmallVector<Value> consumeTiles(const Turns &turns, const Carried &none, const LineLimits &limits) {
    rowsOfGroup = elementAddress(builder, stageAt(queries, turns.query.stage, queryBytes()), builder.getI8Type(),
                                 multiply(builder, group, on.number(kLines * kRow)));
    Carried now = none;
    now.turn = turns.key;
    firstTile(now, turns.query, limits);
    now = unpacked(walk->over(walk->next(walk->first()), packed(now), [&](Value index, Value, ArrayRef<Value> before) {
      Carried carried = unpacked(before);
      nextTile(index, carried, limits);
      return packed(carried);
    }));
    release(*queryRing, turns.query);
    valueRing->waitFull(now.turn);
    openProducts(builder);
    multiplyValues(now);
    finishProducts(0, now.sums);
    release(*valueRing, now.turn);
    SmallVector<Value> results = packed(Turns{queryRing->after(turns.query), keyRing->after(now.turn)});
    llvm::append_range(results, packed(Carried{now.rows, now.sums, {}, {}}));
    return results;
  }

  void firstTile(Carried &now, StageRing::Turn query, const LineLimits &limits) {
    keyRing->waitFull(now.turn);
    queryRing->waitFull(query);
    openProducts(builder);
    Numbers scores = multiplyKeys(now.turn);
    finishProducts(0, scores);
    release(*keyRing, now.turn);
    const WarpPairs pairs = pairsAt(keyOf(walk->first()));
    on.hide(scores, pairs, limits);
    softmax.weigh(scores, now.rows);
    now.weights = softmax.weights(scores, pairs);
  }

  /// Scores of this tile and sums of the values before are products at a time; exponentials are computed while the second runs.
  /// Nothing branches between the products, or the assembler would have them wait for each other; the values were asked for
  /// before the keys.
  void nextTile(Value index, Carried &now, const LineLimits &limits) {
    const StageRing::Turn turn = keyRing->after(now.turn);
    keyRing->waitFull(turn);
    valueRing->waitFull(now.turn);
    takeTurn();
    openProducts(builder);
    Numbers scores = multiplyKeys(turn);
    multiplyValues(now);
    passTurn();
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
    Value a = both[0].descriptor(builder, rowsOfGroup), b = both[1].descriptor(builder, stageAt(keys, turn.stage, keyBytes()));
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

  /// A warpgroup starts its products when the one before has started its own. Each has a barrier, which it waits at, and at which
  /// the one before arrives; the last one begins with that, and the first one ends with the wait for it.
  void takeTurn() {
    if (groups > 1)
      barrierOf(builder, numberOf(group), 2 * kWarpgroup);
  }
  void passTurn() {
    if (groups > 1)
      arriveAtBarrierOf(builder, numberOf(remainder(builder, add(builder, group, on.number(1)), on.number(groups))),
                        2 * kWarpgroup);
  }
  Value numberOf(Value ofGroup) { return on.wordOf(add(builder, ofGroup, on.number(1))); } // 0 is that of the block

  AttentionFragments on;
  OnlineSoftmax softmax;
  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const AttentionOperands &operands;
  const WarpgroupAttentionTile tile;
  const int64_t groups;
  Value group;                              // of the thread
  Value queries, keys, values, rowsOfGroup; // in shared memory; queries of the group
  std::optional<StageRing> queryRing, keyRing, valueRing;
  Value tiles;                  // of queries, of a head
  Value firstQuery, firstKey;   // of the tile of queries
  std::optional<TileWalk> walk; // over the numbers of tiles of keys
};

} // namespace

int64_t WarpgroupAttentionTile::consumers() const { return rows / kLines * kWarpgroup; }
int64_t WarpgroupAttentionTile::threads() const { return consumers() + kWarpgroup; }
RegisterShares WarpgroupAttentionTile::shares() const { return {consumers(), registers}; }
int64_t WarpgroupAttentionTile::shared(const AttentionOperands &operands) const {
  const int64_t ofStage = bytesOf(keys, operands.keyWidth()) + bytesOf(keys, operands.valueWidth());
  return kQueryStages * bytesOf(rows, operands.keyWidth()) + stages * ofStage + 2 * StageRing::bytesOf(stages) +
         StageRing::bytesOf(kQueryStages);
}

std::optional<WarpgroupAttentionTile> warpgroupAttentionTile(const AttentionOperands &operands) {
  constexpr int64_t least = 64, most = 128;
  auto fits = [](int64_t width) { return width % kStep == 0 && width >= least && width <= most; };
  auto isStored = [&](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType() == operands.storage(); };
  if (operands.storage() == operands.element() || !fits(operands.keyWidth()) || !fits(operands.valueWidth()) ||
      !isStored(operands.key) || !isStored(operands.value) || operands.anyTable() || !OnlineSoftmax::scalesLate(operands) ||
      !(boundsAll(operands.masks) || (operands.threshold() == 0 && operands.areTestsOfPlaces())))
    return std::nullopt;
  return WarpgroupAttentionTile{128, operands.threshold() > 0 ? 64 : 128, 2, 232, kProcessors};
}

ChoiceForm warpgroupAttentionForm() {
  return {kWarpgroupForm,
          {{"rows", 64, 192, 64}, {"keys", 64, 128, 16}, {"stages", 2, 8}, {"registers", 24, 240, 8}, {"blocks", 1, 1024}}};
}

DictionaryAttr choiceOf(MLIRContext *context, const WarpgroupAttentionTile &tile) {
  return makeChoice(context, kWarpgroupForm,
                    {{"rows", tile.rows},
                     {"keys", tile.keys},
                     {"stages", tile.stages},
                     {"registers", tile.registers},
                     {"blocks", tile.blocks}});
}

LogicalResult generateWarpgroupAttention(AttentionOp op, const AttentionOperands &operands, const Choice &choice,
                                         LaunchSequence &sequence) {
  auto number = [&](StringRef name) { return *choice.number(name); };
  const WarpgroupAttentionTile tile{number("rows"), number("keys"), number("stages"), number("registers"), number("blocks")};
  const RegisterShares shares = tile.shares();
  if (!shares.fit())
    return op.emitOpError("expects in ") << kChosen << " registers of which " << tile.threads() // S11
                                         << " threads find enough, got " << tile.registers;
  if (failed(checkBlock(op, tile.threads(), tile.shared(operands), kMostShared, shares.start)))
    return failure();
  Launch launch = attentionLaunch("attention_warpgroups", op.getLoc(), operands, 2 * tile.rows, tile.threads(), operands.heads(),
                                  operands.queries());
  launch.blocks = [pairs = launch.blocks, most = tile.blocks](EntryCode &code) {
    return minimum(code.builder, pairs(code), constant(code.builder, most));
  };
  launch.registers = shares.start;
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
