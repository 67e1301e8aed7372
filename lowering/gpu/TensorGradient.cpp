#include "lowering/gpu/TensorGradient.h"
#include "dialect/TensorSizes.h"
#include "lowering/gpu/Warpgroups.h"

using namespace mlir;

namespace tenon::gpu {

TensorGradient::TensorGradient(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, GradientTile tile,
                               const GradientPart &part)
    : op(op), code(code), builder(code.builder), operands(operands), tile(tile), part(part),
      layout(layoutOf(op, operands, part.rows)), ringSize(ringElements(op, operands, tile, part)),
      isEarly(ringSize >= layout.ownElements() + layout.stageElements(tile.side)), on(code, operands),
      group(part.rows == Rows::Keys ? operands.heads() / operands.keyHeads() : 1), f32(builder.getF32Type()),
      statisticsOfAll(code.temporary(unsigned(operands.stored.size()))) {}

void TensorGradient::enter() {
  Value rows = on.number(tile.kRows), blocks = ceilDivide(builder, count(part.rows), rows);
  Value number =
      on.enter(isBy(Rows::Keys) ? operands.keyHeads() : operands.heads(), blocks, isBy(Rows::Keys) ? on.keyHead : on.head);
  if (isBy(Rows::Queries)) // under causal masks the last ones have most to do: they begin first
    number = subtract(builder, subtract(builder, blocks, on.number(1)), number);
  if (isBy(Rows::Keys))
    on.head = multiply(builder, on.keyHead, on.number(group));
  else
    on.keyHead = divide(builder, on.head, on.number(operands.heads() / operands.keyHeads()));
  firstOwn = multiply(builder, number, rows);
  firstLine = multiply(builder, on.warp, on.number(16));
  if (!isBy(Rows::Places)) {
    firstLine = add(builder, firstOwn, firstLine);
    return;
  }
  // A column and a line of pairs meet at a key that is a number and their difference: so places run against the keys.
  const RelativePlaces places(on);
  placeStep = subtract(builder, on.number(0), places.sign);
  Value rising = on.less(on.number(0), placeStep);
  firstPlace = on.select(rising, firstOwn, add(builder, firstOwn, on.number(tile.kRows - 1)));
  shift = multiply(builder, places.sign, subtract(builder, firstPlace, places.zero));
}

void TensorGradient::findRange() {
  Value none = on.number(0), last = add(builder, firstOwn, on.number(tile.kRows - 1));
  if (isBy(Rows::Places)) {
    Value end = subtract(builder, add(builder, on.keys, on.number(tile.kRows - 1)), shift);
    range = {maximum(builder, none, subtract(builder, none, shift)), minimum(builder, on.queries, end)};
    limits = limitsOfPlaces();
  } else {
    range = on.seen(isBy(Rows::Queries), firstOwn, on.within(last, count(part.rows)), tile.side);
    limits = on.limitsOf({firstLine, {}, isBy(Rows::Queries), 0});
  }
  Value length = maximum(builder, subtract(builder, range.high, range.low), none);
  tiles = ceilDivide(builder, length, on.number(tile.side));
}

/// Bands go from tile to tile: where there are some, no tile is left out.
SeenTiles TensorGradient::seenRounds() {
  if (!bands.empty())
    return {};
  const Interval own{firstOwn, on.within(add(builder, firstOwn, on.number(tile.kRows - 1)), count(part.rows))};
  const SeenTiles seen = on.seenTiles(isBy(Rows::Queries), own, tile.side);
  if (!seen)
    return {};
  return [this, seen](Value round) {
    if (group > 1) // asked for a tile even where there is none
      round = remainder(builder, round, maximum(builder, tiles, on.number(1)));
    return seen(add(builder, range.low, multiply(builder, round, on.number(tile.side))));
  };
}

/// Of number n of a band the column is that of the first tile and the line the last one, n further apart.
void TensorGradient::addBands() {
  if (!operands.table)
    return;
  BandShape shape = bandOf(operands, tile);
  if (!isBy(Rows::Places)) {
    bands.emplace_back(on, shape, sourceOfTable(on, tile.kRows, firstOwn, range.low, isBy(Rows::Queries)));
    return;
  }
  Value first = add(builder, subtract(builder, range.low, on.number(tile.kRows - 1)), shift); // key
  for (auto [tensor, width] : {std::pair(operands.key, operands.keyWidth()), std::pair(operands.value, operands.valueWidth())}) {
    shape.width = width;
    bands.emplace_back(on, shape, [this, first, tensor, width](Value n) -> RowSource {
      Value key = add(builder, first, n);
      return {tensor, on.offsetOfKey(key, width), on.number(operands.keyHeads() * width),
              on.wordOf(subtract(builder, on.keys, key)), on.wordOf(subtract(builder, on.number(0), key))};
    });
  }
}

void TensorGradient::emit() {
  enter();
  ring = code.shared(on.stored, ringSize);
  statistics = code.shared(f32, kStatistics * (isBy(Rows::Queries) ? tile.kRows : tile.kStages * tile.side));
  findRange();
  addBands();
  const bool isRead = part.byScores || part.byWeights || part.byPosition;
  walk.emplace(builder, IndexRange{on.number(0), isRead ? multiply(builder, tiles, on.number(group)) : on.number(0)}, 1,
               seenRounds());
  bringOwn();
  if (!isRead) // nobody reads gradients by query
    return;
  const Sums sums = overTiles();
  // The rows of a lane need no registers while it goes over the tiles.
  firstLine = multiply(builder, heldBehind(builder, on.warp), on.number(16));
  if (!isBy(Rows::Places))
    firstLine = add(builder, firstOwn, firstLine);
  const double grown = 65536.0 / double(65536 - operands.threshold());
  store(part.byScores, operands.keyWidth(), sums.scores, operands.scale);
  store(part.byWeights, operands.valueWidth(), sums.weights, grown);
  store(part.byPosition, operands.keyWidth(), sums.position, operands.scale);
}

SmallVector<Value> TensorGradient::packed(const Sums &sums) const {
  SmallVector<Value> all(sums.scores);
  for (ArrayRef<Value> more :
       {ArrayRef<Value>(sums.weights), ArrayRef<Value>(sums.position), ArrayRef<Value>(sums.overlap), ArrayRef<Value>(sums.late)})
    all.append(more.begin(), more.end());
  return all;
}

TensorGradient::Sums TensorGradient::unpacked(ArrayRef<Value> values) const {
  auto take = [&](size_t count) {
    ArrayRef<Value> some = values.take_front(count);
    values = values.drop_front(count);
    return Numbers(some);
  };
  const bool hasLines = !bands.empty() && isBy(Rows::Queries);
  Sums sums;
  sums.scores = take(columnsOf(part.byScores, operands.keyWidth()));
  sums.weights = take(columnsOf(part.byWeights, operands.valueWidth()));
  sums.position = take(columnsOf(part.byPosition, operands.keyWidth()));
  sums.overlap = take(hasLines ? 8 : 0);
  sums.late.assign(values.begin(), values.end());
  return sums;
}

/// What there is before the first tile, which was asked for.
TensorGradient::Sums TensorGradient::start() {
  Sums sums{on.zeros(int64_t(columnsOf(part.byScores, operands.keyWidth()))),
            on.zeros(int64_t(columnsOf(part.byWeights, operands.valueWidth()))),
            on.zeros(int64_t(columnsOf(part.byPosition, operands.keyWidth()))),
            {},
            {}};
  if (bands.empty() || !isBy(Rows::Queries))
    return sums;
  if (part.byPosition)
    sums.late = bands[0].noneLate();
  const Numbers none = on.zeros(8);
  auto branch = scf::IfOp::create(builder, ValueRange(none).getTypes(), on.less(walk->first(), walk->end), true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  waitForCopies(builder, 0);
  code.barrier();
  scf::YieldOp::create(builder, bands[0].overlapOfLines(fragments[2], multiply(builder, on.warp, on.number(16))));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, none);
  sums.overlap = llvm::to_vector_of<Value>(branch.getResults());
  return sums;
}

/// A stage is filled while the one before it is multiplied.
TensorGradient::Sums TensorGradient::overTiles() {
  SmallVector<Value> carried = packed(start());
  if (walk->skips())
    carried.push_back(on.number(0)); // the stage, which else is that of the round's number
  carried = walk->over(walk->first(), carried, [&](Value round, Value next, ArrayRef<Value> before) {
    Value stage = walk->skips() ? before.back() : stageOf(round);
    Value other = walk->skips() ? Value(subtract(builder, on.number(1), stage)) : stageOf(next);
    waitForCopies(builder, 0);
    code.barrier(); // this stage is there, and the other one was read
    code.ifThen(on.less(next, walk->end), [&] {
      issue(metAt(next, other), false);
      commitCopies(builder);
    });
    const Met met = metAt(round, stage);
    on.head = met.head;
    Sums sums = unpacked(before.drop_back(walk->skips()));
    for (int64_t column = 0; column < tile.side; column += tile.columns)
      emitColumns(met, column, sums);
    SmallVector<Value> after = packed(sums);
    if (walk->skips())
      after.push_back(other);
    return after;
  });
  Sums sums = unpacked(ArrayRef(carried).drop_back(walk->skips()));
  if (sums.late.empty())
    return sums;
  Value none = on.number(0), rounds = walk->end;
  auto branch = scf::IfOp::create(builder, ValueRange(sums.position).getTypes(), on.less(none, rounds), true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, sums.position);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value all = multiply(builder, rounds, on.number(tile.side));
  bands[0].addLate(sums.position, multiply(builder, on.warp, on.number(16)), all, sums.late);
  scf::YieldOp::create(builder, sums.position);
  sums.position = llvm::to_vector_of<Value>(branch.getResults());
  return sums;
}

/// The sums of the warp's rows, four of a lane for each 8 columns, times a factor.
void TensorGradient::store(Value result, int64_t width, ArrayRef<Value> sums, double factor) {
  if (!result)
    return;
  const Type element = cast<RankedTensorType>(result.getType()).getElementType();
  Value column = multiply(builder, remainder(builder, on.lane, on.number(4)), on.number(2));
  for (int64_t which : {0, 1}) {
    Value line = on.lineOf({firstLine, {}, isBy(Rows::Queries), 0}, which);
    if (isBy(Rows::Places))
      line = add(builder, firstPlace, multiply(builder, placeStep, line));
    code.ifThen(on.less(line, count(part.rows)), [&] {
      Value offset = isBy(Rows::Queries) ? on.offsetOfQuery(line, width)
                     : isBy(Rows::Keys)  ? on.offsetOfKey(line, width)
                                         : on.offsetOfPlace(add(builder, multiply(builder, on.batch, on.rows), line), width);
      Value base = elementAddress(builder, code.pointer(result), element, add(builder, offset, column));
      for (int64_t block = 0; block < width / 8; ++block) {
        auto number = [&](int64_t i) -> Value {
          return arith::MulFOp::create(builder, sums[size_t(4 * block + 2 * which + i)], on.real(factor));
        };
        Value address = at(base, element, 8 * block);
        if (element == on.stored) {
          LLVM::StoreOp::create(builder, on.pack(number(0), number(1)), address, 4);
          continue;
        }
        for (int64_t i : {0, 1})
          LLVM::StoreOp::create(builder, number(i), at(address, f32, i), 4);
      }
    });
  }
}

} // namespace tenon::gpu
