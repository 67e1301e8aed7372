#include "lowering/gpu/AttentionBand.h"

using namespace mlir;

namespace tenon::gpu {

constexpr int64_t kSide = 16; // of a fragment

TileRows BandShape::ring() const { return {int64_t(llvm::PowerOf2Ceil(uint64_t(queries + 2 * keys))), width}; }

bool AttentionBand::takes(const AttentionOperands &operands) {
  return operands.table && !operands.placeCode && llvm::all_of(operands.places, [&](const MaskForm &place) {
           return place.query == -place.key && !operands.dependsOn(place, kQueryLabel);
         });
}

AttentionBand::AttentionBand(AttentionFragments &on, BandShape shape)
    : on(on), code(on.code), builder(on.builder), operands(on.operands), shape(shape), rows(shape.ring()),
      ring(code.shared(on.stored, rows.elements())), products(code.shared(builder.getF32Type(), shape.queries * shape.stride())) {
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

/// Row n of the ring is for the distance of row 0 plus n; there is none where its place is not in the table.
void AttentionBand::bringRows(Value memory, const TileRows &some, Value further) {
  Value place = add(builder, first, multiply(builder, sign, further));
  Value rising = arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, sign, on.number(0));
  Value number = on.wordOf(place), count = on.wordOf(on.rows), one = on.wordOf(on.number(1));
  Value low =
      on.select(rising, subtract(builder, on.wordOf(on.number(0)), number), add(builder, subtract(builder, number, count), one));
  Value high = on.select(rising, subtract(builder, count, number), add(builder, number, one));
  Value stride = multiply(builder, sign, on.number(operands.heads() * rows.width));
  on.bring(memory, some, {operands.table, on.offsetOfPlace(place, rows.width), stride, high, low});
}

Value AttentionBand::slot(Value row) { return remainder(builder, row, on.number(rows.rows)); }

void AttentionBand::begin(Value firstQuery, Value firstKey) {
  Value distance = subtract(builder, subtract(builder, firstKey, firstQuery), on.number(shape.queries - 1));
  first = add(builder, zero, multiply(builder, sign, distance));
}

void AttentionBand::bringFirst() { bringRows(ring, {shape.queries + shape.keys, rows.width}, on.number(0)); }

void AttentionBand::bringNext(Value done) {
  Value further = add(builder, done, on.number(shape.queries));
  Value at = multiply(builder, slot(further), on.number(rows.tile.chunks * SharedTile::kChunk));
  bringRows(elementAddress(builder, ring, on.stored, at), {shape.keys, rows.width}, further);
}

/// Query `line` + r and key `done` + c meet in row r and column c - r + 15 of the products, whose column 0 is for the distance of
/// the last query and the first key.
void AttentionBand::addScores(AttentionFragments::Numbers &scores, const AttentionFragments::Fragments &positionQueries,
                              Value line, Value done) {
  Type f32 = builder.getF32Type();
  const int64_t stride = shape.stride();
  Value row = divide(builder, on.lane, on.number(4)),
        column = multiply(builder, remainder(builder, on.lane, on.number(4)), on.number(2));
  Value own = elementAddress(builder, products, f32, multiply(builder, line, on.number(stride)));
  Value written = elementAddress(builder, own, f32, add(builder, multiply(builder, row, on.number(stride)), column));
  Value start = subtract(builder, add(builder, done, on.number(shape.queries - kSide)), line);
  for (int64_t block = 0; block < shape.keys + kSide; block += kSide) {
    AttentionFragments::Numbers sums[] = {on.zeros(8)};
    on.multiplyTransposed(sums, positionQueries, ring, rows, slot(add(builder, start, on.number(block))));
    for (int64_t i = 0; i < 8; ++i) {
      const int64_t place = 8 * (i % 4 / 2) * stride + block + 8 * (i / 4) + i % 2;
      LLVM::StoreOp::create(builder, sums[0][size_t(i)], elementAddress(builder, written, f32, on.number(place)));
    }
  }
  Value all = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(-1));
  LLVM::CallIntrinsicOp::create(builder, builder.getStringAttr("llvm.nvvm.bar.warp.sync"), ValueRange{all});
  Value read = elementAddress(builder, own, f32, add(builder, multiply(builder, row, on.number(stride - 1)), column));
  for (auto [index, score] : llvm::enumerate(scores)) {
    const int64_t i = int64_t(index), place = 8 * (i % 4 / 2) * (stride - 1) + 8 * (i / 4) + i % 2 + kSide - 1;
    Value product = LLVM::LoadOp::create(builder, f32, elementAddress(builder, read, f32, on.number(place)));
    score = arith::AddFOp::create(builder, score, product);
  }
}

} // namespace tenon::gpu
