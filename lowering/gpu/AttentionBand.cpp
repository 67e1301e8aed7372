#include "lowering/gpu/AttentionBand.h"

using namespace mlir;

namespace tenon::gpu {

constexpr int64_t kSide = 16; // of a fragment

TileRows BandShape::ring() const { return {lines + 2 * columns, width}; }
int64_t BandShape::bytes() const {
  return 2 * ring().elements() + lines / kSide * (4 * products() + (spreads ? 2 * spread().elements() : 0));
}

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

AttentionBand::AttentionBand(AttentionFragments &on, BandShape shape, BandSource source, Value products)
    : on(on), code(on.code), builder(on.builder), shape(shape), rows(shape.ring()), source(std::move(source)),
      sharesProducts(products),
      products(products ? products : code.shared(builder.getF32Type(), shape.lines / kSide * shape.products())),
      ring(code.shared(on.stored, rows.elements())) {
  row = divide(builder, on.lane, on.number(4));
  column = multiply(builder, remainder(builder, on.lane, on.number(4)), on.number(2));
  if (!shape.spreads)
    return;
  const int64_t elements = shape.lines / kSide * shape.spread().elements();
  spread = code.shared(on.stored, elements);
  Type word = builder.getI32Type(); // what no pair ever writes stays 0
  Value none = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(0));
  code.overBlock(on.number(elements / 2), [&](Value i) { LLVM::StoreOp::create(builder, none, at(spread, word, i)); });
}

Value AttentionBand::slot(Value number) { return remainder(builder, number, on.number(rows.rows)); }

void AttentionBand::bringFirst() { on.bring(ring, {shape.lines + shape.columns, rows.width}, source(on.number(0))); }

void AttentionBand::bringNext(Value done) {
  Value further = add(builder, done, on.number(shape.lines));
  Value to = multiply(builder, slot(further), on.number(rows.tile.chunks * SharedTile::kChunk));
  on.bring(at(ring, on.stored, to), {shape.columns, rows.width}, source(further));
}

/// Of the 16 lines from `line` on.
Value AttentionBand::ofLine(Value base, Type type, Value line, int64_t elements) {
  return at(base, type, multiply(builder, line, on.number(elements / kSide)));
}

/// The first vector of a warp: that of its last line and the first column.
Value AttentionBand::startOf(Value line, Value done) {
  return subtract(builder, add(builder, done, on.number(shape.lines - kSide)), line);
}

/// The lanes of a warp wait for each other.
void AttentionBand::meet() {
  Value all = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(-1));
  LLVM::CallIntrinsicOp::create(builder, builder.getStringAttr("llvm.nvvm.bar.warp.sync"), ValueRange{all});
}

/// Line r and column c meet in row r and column c - r + 15 of the products.
void AttentionBand::addOfLines(AttentionFragments::Numbers &numbers, const AttentionFragments::Fragments &lines, Value line,
                               Value done) {
  Type f32 = builder.getF32Type();
  const int64_t stride = shape.stride();
  Value own = ofLine(products, f32, line, shape.products());
  Value written = at(own, f32, add(builder, multiply(builder, row, on.number(stride)), column));
  Value start = startOf(line, done);
  for (int64_t block = 0; block < shape.columns + kSide; block += kSide) {
    AttentionFragments::Numbers sums[] = {on.zeros(8)};
    on.multiplyTransposed(sums, lines, ring, rows, slot(add(builder, start, on.number(block))));
    for (int64_t i = 0; i < 8; ++i) {
      const int64_t place = 8 * (i % 4 / 2) * stride + block + 8 * (i / 4) + i % 2;
      LLVM::StoreOp::create(builder, sums[0][size_t(i)], at(written, f32, place));
    }
  }
  meet();
  Value read = at(own, f32, add(builder, multiply(builder, row, on.number(stride - 1)), column));
  for (auto [index, number] : llvm::enumerate(numbers)) {
    const int64_t i = int64_t(index), place = 8 * (i % 4 / 2) * (stride - 1) + 8 * (i / 4) + i % 2 + kSide - 1;
    Value product = LLVM::LoadOp::create(builder, f32, at(read, f32, place));
    number = arith::AddFOp::create(builder, number, product);
  }
}

/// Line r and column c meet in row c - r + 15 and column c of the products.
void AttentionBand::addOfColumns(AttentionFragments::Numbers &numbers, Value columns, Value line, Value done) {
  if (sharesProducts)
    meet(); // those of the other band were read
  Type f32 = builder.getF32Type();
  const int64_t stride = shape.stride();
  Value own = ofLine(products, f32, line, shape.products());
  Value written = at(own, f32, add(builder, multiply(builder, row, on.number(stride)), column));
  Value start = startOf(line, done);
  for (int64_t block = 0; block < shape.columns + kSide; block += kSide) {
    AttentionFragments::Numbers sums[] = {on.zeros(shape.columns / 2)};
    const AttentionFragments::Fragments vectors = on.linesOf(ring, rows, slot(add(builder, start, on.number(block))));
    on.multiplyTransposed(sums, vectors, columns, {shape.columns, rows.width}, on.number(0));
    for (auto [index, sum] : llvm::enumerate(sums[0])) {
      const int64_t i = int64_t(index), place = (block + 8 * (i % 4 / 2)) * stride + 8 * (i / 4) + i % 2;
      LLVM::StoreOp::create(builder, sum, at(written, f32, place));
    }
  }
  meet();
  Value above = subtract(builder, on.number(kSide - 1), row); // rows of the products
  Value read = add(builder, multiply(builder, add(builder, above, column), on.number(stride)), column);
  read = at(own, f32, read);
  for (auto [index, number] : llvm::enumerate(numbers)) {
    const int64_t i = int64_t(index), place = (8 * (i / 4) + i % 2) * (stride + 1) - 8 * (i % 4 / 2) * stride;
    Value product = LLVM::LoadOp::create(builder, f32, at(read, f32, place));
    number = arith::AddFOp::create(builder, number, product);
  }
}

void AttentionBand::addSpread(AttentionFragments::Numbers &sums, ArrayRef<Value> numbers, Value line, Value done) {
  const TileRows of = shape.spread();
  Value own = ofLine(spread, on.stored, line, of.elements()), ofChunk = on.number(SharedTile::kChunk);
  for (auto [index, number] : llvm::enumerate(numbers)) {
    const int64_t i = int64_t(index);
    Value pairRow = add(builder, row, on.number(8 * (i % 4 / 2)));
    Value distance = subtract(builder, add(builder, column, on.number(8 * (i / 4) + i % 2 + kSide - 1)), pairRow);
    Value place =
        add(builder, of.tile.place(builder, pairRow, divide(builder, distance, ofChunk)), remainder(builder, distance, ofChunk));
    Value rounded = arith::TruncFOp::create(builder, on.stored, number);
    LLVM::StoreOp::create(builder, rounded, at(own, on.stored, place), 2);
  }
  meet();
  const AttentionFragments::Fragments pairs = on.linesOf(own, of, on.number(0));
  Value start = startOf(line, done);
  for (auto [step, pair] : llvm::enumerate(pairs)) {
    Value vectors = slot(add(builder, start, on.number(kSide * int64_t(step))));
    Value memory = at(ring, on.stored, multiply(builder, vectors, on.number(rows.tile.chunks * SharedTile::kChunk)));
    const AttentionFragments::Fragments one{pair};
    on.multiply(sums, one, memory, {kSide, rows.width});
  }
}

} // namespace tenon::gpu
