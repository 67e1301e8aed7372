// tenon.attention of 16-bit elements by tensor cores. A block has a batch, a head and a tile of queries, 16 or 32 of which each
// warp has as fragments in registers, beside the sums of values and the statistics of its rows. Keys and values come in tiles, by
// asynchronous copies, one tile ahead. Scores never leave the registers: their exponentials, rounded, are the first operand of
// the product with the values.
#include "lowering/gpu/TensorAttention.h"
#include "dialect/Places.h"
#include "lowering/gpu/AttentionBand.h"
#include "lowering/gpu/AttentionKernels.h"
#include "lowering/gpu/GemmForm.h"
#include "lowering/gpu/OnlineSoftmax.h"
#include "lowering/gpu/TileWalk.h"
#include "lowering/gpu/Warpgroups.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

using Numbers = AttentionFragments::Numbers;
using Fragments = AttentionFragments::Fragments;

constexpr int64_t kSide = 16, kStages = 2, kMostNumbers = 184;

/// Elements of the stages, where queries come through, too.
struct Staged {
  Staged(const AttentionOperands &operands, const TensorTile &tile)
      : stage(TileRows(tile.keys, operands.keyWidth()).elements() + TileRows(tile.keys, operands.valueWidth()).elements()),
        queries((operands.table ? 2 : 1) * TileRows(tile.rows, operands.keyWidth()).elements()),
        ofBand(operands.table ? BandShape{tile.rows, tile.keys, operands.keyWidth()}.bytes() : 0) {}
  const int64_t stage, queries, ofBand; // ofBand: bytes
  int64_t least() const { return std::max(queries, kStages * stage); }
  /// Whether the first tile, in the last part of the memory, has room beside the queries.
  bool isEarly() const { return 2 * std::max(least(), queries + stage) + ofBand <= kBlockBytes; }
  int64_t elements() const { return isEarly() ? std::max(least(), queries + stage) : least(); }
  int64_t bytes() const { return 2 * elements() + ofBand; }
};

/// What a warp carries from tile to tile, of each group of 16 rows: statistics, sums of values.
struct Carried {
  OnlineSoftmax::Rows rows;
  Numbers sums, overlap; // overlap: of the band
};

class TensorForward {
public:
  TensorForward(AttentionOp op, KernelCode &code, const AttentionOperands &operands, TensorTile tile)
      : on(code, operands), softmax(op, on), code(code), builder(code.builder), operands(operands), tile(tile),
        staged(operands, tile), queryRows(tile.rows, operands.keyWidth()), keyRows(tile.keys, operands.keyWidth()),
        valueRows(tile.keys, operands.valueWidth()) {}

  void emit() {
    Value tiles = ceilDivide(builder, on.queries, on.number(tile.rows));
    Value number = on.enter(operands.heads(), tiles, on.head);
    on.keyHead = divide(builder, on.head, on.number(operands.heads() / operands.keyHeads()));
    // Under causal masks the last queries have most to do: they begin first.
    firstQuery = multiply(builder, subtract(builder, subtract(builder, tiles, on.number(1)), number), on.number(tile.rows));
    shared = code.shared(on.stored, staged.elements());
    Value last = minimum(builder, add(builder, firstQuery, on.number(tile.rows)), on.queries);
    IndexRange range = on.seen(true, firstQuery, subtract(builder, last, on.number(1)), tile.keys);
    if (operands.table) { // whose bands go from tile to tile: none is left out
      const BandShape shape{tile.rows, tile.keys, operands.keyWidth()};
      band.emplace(on, shape, sourceOfTable(on, tile.rows, firstQuery, range.low, /*linesAreQueries=*/true));
    }
    const SeenTiles seen = on.seenTiles(true, {firstQuery, subtract(builder, last, on.number(1))}, tile.keys);
    walk.emplace(builder, range, tile.keys, operands.table ? SeenTiles() : seen);
    firstKey = walk->first(), endOfKeys = range.high;
    loadQueries();
    for (int64_t group = 0; group < groups(); ++group)
      limits.push_back(on.limitsOf(pairsAt(group, on.number(0))));
    SmallVector<Value> start;
    const Numbers overlaps = firstOverlaps();
    for (int64_t group = 0; group < groups(); ++group)
      append(start, {softmax.start(), on.zeros(operands.valueWidth() / 2),
                     Numbers(ArrayRef(overlaps).slice(size_t(group) * ofOverlap(), ofOverlap()))});
    start.push_back(on.number(0));
    finish(
        walk->over(firstKey, start, [&](Value key, Value next, ArrayRef<Value> before) { return emitTile(key, next, before); }));
  }

private:
  int64_t groups() const { return tile.warpRows / kSide; }
  size_t ofOverlap() const { return operands.table ? 8 : 0; }
  size_t countOf() const { return 4 + size_t(operands.valueWidth() / 2) + ofOverlap(); } // numbers that are carried for a group
  Value firstLine(int64_t group) {
    Value ofWarp = multiply(builder, on.warp, on.number(tile.warpRows));
    return add(builder, ofWarp, on.number(kSide * group));
  }
  WarpPairs pairsAt(int64_t group, Value key) { return {add(builder, firstQuery, firstLine(group)), key, true, tile.keys / 8}; }
  Value keysAt(Value stage) {
    Value first = elementAddress(builder, shared, on.stored, on.number(staged.elements() - staged.stage));
    return elementAddress(builder, first, on.stored, multiply(builder, stage, on.number(-staged.stage)));
  }
  Value valuesAt(Value stage) { return elementAddress(builder, keysAt(stage), on.stored, on.number(keyRows.elements())); }

  /// The fragments of all groups of the warp. Queries come through the memory of the stages, and the first tile with them if it
  /// can.
  void loadQueries() {
    Value second = elementAddress(builder, shared, on.stored, on.number(queryRows.elements()));
    on.bringQueries(shared, queryRows, operands.query, firstQuery);
    if (operands.table)
      on.bringQueries(second, queryRows, operands.positionQuery, firstQuery);
    commitCopies(builder);
    if (staged.isEarly())
      issue(firstKey, on.number(0), true);
    waitForCopies(builder, staged.isEarly() ? 1 : 0);
    code.barrier();
    for (int64_t group = 0; group < groups(); ++group) {
      queries.push_back(on.linesOf(shared, queryRows, firstLine(group)));
      if (operands.table)
        positionQueries.push_back(on.linesOf(second, queryRows, firstLine(group)));
    }
    if (staged.isEarly()) // what follows it comes behind a barrier of the loop
      return;
    code.barrier();
    issue(firstKey, on.number(0));
  }

  /// Starts to bring the tile at `key`, where there is one, as a group of copies; with `always` there is a group in any case,
  /// behind one that is waited for.
  void issue(Value key, Value stage, bool always = false) {
    code.ifThen(on.less(key, endOfKeys), [&] {
      on.bringKeys(keysAt(stage), keyRows, operands.key, key);
      on.bringKeys(valuesAt(stage), valueRows, operands.value, key);
      if (band && key == firstKey)
        band->bringFirst();
      else if (band)
        band->bringNext(subtract(builder, key, firstKey));
      if (!always)
        commitCopies(builder);
    });
    if (always)
      commitCopies(builder);
  }

  /// Of all groups, behind the arrival of the first tile.
  Numbers firstOverlaps() {
    if (!band)
      return {};
    const Numbers none = on.zeros(int64_t(ofOverlap()) * groups());
    auto branch = scf::IfOp::create(builder, ValueRange(none).getTypes(), on.less(firstKey, endOfKeys), true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    waitForCopies(builder, 0);
    code.barrier();
    Numbers all;
    for (int64_t group = 0; group < groups(); ++group)
      all.append(band->overlapOfLines(positionQueries[size_t(group)], firstLine(group)));
    scf::YieldOp::create(builder, all);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, none);
    return llvm::to_vector_of<Value>(branch.getResults());
  }

  SmallVector<Value> emitTile(Value key, Value next, ArrayRef<Value> before) {
    Value stage = before.back(), other = subtract(builder, on.number(1), stage);
    waitForCopies(builder, 0);
    code.barrier(); // the tile is there for all, and all are through with the one before, whose memory is filled now
    issue(next, other);
    SmallVector<Numbers> scores(size_t(groups()), on.zeros(tile.keys / 2));
    on.multiplyTransposed(scores, queries, keysAt(stage), keyRows, on.number(0));
    SmallVector<Carried> carried;
    SmallVector<Fragments> weights;
    for (int64_t group = 0; group < groups(); ++group) {
      carried.push_back(unpack(before.slice(size_t(group) * countOf(), countOf())));
      const WarpPairs pairs = pairsAt(group, key);
      if (band)
        band->addOfLines(scores[size_t(group)], positionQueries[size_t(group)], firstLine(group),
                         subtract(builder, key, firstKey), carried.back().overlap);
      finishScores(scores[size_t(group)], pairs);
      on.hide(scores[size_t(group)], pairs, limits[size_t(group)]);
      OnlineSoftmax::rescale(builder, carried.back().sums, softmax.weigh(scores[size_t(group)], carried.back().rows));
      weights.push_back(softmax.weights(scores[size_t(group)], pairs));
    }
    SmallVector<Numbers> sums;
    for (Carried &one : carried)
      sums.push_back(one.sums);
    on.multiply(sums, weights, valuesAt(stage), valueRows);
    SmallVector<Value> after;
    for (auto [one, values] : llvm::zip_equal(carried, sums))
      append(after, {one.rows, values, one.overlap});
    after.push_back(other);
    return after;
  }

  static void append(SmallVectorImpl<Value> &values, const Carried &one) {
    values.append({one.rows.largest[0], one.rows.largest[1], one.rows.total[0], one.rows.total[1]});
    values.append(one.sums);
    values.append(one.overlap);
  }
  Carried unpack(ArrayRef<Value> values) const {
    return {{{values[0], values[1]}, {values[2], values[3]}},
            Numbers(values.drop_front(4).drop_back(ofOverlap())),
            Numbers(values.take_back(ofOverlap()))};
  }

  void finishScores(Numbers &scores, const WarpPairs &pairs) {
    if (OnlineSoftmax::scalesLate(operands))
      return;
    for (auto [index, score] : llvm::enumerate(scores)) {
      Value query = on.queryOf(pairs, int64_t(index)), key = on.keyOf(pairs, int64_t(index));
      score = on.finishScore(score, query, key, on.placesOf(query, key)).first;
    }
  }

  void finish(ArrayRef<Value> after) {
    on.warp = heldBehind(builder, on.warp); // the rows of a lane need no registers while it goes over the tiles
    for (int64_t group = 0; group < groups(); ++group) {
      Carried carried = unpack(after.slice(size_t(group) * countOf(), countOf()));
      softmax.store(pairsAt(group, on.number(0)), carried.rows, carried.sums);
    }
  }

  AttentionFragments on;
  OnlineSoftmax softmax;
  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const AttentionOperands &operands;
  const TensorTile tile;
  const Staged staged;
  const TileRows queryRows, keyRows, valueRows;
  Value firstQuery, firstKey, endOfKeys, shared;
  SmallVector<Fragments> queries, positionQueries;
  std::optional<AttentionBand> band;
  std::optional<TileWalk> walk; // over keys
  SmallVector<LineLimits> limits;
};

} // namespace

int64_t TensorTile::shared(const AttentionOperands &operands) const { return Staged(operands, *this).bytes(); }

bool boundsAll(ArrayRef<Mask> masks) {
  return llvm::all_of(masks, [](const Mask &mask) {
    const Mask &test = mask.kind == Mask::Kind::Not ? mask.parts[0] : mask;
    const bool isBound = test.kind == Mask::Kind::AtMostZero && test.form.isLinear();
    return mask.kind == Mask::Kind::And ? boundsAll(mask.parts) : isBound;
  });
}

std::optional<TensorTile> tensorTile(const AttentionOperands &operands) {
  constexpr int64_t widest = 256;
  const int64_t width = operands.keyWidth(), valueWidth = operands.valueWidth();
  if (operands.storage() == operands.element() || width % kSide != 0 || valueWidth % kSide != 0 ||
      std::max(width, valueWidth) > widest || operands.keyTable || operands.valueTable ||
      (operands.table && !RelativePlaces::takes(operands)))
    return std::nullopt;
  // What a thread has in registers for its two rows, beside addresses and the like; what is computed for each pair takes more.
  const int64_t numbers = valueWidth / 2 + (operands.table ? 2 : 1) * width / 4;
  const bool computes =
      operands.step || operands.threshold() > 0 || operands.selectedScores || operands.scoreTable || !boundsAll(operands.masks);
  for (int64_t keys : {64, 32, 16}) {
    if (operands.testsMuch() && keys > 32)
      continue;
    const int64_t rows = operands.table ? 2 * keys : 64, all = numbers + keys / 2;
    const TensorTile tile{rows, kSide, keys, all <= 96 && !computes && !operands.table ? 168 : 255};
    if (all <= kMostNumbers && tile.shared(operands) <= kBlockBytes)
      return tile;
  }
  return std::nullopt;
}

LogicalResult generateTensorAttention(AttentionOp op, const AttentionOperands &operands, TensorTile tile,
                                      LaunchSequence &sequence) {
  if (tile.warpRows > tile.rows)
    return op.emitOpError("expects in ") << kChosen << " a warp inside of the tile, got " << tile.warpRows << " of " // S11
                                         << tile.rows << " rows";
  if (operands.table && tile.rows < tile.keys)
    return op.emitOpError("expects in ") << kChosen << " at most as many keys as rows where places have a table, got " // S11
                                         << tile.keys << " keys and " << tile.rows << " rows";
  if (failed(checkBlock(op, tile.threads(), tile.shared(operands), kBlockBytes, tile.registers)))
    return failure();
  Launch launch =
      attentionLaunch("attention_mma", op.getLoc(), operands, tile.rows, tile.threads(), operands.heads(), operands.queries());
  launch.registers = tile.registers;
  for (Value result : op->getResults())
    if (isRead(result))
      launch.writes.push_back(result);
  launch.body = [&](KernelCode &code) { TensorForward(op, code, operands, tile).emit(); };
  sequence.add(launch);
  return success();
}

} // namespace tenon::gpu
