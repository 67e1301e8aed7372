#include "lowering/gpu/TensorCores.h"

using namespace mlir;

namespace tenon::gpu {

static LLVM::CallIntrinsicOp call(ImplicitLocOpBuilder &builder, const Twine &name, TypeRange results, ValueRange operands) {
  auto intrinsic = builder.getStringAttr("llvm.nvvm." + name);
  if (results.empty())
    return LLVM::CallIntrinsicOp::create(builder, intrinsic, operands);
  return LLVM::CallIntrinsicOp::create(builder, results.front(), intrinsic, operands);
}

static SmallVector<Value, 4> fourOf(ImplicitLocOpBuilder &builder, LLVM::CallIntrinsicOp made) {
  SmallVector<Value, 4> values;
  for (int64_t i = 0; i < 4; ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, made.getResult(0), i));
  return values;
}

static Type fourTimes(Type type) { return LLVM::LLVMStructType::getLiteral(type.getContext(), SmallVector<Type>(4, type)); }

static Value word(ImplicitLocOpBuilder &builder, int64_t value) {
  return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(value)));
}

Value SharedTile::place(ImplicitLocOpBuilder &builder, Value row, Value chunk) const {
  constexpr int64_t lines = 8; // of 16 bytes in all banks
  const int64_t together = inPairs ? 2 : 1;
  Value turn = chunks >= lines ? remainder(builder, row, constant(builder, lines / together))
                               : remainder(builder, divide(builder, row, constant(builder, lines / chunks)),
                                           constant(builder, chunks / together));
  if (inPairs)
    turn = multiply(builder, turn, constant(builder, together));
  Value turned = builder.createOrFold<arith::XOrIOp>(chunk, turn);
  return multiply(builder, add(builder, multiply(builder, row, constant(builder, chunks)), turned), constant(builder, ofChunk));
}

/// A lane gives ldmatrix the address of row lane % 8 of the 8 x 8 matrix number lane / 8. Of the first operand these are lines 0
/// and 8 at step 0, then at step 8; of the second steps 0 and 8 of line 0, then of line 8. Where steps are rows, each is
/// transposed.
SmallVector<Value, 4> loadFragments(ImplicitLocOpBuilder &builder, Type element, Value memory, const SharedTile &tile,
                                    FragmentPlace place, Value lane, Value line, int64_t step) {
  auto number = [&](int64_t value) { return constant(builder, value); };
  Value row, chunk; // the second number of a matrix counts chunks where the first counts rows, and the other way round
  if (place.isFirst == place.alongDepth) {
    row = remainder(builder, lane, number(16));
    chunk = divide(builder, lane, number(16));
  } else {
    row = add(builder, multiply(builder, divide(builder, lane, number(16)), number(8)), remainder(builder, lane, number(8)));
    chunk = remainder(builder, divide(builder, lane, number(8)), number(2));
  }
  chunk = add(builder, divide(builder, place.alongDepth ? number(step) : line, number(tile.ofChunk)), chunk);
  Value address = elementAddress(builder, memory, element, tile.place(builder, row, chunk));
  // Rows from a multiple of 16 on are turned as the first ones: what is left is an offset.
  Value first = multiply(builder, place.alongDepth ? line : number(step), number(tile.chunks * tile.ofChunk));
  address = elementAddress(builder, address, element, first);
  const StringRef name = place.alongDepth ? "ldmatrix.sync.aligned.m8n8.x4.b16.p3" : "ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3";
  return fourOf(builder, call(builder, name, fourTimes(builder.getI32Type()), address));
}

/// What ldmatrix does, which transposes 16 bits only: of the first operand lines 0 and 8 at step 0, then at step 4; of the second
/// steps 0 and 4 of line 0, then of line 8.
static SmallVector<Value, 4> gather(ImplicitLocOpBuilder &builder, Value memory, const SharedTile &tile, bool isFirst, Value lane,
                                    Value line, int64_t step) {
  auto number = [&](int64_t value) { return constant(builder, value); };
  Value group = divide(builder, lane, number(4)), quad = remainder(builder, lane, number(4));
  // Lines from a multiple of 8 chunks on are turned as the first ones, and so are rows from a multiple of 4 on: what is left is
  // an offset, which takes no register.
  Value near = remainder(builder, line, number(8 * tile.ofChunk));
  Value first = add(builder, subtract(builder, line, near), number(step * tile.chunks * tile.ofChunk));
  Type element = builder.getF32Type();
  SmallVector<Value, 4> values;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t ofLine = isFirst ? i % 2 : i / 2, ofStep = isFirst ? i / 2 : i % 2;
    Value across = add(builder, add(builder, near, number(8 * ofLine)), group);
    Value place = tile.place(builder, quad, divide(builder, across, number(tile.ofChunk)));
    place = add(builder, place, remainder(builder, across, number(tile.ofChunk)));
    Value address = elementAddress(builder, memory, element, add(builder, place, first));
    address = elementAddress(builder, address, element, number(4 * ofStep * tile.chunks * tile.ofChunk));
    values.push_back(LLVM::LoadOp::create(builder, element, address));
  }
  return values;
}

SmallVector<Value, 4> loadRounded(ImplicitLocOpBuilder &builder, Value memory, const SharedTile &tile, FragmentPlace place,
                                  Value lane, Value line, int64_t step) {
  Type element = builder.getF32Type();
  SmallVector<Value, 4> values = place.alongDepth ? loadFragments(builder, element, memory, tile, place, lane, line, step)
                                                  : gather(builder, memory, tile, place.isFirst, lane, line, step);
  for (Value &value : values) {
    if (place.alongDepth)
      value = LLVM::BitcastOp::create(builder, element, value);
    value = call(builder, "f2tf32.rna", builder.getI32Type(), value).getResult(0);
  }
  return values;
}

void multiplyAccumulate(ImplicitLocOpBuilder &builder, Type element, ArrayRef<Value> a, ArrayRef<Value> b,
                        MutableArrayRef<Value> sums) {
  SmallVector<Value> operands;
  for (Value pair : llvm::concat<const Value>(a, b)) {
    if (element.isF16())
      pair = LLVM::BitcastOp::create(builder, VectorType::get({2}, element), pair);
    operands.push_back(pair);
  }
  operands.append(sums.begin(), sums.end());
  const StringRef name = element.isF16()   ? "mma.m16n8k16.row.col.f32.f32"
                         : element.isF32() ? "mma.m16n8k8.row.col.tf32"
                                           : "mma.m16n8k16.row.col.bf16";
  llvm::copy(fourOf(builder, call(builder, name, fourTimes(builder.getF32Type()), operands)), sums.begin());
}

static void copyCounted(ImplicitLocOpBuilder &builder, Value to, Value from, int64_t bytes, Value count) {
  const StringRef way = bytes == 16 ? "cg" : "ca"; // past the first cache, for which there are only pieces of 16
  call(builder, "cp.async." + way + ".shared.global." + Twine(bytes) + ".s", {}, {to, from, count});
}
void copyAsync(ImplicitLocOpBuilder &builder, Value to, Value from, int64_t bytes, Value inside) {
  copyCounted(builder, to, from, bytes, arith::SelectOp::create(builder, inside, word(builder, bytes), word(builder, 0)));
}
void copyPartAsync(ImplicitLocOpBuilder &builder, Value to, Value from, int64_t bytes, Value there) {
  copyCounted(builder, to, from, bytes, arith::TruncIOp::create(builder, builder.getI32Type(), there));
}
void commitCopies(ImplicitLocOpBuilder &builder) { call(builder, "cp.async.commit.group", {}, {}); }
void waitForCopies(ImplicitLocOpBuilder &builder, int64_t newest) {
  call(builder, "cp.async.wait.group", {}, word(builder, newest));
}

} // namespace tenon::gpu
