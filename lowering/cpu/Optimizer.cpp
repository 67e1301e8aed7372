// tenon.optimize: the norm of all gradients, the rate of this step, one pass over the arenas. Formulas: Kingma & Ba 2015,
// Loshchilov & Hutter 2019, google-research/bert optimization.py; schedules of those papers' code.
#include "lowering/Abi.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>
#include <map>

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Consecutive elements of the arenas with equal factors.
struct Segment {
  int64_t offset, count; // bytes, elements
  double rate, gradient, decay;
};

constexpr int64_t tileElements = 16384; // 28 bytes each: about 20 us at the speed of memory
constexpr int64_t normScalar = abi::CallScalars, rateScalar = abi::CallScalars + 8, clipScalar = abi::CallScalars + 16;

class Optimizer {
public:
  Optimizer(OptimizeOp op, KernelSequence &sequence) : op(op), sequence(sequence), rule(op.getRule()) {}

  LogicalResult generate() {
    if (!llvm::is_contained({"sgd", "adam", "adamw", "bert_adam"}, rule))
      return op.emitError("not supported yet: optimizer ") << rule;
    if (!llvm::is_contained({"constant", "linear", "cosine", "noam", "bert_linear", "xlnet_linear"}, schedule()))
      return op.emitError("not supported yet: schedule ") << schedule();
    if (failed(checkKeys()) || failed(collectSegments()))
      return failure();
    emitTables();
    partials = sequence.temporary(getAffineConstantExpr(8 * int64_t(tileSegments.size()), op.getContext()));
    addNorm();
    addScalars();
    addUpdate();
    return success();
  }

private:
  // Settings.
  double number(StringRef key, double otherwise) {
    Attribute value = op.getSettings().get(key);
    if (auto real = dyn_cast_or_null<FloatAttr>(value))
      return real.getValueAsDouble();
    if (auto whole = dyn_cast_or_null<IntegerAttr>(value))
      return double(whole.getInt());
    return otherwise;
  }
  StringRef schedule() {
    auto name = dyn_cast_or_null<StringAttr>(op.getSettings().get("schedule"));
    return name ? name.getValue() : StringRef("constant");
  }
  bool isSet(StringRef key) {
    auto flag = dyn_cast_or_null<BoolAttr>(op.getSettings().get(key));
    return flag && flag.getValue();
  }
  LogicalResult checkKeys() {
    for (NamedAttribute setting : op.getSettings())
      if (!llvm::is_contained({"lr", "beta1", "beta2", "eps", "decay", "momentum", "nesterov", "schedule", "warmup", "total",
                               "floor", "size", "factor", "clip"},
                              setting.getName().getValue()))
        return op.emitError("unknown setting ") << setting.getName();
    if (!op.getSettings().get("lr"))
      return op.emitError("expects the setting lr");
    const bool decays = llvm::is_contained({"linear", "cosine", "bert_linear", "xlnet_linear"}, schedule());
    if (decays && number("total", 0) <= number("warmup", 0))
      return op.emitError("expects total to be larger than warmup");
    if (schedule() == "noam" && (number("size", 0) <= 0 || number("warmup", 0) <= 0))
      return op.emitError("expects size and warmup of the schedule noam");
    return success();
  }

  /// Parameters by offset; a stack whose elements lie without gaps and share their factors is one segment.
  LogicalResult collectSegments() {
    std::map<int64_t, ParameterOp> byOffset;
    for (auto &entry : sequence.allParameters()) {
      ParameterOp parameter = entry.second;
      if (!parameter.getFrozen())
        byOffset[parameter.getOffset()] = parameter;
    }
    for (auto &[offset, parameter] : byOffset) {
      auto type = cast<RankedTensorType>(parameter.getType());
      if (element && element != type.getElementType())
        return parameter.emitError("not supported yet: parameters of different element types in one optimizer");
      element = type.getElementType();
      if (!element.isF32() && !element.isF64())
        return parameter.emitError("not supported yet: an optimizer for ") << element;
      const int64_t copies = parameter.getStacked() ? type.getDimSize(0) : 1, count = type.getNumElements() / copies;
      auto factor = [&](StringRef name, int64_t copy, double otherwise) {
        auto values = parameter->getAttrOfType<DenseF64ArrayAttr>(name);
        return !values || values.empty() ? otherwise : values[values.size() == 1 ? 0 : copy];
      };
      for (StringRef name : {"lr", "gradient", "decay"})
        if (auto values = parameter->getAttrOfType<DenseF64ArrayAttr>(name);
            values && values.size() != 1 && values.size() != copies)
          return parameter.emitError("expects one or ") << copies << " values of " << name;
      for (int64_t copy = 0; copy < copies; ++copy) {
        Segment next{offset + copy * int64_t(parameter.getStride()), count, factor("lr", copy, 1), factor("gradient", copy, 1),
                     factor("decay", copy, number("decay", 0))};
        if (copy > 0) {
          Segment &last = segments.back();
          if (last.offset + last.count * elementBytes(element) == next.offset && last.rate == next.rate &&
              last.gradient == next.gradient && last.decay == next.decay) {
            last.count += count;
            continue;
          }
        }
        segments.push_back(next);
      }
    }
    if (segments.empty())
      return op.emitError("there is no parameter to train");
    return success();
  }

  std::string emitGlobal(StringRef stem, Type type, DenseElementsAttr values) {
    OpBuilder builder = OpBuilder::atBlockEnd(sequence.module().getBody());
    std::string name = sequence.uniqueName(stem);
    LLVM::GlobalOp::create(builder, op.getLoc(), LLVM::LLVMArrayType::get(type, values.getNumElements()), true,
                           LLVM::Linkage::Internal, name, values);
    return name;
  }

  /// Per tile its segment; per segment offset, elements, first tile and the three factors.
  void emitTables() {
    Builder builder(op.getContext());
    SmallVector<int64_t> whole;
    SmallVector<double> real;
    for (auto [i, segment] : llvm::enumerate(segments)) {
      whole.append({segment.offset, segment.count, int64_t(tileSegments.size())});
      real.append({segment.rate, segment.gradient, segment.decay});
      tileSegments.append(llvm::divideCeil(segment.count, tileElements), int32_t(i));
    }
    auto shape = [&](size_t count, Type type) { return RankedTensorType::get({int64_t(count)}, type); };
    tileTable =
        emitGlobal("optimize_tiles", builder.getI32Type(),
                   DenseElementsAttr::get(shape(tileSegments.size(), builder.getI32Type()), ArrayRef<int32_t>(tileSegments)));
    wholeTable = emitGlobal("optimize_places", builder.getI64Type(),
                            DenseElementsAttr::get(shape(whole.size(), builder.getI64Type()), ArrayRef<int64_t>(whole)));
    realTable = emitGlobal("optimize_factors", builder.getF64Type(),
                           DenseElementsAttr::get(shape(real.size(), builder.getF64Type()), ArrayRef<double>(real)));
  }

  /// What a tile works on.
  struct Piece {
    Value offset, count; // bytes from the start of the arena; elements
    Value rate, gradient, decay;
  };
  Piece pieceOf(FunctionCode &code) {
    auto &builder = code.builder;
    auto loadAt = [&](const std::string &table, Type type, Value index) -> Value {
      Value base = LLVM::AddressOfOp::create(builder, pointer(builder), table);
      return LLVM::LoadOp::create(builder, type, elementAddress(builder, base, type, index));
    };
    Type i64 = builder.getI64Type(), f64 = builder.getF64Type();
    Value segment = arith::ExtUIOp::create(builder, i64, loadAt(tileTable, builder.getI32Type(), code.tile));
    Value row = multiply(builder, segment, constant(builder, 3));
    auto column = [&](const std::string &table, Type type, int64_t i) {
      return loadAt(table, type, add(builder, row, constant(builder, i)));
    };
    Value first = multiply(builder, subtract(builder, code.tile, column(wholeTable, i64, 2)), constant(builder, tileElements));
    Piece piece;
    piece.count = minimum(builder, constant(builder, tileElements), subtract(builder, column(wholeTable, i64, 1), first));
    piece.offset = add(builder, column(wholeTable, i64, 0), multiply(builder, first, constant(builder, elementBytes(element))));
    piece.rate = column(realTable, f64, 0);
    piece.gradient = column(realTable, f64, 1);
    piece.decay = column(realTable, f64, 2);
    return piece;
  }
  Value arena(FunctionCode &code, TnArena number, const Piece &piece) {
    auto &builder = code.builder;
    Value base = LLVM::LoadOp::create(builder, pointer(builder),
                                      byteAddress(builder, code.pointerField(abi::Arenas), constant(builder, 8 * number)), 8);
    return byteAddress(builder, base, piece.offset);
  }
  int64_t laneCount() { return element.isF64() ? 8 : 16; }

  /// Sums of squares in f64, one per tile.
  void addNorm() {
    Kernel kernel{"gradient_norm", op.getLoc(), {}, {}, {}, {partials}, 0, {}, {}};
    kernel.tiles = [this](FunctionCode &code) { return constant(code.builder, int64_t(tileSegments.size())); };
    kernel.body = [this](FunctionCode &code) {
      auto &builder = code.builder;
      Piece piece = pieceOf(code);
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
        if (!element.isF64())
          g = arith::ExtFOp::create(builder, wide, g);
        Value sum = LLVM::LoadOp::create(builder, wide, memory, 64);
        LLVM::StoreOp::create(builder, arith::AddFOp::create(builder, sum, arith::MulFOp::create(builder, g, g)), memory, 64);
        return true;
      });
      Value sum = combineLanes(builder, Reduction::sum, LLVM::LoadOp::create(builder, wide, memory, 64));
      LLVM::StoreOp::create(builder, sum, elementAddress(builder, code.temporary(0), f64, code.tile), 8);
    };
    sequence.add(kernel);
  }

  Value real(FunctionCode &code, double value) {
    return arith::ConstantOp::create(code.builder, code.builder.getF64FloatAttr(value));
  }
  Value call(FunctionCode &code, StringRef name, ValueRange operands) {
    return LLVM::CallOp::create(code.builder, sequence.libraryFunction(name, operands.size()), operands).getResult();
  }

  /// Factor of the rate at s = TnContext::step, the number of updates before this one.
  Value scheduleFactor(FunctionCode &code, Value s) {
    auto &builder = code.builder;
    auto sub = [&](Value a, Value b) -> Value { return arith::SubFOp::create(builder, a, b); };
    auto mul = [&](Value a, Value b) -> Value { return arith::MulFOp::create(builder, a, b); };
    auto divide = [&](Value a, Value b) -> Value { return arith::DivFOp::create(builder, a, b); };
    auto least = [&](Value a, Value b) -> Value {
      return arith::SelectOp::create(builder, arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT, a, b), a, b);
    };
    Value one = real(code, 1);
    const double warmup = number("warmup", 0), total = number("total", 1), floor = number("floor", 0);
    if (schedule() == "noam") {
      Value t = arith::AddFOp::create(builder, s, one);
      Value decay = divide(one, math::SqrtOp::create(builder, t));
      Value rise = mul(t, real(code, std::pow(warmup, -1.5)));
      return mul(real(code, number("factor", 1) / std::sqrt(number("size", 1))), least(decay, rise));
    }
    Value after = one;
    if (schedule() == "bert_linear") {
      after = sub(one, least(divide(s, real(code, total)), one)); // counts from step 0: jumps at the end of the warmup
    } else if (schedule() != "constant") {
      Value progress = least(divide(sub(s, real(code, warmup)), real(code, total - warmup)), one);
      Value shape =
          schedule() == "cosine"
              ? mul(real(code, 0.5), arith::AddFOp::create(builder, one, call(code, "cos", mul(real(code, M_PI), progress))))
              : sub(one, progress);
      after = arith::AddFOp::create(builder, real(code, floor), mul(real(code, 1 - floor), shape));
    }
    if (warmup <= 0)
      return after;
    Value rising = arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT, s, real(code, warmup));
    return arith::SelectOp::create(builder, rising, divide(s, real(code, warmup)), after);
  }

  /// One thread: the norm from the partial sums in their order, the factor of clipping, the rate; results and scalars for the
  /// pass.
  void addScalars() {
    Kernel kernel{"step_scalars", op.getLoc(), {}, {}, {}, {partials}, 0, {}, {}};
    for (Value result : op.getResults())
      if (sequence.bufferOf(result))
        kernel.writes.push_back(result);
    kernel.body = [this](FunctionCode &code) {
      auto &builder = code.builder;
      Type f64 = builder.getF64Type();
      Value sum = forLoop(builder, constant(builder, 0), constant(builder, tileSegments.size()), constant(builder, 1),
                          real(code, 0), [&](Value tile, ValueRange carried) {
                            Value part =
                                LLVM::LoadOp::create(builder, f64, elementAddress(builder, code.temporary(0), f64, tile), 8);
                            return SmallVector<Value>{arith::AddFOp::create(builder, carried[0], part)};
                          })[0];
      Value norm = math::SqrtOp::create(builder, sum), clip = real(code, 1);
      if (double bound = number("clip", 0); bound > 0) {
        Value ratio = arith::DivFOp::create(builder, real(code, bound), arith::AddFOp::create(builder, norm, real(code, 1e-6)));
        Value small = arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, ratio, clip); // NaN stays NaN
        clip = arith::SelectOp::create(builder, small, clip, ratio);
      }
      Value step = arith::UIToFPOp::create(builder, f64, code.field(abi::Step));
      Value rate = arith::MulFOp::create(builder, real(code, number("lr", 0)), scheduleFactor(code, step));
      auto put = [&](int64_t offset, Value value) {
        LLVM::StoreOp::create(builder, value, byteAddress(builder, code.context, constant(builder, offset)), 8);
      };
      put(normScalar, norm);
      put(rateScalar, rate);
      put(clipScalar, clip);
      if (sequence.bufferOf(op.getNorm()))
        storeResult(code, op.getNorm(), norm);
      if (sequence.bufferOf(op.getRate()))
        storeResult(code, op.getRate(), rate);
    };
    sequence.add(kernel);
  }
  void storeResult(FunctionCode &code, Value tensor, Value value) {
    Type to = cast<RankedTensorType>(tensor.getType()).getElementType();
    if (!to.isF64())
      value = arith::TruncFOp::create(code.builder, to, value);
    LLVM::StoreOp::create(code.builder, value, code.pointer(tensor), elementBytes(to));
  }

  void addUpdate() {
    Kernel kernel{"update", op.getLoc(), {}, {}, {}, {}, 0, {}, {}};
    // None with flag 1 (gradients only), none when the norm is not finite: such a step leaves parameters and moments as they are.
    kernel.tiles = [this](FunctionCode &code) {
      auto &builder = code.builder;
      Value off = arith::AndIOp::create(builder, code.field(abi::Flags), constant(builder, 1));
      Value norm = LLVM::LoadOp::create(builder, builder.getF64Type(), byteAddress(builder, code.context, constant(builder, normScalar)), 8);
      Value difference = arith::SubFOp::create(builder, norm, norm); // NaN for NaN and infinity
      Value finite = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, difference, real(code, 0));
      Value on = multiply(builder, subtract(builder, constant(builder, 1), off), arith::ExtUIOp::create(builder, builder.getI64Type(), finite));
      return multiply(builder, on, constant(builder, int64_t(tileSegments.size())));
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
    Value one = real(code, 1), rate = mul(scalar(rateScalar), piece.rate);
    Value scale = spread(mul(scalar(clipScalar), piece.gradient)), decay = spread(piece.decay);
    const double beta1 = number("beta1", 0.9), beta2 = number("beta2", 0.999), momentum = number("momentum", 0);
    const bool isSgd = rule == "sgd", corrected = rule == "adam" || rule == "adamw";
    Value stepRate = rate, secondScale = one;
    if (corrected) {
      Value t = arith::AddFOp::create(builder, arith::UIToFPOp::create(builder, f64, code.field(abi::Step)), one);
      stepRate = divide(rate, sub(one, call(code, "pow", {real(code, beta1), t})));
      secondScale = divide(one, sub(one, call(code, "pow", {real(code, beta2), t})));
    }
    Value rates = spread(stepRate), second = spread(secondScale),
          eps = spread(real(code, number("eps", rule == "bert_adam" ? 1e-6 : 1e-8)));
    Value keep = spread(sub(one, mul(rate, piece.decay)));
    Value b1 = spread(real(code, beta1)), c1 = spread(real(code, 1 - beta1)), b2 = spread(real(code, beta2)),
          c2 = spread(real(code, 1 - beta2)), mu = spread(real(code, momentum));
    Value parameters = arena(code, TN_ARENA_PARAMS, piece), gradients = arena(code, TN_ARENA_GRADS, piece);
    Value firsts = arena(code, TN_ARENA_MOMENT1, piece), seconds = arena(code, TN_ARENA_MOMENT2, piece);
    lanes.forLanes(constant(builder, 0), piece.count, [&](LaneValue index) {
      auto read = [&](Value base) { return lanes.load(element, base, index).base; };
      auto write = [&](Value base, Value value) { lanes.store(element, base, index, LaneValue::lanes(value)); };
      Value p = read(parameters), g = mul(read(gradients), scale);
      if (isSgd) {
        g = add(g, mul(decay, p));
        if (momentum > 0) {
          Value buffer = add(mul(mu, read(firsts)), g);
          write(firsts, buffer);
          g = isSet("nesterov") ? add(g, mul(mu, buffer)) : buffer;
        }
        write(parameters, sub(p, mul(rates, g)));
        return true;
      }
      if (rule == "adam")
        g = add(g, mul(decay, p));
      Value m = add(mul(b1, read(firsts)), mul(c1, g)), v = add(mul(b2, read(seconds)), mul(c2, mul(g, g)));
      write(firsts, m);
      write(seconds, v);
      Value direction = divide(m, add(root(corrected ? mul(v, second) : v), eps));
      if (rule == "bert_adam")
        direction = add(direction, mul(decay, p));
      if (rule == "adamw")
        p = mul(p, keep);
      write(parameters, sub(p, mul(rates, direction)));
      return true;
    });
  }

  OptimizeOp op;
  KernelSequence &sequence;
  StringRef rule;
  Type element;
  SmallVector<Segment> segments;
  SmallVector<int32_t> tileSegments;
  std::string tileTable, wholeTable, realTable;
  unsigned partials = 0;
};

} // namespace

LogicalResult generateOptimize(Operation *op, KernelSequence &sequence) {
  return Optimizer(cast<OptimizeOp>(op), sequence).generate();
}

} // namespace tenon::cpu
