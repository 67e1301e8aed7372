// What the kernel ops say about themselves: tensors read, what a result may be written over, index spaces, operations and bytes.
#include "dialect/AttentionMasks.h"
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/OptimizeSettings.h"
#include "dialect/Places.h"
#include "dialect/StoredParameter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;

namespace tenon {

SmallVector<Value> tensorOperands(Operation *op) {
  llvm::SetVector<Value> tensors;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      tensors.insert(operand);
  return tensors.takeVector();
}

bool isScalarCode(Operation *op) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  return op->getNumRegions() == 0 && op->getNumResults() > 0 && llvm::none_of(op->getOperandTypes(), isTensor) &&
         llvm::none_of(op->getResultTypes(), isTensor) && isPure(op);
}

SmallVector<int64_t> dimsOfTensor(Value tensor) { return llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(tensor).getRank())); }

static Polynomial elementsOf(Type type, FormulaSpace &space) {
  Polynomial product = 1;
  for (AffineExpr size : sizesOf(cast<RankedTensorType>(type)))
    product = product * space.of(size);
  return product;
}
static int64_t bytesOfElement(Type type) { return elementBytes(cast<RankedTensorType>(type).getElementType()); }

Polynomial elementsOf(Value tensor, FormulaSpace &space) { return elementsOf(tensor.getType(), space); }
Polynomial bytesOf(Value tensor, FormulaSpace &space) { return elementsOf(tensor, space) * bytesOfElement(tensor.getType()); }

/// `without`: tensors that are counted otherwise.
static Polynomial bytesOfTensors(Operation *kernel, FormulaSpace &space, llvm::function_ref<bool(Value)> without) {
  Polynomial bytes;
  for (Value tensor : tensorOperands(kernel))
    if (!without(tensor))
      bytes += bytesOf(tensor, space);
  for (Value result : kernel->getResults())
    if (isa<RankedTensorType>(result.getType()) && isRead(result))
      bytes += bytesOf(result, space);
  return bytes;
}

Polynomial bytesOfTensors(Operation *kernel, FormulaSpace &space) {
  return bytesOfTensors(kernel, space, [](Value) { return false; });
}

// ---- scalar code in regions

namespace {

struct ScalarCode {
  explicit ScalarCode(FormulaSpace &space) : space(space) {}
  void count(Block &block, const Polynomial &times);
  Polynomial bytesRead();

  FormulaSpace &space;
  Polynomial flops;
  llvm::MapVector<Value, Polynomial> reads; // how often an element is read, over all places where one is

private:
  Polynomial product(AffineMap sizes);
};

Polynomial ScalarCode::product(AffineMap sizes) {
  Polynomial all = 1;
  for (AffineExpr size : sizes.getResults())
    all = all * space.of(size);
  return all;
}

void ScalarCode::count(Block &block, const Polynomial &times) {
  for (Operation &op : block) {
    if (auto each = dyn_cast<EachOp>(op)) {
      count(each.getBody().front(), times * product(each.getSizes()));
    } else if (auto fold = dyn_cast<FoldOp>(op)) {
      Polynomial inner = times * product(fold.getSizes());
      count(fold.getBody().front(), inner);
      if (isa<FloatType>(fold.getValue().getType()))
        flops += inner;
    } else if (auto at = dyn_cast<AtOp>(op)) {
      reads[at.getTensor()] += times;
    } else if (op.getNumResults() == 1 && isa<FloatType>(op.getResult(0).getType()) &&
               !isa<arith::ConstantOp, arith::SelectOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>(op)) {
      flops += isa<math::FmaOp>(op) ? Polynomial(2) * times : times;
    }
  }
}

/// Of a gathered tensor only what is named.
Polynomial ScalarCode::bytesRead() {
  Polynomial bytes;
  for (auto &[tensor, times] : reads) {
    Polynomial whole = elementsOf(tensor, space);
    bytes += (space.atMost(times, whole) ? times : whole) * bytesOfElement(tensor.getType());
  }
  return bytes;
}

SmallVector<Value> tensorsReadIn(Operation *kernel) {
  llvm::SetVector<Value> tensors;
  for (Value operand : tensorOperands(kernel))
    tensors.insert(operand);
  kernel->walk([&](AtOp at) { tensors.insert(at.getTensor()); });
  return tensors.takeVector();
}

} // namespace

// ---- nest

static ScalarCode codeOf(NestOp nest, FormulaSpace &space) {
  ScalarCode code(space);
  Polynomial rows = 1;
  for (AffineExpr size : nest.getRows().getResults())
    rows = rows * space.of(size);
  code.count(nest.getBody().front(), rows);
  return code;
}

SmallVector<Value> NestOp::tensorsRead() { return tensorsReadIn(*this); }
SmallVector<AffineExpr> NestOp::parallelDomain() { return llvm::to_vector(getRows().getResults()); }
Polynomial NestOp::countFlops(FormulaSpace &space) { return codeOf(*this, space).flops; }
Polynomial NestOp::countBytes(FormulaSpace &space) {
  ScalarCode code = codeOf(*this, space);
  return code.bytesRead() + bytesOfTensors(*this, space, [&](Value tensor) { return code.reads.contains(tensor); });
}

// ---- gemm

static std::map<int64_t, AffineExpr> labelSizes(GemmOp gemm) {
  std::map<int64_t, AffineExpr> sizes;
  for (auto [type, labels] : {std::pair(gemm.typeOfA(), gemm.getALabels()), std::pair(gemm.typeOfB(), gemm.getBLabels())})
    for (auto [size, label] : llvm::zip(sizesOf(type), labels))
      sizes[label] = size;
  return sizes;
}

static ScalarCode codeOf(GemmOp gemm, FormulaSpace &space) {
  ScalarCode code(space);
  Polynomial results = 1, all = 1;
  for (auto [label, expression] : labelSizes(gemm)) {
    Polynomial size = space.of(expression);
    all = all * size;
    if (label < int64_t(gemm.getRank()))
      results = results * size;
  }
  code.flops = Polynomial(2) * all;
  code.count(gemm.getBody().front(), results);
  for (auto [block, type] : {std::pair(gemm.elementOfA(), gemm.typeOfA()), std::pair(gemm.elementOfB(), gemm.typeOfB())})
    if (block)
      code.count(*block, elementsOf(type, space));
  return code;
}

SmallVector<Value> GemmOp::tensorsRead() { return tensorsReadIn(*this); }
SmallVector<AffineExpr> GemmOp::parallelDomain() {
  SmallVector<AffineExpr> sizes;
  for (auto [label, size] : labelSizes(*this))
    if (label < int64_t(getRank()))
      sizes.push_back(size);
  return sizes;
}
Polynomial GemmOp::countFlops(FormulaSpace &space) { return codeOf(*this, space).flops; }
Polynomial GemmOp::countBytes(FormulaSpace &space) {
  ScalarCode code = codeOf(*this, space);
  return code.bytesRead() + bytesOfTensors(*this, space, [&](Value tensor) { return code.reads.contains(tensor); });
}

// ---- attention

constexpr int64_t kSoftmaxFlops = 6; // per pair: scale, maximum, subtraction, exp, sum, normalisation

/// Whether a mask is key * j + query * i + rest <= 0 of positions alone.
static bool isOfPositions(const Mask &mask) {
  return mask.kind == Mask::Kind::AtMostZero && mask.form.terms.empty() && mask.form.isLinear();
}

/// The pairs that those masks of positions leave, of sizes that are numbers; masks of anything else leave all.
static int64_t pairsLeft(ArrayRef<Mask> masks, int64_t queries, int64_t keys) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < queries; ++i) {
    int64_t low = 0, end = keys;
    for (const Mask &mask : masks) {
      auto rest = dyn_cast_or_null<AffineConstantExpr>(mask.form.rest);
      if (!isOfPositions(mask) || !rest)
        continue;
      const int64_t room = -(mask.form.query * i + rest.getValue()), key = mask.form.key; // key * j <= room
      if (key > 0)
        end = std::min(end, llvm::divideFloorSigned(room, key) + 1);
      else if (key < 0)
        low = std::max(low, llvm::divideCeilSigned(-room, -key));
      else if (room < 0)
        end = 0;
    }
    pairs += std::max<int64_t>(end - low, 0);
  }
  return pairs;
}

static void addConjuncts(const Mask &mask, SmallVectorImpl<Mask> &masks) {
  if (mask.kind != Mask::Kind::And)
    return masks.push_back(mask);
  for (const Mask &part : mask.parts)
    addConjuncts(part, masks);
}

static std::optional<int64_t> asNumber(const Polynomial &polynomial) {
  if (polynomial.terms.empty())
    return 0;
  const auto &[monomial, coefficient] = *polynomial.terms.begin();
  return polynomial.terms.size() == 1 && monomial.empty() ? std::optional(coefficient) : std::nullopt;
}

/// Twice the number of pairs (query, key) that a list of masks leaves. Of sizes that are numbers, all masks of positions count;
/// of others one that decides, key <= query + const. Masks that depend on data leave all pairs.
static Polynomial doubledPairs(FormulaSpace &space, ArrayAttr attributes, const Polynomial &queries, const Polynomial &keys) {
  Polynomial best = Polynomial(2) * queries * keys;
  SmallVector<Mask> masks;
  std::string problem;
  for (Attribute attribute : attributes)
    if (std::optional<Mask> mask = toMask(attribute, problem))
      addConjuncts(*mask, masks);
  constexpr int64_t mostQueries = 1 << 20; // that are worth a walk
  if (auto rows = asNumber(queries), columns = asNumber(keys); rows && columns && *rows <= mostQueries)
    return Polynomial(2 * pairsLeft(masks, *rows, *columns));
  for (const Mask &mask : masks) {
    if (!isOfPositions(mask) || mask.form.key != 1 || mask.form.query != -1)
      continue;
    // Query i sees the keys 0 .. i + first - 1, if that is within the keys for the last query and no less than nothing for the
    // first.
    Polynomial first = Polynomial(1) - space.of(mask.form.rest);
    if (!space.atMost(0, first) || !space.atMost(queries + first - Polynomial(1), keys))
      continue;
    Polynomial pairs = Polynomial(2) * queries * first + queries * (queries - Polynomial(1));
    if (space.atMost(pairs, best))
      best = pairs;
  }
  return best;
}

/// `passes`: contractions per forward contraction; the scores that the gradient computes again are not counted.
template <typename Op> static Polynomial flopsOfAttention(Op op, int64_t passes, FormulaSpace &space) {
  auto sizes = [&](Value tensor, int64_t dim) { return space.of(sizesOf(tensorOf(tensor))[dim]); };
  Polynomial perPair = Polynomial(2) * sizes(op.getQuery(), 3) + Polynomial(2) * sizes(op.getValue(), 3);
  for (Value table : {op.getTable(), op.getKeyTable()})
    if (table)
      perPair += Polynomial(2) * sizes(op.getQuery(), 3);
  if (op.getValueTable())
    perPair += Polynomial(2) * sizes(op.getValue(), 3);
  // Even, because the pairs come doubled.
  perPair = Polynomial(passes) * perPair + Polynomial(kSoftmaxFlops);
  Polynomial half = perPair;
  for (auto &[monomial, coefficient] : half.terms)
    coefficient /= 2;
  Polynomial pairs = doubledPairs(space, op.getMask(), sizes(op.getQuery(), 1), sizes(op.getKey(), 1));
  return half * sizes(op.getQuery(), 0) * sizes(op.getQuery(), 2) * pairs;
}

/// Rows of scores: [B, I, H].
static SmallVector<AffineExpr> rowsOfScores(Value query) {
  SmallVector<AffineExpr> sizes = sizesOf(tensorOf(query));
  sizes.pop_back();
  return sizes;
}

SmallVector<AffineExpr> AttentionOp::parallelDomain() { return rowsOfScores(getQuery()); }
Polynomial AttentionOp::countFlops(FormulaSpace &space) { return flopsOfAttention(*this, 1, space); }

/// The rows of one head of one batch row add to the same gradients of keys.
SmallVector<AffineExpr> AttentionGradOp::parallelDomain() {
  SmallVector<AffineExpr> sizes = sizesOf(tensorOf(getQuery()));
  return {sizes[0], sizes[2]};
}
Polynomial AttentionGradOp::countFlops(FormulaSpace &space) { return flopsOfAttention(*this, 2, space); }

// ---- the others

/// The place of a sum is found along the gathered dimension: what one thread adds has the other indices.
SmallVector<AffineExpr> ScatterAddOp::parallelDomain() {
  SmallVector<AffineExpr> sizes = sizesOf(tensorOf(getDx()));
  sizes.erase(sizes.begin() + getDim());
  return sizes;
}
SmallVector<Value> ScatterAddOp::overwritable(unsigned) {
  return getBase() && getBase() != getDy() ? SmallVector<Value>{getBase()} : SmallVector<Value>();
}
Value ScatterAddOp::startsFrom(unsigned) { return getBase(); }
Polynomial ScatterAddOp::countFlops(FormulaSpace &space) { return elementsOf(getDy(), space); }
Polynomial ScatterAddOp::countBytes(FormulaSpace &space) {
  // In place: only the rows that are named.
  return getBase() ? Polynomial(3) * bytesOf(getDy(), space) + bytesOf(getIndex(), space) : bytesOfTensors(*this, space);
}

SmallVector<AffineExpr> RunningSumOp::parallelDomain() {
  SmallVector<AffineExpr> sizes = sizesOf(tensorOf(getY()));
  sizes.erase(sizes.begin() + getDim());
  return sizes;
}
Polynomial RunningSumOp::countFlops(FormulaSpace &space) { return elementsOf(getY(), space); }

SmallVector<AffineExpr> TopOp::parallelDomain() {
  SmallVector<AffineExpr> sizes = sizesOf(tensorOf(getX()));
  sizes.pop_back();
  return sizes;
}
/// Each element is compared with the smallest of the best.
Polynomial TopOp::countFlops(FormulaSpace &space) { return elementsOf(getX(), space); }

SmallVector<AffineExpr> AppendStateOp::parallelDomain() { return sizesOf(tensorOf(getRows())); }
Polynomial AppendStateOp::countFlops(FormulaSpace &) { return 0; }
Polynomial AppendStateOp::countBytes(FormulaSpace &space) {
  return Polynomial(2) * bytesOf(getRows(), space) + bytesOf(getPosition(), space);
}

/// Gradient twice (the norm comes first), moments read and written; with a ratio per tensor moments are read once more.
static int64_t momentTouches(OptimizeOp op) {
  if (ruleOf(op).isFactored()) // directions take the place of gradients; means by rows and columns are little beside them
    return 5 + 2 * (momentCount(op) - 1);
  return 2 + (2 + (formOf(op).trust != schema::Trust::None ? 1 : 0)) * momentCount(op);
}
/// Read and written; with a ratio per tensor read once more.
static int64_t parameterTouches(OptimizeOp op) {
  return 2 + (formOf(op).trust != schema::Trust::None || ruleOf(op).isFactored() ? 1 : 0);
}

/// `perElement(parameter)` summed over the elements of all parameters that are trained.
static Polynomial overParameters(OptimizeOp optimize, llvm::function_ref<int64_t(ParameterOp)> perElement) {
  int64_t all = 0;
  for (auto parameter : optimize->getParentOfType<ModuleOp>().getOps<ParameterOp>())
    if (const int64_t numbers = trainedNumbers(optimize, parameter))
      all += perElement(parameter) * numbers;
  return Polynomial(all);
}
/// Every element of what is trained, behind the norm.
SmallVector<AffineExpr> OptimizeOp::parallelDomain() {
  int64_t elements = 0;
  for (auto parameter : getOperation()->getParentOfType<ModuleOp>().getOps<ParameterOp>())
    elements += trainedNumbers(*this, parameter);
  return {getAffineConstantExpr(elements, getContext())};
}
Polynomial OptimizeOp::countFlops(FormulaSpace &space) {
  return overParameters(*this, [&](ParameterOp) { return ruleOf(*this).operations; });
}
Polynomial OptimizeOp::countBytes(FormulaSpace &space) {
  return overParameters(*this, [&](ParameterOp parameter) {
    const int64_t bytes = bytesOfElement(parameter.getType());
    const Type copies = copyTypeOf(parameter); // written
    return momentTouches(*this) * bytes +
           parameterTouches(*this) * (isSplit(parameter) ? bytes : elementBytes(storedType(parameter))) +
           (copies ? elementBytes(copies) : 0);
  });
}

} // namespace tenon
