// Random numbers by lanes: one counter of Philox for the 16 bits of eight elements or the 32 of four.
#include "lowering/artifact/Abi.h"
#include "lowering/cpu/LaneCode.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::cpu {

/// Sixteen neighbours have the counters 16 k to 16 k + 15, and the same one of the `ofBlock` numbers of each.
LaneCode::RandomPlace LaneCode::placeOfRandom(const LaneValue &element, int64_t ofBlock) {
  Type i32 = builder.getI32Type();
  auto word = [&](Value value) -> Value { return builder.createOrFold<arith::TruncIOp>(i32, value); };
  const int64_t group = llvm::Log2_64(uint64_t(16 * ofBlock));
  RandomPlace place{{}, {}, element.isUniform(), 16 % laneCount == 0 && element.isAligned(laneCount)};
  if (place.areNeighbours) { // one group of sixteen holds all lanes
    Value first =
        multiply(builder, arith::ShRUIOp::create(builder, element.base, constant(builder, group)), constant(builder, 16));
    first = add(builder, first, arith::AndIOp::create(builder, element.base, constant(builder, 15)));
    place.block = lanesOf(LaneValue::affine(word(first), arith::ConstantOp::create(builder, builder.getI32IntegerAttr(1))));
    place.which = word(arith::AndIOp::create(builder, arith::ShRUIOp::create(builder, element.base, constant(builder, 4)),
                                             constant(builder, ofBlock - 1)));
    return place;
  }
  auto number = [&](int64_t value) {
    Value scalar = constant(builder, value);
    return place.isUniform ? scalar : lanesOf(LaneValue::uniform(scalar));
  };
  Value e = place.isUniform ? element.base : lanesOf(element);
  Type narrow = place.isUniform ? i32 : Type(vectorOf(i32));
  Value first = arith::MulIOp::create(builder, arith::ShRUIOp::create(builder, e, number(group)), number(16));
  place.block = arith::TruncIOp::create(builder, narrow,
                                        arith::AddIOp::create(builder, first, arith::AndIOp::create(builder, e, number(15))));
  place.which = arith::TruncIOp::create(
      builder, narrow, arith::AndIOp::create(builder, arith::ShRUIOp::create(builder, e, number(4)), number(ofBlock - 1)));
  return place;
}

/// Step, site, depth, and the two words of the seed.
SmallVector<Value> LaneCode::sharedWords(int64_t site, Value depth) {
  auto word = [&](Value value) -> Value { return builder.createOrFold<arith::TruncIOp>(builder.getI32Type(), value); };
  Value seed = code.field(abi::Seed);
  Value number = depth ? get(depth).base : constant(builder, 0);
  return {word(code.field(abi::Step)), word(constant(builder, site)), word(number), word(seed),
          word(arith::ShRUIOp::create(builder, seed, constant(builder, 32)))};
}

Value LaneCode::wordOf(const std::array<Value, 4> &words, Value which) {
  auto likeWhich = [&](int64_t value) -> Value {
    Value scalar = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(value));
    return isa<VectorType>(which.getType()) ? vector::BroadcastOp::create(builder, which.getType(), scalar).getResult() : scalar;
  };
  Value chosen = words[3];
  for (int i = 2; i >= 0; --i)
    chosen = arith::SelectOp::create(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, which, likeWhich(i)),
                                     words[i], chosen);
  return chosen;
}

void LaneCode::emitRandomKeep(RandomKeepOp op) {
  if (Value drawn = drawnKeeps.lookup(op)) {
    values[op.getKeep()] = LaneValue::lanes(drawn);
    return;
  }
  LaneValue element = get(op.getIndex());
  SmallVector<Value> shared = sharedWords(op.getSite(), op.getDepth());
  auto [block, which, uniform, neighbours] = placeOfRandom(element, 8);
  auto spread = [&, uniform = uniform](Value value) { return uniform ? value : lanesOf(LaneValue::uniform(value)); };
  auto number = [&](int64_t value) { return spread(arith::ConstantOp::create(builder, builder.getI32IntegerAttr(value))); };
  // In a group of 128 elements that begins at a multiple of 128, only the choice of the word differs.
  auto known = randomWords.find(op);
  const bool placed = neighbours && laneCount == 16 && grouped && element.modulus % 128 == 0;
  const bool isNew = known == randomWords.end() || element.offset % 128 == 0;
  std::array<Value, 4> words;
  if (placed && !isNew)
    words = known->second;
  else
    words = emitPhilox(builder, {block, spread(shared[0]), spread(shared[1]), spread(shared[2])},
                       {spread(shared[3]), spread(shared[4])});
  if (placed) {
    randomWords[op] = words;
    which = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(element.offset % 128 / 16));
  }
  auto likeWhich = [&, which = which](int64_t value) -> Value {
    Value scalar = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(value));
    return isa<VectorType>(which.getType()) ? vector::BroadcastOp::create(builder, which.getType(), scalar).getResult() : scalar;
  };
  Value chosen = wordOf(words, arith::ShRUIOp::create(builder, which, likeWhich(1)));
  Value shift = arith::MulIOp::create(builder, arith::AndIOp::create(builder, which, likeWhich(1)), likeWhich(16));
  if (shift.getType() != chosen.getType())
    shift = vector::BroadcastOp::create(builder, chosen.getType(), shift);
  Value sixteen = arith::AndIOp::create(builder, arith::ShRUIOp::create(builder, chosen, shift), number(0xffff));
  Value keep = arith::CmpIOp::create(builder, arith::CmpIPredicate::uge, sixteen, number(op.getThreshold()));
  values[op.getKeep()] = uniform ? LaneValue::uniform(keep) : LaneValue::lanes(keep);
}

void LaneCode::emitRandomBits(RandomBitsOp op) {
  SmallVector<Value> shared = sharedWords(op.getSite(), op.getDepth());
  RandomPlace place = placeOfRandom(get(op.getIndex()), 4);
  auto spread = [&](Value value) { return place.isUniform ? value : lanesOf(LaneValue::uniform(value)); };
  Value bits = wordOf(emitPhilox(builder, {place.block, spread(shared[0]), spread(shared[1]), spread(shared[2])},
                                 {spread(shared[3]), spread(shared[4])}),
                      place.which);
  values[op.getBits()] = place.isUniform ? LaneValue::uniform(bits) : LaneValue::lanes(bits);
}

} // namespace tenon::cpu
