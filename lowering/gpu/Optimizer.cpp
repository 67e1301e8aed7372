// tenon.optimize: the mean of several batches, sums of squares by tiles of the arenas, the scalars of the step, the update. The
// rate of the step and what its number alone says are the host's.
#include "dialect/OptimizeSettings.h"
#include "dialect/Refusal.h"
#include "lowering/artifact/Abi.h"
#include "lowering/code/Halves.h"
#include "lowering/code/LearningRate.h"
#include "lowering/code/LossScale.h"
#include "lowering/code/OptimizerRule.h"
#include "lowering/code/OptimizerTable.h"
#include "lowering/gpu/ScalarCode.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;

namespace tenon::gpu {
namespace {

constexpr int64_t kThreads = 256, kTileElements = 16 * kThreads;

class OptimizerKernels {
public:
  OptimizerKernels(OptimizeOp op, LaunchSequence &sequence) : op(op), sequence(sequence) {}

  LogicalResult generate() {
    if (formOf(op).trust != schema::Trust::None)
      return notSupported(op) << "a rate per tensor (" << op.getRule() << ") on a GPU";
    if (settingOf(op, "clip_each") > 0)
      return notSupported(op) << "clipping of each tensor (" << op.getRule() << ") on a GPU";
    auto tabulated = tabulate(op, sequence.allParameters());
    if (failed(tabulated))
      return failure();
    table = std::move(*tabulated);
    element = table.element;
    auto module = op->getParentOfType<ModuleOp>();
    stored = element.isF32() && parameterType(module) ? parameterType(module) : element;
    isSplit = stored != element && hasRemainders(module);
    if (element.isF32())
      copies = copyType(module);
    collectTables();
    norms = tileCount();
    area = sequence.temporary(getAffineConstantExpr(8 * (inversePlace() + 1), op.getContext()));
    if (op.accumulate() > 1)
      addAccumulation();
    addNorm();
    addScalars();
    addUpdate();
    return success();
  }

private:
  /// What a block works on.
  struct Piece {
    Value offset, count; // elements from the start of the arena; elements
    Value rate, gradient, decay, norm;
  };

  int64_t tileCount() const { return int64_t(tileSegments.size()); }
  int64_t normPlace() const { return norms + int64_t(table.bounds.size()); }
  int64_t inversePlace() const { return normPlace() + 1; } // of the loss scale

  /// Per tile its segment; per segment offset, elements, first tile, norm and the three factors.
  void collectTables() {
    for (auto [i, segment] : llvm::enumerate(table.segments)) {
      whole.append({segment.offset / elementBytes(element), segment.count, tileCount(), segment.norm});
      factors.append({segment.rate, segment.gradient, segment.decay});
      tileSegments.append(size_t(llvm::divideCeil(segment.count, kTileElements)), int32_t(i));
    }
  }
  template <typename Number> Value entryOf(KernelCode &code, StringRef stem, Type type, ArrayRef<Number> values, Value index) {
    auto shape = RankedTensorType::get({int64_t(values.size())}, type);
    Value base = code.table(stem, type, cast<DenseElementsAttr>(DenseElementsAttr::get(shape, values)));
    return LLVM::LoadOp::create(code.builder, type, elementAddress(code.builder, base, type, index));
  }
  Value segmentOf(KernelCode &code, Value tile) {
    Type i32 = code.builder.getI32Type();
    Value segment = entryOf<int32_t>(code, "optimize_tiles", i32, tileSegments, tile);
    return arith::ExtUIOp::create(code.builder, code.builder.getI64Type(), segment);
  }
  Value wholeOf(KernelCode &code, Value segment, int64_t column) {
    auto &builder = code.builder;
    return entryOf<int64_t>(code, "optimize_places", builder.getI64Type(), whole,
                            add(builder, multiply(builder, segment, constant(builder, 4)), constant(builder, column)));
  }
  Piece pieceOf(KernelCode &code) {
    auto &builder = code.builder;
    Value segment = segmentOf(code, code.block());
    auto factor = [&](int64_t column) {
      return entryOf<double>(code, "optimize_factors", builder.getF64Type(), factors,
                             add(builder, multiply(builder, segment, constant(builder, 3)), constant(builder, column)));
    };
    Value first = multiply(builder, subtract(builder, code.block(), wholeOf(code, segment, 2)), constant(builder, kTileElements));
    return {add(builder, wholeOf(code, segment, 0), first),
            minimum(builder, constant(builder, kTileElements), subtract(builder, wholeOf(code, segment, 1), first)),
            factor(0),
            factor(1),
            factor(2),
            wholeOf(code, segment, 3)};
  }

  Value real(KernelCode &code, double value) {
    return arith::ConstantOp::create(code.builder, code.builder.getF64FloatAttr(value));
  }
  Value areaAt(KernelCode &code, Value index) {
    return elementAddress(code.builder, code.temporary(0), code.builder.getF64Type(), index);
  }
  Value loadArea(KernelCode &code, Value index) {
    return LLVM::LoadOp::create(code.builder, code.builder.getF64Type(), areaAt(code, index), 8);
  }
  void storeArea(KernelCode &code, Value index, Value value) {
    LLVM::StoreOp::create(code.builder, value, areaAt(code, index), 8);
  }

  // TnContext::step counts batches: every `accumulate`-th makes an update.
  Value batchOf(EntryCode &code) {
    return remainder(code.builder, code.field(abi::Step), constant(code.builder, op.accumulate()));
  }
  Value isBatch(EntryCode &code, int64_t batch) { // i64: 0 or 1
    auto &builder = code.builder;
    Value is = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, batchOf(code), constant(builder, batch));
    return arith::ExtUIOp::create(builder, builder.getI64Type(), is);
  }
  std::function<Value(EntryCode &)> tiles(bool onlyLast) {
    return [this, onlyLast](EntryCode &code) -> Value {
      Value all = constant(code.builder, tileCount());
      return onlyLast && op.accumulate() > 1 ? multiply(code.builder, all, isBatch(code, op.accumulate() - 1)) : all;
    };
  }
  Launch::Number arena(TnArena number) {
    return {LLVM::LLVMPointerType::get(op.getContext(), kGlobal), [number](EntryCode &code) { return code.arena(number); }};
  }
  Launch launchOf(StringRef name) { return {name.str(), op.getLoc(), {}, {}, {}, {area}, {}, tiles(true), kThreads, false, {}}; }

  /// The sum lies in an arena of its own; behind the last batch its mean replaces the gradients.
  void addAccumulation() {
    Launch launch = launchOf("accumulate");
    launch.blocks = tiles(false);
    Type i64 = IntegerType::get(op.getContext(), 64);
    launch.numbers = {arena(TN_ARENA_GRADS),
                      arena(TN_ARENA_SUMS),
                      {i64, [this](EntryCode &code) { return isBatch(code, 0); }},
                      {i64, [this](EntryCode &code) { return isBatch(code, op.accumulate() - 1); }}};
    launch.body = [this](KernelCode &code) {
      auto &builder = code.builder;
      ScalarCode scalars(code, {});
      Piece piece = pieceOf(code);
      auto isSet = [&](unsigned number) -> Value {
        return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, code.number(number), constant(builder, 0));
      };
      Value isFirst = isSet(2), isLast = isSet(3);
      code.overBlock(piece.count, [&](Value number) {
        Value at = add(builder, piece.offset, number);
        auto exact = [&](double value) -> Value {
          return arith::ConstantOp::create(builder, builder.getFloatAttr(element, value));
        };
        Value before = arith::SelectOp::create(builder, isFirst, exact(0), scalars.load(element, code.number(1), at));
        Value sum = arith::AddFOp::create(builder, before, scalars.load(element, code.number(0), at));
        Value mean = arith::MulFOp::create(builder, sum, exact(1.0 / double(op.accumulate())));
        Value target = arith::SelectOp::create(builder, isLast, code.number(0), code.number(1));
        scalars.store(element, target, at, arith::SelectOp::create(builder, isLast, mean, sum));
      });
    };
    sequence.add(launch);
  }

  /// Sums of squares in f64, one per tile.
  void addNorm() {
    Launch launch = launchOf("gradient_norm");
    launch.numbers = {arena(TN_ARENA_GRADS)};
    launch.body = [this](KernelCode &code) {
      auto &builder = code.builder;
      ScalarCode scalars(code, {});
      Piece piece = pieceOf(code);
      auto loop = scf::ForOp::create(builder, code.thread(), piece.count, constant(builder, kThreads), real(code, 0));
      {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(loop.getBody());
        Value g = scalars.load(element, code.number(0), add(builder, piece.offset, loop.getInductionVar()));
        if (!element.isF64())
          g = arith::ExtFOp::create(builder, builder.getF64Type(), g);
        Value square = arith::MulFOp::create(builder, g, g);
        scf::YieldOp::create(builder, ValueRange{arith::AddFOp::create(builder, loop.getRegionIterArgs()[0], square)});
      }
      Value sum = code.combineBlock(Reduction::sum, loop.getResult(0));
      ifFirst(code, [&] { storeArea(code, code.block(), sum); });
    };
    sequence.add(launch);
  }

  void ifFirst(KernelCode &code, llvm::function_ref<void()> body) {
    auto &builder = code.builder;
    code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, code.thread(), constant(builder, 0)), body);
  }

  Value rateOf(EntryCode &code) {
    auto &builder = code.builder;
    Value updates = divide(builder, code.field(abi::Step), constant(builder, op.accumulate()));
    const ScheduleNumbers numbers{arith::UIToFPOp::create(builder, builder.getF64Type(), updates),
                                  [&] { return code.field(abi::TotalSteps); }, libraryOf(code)};
    Value lr = arith::ConstantOp::create(builder, builder.getF64FloatAttr(settingOf(op, "lr")));
    return arith::MulFOp::create(builder, lr, scheduleFactor(builder, op, numbers));
  }
  static LibraryCall libraryOf(EntryCode &code) {
    return [&code](StringRef name, ArrayRef<Value> operands) { return code.callLibrary(name, operands); };
  }

  /// One block: the norms from the partial sums in a fixed order, the factors of clipping; the results.
  void addScalars() {
    Launch launch = launchOf("step_scalars");
    launch.blocks = nullptr;
    Type i64 = IntegerType::get(op.getContext(), 64), f64 = Float64Type::get(op.getContext());
    launch.numbers = {{f64, [this](EntryCode &code) { return rateOf(code); }},
                      {i64, [this](EntryCode &code) { return isBatch(code, op.accumulate() - 1); }}};
    if (op.isScaled())
      launch.numbers.push_back(arena(TN_ARENA_LOSS_SCALE));
    for (Value result : op.getResults())
      if (sequence.bufferOf(result))
        launch.writes.push_back(result);
    launch.body = [this](KernelCode &code) { emitScalars(code); };
    sequence.add(launch);
  }

  void emitScalars(KernelCode &code) {
    auto &builder = code.builder;
    const int64_t count = int64_t(table.bounds.size());
    LossScale scale; // read by all threads before the barriers of the sum, written behind them
    if (op.isScaled())
      scale = readLossScale(builder, code.number(2));
    Value mine = sumOfTiles(code, code.thread(), kThreads, {});
    Value norm = scale.unscaled(builder, math::SqrtOp::create(builder, code.combineBlock(Reduction::sum, mine)));
    Value last = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, code.number(1), constant(builder, 0));
    if (op.accumulate() > 1)
      norm = arith::SelectOp::create(builder, last, norm, real(code, 0));
    code.overBlock(constant(builder, count), [&](Value i) {
      Value own = norm;
      if (count > 1) // each is the norm of its own parameters
        own = scale.unscaled(builder, math::SqrtOp::create(builder, sumOfTiles(code, constant(builder, 0), 1, i)));
      Value bound = entryOf<double>(code, "optimize_bounds", builder.getF64Type(), table.bounds, i);
      storeArea(code, add(builder, constant(builder, norms), i), clipFactor(code, own, bound));
    });
    ifFirst(code, [&] {
      storeArea(code, constant(builder, normPlace()), norm);
      if (op.isScaled()) {
        storeArea(code, constant(builder, inversePlace()), scale.inverse);
        emitNextScale(builder, op, scale, isFinite(builder, norm), last);
      }
      for (auto [result, value] : {std::pair(op.getNorm(), norm), std::pair(op.getRate(), code.number(0))})
        if (sequence.bufferOf(result)) {
          Type to = cast<RankedTensorType>(result.getType()).getElementType();
          Value rounded = to.isF64() ? value : arith::TruncFOp::create(builder, to, value).getResult();
          LLVM::StoreOp::create(builder, rounded, code.pointer(result), unsigned(elementBytes(to)));
        }
    });
  }

  /// Of the tiles from `first` on in steps of `step`; with `norm`, of those whose norm it is.
  Value sumOfTiles(KernelCode &code, Value first, int64_t step, Value norm) {
    auto &builder = code.builder;
    auto loop = scf::ForOp::create(builder, first, constant(builder, tileCount()), constant(builder, step), real(code, 0));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value tile = loop.getInductionVar(), square = loadArea(code, tile);
    if (norm) {
      Value own = wholeOf(code, segmentOf(code, tile), 3);
      square = arith::SelectOp::create(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, own, norm), square,
                                       real(code, 0));
    }
    scf::YieldOp::create(builder, ValueRange{arith::AddFOp::create(builder, loop.getRegionIterArgs()[0], square)});
    return loop.getResult(0);
  }

  /// min(1, bound / (norm + 1e-6)), 1 for a bound of 0. NaN stays NaN.
  Value clipFactor(KernelCode &code, Value norm, Value bound) {
    auto &builder = code.builder;
    Value one = real(code, 1);
    Value ratio = arith::DivFOp::create(builder, bound, arith::AddFOp::create(builder, norm, real(code, 1e-6)));
    Value large = arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, ratio, one);
    Value none = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, bound, real(code, 0));
    return arith::SelectOp::create(builder, arith::OrIOp::create(builder, large, none), one, ratio);
  }

  /// A step whose norm is not finite leaves parameters and moments as they are.
  void addUpdate() {
    Launch launch = launchOf("update");
    Type f64 = Float64Type::get(op.getContext());
    const int moments = momentCount(op);
    launch.numbers = {arena(TN_ARENA_PARAMS),
                      arena(TN_ARENA_GRADS),
                      arena(moments >= 1 ? TN_ARENA_MOMENT1 : TN_ARENA_PARAMS),
                      arena(moments >= 2 ? TN_ARENA_MOMENT2 : TN_ARENA_PARAMS),
                      {f64, [this](EntryCode &code) { return rateOf(code); }}};
    for (Value RuleNumbers::*part : {&RuleNumbers::updates, &RuleNumbers::fading1, &RuleNumbers::fading2})
      launch.numbers.push_back({f64, [this, part](EntryCode &code) -> Value {
                                  RuleNumbers numbers = ruleNumbers(code.builder, op, code.field(abi::Step), libraryOf(code));
                                  return numbers.*part ? numbers.*part : numbers.updates; // what the rule does not read
                                }});
    if (isSplit || copies) // number 8
      launch.numbers.push_back(arena(isSplit ? TN_ARENA_REMAINDERS : TN_ARENA_COPIES));
    launch.body = [this](KernelCode &code) {
      code.ifThen(isFinite(code.builder, loadArea(code, constant(code.builder, normPlace()))), [&] { emitUpdate(code); });
    };
    sequence.add(launch);
  }

  void emitUpdate(KernelCode &code) {
    auto &builder = code.builder;
    ScalarCode scalars(code, {});
    Piece piece = pieceOf(code);
    Value rate = arith::MulFOp::create(builder, code.number(4), piece.rate);
    RuleCode rules(builder, op, element, {code.number(5), code.number(6), code.number(7)}, rate, piece.decay);
    std::function<Value(Value)> clipped = clipping(code, piece);
    const int moments = momentCount(op);
    code.overBlock(piece.count, [&](Value number) {
      Value at = add(builder, piece.offset, number);
      auto load = [&](unsigned arena) { return scalars.load(element, code.number(arena), at); };
      ElementMoments before{moments >= 1 ? load(2) : Value(), moments >= 2 ? load(3) : Value()};
      Value p = readParameter(code, scalars, at);
      RuleCode::Step step = rules.step(p, clipped(load(1)), before);
      if (step.moments.first)
        scalars.store(element, code.number(2), at, step.moments.first);
      if (step.moments.second)
        scalars.store(element, code.number(3), at, step.moments.second);
      writeParameter(code, scalars, at, rules.moved(p, step.direction));
    });
  }

  Value readParameter(KernelCode &code, ScalarCode &scalars, Value at) {
    auto &builder = code.builder;
    Value p = scalars.load(stored, code.number(0), at);
    auto bits = [&](Value half) -> Value { return arith::BitcastOp::create(builder, builder.getI16Type(), half); };
    if (isSplit)
      return joinHalves(builder, builder.getLoc(), bits(p), bits(scalars.load(stored, code.number(8), at)));
    return stored == element ? p : arith::ExtFOp::create(builder, element, p).getResult();
  }
  void writeParameter(KernelCode &code, ScalarCode &scalars, Value at, Value value) {
    auto &builder = code.builder;
    auto rounded = [&](Type to) -> Value { return arith::TruncFOp::create(builder, to, value); };
    if (isSplit) {
      auto [upper, remainder] = splitHalves(builder, value);
      for (auto [arena, bits] : {std::pair(0u, upper), std::pair(8u, remainder)})
        scalars.store(stored, code.number(arena), at, arith::BitcastOp::create(builder, stored, bits));
      return;
    }
    scalars.store(stored, code.number(0), at, stored == element ? value : rounded(stored));
    if (copies)
      scalars.store(copies, code.number(8), at, rounded(copies));
  }

  /// The gradient of an element as the rule sees it: clipped, with its group's factor.
  std::function<Value(Value)> clipping(KernelCode &code, const Piece &piece) {
    auto &builder = code.builder;
    auto rounded = [this, &builder](Value value) -> Value {
      return element.isF64() ? value : arith::TruncFOp::create(builder, element, value).getResult();
    };
    Value clip = loadArea(code, add(builder, constant(builder, norms), piece.norm));
    if (op.isScaled())
      clip = arith::MulFOp::create(builder, clip, loadArea(code, constant(builder, inversePlace())));
    const double bound = op.number("clip_value", 0);
    if (bound == 0) {
      Value scale = rounded(arith::MulFOp::create(builder, clip, piece.gradient));
      return [&builder, scale](Value g) -> Value { return arith::MulFOp::create(builder, g, scale); };
    }
    // Norms of groups have numbers from 1 on, and clip what they are of instead.
    Value own = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, piece.norm, constant(builder, 0));
    Value high = arith::SelectOp::create(builder, own, real(code, bound), real(code, std::numeric_limits<double>::infinity()));
    Value first = rounded(clip), most = rounded(high), least = rounded(arith::NegFOp::create(builder, high)),
          second = rounded(piece.gradient);
    return [&builder, first, most, least, second](Value g) -> Value {
      g = arith::MulFOp::create(builder, g, first);
      g = arith::MaximumFOp::create(builder, arith::MinimumFOp::create(builder, g, most), least);
      return arith::MulFOp::create(builder, g, second);
    };
  }

  OptimizeOp op;
  LaunchSequence &sequence;
  OptimizerTable table;
  Type element;         // of gradients and moments, which rules compute in
  Type stored, copies;  // of the parameters in memory, and of their copies; null: they have none
  bool isSplit = false; // they lie in halves
  SmallVector<int32_t> tileSegments;
  SmallVector<int64_t> whole;
  SmallVector<double> factors;
  unsigned area = 0; // temporary, f64: sums of squares per tile, factors of clipping per norm, the norm, 1 / loss scale
  int64_t norms = 0; // where the factors begin
};

} // namespace

LogicalResult generateOptimize(OptimizeOp op, LaunchSequence &sequence) { return OptimizerKernels(op, sequence).generate(); }

} // namespace tenon::gpu
