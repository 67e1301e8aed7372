#include "lowering/gpu/AttentionBand.h"

using namespace mlir;

namespace tenon::gpu {

constexpr int64_t kSide = 16; // of a fragment

bool RelativePlaces::takes(const AttentionOperands &operands) {
  return !operands.placeCode && llvm::all_of(operands.places, [&](const MaskForm &place) {
    return place.query == -place.key && !operands.dependsOn(place, kQueryLabel) && !operands.dependsOn(place, kKeyLabel);
  });
}

RelativePlaces::RelativePlaces(AttentionFragments &on) {
  const AttentionOperands &operands = on.operands;
  auto rest = [&](MaskForm place) {
    place.query = place.key = 0;
    return on.form(place, {}, {});
  };
  sign = on.number(operands.places[0].key), zero = rest(operands.places[0]);
  if (!operands.back)
    return;
  Value isBack = on.elementOf(*operands.back, {}, {});
  sign = on.select(isBack, on.number(operands.places[1].key), sign);
  zero = on.select(isBack, rest(operands.places[1]), zero);
}

RowSource rowsByPlace(AttentionFragments &on, Value tensor, int64_t width, Value place, Value step) {
  auto &builder = on.builder;
  Value none = on.wordOf(on.number(0)), one = on.wordOf(on.number(1)), number = on.wordOf(place), count = on.wordOf(on.rows);
  Value rising = arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, step, on.number(0));
  Value low = on.select(rising, subtract(builder, none, number), add(builder, subtract(builder, number, count), one));
  Value high = on.select(rising, subtract(builder, count, number), add(builder, number, one));
  Value stride = multiply(builder, step, on.number(on.operands.heads() * width));
  return {tensor, on.offsetOfPlace(place, width), stride, high, low};
}

BandSource sourceOfTable(AttentionFragments &on, int64_t lines, Value firstLine, Value firstColumn, bool linesAreQueries) {
  auto &builder = on.builder;
  const RelativePlaces places(on);
  Value step = linesAreQueries ? places.sign : Value(subtract(builder, on.number(0), places.sign));
  Value distance = subtract(builder, subtract(builder, firstColumn, firstLine), on.number(lines - 1));
  Value first = add(builder, places.zero, multiply(builder, step, distance));
  return [&on, &builder, step, first](Value n) {
    Value place = add(builder, first, multiply(builder, step, n));
    return rowsByPlace(on, on.operands.table, on.operands.keyWidth(), place, step);
  };
}

AttentionBand::AttentionBand(AttentionFragments &on, BandShape shape, BandSource source)
    : on(on), builder(on.builder), shape(shape), rows(shape.ring()), source(std::move(source)),
      ring(on.code.shared(on.stored, rows.elements())) {
  Value lane = on.wordOf(on.lane);
  row = divide(builder, lane, word(4));
  ofRow = remainder(builder, lane, word(4));
  byLine = shiftBy(subtract(builder, word(7), row));
  spread = shiftBy(add(builder, row, word(1)));
  for (int64_t place : {0, 1}) { // column c of line r has distance c - r: row c - r + 7 of 8, or of the next 8
    Value column = add(builder, multiply(builder, ofRow, word(2)), word(place));
    Value from = remainder(builder, add(builder, subtract(builder, column, row), word(15)), word(8));
    byColumn[place] = {add(builder, multiply(builder, from, word(4)), ofRow),
                       arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, row, column)};
  }
}

Value AttentionBand::word(int64_t number) {
  return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(number)));
}

/// `distance`: 0 to 8, the same in all lanes of a row. Pairs of numbers go from lane to lane, by half of it; where it is odd, the
/// second of a pair becomes the first, and the first of the one behind it the second.
AttentionBand::Shift AttentionBand::shiftBy(Value distance) {
  Value odd = remainder(builder, distance, word(2)), first = subtract(builder, on.wordOf(on.lane), ofRow);
  Shift shift;
  shift.isOdd = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, odd, word(0));
  Value pairs = divide(builder, distance, word(2));
  for (int64_t place : {0, 1}) {
    Value by = place == 0 ? pairs : add(builder, pairs, odd);
    shift.turns[place] = {add(builder, first, remainder(builder, add(builder, ofRow, by), word(4))),
                          arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, ofRow, by)};
  }
  return shift;
}

Value AttentionBand::turned(const Turn &turn, Value own, Value next) {
  Value given = own == next ? own : on.select(turn.wraps, next, own);
  const bool isWord = given.getType().isInteger(32);
  auto name = builder.getStringAttr(isWord ? "llvm.nvvm.shfl.sync.idx.i32" : "llvm.nvvm.shfl.sync.idx.f32");
  return LLVM::CallIntrinsicOp::create(builder, given.getType(), name, ValueRange{word(-1), given, turn.lane, word(31)})
      .getResult(0);
}

/// Number `place` of a pair behind the shift, of the pairs of a block of 8 columns and of the next one.
Value AttentionBand::shifted(const Shift &shift, int64_t place, ArrayRef<Value> own, ArrayRef<Value> next) {
  auto given = [&](ArrayRef<Value> pair) { return on.select(shift.isOdd, pair[size_t(1 - place)], pair[size_t(place)]); };
  return turned(shift.turns[place], given(own), given(next));
}

Value AttentionBand::slot(Value number) { return remainder(builder, number, on.number(rows.rows)); }
Value AttentionBand::memoryAt(Value vector) {
  Value elements = multiply(builder, slot(vector), on.number(rows.tile.chunks * SharedTile::kChunk));
  return elementAddress(builder, ring, on.stored, elements);
}

void AttentionBand::bringFirst() { on.bring(ring, {shape.lines + shape.columns, rows.width}, source(on.number(0))); }

void AttentionBand::bringNext(Value done) {
  Value further = add(builder, done, on.number(shape.lines));
  on.bring(memoryAt(further), {shape.columns, rows.width}, source(further));
}

/// The first vector of a warp: that of its last line and the first column.
Value AttentionBand::startOf(Value line, Value done) {
  return subtract(builder, add(builder, done, on.number(shape.lines - kSide)), line);
}

/// Two blocks of 8 vectors.
AttentionBand::Numbers AttentionBand::productsOf(const AttentionFragments::Fragments &lines, Value vector) {
  Numbers sums[] = {on.zeros(8)};
  on.multiplyTransposed(sums, lines, ring, rows, slot(vector));
  return sums[0];
}

AttentionBand::Numbers AttentionBand::overlapOfLines(const AttentionFragments::Fragments &lines, Value line) {
  return productsOf(lines, startOf(line, on.number(0)));
}

/// Line r and column c meet in row r and column c - r + 15 of the products.
void AttentionBand::addOfLines(Numbers &numbers, const AttentionFragments::Fragments &lines, Value line, Value done,
                               Numbers &overlap) {
  Value start = startOf(line, done);
  Numbers products = overlap;
  for (size_t block = 0; block < numbers.size() / 4; ++block) {
    while (products.size() < 4 * (block + 3))
      products.append(productsOf(lines, add(builder, start, on.number(int64_t(2 * products.size())))));
    for (size_t half : {0, 1})
      for (size_t place : {0, 1}) {
        auto pair = [&](size_t of) { return ArrayRef(products).slice(4 * (of - half) + 2 * half, 2); };
        Value &number = numbers[4 * block + 2 * half + place];
        number = arith::AddFOp::create(builder, number, shifted(byLine, int64_t(place), pair(block + 1), pair(block + 2)));
      }
  }
  overlap = Numbers(ArrayRef(products).take_back(8));
}

/// Line r and column c meet in row c - r + 15 and column c of the products: 16 columns have 32 rows.
void AttentionBand::addOfColumns(Numbers &numbers, Value memory, int64_t first, Value line, Value done) {
  Value start = startOf(line, done);
  for (size_t block = 0; block < numbers.size() / 4; block += 2) {
    Numbers sums[2] = {on.zeros(8), on.zeros(8)};
    Value vectors[2];
    for (size_t group : {0, 1})
      vectors[group] = slot(add(builder, start, on.number(int64_t(8 * block + kSide * group))));
    for (int64_t step = 0; step < rows.width; step += kSide) {
      auto load = [&](Value from, const TileRows &lines, bool isFirst, Value line) {
        return loadFragments(builder, on.stored, from, lines.tile, {isFirst, true}, on.lane, line, step);
      };
      const auto second = load(memory, {kSide, rows.width}, false, on.number(first + int64_t(8 * block)));
      for (size_t group : {0, 1}) { // one step at a time in registers
        const auto lines = load(ring, rows, true, vectors[group]);
        for (size_t half : {0, 1})
          multiplyAccumulate(builder, on.stored, lines, ArrayRef(second).slice(2 * half, 2),
                             MutableArrayRef(sums[group]).slice(4 * half, 4));
      }
    }
    for (size_t i = 0; i < 8; ++i) {
      const size_t half = i % 4 / 2, place = i % 2;
      auto product = [&](size_t rows) { return sums[rows / 2][i / 4 * 4 + rows % 2 * 2 + place]; }; // blocks of 8
      Value own = product(i / 4 + 1 - half), next = product(i / 4 + 2 - half);
      Value &number = numbers[4 * block + i];
      number = arith::AddFOp::create(builder, number, turned(byColumn[place], own, next));
    }
  }
}

void AttentionBand::addSpread(Numbers &sums, ArrayRef<Value> numbers, Value line, Value done,
                              AttentionFragments::Fragment &late) {
  const size_t blocks = numbers.size() / 4;
  SmallVector<SmallVector<Value, 2>> pairs{{word(0), word(0)}}; // of both rows, those of a block in [block + 1]
  for (size_t block = 0; block < blocks; ++block) {
    auto both = [&](size_t place) { return on.pack(numbers[4 * block + place], numbers[4 * block + 2 + place]); };
    pairs.push_back({both(0), both(1)});
  }
  pairs.push_back({word(0), word(0)});
  // Block b of the second row's distances, and b + 1 of the first one's, have those in [b].
  SmallVector<SmallVector<Value, 2>> moved(blocks + 1);
  for (size_t block = 0; block <= blocks; ++block)
    for (int64_t place : {0, 1})
      moved[block].push_back(shifted(spread, place, pairs[block], pairs[block + 1]));
  auto wordOf = [&](size_t block, size_t half) -> Value {
    if (block + half == 0 || block + half == blocks + 2)
      return word(0);
    ArrayRef<Value> pair = moved[block + half - 1];
    Value low = half ? Value(arith::ShRUIOp::create(builder, pair[0], word(16)))
                     : Value(arith::AndIOp::create(builder, pair[0], word(0xffff)));
    Value high = half ? Value(arith::AndIOp::create(builder, pair[1], word(int64_t(0xffff0000))))
                      : Value(arith::ShLIOp::create(builder, pair[1], word(16)));
    return arith::OrIOp::create(builder, low, high);
  };
  for (size_t block = 0; block < blocks + 2; block += 2) {
    AttentionFragments::Fragment one{wordOf(block, 0), wordOf(block, 1), wordOf(block + 1, 0), wordOf(block + 1, 1)};
    if (block == blocks) { // whose other numbers the next columns have
      late = one;
      return;
    }
    for (size_t i = 0; block == 0 && i < one.size(); ++i)
      one[i] = arith::OrIOp::create(builder, one[i], late[i]);
    addLate(sums, line, add(builder, done, on.number(int64_t(8 * block))), one);
  }
}

void AttentionBand::addLate(Numbers &sums, Value line, Value done, const AttentionFragments::Fragment &late) {
  on.multiply(sums, AttentionFragments::Fragments{late}, memoryAt(startOf(line, done)), {kSide, rows.width});
}

} // namespace tenon::gpu
