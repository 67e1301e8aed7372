#include "lowering/gpu/LaneCode.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/Reductions.h"
#include "lowering/target/Rows.h"

using namespace mlir;

namespace tenon::gpu {

constexpr int64_t kVectorBytes = 16, kMostLanes = 8;

/// Whether an access with these indices meets neighbours where `last` counts on.
static bool runsAlong(RankedTensorType type, ValueRange indices, Value last) {
  return !indices.empty() && indices.back() == last && !type.isDynamicDim(unsigned(type.getRank() - 1));
}

static Value tensorOf(PutOp put) {
  Operation *owner = put->getParentOp();
  while (!isa<NestOp, GemmOp>(owner))
    owner = owner->getParentOp();
  return owner->getResult(put.getResult());
}

int64_t lanesOf(ArrayRef<Block *> blocks, Value last, AffineExpr size, bool mayBreakOff) {
  auto known = dyn_cast<AffineConstantExpr>(size);
  int64_t widest = 0;
  bool loops = false;
  for (Block *block : blocks)
    for (Operation &op : *block) {
      auto at = dyn_cast<AtOp>(op);
      auto put = dyn_cast<PutOp>(op);
      loops |= isa<FoldOp>(op) || (isa<EachOp>(op) && &op != last.getParentBlock()->getParentOp());
      if (!at && !put)
        continue;
      Value tensor = at ? at.getTensor() : tensorOf(put);
      auto type = cast<RankedTensorType>(tensor.getType());
      if (!runsAlong(type, at ? at.getIndices() : put.getIndices(), last))
        continue;
      widest = std::max(widest, elementBytes(type.getElementType()));
      mayBreakOff &= rowStepOf(tensor) != 0;
    }
  if (!known || loops || widest == 0)
    return 1;
  int64_t lanes = std::min(kVectorBytes / widest, kMostLanes);
  while (!mayBreakOff && known.getValue() % lanes != 0)
    lanes /= 2;
  return lanes;
}

static Value laneNumber(ImplicitLocOpBuilder &builder, size_t lane) {
  return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(lane)));
}

SmallVector<Value> loadVector(ImplicitLocOpBuilder &builder, Type element, Value address, int64_t count) {
  const auto alignment = unsigned(count * elementBytes(element));
  if (count == 1)
    return {LLVM::LoadOp::create(builder, element, address, alignment)};
  Value all = LLVM::LoadOp::create(builder, VectorType::get({count}, element), address, alignment);
  SmallVector<Value> elements;
  for (size_t i = 0; i < size_t(count); ++i)
    elements.push_back(LLVM::ExtractElementOp::create(builder, all, laneNumber(builder, i)));
  return elements;
}

void storeVector(ImplicitLocOpBuilder &builder, ArrayRef<Value> elements, Value address) {
  const Type element = elements.front().getType();
  Value all = elements.front();
  if (elements.size() > 1) {
    all = LLVM::UndefOp::create(builder, VectorType::get({int64_t(elements.size())}, element));
    for (auto [i, one] : llvm::enumerate(elements))
      all = LLVM::InsertElementOp::create(builder, all, one, laneNumber(builder, i));
  }
  LLVM::StoreOp::create(builder, all, address, unsigned(int64_t(elements.size()) * elementBytes(element)));
}

LaneCode::LaneCode(KernelCode &code, const ScalarCode &one, ValueRange results, Value last, int64_t count)
    : code(code), builder(code.builder), results(results), last(last), lanes(size_t(count), one), varying({last}) {
  Value first = lanes.front().get(last);
  for (int64_t k = 1; k < count; ++k)
    lanes[size_t(k)].bind(last, add(builder, first, constant(builder, k)));
}

LaneCode::LaneCode(KernelCode &code, std::vector<ScalarCode> lanes, ValueRange results, ValueRange sources)
    : code(code), builder(code.builder), results(results), lanes(std::move(lanes)), varying(sources.begin(), sources.end()) {}

void LaneCode::bind(Value source, ArrayRef<Value> values) {
  for (auto [lane, value] : llvm::zip_equal(lanes, values))
    lane.bind(source, value);
  varying.insert(source);
}

void LaneCode::bindAll(Value source, Value value) {
  for (ScalarCode &lane : lanes)
    lane.bind(source, value);
}

SmallVector<Value> LaneCode::get(Value source) {
  return llvm::map_to_vector(lanes, [&](ScalarCode &lane) { return lane.get(source); });
}

void LaneCode::bindSplit(ValueRange sources, Value number, ArrayRef<AffineExpr> sizes) {
  for (auto [source, index] : llvm::zip_equal(sources, lanes.front().split(number, sizes)))
    for (ScalarCode &lane : lanes)
      lane.bind(source, index);
}

bool readsAny(Operation &op, const llvm::DenseSet<Value> &values) {
  bool any = false;
  op.walk([&](Operation *inner) {
    any |= llvm::any_of(inner->getOperands(), [&](Value operand) { return values.contains(operand); });
  });
  return any;
}

/// No choice: with the count that is chosen it follows from type, row steps and indices, all in the schedule. Such vectors are
/// aligned: places are to 64 bytes, and rows begin at multiples of the elements.
bool LaneCode::areNeighbours(Value tensor, ValueRange indices) const {
  const int64_t count = int64_t(lanes.size());
  const RankedTensorType type = storedType(tensor);
  return last && count > 1 && runsAlong(type, indices, last) && type.getShape().back() % count == 0 &&
         count * elementBytes(type.getElementType()) <= kVectorBytes &&
         llvm::none_of(indices.drop_back(), [&](Value index) { return varying.contains(index); });
}

/// Of an element of the first lane.
Value LaneCode::address(Value tensor, Value linear) {
  const Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return elementAddress(builder, code.pointer(tensor), element.isInteger(1) ? Type(builder.getI8Type()) : element, linear);
}

SmallVector<Value> LaneCode::ofFirst(ValueRange sources) {
  return llvm::map_to_vector(sources, [&](Value source) { return lanes.front().get(source); });
}

void LaneCode::load(AtOp at) {
  auto type = cast<RankedTensorType>(at.getTensor().getType());
  const bool isTruth = type.getElementType().isInteger(1);
  Type stored = isTruth ? Type(builder.getI8Type()) : type.getElementType();
  Value linear = lanes.front().linearIndexOf(at, ofFirst(at.getIndices()));
  SmallVector<Value> all = loadVector(builder, stored, address(at.getTensor(), linear), int64_t(lanes.size()));
  for (auto [lane, one] : llvm::zip_equal(lanes, all))
    lane.bind(at, isTruth ? Value(arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, one,
                                                        arith::ConstantOp::create(builder, builder.getI8IntegerAttr(0))))
                          : one);
}

void LaneCode::store(PutOp put, Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<Value> all = get(put.getElement());
  if (type.getElementType().isInteger(1))
    for (Value &one : all)
      one = arith::ExtUIOp::create(builder, builder.getI8Type(), one);
  storeVector(builder, all, address(result, lanes.front().linearIndex(result, ofFirst(put.getIndices()))));
}

/// One instruction rounds two.
void LaneCode::roundPairs(arith::TruncFOp round) {
  SmallVector<Value> wide = get(round.getIn());
  for (size_t k = 0; k < lanes.size(); k += 2) {
    Value both = LLVM::UndefOp::create(builder, VectorType::get({2}, wide[k].getType()));
    for (size_t i = 0; i < 2; ++i)
      both = LLVM::InsertElementOp::create(builder, both, wide[k + i], laneNumber(builder, i));
    both = arith::TruncFOp::create(builder, VectorType::get({2}, round.getType()), both);
    for (size_t i = 0; i < 2; ++i)
      lanes[k + i].bind(round, LLVM::ExtractElementOp::create(builder, both, laneNumber(builder, i)));
  }
}

void LaneCode::emitOp(Operation &op) {
  if (!readsAny(op, varying)) {
    lanes.front().emitOp(op);
    for (Value result : op.getResults())
      for (ScalarCode &lane : llvm::drop_begin(lanes))
        lane.bind(result, lanes.front().get(result));
    return;
  }
  varying.insert(op.result_begin(), op.result_end());
  if (auto at = dyn_cast<AtOp>(op); at && areNeighbours(at.getTensor(), at.getIndices()))
    return load(at);
  if (auto put = dyn_cast<PutOp>(op)) {
    Value result = results[put.getResult()];
    if (areNeighbours(result, put.getIndices()))
      return store(put, result);
  }
  if (auto round = dyn_cast<arith::TruncFOp>(op); round && round.getIn().getType().isF32() && lanes.size() % 2 == 0)
    return roundPairs(round);
  for (ScalarCode &lane : lanes)
    lane.emitOp(op);
}

void LaneCode::emitOps(Block &block) {
  for (Operation &op : block)
    if (!isa<YieldOp>(op))
      emitOp(op);
}

Value emitApart(KernelCode &code, const ScalarCode &scalars, ValueRange results, ValueRange places, ArrayRef<AffineExpr> sizes,
                const Apart &of, llvm::function_ref<void(LaneCode &)> emit) {
  auto &builder = code.builder;
  Value end = subtract(builder, of.count, multiply(builder, of.step, constant(builder, of.together - 1)));
  Value stride = multiply(builder, of.step, constant(builder, of.together));
  auto loop = scf::ForOp::create(builder, of.first, end, stride, ValueRange{of.first});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  std::vector<ScalarCode> lanes(size_t(of.together), scalars);
  for (ScalarCode &lane : lanes) {
    lane.bindSplit(places, number, sizes);
    number = add(builder, number, of.step);
  }
  LaneCode together(code, std::move(lanes), results, places);
  emit(together);
  scf::YieldOp::create(builder, ValueRange{number});
  return loop.getResult(0);
}

/// The terms of one time are combined in pairs first, so that only one operation waits for the time before.
SmallVector<Value> foldLanes(KernelCode &code, const ScalarCode &scalars, ArrayRef<FoldOp> folds, Value first, Value step,
                             int64_t count) {
  auto &builder = code.builder;
  FoldOp any = folds.front();
  SmallVector<AffineExpr> sizes = llvm::to_vector(any.getSizes().getResults());
  SmallVector<Value> sums =
      llvm::map_to_vector(folds, [&](FoldOp fold) { return neutralElement(builder, fold.getKind(), fold.getType()); });
  Value times = divide(builder, code.size(product(sizes, any.getContext())), constant(builder, count));
  auto loop = scf::ForOp::create(builder, first, times, step, sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = multiply(builder, loop.getInductionVar(), constant(builder, count));
  for (auto [fold, sum, before] : llvm::zip_equal(folds, sums, loop.getRegionIterArgs())) {
    Block &block = FoldOp(fold).getBody().front();
    ScalarCode own = scalars;
    own.bindSplit(block.getArguments(), number, sizes);
    LaneCode lanes(code, own, {}, block.getArguments().back(), count);
    lanes.emitOps(block);
    SmallVector<Value> terms = lanes.get(cast<YieldOp>(block.getTerminator()).getOperand(0));
    for (; terms.size() > 1; terms.resize(terms.size() / 2))
      for (size_t i = 0; i < terms.size() / 2; ++i)
        terms[i] = combine(builder, FoldOp(fold).getKind(), terms[2 * i], terms[2 * i + 1]);
    sum = combine(builder, FoldOp(fold).getKind(), before, terms[0]);
  }
  scf::YieldOp::create(builder, sums);
  return llvm::to_vector_of<Value>(loop.getResults());
}

} // namespace tenon::gpu
