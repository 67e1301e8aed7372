#include "lowering/cpu/KeepBits.h"
#include "lowering/artifact/Abi.h"
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/LaneCode.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Elements that share the words of one Philox call over 16 counters.
constexpr int64_t kGroup = 128;

/// (step, site, depth, seed, threshold, first group, end group, memory): sixteen bytes per group. The counters are those of
/// LaneCode::emitRandomKeep.
func::FuncOp drawFunction(FunctionCode &code) {
  ImplicitLocOpBuilder &builder = code.builder;
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  std::string name = ("tn_keep_bits_" + helperTierName(code.tier)).str();
  Type pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  return getOrCreateKernel(
      builder, builder.getLoc(), name, {i64, i64, i64, i64, i64, i64, i64, pointerType},
      [&](Emitter &emit, ValueRange arguments) {
        ImplicitLocOpBuilder inside(emit.location, emit.builder);
        auto lanes = VectorType::get({16}, i32);
        auto spread = [&](Value scalar) -> Value {
          return vector::BroadcastOp::create(inside, lanes, inside.createOrFold<arith::TruncIOp>(i32, scalar));
        };
        auto splat = [&](int64_t number) -> Value {
          return arith::ConstantOp::create(inside, DenseElementsAttr::get(lanes, inside.getI32IntegerAttr(number)));
        };
        SmallVector<int32_t> numbers(16);
        std::iota(numbers.begin(), numbers.end(), 0);
        Value ramp = arith::ConstantOp::create(inside, DenseElementsAttr::get(lanes, ArrayRef<int32_t>(numbers)));
        Value step = spread(arguments[0]), site = spread(arguments[1]), depth = spread(arguments[2]),
              threshold = spread(arguments[4]);
        std::array<Value, 2> key{spread(arguments[3]), spread(arith::ShRUIOp::create(inside, arguments[3], emit.constant(32)))};
        Value half = splat(16), lowHalf = splat(0xffff), low = arguments[5], memory = arguments[7];
        emit.loop(low, arguments[6], 1, [&](Value group) {
          ImplicitLocOpBuilder body(emit.location, emit.builder);
          Value block = arith::AddIOp::create(
              body, vector::BroadcastOp::create(body, lanes, arith::TruncIOp::create(body, i32, emit.mul(group, 16))), ramp);
          std::array<Value, 4> words = emitPhilox(body, {block, step, site, depth}, key);
          Value to = emit.at(memory, i64, emit.mul(emit.sub(group, low), kGroup / 64));
          for (int64_t which = 0; which < 8; ++which) {
            Value word = words[which / 2];
            Value sixteen =
                which % 2 ? Value(arith::ShRUIOp::create(body, word, half)) : Value(arith::AndIOp::create(body, word, lowHalf));
            Value keep = arith::CmpIOp::create(body, arith::CmpIPredicate::uge, sixteen, threshold);
            emit.store(LLVM::BitcastOp::create(body, body.getI16Type(), keep), emit.at(to, body.getI16Type(), which), 2);
          }
        });
      });
}

} // namespace

void KeepBits::draw(Value first, Value count, Value memory) {
  ImplicitLocOpBuilder &builder = code.builder;
  Emitter emit(builder, builder.getLoc());
  func::FuncOp function = drawFunction(code);
  Value low = emit.div(first, kGroup), high = emit.ceilDiv(emit.add(first, count), kGroup);
  func::CallOp::create(builder, function,
                       ValueRange{code.field(abi::Step), emit.constant(site), depth ? depth : emit.constant(0),
                                  code.field(abi::Seed), emit.constant(threshold), low, high, memory});
}

Value KeepBits::load(Value memory, Value first, Value offset, int64_t lanes) {
  ImplicitLocOpBuilder &builder = code.builder;
  Emitter emit(builder, builder.getLoc());
  Type i32 = builder.getI32Type();
  Value bit = emit.add(emit.rem(first, emit.constant(kGroup)), offset);
  Value word = emit.load(i32, emit.at(memory, builder.getI8Type(), emit.div(bit, 8)), 1);
  Value shift = builder.createOrFold<arith::TruncIOp>(i32, emit.rem(bit, emit.constant(8)));
  Value here = arith::TruncIOp::create(builder, builder.getIntegerType(lanes), arith::ShRUIOp::create(builder, word, shift));
  return LLVM::BitcastOp::create(builder, VectorType::get({lanes}, builder.getI1Type()), here);
}

} // namespace tenon::cpu
