// tenon.gemm: labels sorted into rows, columns, depth and batch of packed contractions (Gemm.h); the body becomes the epilogue.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"
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
  SmallVector<AffineExpr> strides;
  Side(Value tensor, ArrayRef<int64_t> labels)
      : tensor(tensor), type(cast<RankedTensorType>(tensor.getType())), labels(labels), strides(rowMajorStrides(type)) {}
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

class Contraction {
public:
  Contraction(GemmOp op, KernelSequence &sequence)
      : op(op), sequence(sequence), block(op.getBody().front()), rank(op.getRank()), a(op.getA(), op.getALabels()),
        b(op.getB(), op.getBLabels()) {
    for (const Side *side : {&a, &b})
      for (auto [dim, label] : llvm::enumerate(side->labels))
        sizes.try_emplace(label, sizesOf(side->type)[dim]);
  }

  LogicalResult generate() {
    Type element = a.type.getElementType();
    if (!element.isF32() && !element.isF64())
      return op.emitError("not supported yet: a contraction of ") << element << " on the CPU";
    Kernel kernel{"gemm", op.getLoc(), {op.getA(), op.getB()}, {}, {}, {}, 0, {}, {}};
    llvm::SetVector<Value> read;
    op.walk([&](AtOp at) { read.insert(at.getTensor()); });
    kernel.reads.append(read.begin(), read.end());
    kernel.writes.append(op.getResults().begin(), op.getResults().end());
    for (Value value : llvm::concat<Value>(kernel.reads, kernel.writes))
      if (!sequence.bufferOf(value))
        return op.emitError("the memory plan has no place for a tensor of this contraction");
    bool good = true;
    if (sortLabels()) {
      kernel.scratchBytes = gemmScratchBytes(sequence.tier(), element);
      kernel.tiles = [&](FunctionCode &code) {
        if (batch.empty())
          return gemmTileCount(code.builder, op.getLoc(), specOf(code, nullptr, {}, good));
        return batchedGemmTileCount(code.builder, op.getLoc(), batched(code, nullptr, good));
      };
      kernel.body = [&](FunctionCode &code) {
        LaneCode epilogue = outsideCode(code, tierLanes(sequence.tier(), element));
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

  Value sizeOf(FunctionCode &code, const Labels &labels) {
    SmallVector<AffineExpr> factors;
    for (int64_t label : labels)
      factors.push_back(sizes.lookup(label));
    return code.size(product(factors, op.getContext()));
  }

  /// The index of each label from the number of a place in the merged dimension.
  void split(FunctionCode &code, const Labels &labels, LaneValue number, LaneCode &lanes, SmallVectorImpl<LaneValue> &indices) {
    auto &builder = code.builder;
    for (size_t i = labels.size(); i-- > 0;) {
      LaneValue size = LaneValue::uniform(code.size(sizes.lookup(labels[i])));
      indices[labels[i]] = i == 0 ? number : lanes.divide(number, size, true);
      if (i > 0)
        number = lanes.divide(number, size, false);
    }
    (void)builder;
  }

  /// Scalar code whose outside values are computed here, so that they dominate every epilogue.
  LaneCode outsideCode(FunctionCode &code, int64_t lanes) {
    SmallVector<std::pair<Value, RankedTensorType>> results;
    for (Value result : op.getResults())
      results.push_back({code.pointer(result), cast<RankedTensorType>(result.getType())});
    LaneCode outside(code, results, lanes);
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (inner != op && !isa<RankedTensorType>(operand.getType()) && !op.getBody().isAncestor(operand.getParentRegion()))
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
      if (outside) {
        Value offset = constant(builder, 0);
        for (int64_t label : batch)
          offset = add(builder, offset, multiply(builder, batchIndices[label].base, code.size(side.strideOf(label))));
        result.base = elementAddress(builder, code.pointer(side.tensor), side.type.getElementType(), offset);
      }
      return result;
    };
    GemmSpec spec;
    spec.tier = sequence.tier();
    spec.element = a.type.getElementType();
    spec.m = sizeOf(code, rows);
    spec.n = sizeOf(code, columns);
    spec.k = sizeOf(code, depth);
    spec.a = operand(a, rows, depth);
    spec.b = operand(b, depth, columns);
    SmallVector<LaneValue> fixed(batchIndices);
    fixed.resize(rank);
    spec.epilogue = [this, &code, outside, fixed, &good](OpBuilder &at, Location, Value row, Value column, Value sum,
                                                         Value mask) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode lanes = *outside;
      lanes.setLanes(true);
      lanes.mask = mask;
      SmallVector<LaneValue> indices = fixed;
      split(code, rows, LaneValue::uniform(row), lanes, indices);
      split(code, columns, LaneValue::affine(column, constant(code.builder, 1), lanes.lanes()), lanes, indices);
      for (int64_t label = 0; label < rank; ++label)
        lanes.bind(block.getArgument(label), indices[label]);
      lanes.bind(block.getArgument(rank), LaneValue::lanes(sum));
      good &= lanes.emitOps(block);
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
    };
    return spec;
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

  Value rowCount(FunctionCode &code) {
    Labels outer;
    for (int64_t label = 0; label + 1 < rank; ++label)
      outer.push_back(label);
    return sizeOf(code, outer);
  }
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
    LaneCode lanes = outsideCode(code, a.type.getElementType().isF64() ? 8 : 16);
    Value low = multiply(builder, code.tile, rowsPerTile(code));
    Value high = minimum(builder, add(builder, low, rowsPerTile(code)), rowCount(code));
    bool good = true;
    forLoop(builder, low, high, [&](Value row) {
      SmallVector<LaneValue> indices(rank);
      Labels outer;
      for (int64_t label = 0; label + 1 < rank; ++label)
        outer.push_back(label);
      split(code, outer, LaneValue::uniform(row), lanes, indices);
      auto element = [&](LaneValue last) {
        if (rank > 0)
          indices[rank - 1] = last;
        for (int64_t label = 0; label < rank; ++label)
          lanes.bind(block.getArgument(label), indices[label]);
        Labels labels = summed();
        Type type = a.type.getElementType();
        Type carried = rank > 0 ? Type(VectorType::get({lanes.lanes()}, type)) : type;
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
      for (int64_t label : side.labels) {
        LaneValue index = label < rank ? indices[label] : LaneValue::uniform(position[label]);
        linear = lanes.addValues(linear, lanes.multiplyValues(index, LaneValue::uniform(code.size(side.strideOf(label)))));
      }
      LaneValue loaded = lanes.load(side.type.getElementType(), code.pointer(side.tensor), linear);
      return rank > 0 ? lanes.lanesOf(loaded) : loaded.base;
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
};

} // namespace

LogicalResult generateGemm(Operation *op, KernelSequence &sequence) { return Contraction(cast<GemmOp>(op), sequence).generate(); }

} // namespace tenon::cpu
