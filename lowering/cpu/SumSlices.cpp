// tenon.sum_slices: the gradients of the slices of a batch, added up as a binary counter counts.
#include "lowering/artifact/Abi.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

constexpr int64_t tileElements = 16384; // 64 KiB of f32 stay in the second-level cache from one level to the next

/// The place in the partial sum of a level that belongs to an address in the arena of gradients.
Value partialAt(FunctionCode &code, Value gradient, Value level) {
  auto &builder = code.builder;
  Type i64 = builder.getI64Type();
  auto arena = [&](TnArena number) -> Value {
    return LLVM::LoadOp::create(builder, pointer(builder),
                                byteAddress(builder, code.pointerField(abi::Arenas), constant(builder, 8 * number)), 8);
  };
  Value offset = subtract(builder, LLVM::PtrToIntOp::create(builder, i64, gradient),
                          LLVM::PtrToIntOp::create(builder, i64, arena(TN_ARENA_GRADS)));
  Value base = byteAddress(builder, arena(TN_ARENA_SLICES), multiply(builder, level, code.field(abi::LevelStride)));
  return byteAddress(builder, base, offset);
}

void emitSums(FunctionCode &code, Type element, int64_t elements, int64_t levels) {
  auto &builder = code.builder;
  Value first = multiply(builder, code.tile, constant(builder, tileElements));
  Value count = minimum(builder, constant(builder, tileElements), subtract(builder, constant(builder, elements), first));
  Value gradient = elementAddress(builder, code.place(0), element, first);
  Value add = code.field(abi::AddLevels), keep = code.field(abi::KeepLevel), zero = constant(builder, 0);
  forLoop(builder, zero, constant(builder, levels), [&](Value level) {
    Value bit = arith::AndIOp::create(builder, arith::ShRUIOp::create(builder, add, level), constant(builder, 1));
    ifThen(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, bit, zero), {}, [&]() -> SmallVector<Value> {
      Value partial = partialAt(code, gradient, level);
      LaneCode lanes(code, {}, elementModel(element).lanes);
      lanes.forLanes(zero, count, [&](LaneValue index) {
        Value sum =
            arith::AddFOp::create(builder, lanes.load(element, partial, index).base, lanes.load(element, gradient, index).base);
        lanes.store(element, gradient, index, LaneValue::lanes(sum));
      });
      return {};
    });
  });
  ifThen(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, keep, zero), {}, [&]() -> SmallVector<Value> {
    LLVM::MemcpyOp::create(builder, partialAt(code, gradient, keep), gradient,
                           multiply(builder, count, constant(builder, elementBytes(element))), false);
    return {};
  });
}

} // namespace

void generateSumSlices(SumSlicesOp op, const Buffer &gradient, int64_t slices, KernelSequence &sequence) {
  auto type = cast<RankedTensorType>(op.getOf());
  const int64_t elements = type.getNumElements(), levels = llvm::Log2_64_Ceil(std::max<int64_t>(slices, 1));
  Kernel kernel{"sum_slices", op.getLoc(), {}, {}, {gradient}, {}, 0, {}, {}};
  // None where the gradient of this slice is all that there is.
  kernel.tiles = [elements](FunctionCode &code) {
    auto &builder = code.builder;
    Value adds = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, code.field(abi::AddLevels), constant(builder, 0));
    Value keeps = arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, code.field(abi::KeepLevel), constant(builder, 0));
    return multiply(builder, arith::ExtUIOp::create(builder, builder.getI64Type(), arith::OrIOp::create(builder, adds, keeps)),
                    constant(builder, llvm::divideCeil(elements, tileElements)));
  };
  kernel.body = [=](FunctionCode &code) { emitSums(code, type.getElementType(), elements, levels); };
  sequence.add(kernel);
}

} // namespace tenon::cpu
