#include "lowering/gpu/ScalarCode.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/Philox.h"
#include "lowering/code/RealFunctions.h"
#include "lowering/code/Reductions.h"
#include "lowering/code/WideFunctions.h"
#include "lowering/target/Rows.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace tenon::gpu {

Type machineType(Type source) { return source.isIndex() ? IntegerType::get(source.getContext(), 64) : source; }

Value exponentialAtMostOne(ImplicitLocOpBuilder &builder, Value x) {
  if (!x.getType().isF64())
    return emitExpAtMostOne(builder, x);
  auto wanted = math::ExpOp::create(builder, x);
  Value result = emitWideFunction(builder, *wanted, {x});
  wanted.erase();
  return result;
}

Value ScalarCode::get(Value source) {
  if (Value known = values.lookup(source))
    return known;
  if (Value scalar = code.scalar(source))
    return values[source] = scalar;
  // Scalar code outside the kernel (constants, forms of the dims) is repeated here.
  Operation *definition = source.getDefiningOp();
  assert(definition && "a scalar of the kernel form is a dim, a depth, or computed by an op");
  emitOp(*definition);
  return values.lookup(source);
}

void ScalarCode::bindOutside(Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (inner != op && !isa<RankedTensorType>(operand.getType()) &&
          llvm::none_of(op->getRegions(), [&](Region &region) { return region.isAncestor(operand.getParentRegion()); }))
        get(operand);
  });
}

SmallVector<Value> ScalarCode::split(Value number, ArrayRef<AffineExpr> sizes) {
  SmallVector<Value> indices(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 0;) {
    Value size = code.size(sizes[dim]);
    indices[dim] = dim == 0 ? number : remainder(builder, number, size);
    if (dim > 0)
      number = divide(builder, number, size);
  }
  return indices;
}

void ScalarCode::bindSplit(ValueRange sources, Value number, ArrayRef<AffineExpr> sizes) {
  for (auto [source, index] : llvm::zip_equal(sources, split(number, sizes)))
    bind(source, index);
}

Value ScalarCode::linearIndex(RankedTensorType type, ArrayRef<Value> indices) {
  Value linear = constant(builder, 0);
  for (auto [index, size] : llvm::zip_equal(indices, sizesOf(type)))
    linear = add(builder, multiply(builder, linear, code.size(size)), index);
  return linear;
}

Value ScalarCode::linearIndex(Value tensor, ArrayRef<Value> indices) { return linearIndex(storedType(tensor), indices); }

Value ScalarCode::linearIndexOf(AtOp at, ArrayRef<Value> indices) {
  Value linear = linearIndex(at.getTensor(), indices);
  const RankedTensorType type = storedType(at.getTensor());
  const bool isForced = llvm::any_of(at.getIndices(), [](Value index) { return index.getDefiningOp<arith::MaxSIOp>(); });
  if (type.hasStaticShape() || !isForced)
    return linear;
  Value last = subtract(builder, code.size(product(sizesOf(type), builder.getContext())), constant(builder, 1));
  return minimum(builder, linear, builder.createOrFold<arith::MaxSIOp>(last, constant(builder, 0)));
}

Value ScalarCode::load(Type element, Value base, Value index) {
  const bool isTruth = element.isInteger(1);
  Type stored = isTruth ? Type(builder.getI8Type()) : element;
  Value loaded =
      LLVM::LoadOp::create(builder, stored, elementAddress(builder, base, stored, index), unsigned(elementBytes(element)));
  if (!isTruth)
    return loaded;
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, loaded,
                               arith::ConstantOp::create(builder, builder.getI8IntegerAttr(0)));
}

void ScalarCode::store(Type element, Value base, Value index, Value value) {
  Type stored = element.isInteger(1) ? Type(builder.getI8Type()) : element;
  if (element.isInteger(1))
    value = arith::ExtUIOp::create(builder, stored, value);
  LLVM::StoreOp::create(builder, value, elementAddress(builder, base, stored, index), unsigned(elementBytes(element)));
}

Value ScalarCode::foldPart(FoldOp fold, Value first, Value step) {
  const Type element = fold.getType();
  SmallVector<AffineExpr> sizes = llvm::to_vector(fold.getSizes().getResults());
  Block &block = fold.getBody().front();
  Value count = code.size(product(sizes, fold.getContext()));
  auto loop = scf::ForOp::create(builder, first, count, step, neutralElement(builder, fold.getKind(), element));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  bindSplit(block.getArguments(), loop.getInductionVar(), sizes);
  emitOps(block);
  Value term = get(cast<YieldOp>(block.getTerminator()).getOperand(0));
  scf::YieldOp::create(builder, ValueRange{combine(builder, fold.getKind(), loop.getRegionIterArgs()[0], term)});
  return loop.getResult(0);
}

Value ScalarCode::castIndex(Operation &op) {
  Value value = get(op.getOperand(0));
  Type to = machineType(op.getResult(0).getType());
  const unsigned from = value.getType().getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  if (from == width)
    return value;
  if (from > width)
    return builder.createOrFold<arith::TruncIOp>(to, value);
  if (isa<arith::IndexCastOp>(op))
    return builder.createOrFold<arith::ExtSIOp>(to, value);
  return builder.createOrFold<arith::ExtUIOp>(to, value);
}

void ScalarCode::emitElementwise(Operation &op) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand));
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op) && op.getOperand(0).getType().isF32()) { // an instruction of f32 hands on NaN
    values[op.getResult(0)] = isa<arith::MaximumFOp>(op) ? Value(LLVM::MaximumOp::create(builder, operands[0], operands[1]))
                                                         : Value(LLVM::MinimumOp::create(builder, operands[0], operands[1]));
    return;
  }
  OperationState state(op.getLoc(), op.getName().getStringRef(), operands, {machineType(op.getResult(0).getType())},
                       op.getAttrs());
  Operation *created = builder.create(state);
  SmallVector<Value> folded;
  Value result = created->getResult(0);
  if (succeeded(builder.tryFold(created, folded)) && folded.size() == 1) {
    created->erase();
    result = folded[0];
  }
  values[op.getResult(0)] = result;
}

/// Whether emitFastFunction has code for it.
static bool hasFastFunction(Operation &op) { return isa<math::ExpOp, math::TanhOp>(op) && op.getOperand(0).getType().isF32(); }

bool mayApproximate(Operation *kernel) {
  auto isShort = [](Type type) { return isShortReal(cast<RankedTensorType>(type).getElementType()); };
  auto isFast = [](Operation *op) { return hasFastFunction(*op) ? WalkResult::interrupt() : WalkResult::advance(); };
  return kernel->hasTrait<PutsResults>() && llvm::any_of(kernel->getResultTypes(), isShort) &&
         kernel->walk(isFast).wasInterrupted();
}

/// Null: nothing is chosen.
static DictionaryAttr choiceOf(Operation *kernel, const Chip &chip) {
  auto chosen = kernel ? kernel->getAttrOfType<DictionaryAttr>(kChosen) : DictionaryAttr();
  return chosen ? chosen.getAs<DictionaryAttr>(chip.name) : DictionaryAttr();
}

bool isApproximated(Operation *kernel, const Chip &chip) {
  auto choice = choiceOf(kernel, chip);
  auto number = choice ? choice.getAs<IntegerAttr>(kApproximate) : IntegerAttr();
  return number && number.getInt() != 0;
}

static Value callOfChip(ImplicitLocOpBuilder &builder, StringRef name, Value x) {
  return LLVM::CallIntrinsicOp::create(builder, x.getType(), builder.getStringAttr(name), ValueRange{x}).getResult(0);
}

/// Whether an error that is small beside 1 is as good as one that is small beside the number, which lies between -1 and 1: it is
/// only added to numbers of that size, or its square subtracted from them (GELU and its derivative).
static bool isBesideOne(Value number) {
  auto isLarge = [](Value value) {
    FloatAttr constant;
    return matchPattern(value, m_Constant(&constant)) && std::abs(constant.getValueAsDouble()) >= 0.5;
  };
  auto isAdded = [&](Value of, Operation *user) {
    return isa<arith::AddFOp, arith::SubFOp>(user) &&
           llvm::any_of(user->getOperands(), [&](Value other) { return other != of && isLarge(other); });
  };
  return llvm::all_of(number.getUsers(), [&](Operation *user) {
    auto square = dyn_cast<arith::MulFOp>(user);
    if (!square || square.getLhs() != square.getRhs())
      return isAdded(number, user);
    return llvm::all_of(square->getUsers(), [&](Operation *next) { return isAdded(square.getResult(), next); });
  });
}

static SmallVector<Operation *> fastTanhs(Operation *kernel) {
  SmallVector<Operation *> all;
  kernel->walk([&](math::TanhOp op) {
    if (hasFastFunction(*op))
      all.push_back(op);
  });
  return all;
}

ChoiceList listBesideOne(Operation *kernel) {
  return {kBesideOne, "tanh", llvm::map_to_vector(fastTanhs(kernel), [](Operation *op) {
            return ChoiceNumber{kBesideOne, 0, isBesideOne(op->getResult(0)) ? 1 : 0};
          })};
}

/// What is chosen for a tanh of a kernel that is approximated.
static bool isChosenBesideOne(Operation &op, Operation *kernel, const Chip &chip) {
  const SmallVector<Operation *> all = fastTanhs(kernel);
  return choiceOf(kernel, chip).getAs<DenseI64ArrayAttr>(kBesideOne)[llvm::find(all, &op) - all.begin()] != 0;
}

/// exp and tanh of an f32 by `ex2.approx`, whose relative error is 2^-22: that of exp grows by 2^-24 |x|.
static Value emitFastFunction(ImplicitLocOpBuilder &builder, Operation &op, Value x, Operation *kernel, const Chip &chip) {
  constexpr double log2e = 1.44269504088896340736;
  auto real = [&](double value) -> Value { return arith::ConstantOp::create(builder, builder.getF32FloatAttr(float(value))); };
  auto power = [&](Value of) { return callOfChip(builder, "llvm.nvvm.ex2.approx.ftz.f32", of); };
  if (isa<math::ExpOp>(op))
    return power(arith::MulFOp::create(builder, x, real(log2e)));
  auto far = [&](Value of) -> Value { // 1 - 2 / (exp(2 of) + 1)
    Value e = power(arith::MulFOp::create(builder, of, real(2 * log2e)));
    Value half = callOfChip(builder, "llvm.nvvm.rcp.approx.ftz.f", arith::AddFOp::create(builder, e, real(1.0)));
    return math::FmaOp::create(builder, half, real(-2.0), real(1.0));
  };
  if (isChosenBesideOne(op, kernel, chip))
    return far(x);
  // As emitTanh: an odd polynomial below 0.625, that beyond.
  Value size = math::AbsFOp::create(builder, x), z = arith::MulFOp::create(builder, x, x), p = real(-5.70498872745e-3);
  for (double next : {2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1})
    p = math::FmaOp::create(builder, p, z, real(next));
  Value near = math::FmaOp::create(builder, arith::MulFOp::create(builder, p, z), x, x);
  Value beyond = math::CopySignOp::create(builder, far(size), x);
  Value isFar = arith::CmpFOp::create(builder, arith::CmpFPredicate::OGE, size, real(0.625)); // NaN: near
  return arith::SelectOp::create(builder, isFar, beyond, near);
}

void ScalarCode::emitMath(Operation &op) {
  if (isInstruction(op))
    return emitElementwise(op);
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand));
  Value result;
  if (isa<math::RsqrtOp>(op)) {
    Value one = arith::ConstantOp::create(builder, builder.getOneAttr(operands[0].getType()));
    result = arith::DivFOp::create(builder, one, math::SqrtOp::create(builder, operands[0]));
  } else {
    const bool isWide = operands[0].getType().isF64();
    auto kernel = op.getParentOfType<KernelOpInterface>();
    if (hasFastFunction(op) && isApproximated(kernel, code.chip()))
      result = emitFastFunction(builder, op, operands[0], kernel, code.chip());
    else
      result = isWide ? emitWideFunction(builder, op, operands) : emitRealFunction(builder, op, operands);
  }
  assert(result && "what there is no code for is refused before");
  values[op.getResult(0)] = result;
}

std::array<Value, 4> ScalarCode::drawWords(Value counter, Value depth, int64_t site) {
  auto word = [&](Value value) -> Value { return builder.createOrFold<arith::TruncIOp>(builder.getI32Type(), value); };
  Value high = arith::ShRUIOp::create(builder, code.seed, constant(builder, 32));
  Value ofSite = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(site)));
  return emitPhilox(builder, {word(counter), word(code.step), ofSite, word(depth ? depth : constant(builder, 0))},
                    {word(code.seed), word(high)}, PhiloxRounds::Straight);
}

/// Philox by the formulas of tenon.random_keep and tenon.random_bits: a counter per 16 numbers of `ofBlock` elements. The word of
/// the element, and its number among those of `ofBlock`.
std::pair<Value, Value> ScalarCode::drawWord(Value element, Value depth, int64_t site, int64_t ofBlock) {
  Type i32 = builder.getI32Type();
  auto word = [&](Value value) -> Value { return builder.createOrFold<arith::TruncIOp>(i32, value); };
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(value)));
  };
  Value sixteen = constant(builder, 16);
  Value counter = add(builder, multiply(builder, divide(builder, element, constant(builder, 16 * ofBlock)), sixteen),
                      remainder(builder, element, sixteen));
  Value which = word(remainder(builder, divide(builder, element, sixteen), constant(builder, ofBlock)));
  std::array<Value, 4> words = drawWords(counter, depth, site);
  Value ofWord = ofBlock == 8 ? Value(arith::ShRUIOp::create(builder, which, number(1))) : which, chosen = words[3];
  for (int i = 2; i >= 0; --i)
    chosen = arith::SelectOp::create(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, ofWord, number(i)),
                                     words[size_t(i)], chosen);
  return {chosen, which};
}

Value ScalarCode::drawKeep(Value element, Value depth, int64_t site, int64_t threshold) {
  auto [word, which] = drawWord(element, depth, site, 8);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(value)));
  };
  Value shift = arith::MulIOp::create(builder, arith::AndIOp::create(builder, which, number(1)), number(16));
  Value bits = arith::AndIOp::create(builder, arith::ShRUIOp::create(builder, word, shift), number(0xffff));
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::uge, bits, number(threshold));
}

void ScalarCode::emitRandom(Operation &op) {
  auto depthOf = [&](Value depth) { return depth ? get(depth) : Value(); };
  if (auto bits = dyn_cast<RandomBitsOp>(op)) {
    values[bits] = drawWord(get(bits.getIndex()), depthOf(bits.getDepth()), int64_t(bits.getSite()), 4).first;
    return;
  }
  auto keep = cast<RandomKeepOp>(op);
  values[keep] = drawKeep(get(keep.getIndex()), depthOf(keep.getDepth()), int64_t(keep.getSite()), int64_t(keep.getThreshold()));
}

void ScalarCode::emitOp(Operation &op) {
  auto indicesOf = [&](ValueRange sources) { return llvm::map_to_vector(sources, [&](Value source) { return get(source); }); };
  if (auto number = dyn_cast<arith::ConstantOp>(op)) {
    auto attribute = cast<TypedAttr>(number.getValue());
    if (attribute.getType().isIndex())
      attribute = builder.getI64IntegerAttr(cast<IntegerAttr>(attribute).getInt());
    values[number] = arith::ConstantOp::create(builder, attribute);
    return;
  }
  if (auto size = dyn_cast<SizeValueOp>(op)) {
    values[size] = code.size(size.getForm().getResult(0));
    return;
  }
  if (auto at = dyn_cast<AtOp>(op)) {
    auto type = cast<RankedTensorType>(at.getTensor().getType());
    values[at] = load(type.getElementType(), code.pointer(at.getTensor()), linearIndexOf(at, indicesOf(at.getIndices())));
    return;
  }
  if (auto put = dyn_cast<PutOp>(op)) {
    Value result = results[put.getResult()];
    auto type = cast<RankedTensorType>(result.getType());
    store(type.getElementType(), code.pointer(result), linearIndex(result, indicesOf(put.getIndices())), get(put.getElement()));
    return;
  }
  if (auto each = dyn_cast<EachOp>(op)) {
    SmallVector<AffineExpr> sizes = llvm::to_vector(each.getSizes().getResults());
    code.strided(constant(builder, 0), constant(builder, 1), code.size(product(sizes, op.getContext())), [&](Value number) {
      bindSplit(each.getBody().front().getArguments(), number, sizes);
      emitOps(each.getBody().front());
    });
    return;
  }
  if (auto fold = dyn_cast<FoldOp>(op)) {
    values[fold.getValue()] = foldPart(fold, constant(builder, 0), constant(builder, 1));
    return;
  }
  if (isa<RandomKeepOp, RandomBitsOp>(op)) {
    emitRandom(op);
    return;
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    values[op.getResult(0)] = castIndex(op);
    return;
  }
  if (isa<math::MathDialect>(op.getDialect()))
    return emitMath(op);
  assert(isa<arith::ArithDialect>(op.getDialect()) && "what there is no code for is refused before");
  return emitElementwise(op);
}

void ScalarCode::emitOps(Block &block) {
  for (Operation &op : block)
    if (!isa<YieldOp>(op))
      emitOp(op);
}

} // namespace tenon::gpu
