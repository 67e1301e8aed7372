#include "lowering/code/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tenon {

std::array<Value, 4> emitPhilox(ImplicitLocOpBuilder &builder, std::array<Value, 4> counter, std::array<Value, 2> key) {
  Type narrow = counter[0].getType();
  auto vector = dyn_cast<VectorType>(narrow);
  Type wide = vector ? Type(VectorType::get(vector.getShape(), builder.getI64Type())) : builder.getI64Type();
  auto number = [&](int64_t value) -> Value {
    IntegerAttr attribute = builder.getI64IntegerAttr(value);
    if (vector)
      return arith::ConstantOp::create(builder, DenseElementsAttr::get(cast<VectorType>(wide), attribute));
    return arith::ConstantOp::create(builder, attribute);
  };
  // Words stay in 64 bits with anything above bit 31, which the multiplication of 32 x 32 bits ignores: a round is then two
  // multiplications, two shifts and two three-way xors, without a step between 32 and 64 bits.
  Value lowHalf = number(0xffffffff), half = number(32);
  for (Value *word : {&counter[0], &counter[1], &counter[2], &counter[3], &key[0], &key[1]})
    *word = arith::ExtUIOp::create(builder, wide, *word);
  for (int round = 0; round < 10; ++round) {
    auto product = [&](Value word, int64_t factor) -> Value {
      return arith::MulIOp::create(builder, arith::AndIOp::create(builder, word, lowHalf), number(factor));
    };
    auto mix = [&](Value product, Value word, Value ofKey) -> Value {
      Value high = arith::ShRUIOp::create(builder, product, half);
      return arith::XOrIOp::create(builder, high, arith::XOrIOp::create(builder, word, ofKey));
    };
    Value first = product(counter[0], 0xD2511F53), second = product(counter[2], 0xCD9E8D57);
    counter = {mix(second, counter[1], key[0]), second, mix(first, counter[3], key[1]), first};
    key = {arith::AddIOp::create(builder, key[0], number(0x9E3779B9)),
           arith::AddIOp::create(builder, key[1], number(0xBB67AE85))};
  }
  for (Value &word : counter)
    word = arith::TruncIOp::create(builder, narrow, word);
  return counter;
}

} // namespace tenon
