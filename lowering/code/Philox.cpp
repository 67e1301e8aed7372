#include "lowering/code/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tenon {

std::array<Value, 4> emitPhilox(ImplicitLocOpBuilder &builder, std::array<Value, 4> counter, std::array<Value, 2> key,
                                PhiloxRounds rounds) {
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
  auto product = [&](Value word, int64_t factor) -> Value {
    return arith::MulIOp::create(builder, arith::AndIOp::create(builder, word, lowHalf), number(factor));
  };
  auto mix = [&](Value product, Value word, Value ofKey) -> Value {
    Value high = arith::ShRUIOp::create(builder, product, half);
    return arith::XOrIOp::create(builder, high, arith::XOrIOp::create(builder, word, ofKey));
  };
  auto round = [&] {
    Value first = product(counter[0], 0xD2511F53), second = product(counter[2], 0xCD9E8D57);
    counter = {mix(second, counter[1], key[0]), second, mix(first, counter[3], key[1]), first};
    key = {arith::AddIOp::create(builder, key[0], number(0x9E3779B9)),
           arith::AddIOp::create(builder, key[1], number(0xBB67AE85))};
  };
  constexpr int64_t count = 10;
  if (rounds == PhiloxRounds::Straight) {
    for (int64_t i = 0; i < count; ++i)
      round();
  } else {
    auto bound = [&](int64_t value) -> Value { return arith::ConstantOp::create(builder, builder.getI64IntegerAttr(value)); };
    auto loop = scf::ForOp::create(builder, bound(0), bound(count), bound(1),
                                   ValueRange{counter[0], counter[1], counter[2], counter[3], key[0], key[1]});
    auto take = [&](ValueRange from) {
      llvm::copy(from.take_front(4), counter.begin());
      llvm::copy(from.drop_front(4), key.begin());
    };
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      take(loop.getRegionIterArgs());
      round();
      scf::YieldOp::create(builder, ValueRange{counter[0], counter[1], counter[2], counter[3], key[0], key[1]});
    }
    take(loop.getResults());
  }
  for (Value &word : counter)
    word = arith::TruncIOp::create(builder, narrow, word);
  return counter;
}

} // namespace tenon
