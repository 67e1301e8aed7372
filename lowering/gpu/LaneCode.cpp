#include "lowering/gpu/LaneCode.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/Reductions.h"

using namespace mlir;

namespace tenon::gpu {

constexpr int64_t kVectorBytes = 16, kMostLanes = 8;

/// Whether an access with these indices meets neighbours where `last` counts on.
static bool runsAlong(RankedTensorType type, ValueRange indices, Value last) {
  return !indices.empty() && indices.back() == last && !type.isDynamicDim(unsigned(type.getRank() - 1));
}

int64_t lanesOf(ArrayRef<Block *> blocks, Value last, AffineExpr size) {
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
      auto type = cast<RankedTensorType>(at ? at.getTensor().getType()
                                            : op.getParentOfType<NestOp>()->getResult(put.getResult()).getType());
      if (runsAlong(type, at ? at.getIndices() : put.getIndices(), last))
        widest = std::max(widest, elementBytes(type.getElementType()));
    }
  if (!known || loops || widest == 0)
    return 1;
  int64_t lanes = std::min(kVectorBytes / widest, kMostLanes);
  while (known.getValue() % lanes != 0)
    lanes /= 2;
  return lanes;
}

LaneCode::LaneCode(KernelCode &code, const ScalarCode &one, ValueRange results, Value last, int64_t count)
    : code(code), builder(code.builder), results(results), last(last), lanes(size_t(count), one), varying({last}) {
  Value first = lanes.front().get(last);
  for (int64_t k = 1; k < count; ++k)
    lanes[size_t(k)].bind(last, add(builder, first, constant(builder, k)));
}

LaneCode::LaneCode(KernelCode &code, std::vector<ScalarCode> lanes, ValueRange results, ValueRange sources)
    : code(code), builder(code.builder), results(results), lanes(std::move(lanes)), varying(sources.begin(), sources.end()) {}

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

/// Such vectors are aligned: places are to 64 bytes, and the innermost size of the tensor is a multiple of the elements.
bool LaneCode::areNeighbours(RankedTensorType type, ValueRange indices) const {
  const int64_t count = int64_t(lanes.size());
  return count > 1 && runsAlong(type, indices, last) && type.getShape().back() % count == 0 &&
         count * elementBytes(type.getElementType()) <= kVectorBytes &&
         llvm::none_of(indices.drop_back(), [&](Value index) { return varying.contains(index); });
}

Value LaneCode::address(RankedTensorType type, Value tensor, ValueRange indices) {
  SmallVector<Value> own = llvm::map_to_vector(indices, [&](Value index) { return lanes.front().get(index); });
  Type stored = type.getElementType().isInteger(1) ? Type(builder.getI8Type()) : type.getElementType();
  return elementAddress(builder, code.pointer(tensor), stored, lanes.front().linearIndex(tensor, own));
}

static Value laneNumber(ImplicitLocOpBuilder &builder, size_t lane) {
  return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(lane)));
}

void LaneCode::load(AtOp at) {
  auto type = cast<RankedTensorType>(at.getTensor().getType());
  const Type element = type.getElementType();
  const int64_t count = int64_t(lanes.size());
  const bool isTruth = element.isInteger(1);
  Type vector = VectorType::get({count}, isTruth ? Type(builder.getI8Type()) : element);
  Value all = LLVM::LoadOp::create(builder, vector, address(type, at.getTensor(), at.getIndices()),
                                   unsigned(count * elementBytes(element)));
  for (auto [k, lane] : llvm::enumerate(lanes)) {
    Value one = LLVM::ExtractElementOp::create(builder, all, laneNumber(builder, k));
    if (isTruth)
      one = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, one,
                                  arith::ConstantOp::create(builder, builder.getI8IntegerAttr(0)));
    lane.bind(at, one);
  }
}

void LaneCode::store(PutOp put, Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  const Type element = type.getElementType();
  const int64_t count = int64_t(lanes.size());
  const bool isTruth = element.isInteger(1);
  Type stored = isTruth ? Type(builder.getI8Type()) : element;
  Value all = LLVM::UndefOp::create(builder, VectorType::get({count}, stored));
  for (auto [k, lane] : llvm::enumerate(lanes)) {
    Value one = lane.get(put.getElement());
    if (isTruth)
      one = arith::ExtUIOp::create(builder, stored, one);
    all = LLVM::InsertElementOp::create(builder, all, one, laneNumber(builder, k));
  }
  LLVM::StoreOp::create(builder, all, address(type, result, put.getIndices()), unsigned(count * elementBytes(element)));
}

bool LaneCode::emitOp(Operation &op) {
  if (!readsAny(op, varying)) {
    if (!lanes.front().emitOp(op))
      return false;
    for (Value result : op.getResults())
      for (ScalarCode &lane : llvm::drop_begin(lanes))
        lane.bind(result, lanes.front().get(result));
    return true;
  }
  varying.insert(op.result_begin(), op.result_end());
  if (auto at = dyn_cast<AtOp>(op); at && areNeighbours(cast<RankedTensorType>(at.getTensor().getType()), at.getIndices())) {
    load(at);
    return true;
  }
  if (auto put = dyn_cast<PutOp>(op)) {
    Value result = results[put.getResult()];
    if (areNeighbours(cast<RankedTensorType>(result.getType()), put.getIndices())) {
      store(put, result);
      return true;
    }
  }
  return llvm::all_of(lanes, [&](ScalarCode &lane) { return lane.emitOp(op); });
}

bool LaneCode::emitOps(Block &block) {
  return llvm::all_of(block, [&](Operation &op) { return isa<YieldOp>(op) || emitOp(op); });
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
    if (!lanes.emitOps(block))
      return {};
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
