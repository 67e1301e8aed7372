// tenon.optimize: the norm of all gradients, the rate of this step, one pass over the arenas. Formulas: Kingma & Ba 2015,
// Loshchilov & Hutter 2019, google-research/bert optimization.py; schedules of those papers' code.
#include "lowering/cpu/Optimizer.h"
#include "lowering/artifact/Abi.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/ShortReals.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>

using namespace mlir;

namespace tenon::cpu {
namespace {

constexpr int64_t tileElements = 16384; // 28 bytes each: about 20 us at the speed of memory
constexpr int64_t normScalar = abi::CallScalars, rateScalar = abi::CallScalars + 8,
                  unscaleScalar = abi::CallScalars + 16; // 1 / loss scale

class Optimizer {
public:
  Optimizer(OptimizeOp op, KernelSequence &sequence) : op(op), sequence(sequence), rule(op.getRule()) {}

  LogicalResult generate() {
    if (!llvm::is_contained({"sgd", "adam", "adamw", "bert_adam", "adamax"}, rule)) // else it would be taken for another one
      llvm::report_fatal_error("the recipe schema says that the optimizer " + rule + " works; it has no update here");
    auto tabulated = tabulate(op, sequence);
    if (failed(tabulated))
      return failure();
    table = std::move(*tabulated);
    element = table.element;
    auto module = op->getParentOfType<ModuleOp>();
    stored = element.isF32() && parameterType(module) ? parameterType(module) : element;
    if (element.isF32())
      copies = copyType(module);
    collectTables();
    partials = sequence.temporary(getAffineConstantExpr(8 * int64_t(tileSegments.size() + table.bounds.size()), op.getContext()));
    addNorm();
    addScalars();
    addUpdate();
    return success();
  }

private:
  double number(StringRef key, double otherwise) { return op.number(key, otherwise); }

  std::string emitGlobal(StringRef stem, Type type, DenseElementsAttr values) {
    OpBuilder builder = OpBuilder::atBlockEnd(sequence.module().getBody());
    std::string name = sequence.uniqueName(stem);
    LLVM::GlobalOp::create(builder, op.getLoc(), LLVM::LLVMArrayType::get(type, values.getNumElements()), true,
                           LLVM::Linkage::Internal, name, values);
    return name;
  }

  /// Per tile its segment; per segment offset, elements, first tile, norm and the three factors; the bounds of the norms.
  void collectTables() {
    SmallVector<int64_t> whole;
    SmallVector<double> real;
    for (auto [i, segment] : llvm::enumerate(table.segments)) {
      whole.append({segment.offset, segment.count, int64_t(tileSegments.size()), segment.norm});
      real.append({segment.rate, segment.gradient, segment.decay});
      tileSegments.append(llvm::divideCeil(segment.count, tileElements), int32_t(i));
    }
    if (!sequence.onlyNotes())
      emitTables(whole, real);
  }
  void emitTables(ArrayRef<int64_t> whole, ArrayRef<double> real) {
    Builder builder(op.getContext());
    auto shape = [&](size_t count, Type type) { return RankedTensorType::get({int64_t(count)}, type); };
    tileTable =
        emitGlobal("optimize_tiles", builder.getI32Type(),
                   DenseElementsAttr::get(shape(tileSegments.size(), builder.getI32Type()), ArrayRef<int32_t>(tileSegments)));
    wholeTable = emitGlobal("optimize_places", builder.getI64Type(),
                            DenseElementsAttr::get(shape(whole.size(), builder.getI64Type()), whole));
    realTable = emitGlobal("optimize_factors", builder.getF64Type(),
                           DenseElementsAttr::get(shape(real.size(), builder.getF64Type()), real));
    boundTable =
        emitGlobal("optimize_bounds", builder.getF64Type(),
                   DenseElementsAttr::get(shape(table.bounds.size(), builder.getF64Type()), ArrayRef<double>(table.bounds)));
  }

  Value loadAt(FunctionCode &code, const std::string &name, Type type, Value index) {
    auto &builder = code.builder;
    Value base = LLVM::AddressOfOp::create(builder, pointer(builder), name);
    return LLVM::LoadOp::create(builder, type, elementAddress(builder, base, type, index));
  }
  /// Row of the segment table for a tile, i64.
  Value segmentOf(FunctionCode &code, Value tile) {
    return arith::ExtUIOp::create(code.builder, code.builder.getI64Type(),
                                  loadAt(code, tileTable, code.builder.getI32Type(), tile));
  }
  Value wholeColumn(FunctionCode &code, Value segment, int64_t i) {
    auto &builder = code.builder;
    return loadAt(code, wholeTable, builder.getI64Type(),
                  add(builder, multiply(builder, segment, constant(builder, 4)), constant(builder, i)));
  }

  /// What a tile works on.
  struct Piece {
    Value offset, count; // bytes from the start of the arena; elements
    Value rate, gradient, decay;
    Value norm;
  };
  Piece pieceOf(FunctionCode &code) {
    auto &builder = code.builder;
    Value segment = segmentOf(code, code.tile), row = multiply(builder, segment, constant(builder, 3));
    auto factor = [&](int64_t i) {
      return loadAt(code, realTable, builder.getF64Type(), add(builder, row, constant(builder, i)));
    };
    Value first = multiply(builder, subtract(builder, code.tile, wholeColumn(code, segment, 2)), constant(builder, tileElements));
    Piece piece;
    piece.count = minimum(builder, constant(builder, tileElements), subtract(builder, wholeColumn(code, segment, 1), first));
    piece.offset =
        add(builder, wholeColumn(code, segment, 0), multiply(builder, first, constant(builder, elementBytes(element))));
    piece.rate = factor(0);
    piece.gradient = factor(1);
    piece.decay = factor(2);
    piece.norm = wholeColumn(code, segment, 3);
    return piece;
  }
  Value arena(FunctionCode &code, TnArena number, const Piece &piece) {
    auto &builder = code.builder;
    Value base = LLVM::LoadOp::create(builder, pointer(builder),
                                      byteAddress(builder, code.pointerField(abi::Arenas), constant(builder, 8 * number)), 8);
    const Type held = number == TN_ARENA_COPIES ? copies : number == TN_ARENA_PARAMS ? stored : element;
    if (held == element)
      return byteAddress(builder, base, piece.offset);
    return byteAddress(builder, base,
                       divide(builder, piece.offset, constant(builder, elementBytes(element) / elementBytes(held))));
  }
  int64_t laneCount() { return elementModel(element).lanes; }

  // TnContext::step counts batches: every `accumulate`-th makes an update.
  Value batchesPerUpdate(FunctionCode &code) { return constant(code.builder, op.accumulate()); }
  /// i1: all gradients of this update are there.
  Value isLast(FunctionCode &code) {
    auto &builder = code.builder;
    Value batch = remainder(builder, code.field(abi::Step), batchesPerUpdate(code));
    return isEqual(builder, batch, op.accumulate() - 1);
  }
  static Value isEqual(ImplicitLocOpBuilder &builder, Value value, int64_t number) {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, value, constant(builder, number));
  }

  /// Sums of squares in f64, one per tile; before that the mean of the gradients of several batches.
  void addNorm() {
    Kernel kernel{"gradient_norm", op.getLoc(), {}, {}, {}, {partials}, 0, {}, {}};
    kernel.tiles = [this](FunctionCode &code) { return constant(code.builder, int64_t(tileSegments.size())); };
    kernel.body = [this](FunctionCode &code) {
      Piece piece = pieceOf(code);
      if (op.accumulate() > 1)
        emitAccumulation(code, piece);
      else
        emitSquares(code, piece, {});
    };
    sequence.add(kernel);
  }

  /// The sum lies in an arena of its own; its mean replaces the gradients of the last batch.
  void emitAccumulation(FunctionCode &code, const Piece &piece) {
    auto &builder = code.builder;
    Value batch = remainder(builder, code.field(abi::Step), batchesPerUpdate(code));
    Value sums = arena(code, TN_ARENA_SUMS, piece), gradients = arena(code, TN_ARENA_GRADS, piece);
    auto vector = VectorType::get({laneCount()}, element);
    auto spread = [&](double value) -> Value {
      return arith::ConstantOp::create(builder, DenseElementsAttr::get(vector, builder.getFloatAttr(element, value)));
    };
    auto branch = scf::IfOp::create(builder, TypeRange(), isLast(code), true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    emitSquares(code, piece, [&](LaneCode &lanes, LaneValue index, Value g) -> Value {
      Value mean = arith::MulFOp::create(builder, arith::AddFOp::create(builder, lanes.load(element, sums, index).base, g),
                                         spread(1.0 / double(op.accumulate())));
      lanes.store(element, gradients, index, LaneValue::lanes(mean));
      return mean;
    });
    builder.setInsertionPointToStart(branch.elseBlock());
    Value isFirst = isEqual(builder, batch, 0);
    LaneCode lanes(code, {}, laneCount());
    lanes.forLanes(constant(builder, 0), piece.count, [&](LaneValue index) {
      Value before = arith::SelectOp::create(builder, isFirst, spread(0), lanes.load(element, sums, index).base);
      Value sum = arith::AddFOp::create(builder, before, lanes.load(element, gradients, index).base);
      lanes.store(element, sums, index, LaneValue::lanes(sum));
      return true;
    });
  }

  /// `change` replaces a vector of gradients before it counts; null: as they are.
  void emitSquares(FunctionCode &code, const Piece &piece, llvm::function_ref<Value(LaneCode &, LaneValue, Value)> change) {
    auto &builder = code.builder;
    Value gradients = arena(code, TN_ARENA_GRADS, piece);
    LaneCode lanes(code, {}, laneCount());
    Type f64 = builder.getF64Type();
    auto wide = VectorType::get({laneCount()}, f64);
    Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(wide));
    // The accumulator lives in memory of this function; LLVM keeps it in registers.
    Value memory = LLVM::AllocaOp::create(builder, pointer(builder), wide, constant(builder, 1), 64);
    LLVM::StoreOp::create(builder, zero, memory, 64);
    lanes.forLanes(constant(builder, 0), piece.count, [&](LaneValue index) {
      Value g = lanes.load(element, gradients, index).base; // lanes that do not exist are 0
      if (change)
        g = change(lanes, index, g);
      if (!element.isF64())
        g = arith::ExtFOp::create(builder, wide, g);
      Value sum = LLVM::LoadOp::create(builder, wide, memory, 64);
      LLVM::StoreOp::create(builder, arith::AddFOp::create(builder, sum, arith::MulFOp::create(builder, g, g)), memory, 64);
      return true;
    });
    Value sum = combineLanes(builder, Reduction::sum, LLVM::LoadOp::create(builder, wide, memory, 64));
    LLVM::StoreOp::create(builder, sum, elementAddress(builder, code.temporary(0), f64, code.tile), 8);
  }

  Value real(FunctionCode &code, double value) {
    return arith::ConstantOp::create(code.builder, code.builder.getF64FloatAttr(value));
  }
  Value call(FunctionCode &code, StringRef name, ValueRange operands) {
    return LLVM::CallOp::create(code.builder, sequence.libraryFunction(name, operands.size()), operands).getResult();
  }

  /// One thread: the norms from the partial sums in their order, the factors of clipping, the rate; results and scalars for the
  /// pass.
  void addScalars() {
    Kernel kernel{"step_scalars", op.getLoc(), {}, {}, {}, {partials}, 0, {}, {}};
    for (Value result : op.getResults())
      if (sequence.bufferOf(result))
        kernel.writes.push_back(result);
    kernel.body = [this](FunctionCode &code) { emitScalars(code); };
    sequence.add(kernel);
  }

  void emitScalars(FunctionCode &code) {
    auto &builder = code.builder;
    Type f64 = builder.getF64Type();
    auto square = [&](Value tile) -> Value {
      return LLVM::LoadOp::create(builder, f64, elementAddress(builder, code.temporary(0), f64, tile), 8);
    };
    Value tiles = constant(builder, tileSegments.size());
    Value sum =
        forLoop(builder, constant(builder, 0), tiles, constant(builder, 1), real(code, 0), [&](Value tile, ValueRange carried) {
          return SmallVector<Value>{arith::AddFOp::create(builder, carried[0], square(tile))};
        })[0];
    LossScale scale;
    if (op.isScaled())
      scale = readLossScale(code);
    Value norm = scale.unscaled(builder, math::SqrtOp::create(builder, sum));
    if (op.accumulate() > 1)
      norm = arith::SelectOp::create(builder, isLast(code), norm, real(code, 0));
    emitClips(code, norm, scale, square);
    Value step = arith::UIToFPOp::create(builder, f64, divide(builder, code.field(abi::Step), batchesPerUpdate(code)));
    Value rate = arith::MulFOp::create(builder, real(code, number("lr", 0)), scheduleFactor(code, op, step));
    auto put = [&](int64_t offset, Value value) {
      LLVM::StoreOp::create(builder, value, byteAddress(builder, code.context, constant(builder, offset)), 8);
    };
    put(normScalar, norm);
    put(rateScalar, rate);
    if (op.isScaled()) {
      put(unscaleScalar, scale.inverse);
      emitNextScale(code, op, scale, isFinite(builder, norm), isLast(code));
    }
    if (sequence.bufferOf(op.getNorm()))
      storeResult(code, op.getNorm(), norm);
    if (sequence.bufferOf(op.getRate()))
      storeResult(code, op.getRate(), rate);
  }

  /// The factor of each norm, min(1, bound / (norm + 1e-6)), behind the partial sums. NaN stays NaN.
  void emitClips(FunctionCode &code, Value all, const LossScale &scale, llvm::function_ref<Value(Value)> square) {
    auto &builder = code.builder;
    Type f64 = builder.getF64Type();
    Value tiles = constant(builder, tileSegments.size()), count = constant(builder, table.bounds.size()), one = real(code, 1);
    forLoop(builder, constant(builder, 0), count, [&](Value i) {
      Value norm = all;
      if (table.bounds.size() > 1) { // each is the norm of its own parameters
        Value sum = forLoop(
            builder, constant(builder, 0), tiles, constant(builder, 1), real(code, 0), [&](Value tile, ValueRange carried) {
              Value mine =
                  arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, wholeColumn(code, segmentOf(code, tile), 3), i);
              Value part = arith::SelectOp::create(builder, mine, square(tile), real(code, 0));
              return SmallVector<Value>{arith::AddFOp::create(builder, carried[0], part)};
            })[0];
        norm = scale.unscaled(builder, math::SqrtOp::create(builder, sum));
      }
      Value bound = loadAt(code, boundTable, f64, i);
      Value ratio = arith::DivFOp::create(builder, bound, arith::AddFOp::create(builder, norm, real(code, 1e-6)));
      Value large = arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, ratio, one);
      Value none = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, bound, real(code, 0));
      Value clip = arith::SelectOp::create(builder, arith::OrIOp::create(builder, large, none), one, ratio);
      LLVM::StoreOp::create(builder, clip, elementAddress(builder, code.temporary(0), f64, add(builder, tiles, i)), 8);
    });
  }
  void storeResult(FunctionCode &code, Value tensor, Value value) {
    Type to = cast<RankedTensorType>(tensor.getType()).getElementType();
    if (!to.isF64())
      value = arith::TruncFOp::create(code.builder, to, value);
    LLVM::StoreOp::create(code.builder, value, code.pointer(tensor), elementBytes(to));
  }

  void addUpdate() {
    Kernel kernel{"update", op.getLoc(), {}, {}, {}, {partials}, 0, {}, {}};
    // None before the last batch of an update, none when the norm is not finite: such a step leaves parameters and moments as
    // they are.
    kernel.tiles = [this](FunctionCode &code) {
      auto &builder = code.builder;
      Value norm = LLVM::LoadOp::create(builder, builder.getF64Type(),
                                        byteAddress(builder, code.context, constant(builder, normScalar)), 8);
      Value on = arith::AndIOp::create(builder, isFinite(builder, norm), isLast(code));
      return multiply(builder, arith::ExtUIOp::create(builder, builder.getI64Type(), on),
                      constant(builder, int64_t(tileSegments.size())));
    };
    kernel.body = [this](FunctionCode &code) { emitUpdate(code); };
    sequence.add(kernel);
  }

  void emitUpdate(FunctionCode &code) {
    auto &builder = code.builder;
    Type f64 = builder.getF64Type();
    LaneCode lanes(code, {}, laneCount());
    auto vector = VectorType::get({laneCount()}, element);
    Piece piece = pieceOf(code);
    auto scalar = [&](int64_t offset) -> Value {
      return LLVM::LoadOp::create(builder, f64, byteAddress(builder, code.context, constant(builder, offset)), 8);
    };
    auto spread = [&](Value value) -> Value {
      if (!element.isF64())
        value = arith::TruncFOp::create(builder, element, value);
      return vector::BroadcastOp::create(builder, vector, value);
    };
    auto mul = [&](Value a, Value b) -> Value { return arith::MulFOp::create(builder, a, b); };
    auto add = [&](Value a, Value b) -> Value { return arith::AddFOp::create(builder, a, b); };
    auto sub = [&](Value a, Value b) -> Value { return arith::SubFOp::create(builder, a, b); };
    auto divide = [&](Value a, Value b) -> Value { return arith::DivFOp::create(builder, a, b); };
    auto root = [&](Value a) -> Value { return math::SqrtOp::create(builder, a); };
    auto larger = [&](Value a, Value b) -> Value { return arith::MaximumFOp::create(builder, a, b); };
    Value one = real(code, 1), rate = mul(scalar(rateScalar), piece.rate);
    Value clipPlace =
        elementAddress(builder, code.temporary(0), f64, tenon::add(builder, constant(builder, tileSegments.size()), piece.norm));
    Value clip = LLVM::LoadOp::create(builder, f64, clipPlace, 8);
    if (op.isScaled())
      clip = mul(clip, scalar(unscaleScalar));
    Value scale = spread(mul(clip, piece.gradient)), decay = spread(piece.decay);
    const double beta1 = number("beta1", 0.9), beta2 = number("beta2", 0.999), momentum = number("momentum", 0);
    const bool isSgd = rule == "sgd", isAdamax = rule == "adamax";
    const bool corrected = rule == "adam" || rule == "adamw"; // both moments; adamax: the first
    Value stepRate = rate, secondScale = one;
    if (corrected || isAdamax) {
      Value t = arith::AddFOp::create(
          builder, arith::UIToFPOp::create(builder, f64, tenon::divide(builder, code.field(abi::Step), batchesPerUpdate(code))),
          one);
      stepRate = divide(rate, sub(one, call(code, "pow", {real(code, beta1), t})));
      if (corrected)
        secondScale = divide(one, sub(one, call(code, "pow", {real(code, beta2), t})));
    }
    Value rates = spread(stepRate), second = spread(secondScale),
          eps = spread(real(code, number("eps", rule == "bert_adam" ? 1e-6 : 1e-8)));
    Value keep = spread(sub(one, mul(rate, piece.decay)));
    Value b1 = spread(real(code, beta1)), c1 = spread(real(code, 1 - beta1)), b2 = spread(real(code, beta2)),
          c2 = spread(real(code, 1 - beta2)), mu = spread(real(code, momentum));
    Value parameters = arena(code, TN_ARENA_PARAMS, piece), gradients = arena(code, TN_ARENA_GRADS, piece);
    Value firsts = arena(code, TN_ARENA_MOMENT1, piece), seconds = arena(code, TN_ARENA_MOMENT2, piece);
    Value narrowed = copies ? arena(code, TN_ARENA_COPIES, piece) : Value();
    lanes.forLanes(constant(builder, 0), piece.count, [&](LaneValue index) {
      auto read = [&](Value base) { return lanes.load(element, base, index).base; };
      auto write = [&](Value base, Value value) { lanes.store(element, base, index, LaneValue::lanes(value)); };
      auto narrow = [&](Type type, Value base, Value value) {
        lanes.store(type, base, index, LaneValue::lanes(narrowToBits(builder, op.getLoc(), code.tier, type, value)));
      };
      auto writeParameter = [&](Value value) {
        if (isShortReal(stored))
          narrow(stored, parameters, value);
        else
          write(parameters, value);
        if (copies)
          narrow(copies, narrowed, value);
      };
      Value p = lanes.load(stored, parameters, index).base;
      if (isShortReal(stored))
        p = widenBits(builder, op.getLoc(), code.tier, stored, p);
      Value g = mul(read(gradients), scale);
      if (isSgd) {
        g = add(g, mul(decay, p));
        if (momentum > 0) {
          Value buffer = add(mul(mu, read(firsts)), g);
          write(firsts, buffer);
          g = op.isSet("nesterov") ? add(g, mul(mu, buffer)) : buffer;
        }
        writeParameter(sub(p, mul(rates, g)));
        return true;
      }
      if (rule == "adam" || isAdamax)
        g = add(g, mul(decay, p));
      Value m = add(mul(b1, read(firsts)), mul(c1, g)), v = mul(b2, read(seconds));
      v = isAdamax ? larger(v, add(math::AbsFOp::create(builder, g), eps)) : add(v, mul(c2, mul(g, g)));
      write(firsts, m);
      write(seconds, v);
      Value direction = divide(m, isAdamax ? v : add(root(corrected ? mul(v, second) : v), eps));
      if (rule == "bert_adam")
        direction = add(direction, mul(decay, p));
      if (rule == "adamw")
        p = mul(p, keep);
      writeParameter(sub(p, mul(rates, direction)));
      return true;
    });
  }

  OptimizeOp op;
  KernelSequence &sequence;
  StringRef rule;
  Type element, stored, copies; // of gradients; of parameters in memory; of what is multiplied in their place, null: nothing is
  OptimizerTable table;
  SmallVector<int32_t> tileSegments;
  std::string tileTable, wholeTable, realTable, boundTable;
  unsigned partials = 0;
};

} // namespace

LogicalResult generateOptimize(Operation *op, KernelSequence &sequence) {
  return Optimizer(cast<OptimizeOp>(op), sequence).generate();
}

} // namespace tenon::cpu
