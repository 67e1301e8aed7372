// Dropout bits: Philox 4x32-10 (Salmon et al. 2011), one counter for eight elements.
#include "lowering/Abi.h"
#include "lowering/cpu/LaneCode.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::cpu {

std::array<Value, 4> emitPhilox(ImplicitLocOpBuilder &builder, std::array<Value, 4> counter, std::array<Value, 2> key) {
  Type narrow = counter[0].getType();
  auto vector = dyn_cast<VectorType>(narrow);
  Type wide = vector ? Type(VectorType::get(vector.getShape(), builder.getI64Type())) : builder.getI64Type();
  auto splat = [&](Type type, int64_t value) -> Value {
    IntegerAttr number = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto shape = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(builder, DenseElementsAttr::get(shape, number));
    return arith::ConstantOp::create(builder, number);
  };
  auto products = [&](Value word, int64_t factor) {
    Value product = arith::MulIOp::create(builder, arith::ExtUIOp::create(builder, wide, word), splat(wide, factor));
    Value high = arith::TruncIOp::create(builder, narrow, arith::ShRUIOp::create(builder, product, splat(wide, 32)));
    return std::pair<Value, Value>(high, arith::TruncIOp::create(builder, narrow, product));
  };
  for (int round = 0; round < 10; ++round) {
    auto [high0, low0] = products(counter[0], 0xD2511F53);
    auto [high1, low1] = products(counter[2], 0xCD9E8D57);
    auto mix = [&](Value a, Value b, Value c) -> Value {
      return arith::XOrIOp::create(builder, arith::XOrIOp::create(builder, a, b), c);
    };
    counter = {mix(high1, counter[1], key[0]), low1, mix(high0, counter[3], key[1]), low0};
    key = {arith::AddIOp::create(builder, key[0], splat(narrow, int32_t(0x9E3779B9))),
           arith::AddIOp::create(builder, key[1], splat(narrow, int32_t(0xBB67AE85)))};
  }
  return counter;
}

bool LaneCode::emitRandomKeep(RandomKeepOp op) {
  LaneValue element = get(op.getIndex());
  Type i32 = builder.getI32Type();
  auto word = [&](Value value) -> Value { return builder.createOrFold<arith::TruncIOp>(i32, value); };
  Value seed = code.field(abi::Seed);
  Value depth = op.getDepth() ? get(op.getDepth()).base : constant(builder, 0);
  SmallVector<Value> shared{word(code.field(abi::Step)), word(constant(builder, op.getSite())), word(depth), word(seed),
                            word(arith::ShRUIOp::create(builder, seed, constant(builder, 32)))};
  const bool uniform = element.isUniform();
  auto spread = [&](Value value) { return uniform ? value : lanesOf(LaneValue::uniform(value)); };
  auto number = [&](int64_t value, bool narrow) {
    return spread(arith::ConstantOp::create(builder, builder.getIntegerAttr(narrow ? i32 : Type(builder.getI64Type()), value)));
  };
  Value block, which; // the counter word; which of the eight 16-bit values
  const bool neighbours = 16 % laneCount == 0 && element.isAligned(laneCount); // one group of sixteen holds all lanes
  if (neighbours) {
    Value first = multiply(builder, arith::ShRUIOp::create(builder, element.base, constant(builder, 7)), constant(builder, 16));
    first = add(builder, first, arith::AndIOp::create(builder, element.base, constant(builder, 15)));
    block = lanesOf(LaneValue::affine(word(first), arith::ConstantOp::create(builder, builder.getI32IntegerAttr(1))));
    which = word(arith::AndIOp::create(builder, arith::ShRUIOp::create(builder, element.base, constant(builder, 4)),
                                       constant(builder, 7)));
  } else {
    Value e = uniform ? element.base : lanesOf(element);
    Type narrow = uniform ? i32 : Type(vectorOf(i32));
    Value group = arith::MulIOp::create(builder, arith::ShRUIOp::create(builder, e, number(7, false)), number(16, false));
    block = arith::TruncIOp::create(builder, narrow,
                                    arith::AddIOp::create(builder, group, arith::AndIOp::create(builder, e, number(15, false))));
    which = arith::TruncIOp::create(
        builder, narrow, arith::AndIOp::create(builder, arith::ShRUIOp::create(builder, e, number(4, false)), number(7, false)));
  }
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
  auto likeWhich = [&](int64_t value) -> Value {
    Value scalar = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(value));
    return isa<VectorType>(which.getType()) ? vector::BroadcastOp::create(builder, which.getType(), scalar).getResult() : scalar;
  };
  Value pair = arith::ShRUIOp::create(builder, which, likeWhich(1));
  Value chosen = words[3];
  for (int i = 2; i >= 0; --i)
    chosen = arith::SelectOp::create(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, pair, likeWhich(i)),
                                     words[i], chosen);
  Value shift = arith::MulIOp::create(builder, arith::AndIOp::create(builder, which, likeWhich(1)), likeWhich(16));
  if (shift.getType() != chosen.getType())
    shift = vector::BroadcastOp::create(builder, chosen.getType(), shift);
  Value sixteen = arith::AndIOp::create(builder, arith::ShRUIOp::create(builder, chosen, shift), number(0xffff, true));
  Value keep = arith::CmpIOp::create(builder, arith::CmpIPredicate::uge, sixteen, number(op.getThreshold(), true));
  values[op.getKeep()] = uniform ? LaneValue::uniform(keep) : LaneValue::lanes(keep);
  return true;
}

} // namespace tenon::cpu
