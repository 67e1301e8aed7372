#include "lowering/cpu/MicroKernel.h"
#include "lowering/cpu/Gemm.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// How far in front of a cold B is asked for, into the second-level cache: more lines can be on their way there than to the
/// first.
constexpr int64_t kBytesAhead = 4096;

/// How many steps of K ahead the elements of a transposed A are asked for: those of two steps are a row of the tensor apart,
/// which is farther than hardware prefetchers follow (2 KiB), so that each step would wait for the second-level cache.
int64_t stepsAhead(Tier tier) { return hasHighStrips(tier) ? 8 : 6; }

std::string kernelName(const MicroKernel &kernel) {
  llvm::StringRef walk = kernel.walk == WalkOfA::RowMajor ? "row" : kernel.walk == WalkOfA::Transposed ? "transposed" : "strided";
  llvm::StringRef type = elementModel(kernel.element).name();
  llvm::StringRef tier = isOfPairs(kernel.element) ? tierName(kernel.tier) : helperTierName(kernel.tier);
  return ("tn_gemm_micro_" + tier + "_" + type + "_" + walk + "_" + llvm::Twine(kernel.rows) + "x" + llvm::Twine(kernel.vectors) +
          "_" + llvm::Twine(kernel.panelWidth) + (kernel.isCold ? "_cold" : ""))
      .str();
}

/// Emits the body of one micro-kernel. Accumulators are loop-carried 1-D vectors, row by row.
class MicroKernelBody {
public:
  MicroKernelBody(Emitter &emit, const MicroKernel &kernel, ValueRange arguments)
      : emit(emit), kernel(kernel), k(arguments[0]), a(arguments[1]), aRowStride(arguments[2]), aColStride(arguments[3]),
        b(arguments[4]), c(arguments[5]), cRowStride(arguments[6]), accumulate(arguments[7]), pairs(isOfPairs(kernel.element)),
        element(elementModel(kernel.element).compute), vector(tierVector(kernel.tier, element)), lanes(vector.getNumElements()),
        bytes(elementBytes(element)) {
    assert((!pairs || (multipliesPairs(kernel.tier, kernel.element) && kernel.walk != WalkOfA::Strided)) &&
           "pairs lie side by side");
    bool inHalves = pairs && kernel.walk == WalkOfA::RowMajor;
    leftUnit = !pairs ? element : inHalves ? Type(emit.builder.getI16Type()) : Type(emit.builder.getI32Type());
    leftUnits = inHalves ? 2 : 1;
  }

  void run() {
    SmallVector<Value> state = initialSums();
    for (int64_t row = 0; row < kernel.rows; row += rowsPerPointer())
      state.push_back(opaque(emit.at(a, leftUnit, emit.mul(aRowStride, row))));
    state.push_back(b);
    int64_t unroll = kernel.walk == WalkOfA::Strided ? 1 : microTile(kernel.tier).unroll;
    Value depth = !pairs ? k : emit.div(leftUnits == 2 ? k : emit.add(k, 1), 2);
    Value bulk = emit.mul(emit.div(depth, unroll), unroll);
    Value zero = emit.constant(0);
    state = loop(zero, bulk, unroll, state);
    if (unroll > 1)
      state = loop(bulk, depth, 1, state);
    if (pairs && leftUnits == 2)
      state = loop(zero, emit.rem(k, emit.constant(2)), 1, state, /*single=*/true);
    for (int64_t row = 0; row < kernel.rows; ++row)
      for (int64_t part = 0; part < kernel.vectors; ++part)
        emit.store(state[row * kernel.vectors + part], addressOfC(row, part), bytes);
  }

private:
  Value addressOfC(int64_t row, int64_t part) {
    Value start = emit.at(c, element, emit.mul(cRowStride, row));
    return emit.at(start, element, part * lanes);
  }

  SmallVector<Value> initialSums() {
    SmallVector<Type> types(kernel.rows * kernel.vectors, vector);
    auto choice = scf::IfOp::create(emit.builder, emit.location, types, accumulate, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.setInsertionPointToStart(choice.thenBlock());
    SmallVector<Value> loaded;
    for (int64_t row = 0; row < kernel.rows; ++row)
      for (int64_t part = 0; part < kernel.vectors; ++part)
        loaded.push_back(emit.load(vector, addressOfC(row, part), bytes));
    scf::YieldOp::create(emit.builder, emit.location, loaded);
    emit.builder.setInsertionPointToStart(choice.elseBlock());
    SmallVector<Value> zeros(types.size(), emit.zero(vector));
    scf::YieldOp::create(emit.builder, emit.location, zeros);
    return choice.getResults();
  }

  /// Rows of A addressed from one pointer: x86 scales an index by at most 8, so one pointer, the row stride and its double reach
  /// three rows; a pointer per row would not fit into the integer registers.
  int64_t rowsPerPointer() const { return kernel.walk == WalkOfA::Transposed ? kernel.rows : 3; }

  /// Hides that the pointers into A differ by multiples of the row stride: loop strength reduction otherwise derives one from the
  /// other inside the loop, keeps all intermediate addresses alive and spills integer registers.
  Value opaque(Value pointer) { return LLVM::FreezeOp::create(emit.builder, emit.location, pointer); }

  /// `steps` steps of K per iteration; state = sums, pointers into A, a pointer into B. `single`: A has only the first half of
  /// the pair.
  SmallVector<Value> loop(Value lower, Value upper, int64_t steps, ValueRange state, bool single = false) {
    auto op = scf::ForOp::create(emit.builder, emit.location, lower, upper, emit.constant(steps), state);
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.setInsertionPointToStart(op.getBody());
    SmallVector<Value> next(op.getRegionIterArgs());
    int64_t sums = kernel.rows * kernel.vectors;
    int64_t rowPointers = (kernel.rows + rowsPerPointer() - 1) / rowsPerPointer();
    SmallVector<Value> pointersA(next.begin() + sums, next.begin() + sums + rowPointers);
    Value pointerB = next.back();
    next.truncate(sums);
    for (int64_t step = 0; step < steps; ++step)
      multiply(next, pointersA, pointerB, step, single);
    Value advance = kernel.walk == WalkOfA::RowMajor ? emit.constant(leftUnits * steps) : emit.mul(aColStride, steps);
    for (Value pointer : pointersA)
      next.push_back(emit.at(pointer, leftUnit, advance));
    next.push_back(emit.at(pointerB, element, steps * kernel.panelWidth));
    scf::YieldOp::create(emit.builder, emit.location, next);
    return op.getResults();
  }

  Value addressOfA(ArrayRef<Value> pointers, int64_t row, int64_t step) {
    Value pointer = pointers[row / rowsPerPointer()];
    row %= rowsPerPointer();
    switch (kernel.walk) {
    case WalkOfA::RowMajor:
      return emit.at(emit.at(pointer, leftUnit, emit.mul(aRowStride, row)), leftUnit, leftUnits * step);
    case WalkOfA::Transposed:
      return emit.at(emit.at(pointer, leftUnit, emit.mul(aColStride, step)), leftUnit, row);
    case WalkOfA::Strided:
      return emit.at(pointer, leftUnit, emit.add(emit.mul(aRowStride, row), emit.mul(aColStride, step)));
    }
    return {};
  }

  void multiply(SmallVectorImpl<Value> &sums, ArrayRef<Value> pointersA, Value pointerB, int64_t step, bool single) {
    VectorType inRegister = pairs ? vector.clone(emit.builder.getI32Type()) : vector;
    SmallVector<Value> right;
    for (int64_t part = 0; part < kernel.vectors; ++part) {
      Value pointer = emit.at(pointerB, element, step * kernel.panelWidth + part * lanes);
      right.push_back(emit.load(inRegister, pointer, bytes * lanes));
      if (kernel.isCold && part * lanes * bytes % 64 == 0)
        LLVM::Prefetch::create(emit.builder, emit.location, emit.at(pointer, emit.builder.getI8Type(), kBytesAhead), /*rw=*/0,
                               /*hint=*/2, /*cache=*/1);
    }
    if (kernel.walk == WalkOfA::Transposed && kernel.rows > 1) // else its addresses need more registers than there are
      fetchAhead(pointersA.front(), step);
    for (int64_t row = 0; row < kernel.rows; ++row) {
      Value left = vector::BroadcastOp::create(emit.builder, emit.location, inRegister,
                                               elementOfA(addressOfA(pointersA, row, step), single));
      for (int64_t part = 0; part < kernel.vectors; ++part) {
        Value &sum = sums[row * kernel.vectors + part];
        sum = pairs ? emitDotPairs(emit, sum, left, right[part])
                    : Value(math::FmaOp::create(emit.builder, emit.location, left, right[part], sum));
      }
    }
  }

  /// Both ends of what a later step reads of A, which lies in one line or two.
  void fetchAhead(Value pointerA, int64_t step) {
    Value first = emit.at(pointerA, leftUnit, emit.mul(aColStride, step + stepsAhead(kernel.tier)));
    for (int64_t row : {int64_t(0), kernel.rows - 1})
      LLVM::Prefetch::create(emit.builder, emit.location, emit.at(first, leftUnit, row), /*rw=*/0, /*hint=*/3, /*cache=*/1);
  }

  Value elementOfA(Value address, bool single) {
    unsigned alignment = leftUnit.getIntOrFloatBitWidth() / 8;
    if (single)
      return arith::ExtUIOp::create(emit.builder, emit.location, emit.builder.getI32Type(),
                                    emit.load(leftUnit, address, alignment));
    return emit.load(pairs ? emit.builder.getI32Type() : element, address, alignment);
  }

  Emitter &emit;
  const MicroKernel &kernel;
  Value k, a, aRowStride, aColStride, b, c, cRowStride, accumulate;
  bool pairs;
  Type element; // of sums
  VectorType vector;
  int64_t lanes;
  unsigned bytes;
  Type leftUnit;     // strides and steps of A count these
  int64_t leftUnits; // from one step to the next where elements of a row are neighbours
};

} // namespace

Value emitDotPairs(Emitter &emit, Value sum, Value a, Value b) {
  auto halves = VectorType::get({2 * cast<VectorType>(sum.getType()).getNumElements()}, emit.builder.getBF16Type());
  auto asHalves = [&](Value pairs) -> Value { return LLVM::BitcastOp::create(emit.builder, emit.location, halves, pairs); };
  auto name = emit.builder.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512");
  return LLVM::CallIntrinsicOp::create(emit.builder, emit.location, sum.getType(), name,
                                       ValueRange{sum, asHalves(a), asHalves(b)})
      .getResults();
}

func::FuncOp getMicroKernel(OpBuilder &builder, Location location, const MicroKernel &kernel) {
  Type index = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type arguments[] = {index, pointer, index, index, pointer, pointer, index, builder.getI1Type()};
  func::FuncOp function =
      getOrCreateKernel(builder, location, kernelName(kernel), arguments,
                        [&](Emitter &emit, ValueRange values) { MicroKernelBody(emit, kernel, values).run(); });
  // Keeps LLVM from unrolling short strided kernels, whose addresses then need more integer registers than there are. (Loop
  // annotations do not survive: scf.for lowers to a loop whose latch carries none.)
  if (kernel.walk == WalkOfA::Strided && kernel.rows <= 3)
    function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "nounwind", "optsize"}));
  return function;
}

} // namespace tenon::cpu
