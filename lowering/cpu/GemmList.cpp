#include "lowering/cpu/GemmList.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/LinearReads.h"
#include "lowering/cpu/Loops.h"

using namespace mlir;

namespace tenon::cpu {

constexpr int64_t kNumberBytes = 8; // i64

// The temporaries of both kernels.
constexpr unsigned kPlaces = 0, kCount = 1;

static Value addressOf(FunctionCode &code, unsigned memory, Value number) {
  return elementAddress(code.builder, code.temporary(memory), code.builder.getI64Type(), number);
}
static Value load(FunctionCode &code, unsigned memory, Value number) {
  return LLVM::LoadOp::create(code.builder, code.builder.getI64Type(), addressOf(code, memory, number), kNumberBytes);
}
static void store(FunctionCode &code, unsigned memory, Value number, Value value) {
  LLVM::StoreOp::create(code.builder, value, addressOf(code, memory, number), kNumberBytes);
}

Value GemmList::count(FunctionCode &code) const { return load(code, kCount, constant(code.builder, 0)); }
Value GemmList::place(FunctionCode &code, Value number) const { return load(code, kPlaces, number); }

SmallVector<unsigned> GemmList::generate(KernelSequence &sequence, Location location) const {
  SmallVector<AffineExpr> factors;
  for (int64_t label : axes.listed())
    factors.push_back(axes.sizes.lookup(label));
  SmallVector<unsigned> memory{sequence.temporary(product(factors, location.getContext()) * kNumberBytes),
                               sequence.temporary(getAffineConstantExpr(kNumberBytes, location.getContext()))};
  Kernel kernel{"gemm_list", location, {axes.where}, {}, {}, memory, 0, {}, {}};
  kernel.tiles = [](FunctionCode &code) { return constant(code.builder, 1); };
  kernel.body = [this](FunctionCode &code) { write(code); };
  sequence.add(kernel);
  return memory;
}

void GemmList::write(FunctionCode &code) const {
  auto &builder = code.builder;
  Value zero = constant(builder, 0), one = constant(builder, 1), places = reads.sizeOf(code, axes.listed());
  Value listed = forLoop(builder, zero, places, one, zero, [&](Value place, ValueRange sum) -> SmallVector<Value> {
    return {add(builder, sum[0], holdsAt(code, place))};
  })[0];
  store(code, kCount, zero, listed);
  forLoop(builder, zero, places, one, {zero, listed}, [&](Value place, ValueRange next) -> SmallVector<Value> {
    Value holds = holdsAt(code, place), isListed = builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, holds, zero);
    Value number = builder.createOrFold<arith::SelectOp>(isListed, next[0], next[1]);
    store(code, kPlaces, number, place);
    return {add(builder, next[0], holds), add(builder, next[1], subtract(builder, one, holds))};
  });
}

/// 1 where the condition is true, else 0 (i64).
Value GemmList::holdsAt(FunctionCode &code, Value place) const {
  auto &builder = code.builder;
  LaneCode scalars(code, {}, 1);
  scalars.setLanes(false);
  IndicesOfLabels indices;
  reads.split(code, axes.listed(), LaneValue::uniform(place), scalars, indices);
  auto type = cast<RankedTensorType>(axes.where.getType());
  Value linear = constant(builder, 0);
  for (auto [label, stride] : llvm::zip(axes.whereLabels, rowMajorStrides(type)))
    linear = add(builder, linear, multiply(builder, indices[label].base, code.size(stride)));
  Value holds = scalars.load(type.getElementType(), code.pointer(axes.where), LaneValue::uniform(linear)).base;
  return arith::ExtUIOp::create(builder, builder.getI64Type(), holds);
}

} // namespace tenon::cpu
