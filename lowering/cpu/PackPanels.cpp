#include "lowering/cpu/PackPanels.h"
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/Pack.h"
#include "lowering/cpu/PackPairs.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Emits the body of one function. A pair is the i32 of two bf16, the first of its steps in the lower half.
class PanelCode {
public:
  PanelCode(Emitter &emit, Tier tier, int64_t width, ValueRange arguments)
      : emit(emit), pair(emit.builder.getI32Type()), real(emit.builder.getF32Type()), lanes(tierLanes(tier, real)),
        pairs(VectorType::get({lanes}, pair)), width(width), k(arguments[0]), source(arguments[1]), panel(arguments[2]),
        zero(emit.constant(0)) {}

  void widen() {
    emit.loop(zero, k, 2, [&](Value step) {
      Value from = emit.at(source, pair, emit.mul(emit.div(step, 2), kPanelWidth)),
            to = emit.at(panel, real, emit.mul(step, width));
      for (int64_t column = 0; column < width; column += lanes) {
        Value both = emit.load(pairs, emit.at(from, pair, column), 4 * lanes);
        store(odd(both), emit.at(to, real, column));
        store(even(both), emit.at(to, real, width + column));
      }
    });
  }

  /// Squares of `lanes` pairs of columns by as many steps.
  void turn(bool toPairs) {
    emit.loop(zero, k, lanes, [&](Value step) {
      for (int64_t column = 0; column < width; column += 2 * lanes) {
        SmallVector<Value> rows;
        for (int64_t row = 0; row < lanes; ++row)
          rows.push_back(emit.load(pairs, emit.at(source, pair, emit.add(step, (column / 2 + row) * kPanelWidth)), 4 * lanes));
        SmallVector<Value> steps = emitTranspose(emit.builder, emit.location, rows); // of each, neighbouring columns
        Value to = emit.at(panel, toPairs ? pair : real, emit.add(emit.mul(toPairs ? emit.div(step, 2) : step, width), column));
        for (int64_t number = 0; number < lanes; number += 2)
          toPairs ? storePairs(steps[number], steps[number + 1], emit.at(to, pair, number / 2 * width))
                  : storeReals(steps[number], steps[number + 1], emit.at(to, real, number * width));
      }
    });
  }

private:
  Value even(Value both) { return asReals(arith::ShLIOp::create(emit.builder, emit.location, both, number(16))); }
  Value odd(Value both) { return asReals(arith::AndIOp::create(emit.builder, emit.location, both, number(-65536))); }
  Value asReals(Value bits) { return arith::BitcastOp::create(emit.builder, emit.location, pairs.clone(real), bits); }
  Value number(int32_t value) {
    return arith::ConstantOp::create(emit.builder, emit.location, DenseElementsAttr::get(pairs, value));
  }
  void store(Value vector, Value to) { emit.store(vector, to, 4 * lanes); }

  void storePairs(Value first, Value second, Value to) {
    auto halves = VectorType::get({2 * lanes}, emit.builder.getI16Type());
    auto asHalves = [&](Value both) -> Value { return LLVM::BitcastOp::create(emit.builder, emit.location, halves, both); };
    for (bool upper : {false, true})
      store(interleavePairs(emit, asHalves(first), asHalves(second), upper), emit.at(to, pair, upper ? lanes : 0));
  }

  /// Of two steps the second one first.
  void storeReals(Value first, Value second, Value to) {
    for (int64_t row : {0, 1})
      for (bool upper : {false, true}) {
        SmallVector<int64_t> inOrder;
        for (int64_t lane = 0; lane < lanes; ++lane)
          inOrder.push_back((upper ? lanes : 0) / 2 + lane / 2 + lane % 2 * lanes);
        Value step = row == 0 ? second : first;
        store(emit.shuffle(even(step), odd(step), inOrder), emit.at(to, real, row * width + (upper ? lanes : 0)));
      }
  }

  Emitter &emit;
  Type pair, real;
  int64_t lanes;
  VectorType pairs;
  int64_t width;
  Value k, source, panel, zero;
};

func::FuncOp getFunction(OpBuilder &builder, Location location, const llvm::Twine &name, Tier tier, int64_t width,
                         llvm::function_ref<void(PanelCode &)> body) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return getOrCreateKernel(builder, location, name.str(), {builder.getI64Type(), pointer, pointer},
                           [&](Emitter &emit, ValueRange values) {
                             PanelCode code(emit, tier, width, values);
                             body(code);
                           });
}

} // namespace

func::FuncOp getWidenPanel(OpBuilder &builder, Location location, Tier tier, int64_t width) {
  return getFunction(builder, location, "tn_gemm_widen_panel_" + helperTierName(tier) + "_" + llvm::Twine(width), tier, width,
                     [](PanelCode &code) { code.widen(); });
}

func::FuncOp getTurnPanel(OpBuilder &builder, Location location, Tier tier, int64_t width) {
  const bool toPairs = multipliesPairs(tier, builder.getBF16Type());
  assert(width == 2 * tierLanes(tier, builder.getF32Type()) && "a square of pairs is as wide as a panel");
  return getFunction(builder, location,
                     "tn_gemm_turn_panel_" + (toPairs ? tierName(tier) : helperTierName(tier)) + "_" + llvm::Twine(width), tier,
                     width, [&](PanelCode &code) { code.turn(toPairs); });
}

} // namespace tenon::cpu
