// tenon.gemm: labels sorted into rows, columns, depth and batch of packed contractions (Gemm.h); the body becomes the epilogue.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/KeepBits.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/ShortReals.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// One operand: which dimension has which label.
struct Side {
  Value tensor;
  RankedTensorType type;
  ArrayRef<int64_t> labels;
  Block *element; ///< its code; null: it is in memory
  SmallVector<AffineExpr> strides;
  Side(Value tensor, RankedTensorType type, ArrayRef<int64_t> labels, Block *element)
      : tensor(tensor), type(type), labels(labels), element(element), strides(rowMajorStrides(type)) {}
  int64_t dimOf(int64_t label) const {
    auto found = llvm::find(labels, label);
    return found == labels.end() ? -1 : found - labels.begin();
  }
  AffineExpr strideOf(int64_t label) const {
    int64_t dim = dimOf(label);
    return dim < 0 ? getAffineConstantExpr(0, type.getContext()) : strides[dim];
  }
};

using Labels = SmallVector<int64_t, 4>;

/// Of one random site, for one row of a run of columns.
constexpr int64_t kKeepBytes = KeepBits::bytes(GemmRuns::mostColumns);

class Contraction {
public:
  Contraction(GemmOp op, KernelSequence &sequence)
      : op(op), sequence(sequence), block(op.getBody().front()), rank(op.getRank()),
        a(op.getA(), op.typeOfA(), op.getALabels(), op.elementOfA()),
        b(op.getB(), op.typeOfB(), op.getBLabels(), op.elementOfB()) {
    for (const Side *side : {&a, &b})
      for (auto [dim, label] : llvm::enumerate(side->labels))
        sizes.try_emplace(label, sizesOf(side->type)[dim]);
  }

  LogicalResult generate() {
    Type storage = a.type.getElementType();
    Kernel kernel{"gemm", op.getLoc(), {}, {}, {}, {}, 0, {}, {}};
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    op.walk([&](AtOp at) { read.insert(at.getTensor()); });
    kernel.reads.append(read.begin(), read.end());
    kernel.writes.append(op.getResults().begin(), op.getResults().end());
    bool good = true;
    if (sortLabels()) {
      findKeptRuns();
      kernel.scratchBytes =
          gemmScratchBytes(sequence.tier(), storage, keptRuns.size() * kKeepBytes, readsLeftInPlace(), a.element, b.element);
      kernel.tiles = [&](FunctionCode &code) {
        if (batch.empty())
          return gemmTileCount(code.builder, op.getLoc(), specOf(code, nullptr, {}, good));
        return batchedGemmTileCount(code.builder, op.getLoc(), batched(code, nullptr, good));
      };
      kernel.body = [&](FunctionCode &code) {
        LaneCode epilogue = outsideCode(code, tierLanes(sequence.tier(), compute()));
        if (batch.empty())
          emitGemmTile(code.builder, op.getLoc(), specOf(code, &epilogue, {}, good), code.tile, code.scratch);
        else
          emitBatchedGemmTile(code.builder, op.getLoc(), batched(code, &epilogue, good), code.tile, code.scratch);
      };
    } else {
      kernel.tiles = [&](FunctionCode &code) { return ceilDivide(code.builder, rowCount(code), rowsPerTile(code)); };
      kernel.body = [&](FunctionCode &code) { good = emitLoops(code); };
    }
    sequence.add(kernel);
    return success(good);
  }

private:
  /// Of products and sums.
  Type compute() { return elementModel(a.type.getElementType()).compute; }

  /// The label of the last index of the first put: the direction in which the result is contiguous.
  int64_t contiguousLabel() {
    for (PutOp put : block.getOps<PutOp>())
      if (!put.getIndices().empty())
        if (auto index = dyn_cast<BlockArgument>(put.getIndices().back()); index && index.getOwner() == &block)
          return index.getArgNumber();
    return rank - 1;
  }

  /// The longest run at the end of `labels` (ordered by dimension of `side`) that is one strided dimension there, and in `other`
  /// too where it has them. What is left over goes to the front of `rest`.
  static Labels takeRun(const Side &side, const Side *other, Labels &labels) {
    Labels run;
    while (!labels.empty()) {
      int64_t label = labels.back();
      if (!run.empty() &&
          (side.dimOf(run.front()) != side.dimOf(label) + 1 || (other && other->dimOf(run.front()) != other->dimOf(label) + 1)))
        break;
      run.insert(run.begin(), label);
      labels.pop_back();
    }
    return run;
  }

  /// False: the depth is not one strided dimension of both operands.
  bool sortLabels() {
    if (b.dimOf(contiguousLabel()) < 0 && a.dimOf(contiguousLabel()) >= 0)
      std::swap(a, b);
    Labels onlyA, onlyB, both;
    for (int64_t label : a.labels)
      if (b.dimOf(label) < 0)
        onlyA.push_back(label);
      else
        (label < rank ? both : depth).push_back(label);
    for (int64_t label : b.labels)
      if (a.dimOf(label) < 0)
        onlyB.push_back(label);
    Labels left = depth;
    depth = takeRun(a, &b, left);
    if (!left.empty())
      return false;
    rows = takeRun(a, nullptr, onlyA);
    columns = takeRun(b, nullptr, onlyB);
    batch = both;
    batch.append(onlyA);
    batch.append(onlyB);
    llvm::sort(batch);
    return true;
  }

  /// GemmSpec::readsLeftInPlace, before there is code; false where it is not known.
  bool readsLeftInPlace() const {
    auto strideOf = [&](const Labels &labels) {
      auto number = labels.empty() ? AffineConstantExpr() : dyn_cast<AffineConstantExpr>(a.strideOf(labels.back()));
      return number ? number.getValue() : 0;
    };
    return !a.element && !isShortReal(a.type.getElementType()) && // with pairs it depends on the tier
           !(strideOf(depth) == 1 && rowsShareSet(sequence.tier(), a.type.getElementType(), strideOf(rows)));
  }

  Value sizeOf(FunctionCode &code, const Labels &labels) {
    SmallVector<AffineExpr> factors;
    for (int64_t label : labels)
      factors.push_back(sizes.lookup(label));
    return code.size(product(factors, op.getContext()));
  }

  /// The index of each label from the number of a place in the merged dimension.
  template <typename Indices>
  void split(FunctionCode &code, const Labels &labels, LaneValue number, LaneCode &lanes, Indices &indices) {
    for (size_t i = labels.size(); i-- > 0;) {
      LaneValue size = LaneValue::uniform(code.size(sizes.lookup(labels[i])));
      indices[labels[i]] = i == 0 ? number : lanes.divide(number, size, true);
      if (i > 0)
        number = lanes.divide(number, size, false);
    }
  }

  /// Scalar code whose outside values are computed here, so that they dominate every epilogue.
  LaneCode outsideCode(FunctionCode &code, int64_t lanes) {
    SmallVector<std::pair<Value, RankedTensorType>> results;
    for (Value result : op.getResults())
      results.push_back({code.pointer(result), cast<RankedTensorType>(result.getType())});
    LaneCode outside(code, results, lanes);
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (inner != op && !isa<RankedTensorType>(operand.getType()) &&
            llvm::none_of(op->getRegions(), [&](Region &region) { return region.isAncestor(operand.getParentRegion()); }))
          outside.get(operand);
    });
    return outside;
  }

  GemmSpec specOf(FunctionCode &code, LaneCode *outside, ArrayRef<LaneValue> batchIndices, bool &good) {
    auto &builder = code.builder;
    auto operand = [&](const Side &side, const Labels &outer, const Labels &inner) {
      GemmOperand result;
      auto stride = [&](const Labels &labels) {
        return labels.empty() ? constant(builder, 0) : code.size(side.strideOf(labels.back()));
      };
      result.rowStride = stride(outer);
      result.colStride = stride(inner);
      if (outside && !side.element) {
        Value offset = constant(builder, 0);
        for (int64_t label : batch)
          offset = add(builder, offset, multiply(builder, batchIndices[label].base, code.size(side.strideOf(label))));
        result.base = elementAddress(builder, code.pointer(side.tensor), memoryType(side.type.getElementType()), offset);
      }
      return result;
    };
    GemmSpec spec;
    spec.tier = sequence.tier();
    spec.storage = a.type.getElementType();
    spec.m = sizeOf(code, rows);
    spec.n = sizeOf(code, columns);
    spec.k = sizeOf(code, depth);
    spec.a = operand(a, rows, depth);
    spec.b = operand(b, depth, columns);
    SmallVector<LaneValue> fixed(batchIndices);
    fixed.resize(rank);
    spec.elementsOfA = elementsOf(code, a, rows, outside, fixed, good);
    spec.elementsOfB = elementsOf(code, b, columns, outside, fixed, good);
    spec.epilogue = [this, &code, outside, fixed, &good](OpBuilder &at, Location, const GemmResult &result) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode lanes = *outside;
      lanes.setLanes(true);
      lanes.mask = result.mask;
      bindKeptRuns(code, lanes, fixed, result);
      bindIndices(code, lanes, fixed, LaneValue::uniform(result.row),
                  LaneValue::affine(result.column, constant(code.builder, 1), lanes.lanes()));
      lanes.bind(block.getArgument(rank), LaneValue::lanes(result.sum));
      good &= lanes.emitOps(block);
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
    };
    if (PutOp put = plainPut(); put && outside && isShortReal(spec.storage))
      spec.target = targetOf(code, *outside, fixed, put);
    spec.runs.bytes = keptRuns.size() * kKeepBytes;
    spec.runs.prepare = [this, &code, outside, fixed](OpBuilder &at, Location, Value row, Value column, Value count,
                                                      Value memory) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      for (auto [number, op] : llvm::enumerate(keptRuns)) {
        Value first = elementOf(code, *outside, fixed, op, row, column);
        bitsOf(code, *outside, op)
            .draw(first, count, byteAddress(code.builder, memory, constant(code.builder, number * kKeepBytes)));
      }
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
    };
    return spec;
  }

  /// `lines`: the labels of rows of A or columns of B.
  GemmElements elementsOf(FunctionCode &code, const Side &side, const Labels &lines, LaneCode *outside,
                          const SmallVector<LaneValue> &fixed, bool &good) {
    GemmElements elements;
    elements.areComputed = side.element;
    elements.alongDepth = side.labels.empty() || !llvm::is_contained(lines, side.labels.back());
    elements.compute = [this, &code, &side, &lines, outside, fixed, along = elements.alongDepth,
                        &good](OpBuilder &at, Location, Value line, Value first, Value count, Value target) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode lanes = *outside;
      good &= lanes.forLanes(constant(code.builder, 0), count, [&](LaneValue place) {
        DenseMap<int64_t, LaneValue> indices;
        for (int64_t label : batch)
          indices[label] = fixed[label];
        LaneValue inner = LaneValue::affine(add(code.builder, first, place.base), constant(code.builder, 1), along ? 16 : 1);
        split(code, lines, along ? LaneValue::uniform(line) : inner, lanes, indices);
        split(code, depth, along ? inner : LaneValue::uniform(line), lanes, indices);
        std::optional<LaneValue> value = elementAt(side, lanes, indices);
        if (value)
          lanes.store(side.type.getElementType(), target, place, *value);
        return value.has_value();
      });
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
    };
    return elements;
  }

  /// One element of a computed operand, or 16 neighbours; `indices`: by label.
  std::optional<LaneValue> elementAt(const Side &side, LaneCode &lanes, const DenseMap<int64_t, LaneValue> &indices) {
    for (auto [argument, label] : llvm::zip(side.element->getArguments(), side.labels))
      lanes.bind(argument, indices.at(label));
    if (!lanes.emitOps(*side.element))
      return std::nullopt;
    return lanes.get(side.element->getTerminator()->getOperand(0));
  }

  /// A put whose last index is that of the columns, at the labels alone.
  PutOp plainPut() {
    for (PutOp put : block.getOps<PutOp>())
      if (!columns.empty() && !put.getIndices().empty() && put.getIndices().back() == block.getArgument(columns.back()) &&
          llvm::all_of(put.getIndices(), [&](Value index) { return llvm::is_contained(block.getArguments(), index); }))
        return put;
    return {};
  }

  GemmTarget targetOf(FunctionCode &code, const LaneCode &outside, const SmallVector<LaneValue> &fixed, PutOp put) {
    auto type = cast<RankedTensorType>(op.getResult(put.getResult()).getType());
    auto address = [this, &code, &outside, fixed, put, type](OpBuilder &at, Location, Value row, Value column) mutable {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode scalars = outside;
      scalars.setLanes(false);
      bindIndices(code, scalars, fixed, LaneValue::uniform(row), LaneValue::uniform(column));
      Value place = scalars.linearIndex(type, put.getIndices()).base;
      Value result = byteAddress(code.builder, code.pointer(op.getResult(put.getResult())),
                                 multiply(code.builder, place, constant(code.builder, elementBytes(type.getElementType()))));
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
      return result;
    };
    return {address, elementBytes(type.getElementType())};
  }

  void bindIndices(FunctionCode &code, LaneCode &lanes, ArrayRef<LaneValue> fixed, LaneValue row, LaneValue column) {
    SmallVector<LaneValue> indices(fixed);
    split(code, rows, row, lanes, indices);
    split(code, columns, column, lanes, indices);
    for (int64_t label = 0; label < rank; ++label)
      lanes.bind(block.getArgument(label), indices[label]);
  }

  // Random bits: where neighbouring columns are neighbouring elements of the site, they are drawn for runs of columns.

  /// What `index` grows by with the block argument `label`; nothing if that is not a form of the sizes.
  std::optional<AffineExpr> growth(Value index, int64_t label) {
    MLIRContext *context = op.getContext();
    if (auto argument = dyn_cast<BlockArgument>(index); argument && argument.getOwner() == &block)
      return getAffineConstantExpr(int64_t(argument.getArgNumber()) == label, context);
    if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
      auto left = growth(sum.getLhs(), label), right = growth(sum.getRhs(), label);
      return left && right ? std::optional(*left + *right) : std::nullopt;
    }
    if (auto scaled = index.getDefiningOp<arith::MulIOp>()) {
      auto left = growth(scaled.getLhs(), label), right = growth(scaled.getRhs(), label);
      if (!left || !right)
        return std::nullopt;
      AffineExpr none = getAffineConstantExpr(0, context);
      auto leftForm = formOf(scaled.getLhs()), rightForm = formOf(scaled.getRhs());
      if (*left == none && *right == none)
        return none;
      if (*right == none && rightForm)
        return *left * *rightForm;
      if (*left == none && leftForm)
        return *right * *leftForm;
      return std::nullopt;
    }
    if (formOf(index) || !block.getParent()->isAncestor(index.getParentRegion()))
      return getAffineConstantExpr(0, context);
    return std::nullopt;
  }
  /// A constant or a size as a form of the dims.
  std::optional<AffineExpr> formOf(Value value) {
    if (auto size = value.getDefiningOp<SizeValueOp>())
      return size.getForm().getResult(0);
    if (auto number = value.getDefiningOp<arith::ConstantIndexOp>())
      return getAffineConstantExpr(number.value(), op.getContext());
    return std::nullopt;
  }

  void findKeptRuns() {
    for (RandomKeepOp keep : block.getOps<RandomKeepOp>()) {
      AffineExpr expected = getAffineConstantExpr(1, op.getContext());
      bool neighbours = !columns.empty();
      for (int64_t label : llvm::reverse(columns)) {
        neighbours &= growth(keep.getIndex(), label) == expected;
        expected = expected * sizes.lookup(label);
      }
      if (neighbours)
        keptRuns.push_back(keep);
    }
  }

  /// Number of the element of the site at a row and a column (i64).
  Value elementOf(FunctionCode &code, const LaneCode &outside, ArrayRef<LaneValue> fixed, RandomKeepOp keep, Value row,
                  Value column) {
    LaneCode scalars = outside;
    scalars.setLanes(false);
    bindIndices(code, scalars, fixed, LaneValue::uniform(row), LaneValue::uniform(column));
    return scalars.get(keep.getIndex()).base;
  }
  KeepBits bitsOf(FunctionCode &code, const LaneCode &outside, RandomKeepOp keep) {
    LaneCode scalars = outside;
    return {code, int64_t(keep.getSite()), int64_t(keep.getThreshold()),
            keep.getDepth() ? scalars.get(keep.getDepth()).base : Value()};
  }
  void bindKeptRuns(FunctionCode &code, LaneCode &lanes, ArrayRef<LaneValue> fixed, const GemmResult &result) {
    for (auto [number, keep] : llvm::enumerate(keptRuns)) {
      Value memory = byteAddress(code.builder, result.runMemory, constant(code.builder, number * kKeepBytes));
      Value first = elementOf(code, lanes, fixed, keep, result.row, result.runColumn);
      Value offset = subtract(code.builder, result.column, result.runColumn);
      lanes.bindKeep(keep, bitsOf(code, lanes, keep).load(memory, first, offset, lanes.lanes()));
    }
  }

  BatchedGemmSpec batched(FunctionCode &code, LaneCode *outside, bool &good) {
    BatchedGemmSpec spec;
    spec.batch = sizeOf(code, batch);
    spec.specOf = [this, &code, outside, &good](OpBuilder &at, Location, Value index) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode scalars(code, {}, 1);
      SmallVector<LaneValue> indices(std::max<int64_t>(rank, 1));
      split(code, batch, LaneValue::uniform(index), scalars, indices);
      GemmSpec single = specOf(code, outside, indices, good);
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
      return single;
    };
    return spec;
  }

  // The general form, for labels that are no matrices: rows of the result one by one, its last dimension on the lanes.

  Labels outer() { return llvm::to_vector_of<int64_t, 4>(llvm::seq<int64_t>(0, std::max<int64_t>(rank - 1, 0))); }
  Value rowCount(FunctionCode &code) { return sizeOf(code, outer()); }
  Labels summed() {
    Labels labels;
    for (int64_t label : a.labels)
      if (label >= rank)
        labels.push_back(label);
    return labels;
  }
  Value rowsPerTile(FunctionCode &code) {
    auto &builder = code.builder;
    Value work = multiply(builder, sizeOf(code, summed()), rank > 0 ? code.size(sizes.lookup(rank - 1)) : constant(builder, 1));
    return maximum(builder, divide(builder, constant(builder, 40000), maximum(builder, work, constant(builder, 1))),
                   constant(builder, 1));
  }

  bool emitLoops(FunctionCode &code) {
    auto &builder = code.builder;
    LaneCode lanes = outsideCode(code, elementModel(a.type.getElementType()).lanes);
    Value low = multiply(builder, code.tile, rowsPerTile(code));
    Value high = minimum(builder, add(builder, low, rowsPerTile(code)), rowCount(code));
    bool good = true;
    forLoop(builder, low, high, [&](Value row) {
      SmallVector<LaneValue> indices(rank);
      split(code, outer(), LaneValue::uniform(row), lanes, indices);
      auto element = [&](LaneValue last) {
        if (rank > 0)
          indices[rank - 1] = last;
        for (int64_t label = 0; label < rank; ++label)
          lanes.bind(block.getArgument(label), indices[label]);
        Labels labels = summed();
        Type carried = rank > 0 ? Type(VectorType::get({lanes.lanes()}, compute())) : compute();
        Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(carried));
        DenseMap<int64_t, Value> position;
        Value sum = sumLoop(code, lanes, labels, 0, indices, position, zero);
        lanes.bind(block.getArgument(rank), rank > 0 ? LaneValue::lanes(sum) : LaneValue::uniform(sum));
        return lanes.emitOps(block);
      };
      if (rank == 0)
        good = element({});
      else
        good = lanes.forLanes(constant(builder, 0), code.size(sizes.lookup(rank - 1)), element);
    });
    return good;
  }

  Value sumLoop(FunctionCode &code, LaneCode &lanes, const Labels &labels, size_t next, ArrayRef<LaneValue> indices,
                DenseMap<int64_t, Value> &position, Value sum) {
    auto &builder = code.builder;
    if (next < labels.size())
      return forLoop(builder, constant(builder, 0), code.size(sizes.lookup(labels[next])), constant(builder, 1), sum,
                     [&](Value index, ValueRange carried) {
                       position[labels[next]] = index;
                       return SmallVector<Value>{sumLoop(code, lanes, labels, next + 1, indices, position, carried[0])};
                     })[0];
    auto factor = [&](const Side &side) {
      LaneValue linear = LaneValue::uniform(constant(builder, 0));
      DenseMap<int64_t, LaneValue> all;
      for (int64_t label : side.labels) {
        all[label] = label < rank ? indices[label] : LaneValue::uniform(position[label]);
        if (!side.element)
          linear = lanes.addValues(linear, lanes.multiplyValues(all[label], LaneValue::uniform(code.size(side.strideOf(label)))));
      }
      Type storage = side.type.getElementType();
      LaneValue loaded = side.element ? elementAt(side, lanes, all).value_or(LaneValue::uniform(constant(builder, 0)))
                                      : lanes.load(storage, code.pointer(side.tensor), linear);
      Value stored = rank > 0 ? lanes.lanesOf(loaded) : loaded.base;
      return isShortReal(storage) ? widenBits(builder, op.getLoc(), code.tier, storage, stored) : stored;
    };
    return math::FmaOp::create(builder, factor(a), factor(b), sum);
  }

  GemmOp op;
  KernelSequence &sequence;
  Block &block;
  int64_t rank;
  Side a, b;
  DenseMap<int64_t, AffineExpr> sizes;
  Labels rows, columns, depth, batch;
  SmallVector<RandomKeepOp> keptRuns; ///< whose bits are drawn for runs of columns
};

} // namespace

LogicalResult generateGemm(Operation *op, KernelSequence &sequence) { return Contraction(cast<GemmOp>(op), sequence).generate(); }

} // namespace tenon::cpu
