// tenon.gemm as a packed contraction (Gemm.h) of its rows, columns, depth and batch (GemmAxes.h); the body becomes the epilogue.
#include "dialect/Panels.h"
#include "dialect/Refusal.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/LinearReads.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/GemmChoice.h"
#include "lowering/cpu/GemmCopies.h"
#include "lowering/cpu/GemmList.h"
#include "lowering/cpu/GemmReads.h"
#include "lowering/cpu/KeepBits.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/RestRows.h"
#include "lowering/cpu/ShortReals.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Of one random site, for one row of a run of columns.
constexpr int64_t kKeepBytes = KeepBits::bytes(GemmRuns::mostColumns);

class Contraction {
public:
  Contraction(GemmOp op, KernelSequence &sequence)
      : op(op), sequence(sequence), block(op.getBody().front()), rank(op.getRank()), axes(op), reads(axes.sizes),
        copies(axes.sizes), list(axes, reads), keptRuns(axes.keptRuns()) {}

  LogicalResult generate() {
    Type storage = axes.a.type.getElementType();
    Kernel kernel{"gemm", op.getLoc(), {}, {}, {}, {}, 0, {}, {}};
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    op.walk([&](AtOp at) { read.insert(at.getTensor()); });
    kernel.reads.append(read.begin(), read.end());
    kernel.writes.append(op.getResults().begin(), op.getResults().end());
    if (Panels::of(op) && (axes.b.tensor != op.getB() || axes.isGathered || axes.isOfB ||
                           axes.columns.size() + axes.depth.size() != axes.b.labels.size()))
      return notSupported(op) << "a contraction that does not read its weights line by line, with these in panels";
    FailureOr<GemmChoice> chosen = gemmChoiceOf(op, axes, sequence.tier());
    if (failed(chosen) || failed(checkScalars(op)))
      return failure();
    choice = *chosen;
    if (axes.isReordered)
      reorder();
    if (axes.isReordered)
      kernel.temporaries.push_back(ordered);
    if (axes.where)
      kernel.temporaries = list.generate(sequence, op.getLoc());
    kernel.scratchBytes = gemmScratchBytes(sequence.tier(), storage, keptRuns.size() * kKeepBytes, readsLeftInPlace(),
                                           axes.computesA(), axes.computesB());
    kernel.cut = gemmSides(op, axes, sequence.tier(), choice);
    kernel.tiles = [&](FunctionCode &code) {
      if (axes.batch.empty())
        return gemmTileCount(code.builder, op.getLoc(), specOf(code, nullptr, {}));
      return batchedGemmTileCount(code.builder, op.getLoc(), batched(code, nullptr));
    };
    kernel.body = [&](FunctionCode &code) {
      LaneCode epilogue = outsideCode(code, tierLanes(sequence.tier(), compute()));
      if (axes.batch.empty())
        emitGemmTile(code.builder, op.getLoc(), specOf(code, &epilogue, {}), code.tile, code.scratch);
      else
        emitBatchedGemmTile(code.builder, op.getLoc(), batched(code, &epilogue), code.tile, code.scratch);
    };
    sequence.add(kernel);
    return success();
  }

private:
  /// Of products and sums.
  Type compute() { return elementModel(axes.a.type.getElementType()).compute; }

  GemmRanges rangesOf(FunctionCode &code, const GemmSide &side, const Labels &lines, const SmallVector<LaneValue> &fixed) {
    GemmRanges ranges;
    ranges.visit = [this, &code, &side, &lines, fixed](OpBuilder &at, Location, Value first, Value end,
                                                       llvm::function_ref<void(Value, Value, Value)> body) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode scalars(code, {}, 1);
      IndicesOfLabels indices;
      for (int64_t label : axes.batch)
        indices[label] = fixed[label];
      reads.visitRanges(code, scalars, side, lines, indices, first, end, [&](Value low, Value high, Value address) {
        OpBuilder::InsertionGuard inside(at);
        at.restoreInsertionPoint(code.builder.saveInsertionPoint());
        body(low, high, address);
        code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      });
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
    };
    SmallVector<int64_t> starts;
    for (AffineExpr start : side.starts)
      if (auto number = dyn_cast<AffineConstantExpr>(start))
        starts.push_back(number.getValue());
    if (starts.size() == side.starts.size())
      ranges.starts = starts;
    return ranges;
  }

  /// A kernel of its own in front: A or B as lines of its depth, in a temporary.
  void reorder() {
    const Type storage = axes.inMemory.type.getElementType();
    SmallVector<AffineExpr> factors;
    for (int64_t label : axes.ordering)
      factors.push_back(axes.sizes.lookup(label));
    ordered = sequence.temporary(product(factors, op.getContext()) * elementBytes(storage));
    Kernel kernel{"gemm_order", op.getLoc(), {axes.inMemory.tensor}, {}, {}, {ordered}, 0, {}, {}};
    kernel.tiles = [this](FunctionCode &code) { return ceilDivide(code.builder, orderedRows(code), rowsPerTile(code)); };
    kernel.body = [this](FunctionCode &code) {
      auto &builder = code.builder;
      LaneCode lanes(code, {}, elementModel(axes.inMemory.type.getElementType()).lanes);
      Value low = multiply(builder, code.tile, rowsPerTile(code));
      Value high = minimum(builder, add(builder, low, rowsPerTile(code)), orderedRows(code));
      reads.order(code, lanes, axes.inMemory, code.pointer(axes.inMemory.tensor), outerOrdering(), low, high, axes.depth,
                  code.temporary(0));
    };
    sequence.add(kernel);
  }
  ArrayRef<int64_t> outerOrdering() { return ArrayRef<int64_t>(axes.ordering).drop_back(axes.depth.size()); }
  Value orderedRows(FunctionCode &code) { return reads.sizeOf(code, outerOrdering()); }
  Value rowsPerTile(FunctionCode &code) {
    auto &builder = code.builder;
    Value most = maximum(builder, reads.sizeOf(code, axes.depth), constant(builder, 1));
    return maximum(builder, divide(builder, constant(builder, choice.order), most), constant(builder, 1));
  }

  /// Memory of an operand; null: its elements are computed.
  Value memoryOf(FunctionCode &code, const GemmSide &side) {
    if (side.element)
      return {};
    return axes.isReordered && &side == (axes.isOfB ? &axes.b : &axes.a) ? code.temporary(0) : code.pointer(side.tensor);
  }

  /// GemmSpec::readsLeftInPlace, before there is code; false where it depends on the tier, with pairs.
  bool readsLeftInPlace() const { return !axes.computesA() && !isShortReal(axes.a.type.getElementType()) && !choice.staged; }

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

  GemmSpec specOf(FunctionCode &code, LaneCode *outside, ArrayRef<LaneValue> batchIndices) {
    auto &builder = code.builder;
    auto operand = [&](const GemmSide &side, const Labels &outer, const Labels &inner) {
      GemmOperand result;
      const GemmSide &memory = side.ranges.empty() ? side : side.ranges.front();
      auto stride = [&](const Labels &labels) { return code.size(memory.strideOf(labels, axes.sizes)); };
      result.rowStride = stride(outer);
      result.colStride = stride(inner);
      if (outside && !side.element) {
        Value offset = code.size(side.offset);
        for (int64_t label : axes.batch)
          offset = add(builder, offset, multiply(builder, batchIndices[label].base, code.size(side.strideOf(label))));
        result.base = elementAddress(builder, memoryOf(code, side), memoryType(side.type.getElementType()), offset);
      }
      return result;
    };
    GemmSpec spec;
    spec.tier = sequence.tier();
    spec.storage = axes.a.type.getElementType();
    spec.m = reads.sizeOf(code, axes.rows);
    spec.n = reads.sizeOf(code, axes.columns);
    spec.k = reads.sizeOf(code, axes.depth);
    spec.a = operand(axes.a, axes.rows, axes.depth);
    spec.b = operand(axes.b, axes.depth, axes.columns);
    spec.panelsOfB = panelsOfB(op, axes);
    spec.choice = choice;
    if (axes.where && outside)
      spec.listed = {list.count(code), axes.listsRows(), axes.listsRows() ? restStays(code, op, axes) : Value()};
    SmallVector<LaneValue> fixed(batchIndices);
    fixed.resize(rank);
    if (axes.hasRowsInRanges)
      spec.rangesOfA = rangesOf(code, axes.a, axes.rows, fixed);
    else
      spec.elementsOfA = elementsOf(code, axes.a, axes.rows, outside, fixed);
    if (axes.hasStepsInRanges)
      spec.rangesOfB = rangesOf(code, axes.b, axes.depth, fixed);
    else
      spec.elementsOfB = elementsOf(code, axes.b, axes.columns, outside, fixed);
    spec.epilogue = epilogueOf(code, outside, fixed);
    if (PutOp put = plainPut(); put && outside && isShortReal(spec.storage))
      spec.target = targetOf(code, *outside, fixed, put);
    spec.runs = runsOf(code, outside, fixed);
    return spec;
  }

  GemmEpilogue epilogueOf(FunctionCode &code, LaneCode *outside, const SmallVector<LaneValue> &fixed) {
    return [this, &code, outside, fixed](OpBuilder &at, Location, const GemmResult &result) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode lanes = *outside;
      lanes.setLanes(true);
      lanes.mask = result.mask;
      bindKeptRuns(code, lanes, fixed, result);
      bindIndices(code, lanes, fixed, LaneValue::uniform(result.row),
                  LaneValue::affine(result.column, constant(code.builder, 1), lanes.lanes()));
      SmallVector<Value> merged;
      SmallVector<AffineExpr> mergedSizes;
      for (int64_t label : axes.columns) {
        merged.push_back(block.getArgument(label));
        mergedSizes.push_back(axes.sizes.lookup(label));
      }
      lanes.bindMerged(merged, mergedSizes, LaneValue::affine(result.column, constant(code.builder, 1), lanes.lanes()));
      lanes.bind(block.getArgument(rank), LaneValue::lanes(result.sum));
      lanes.emitOps(block);
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
    };
  }

  /// `lines`: the labels of rows of A or columns of B.
  GemmElements elementsOf(FunctionCode &code, const GemmSide &side, const Labels &lines, LaneCode *outside,
                          const SmallVector<LaneValue> &fixed) {
    GemmElements elements;
    const bool isListed = axes.listsSteps() || (axes.where && &side == &axes.a);
    elements.areComputed = side.element || isListed || (&side == &axes.b ? axes.isGathered : axes.isCopied);
    Labels candidates(lines);
    candidates.append(axes.depth);
    const int64_t near = side.contiguous(candidates, axes.sizes);
    elements.alongDepth =
        near >= 0 ? llvm::is_contained(axes.depth, near) : side.labels.empty() || !llvm::is_contained(lines, side.labels.back());
    if (near < 0 && !copies.mayCopy(side, lines, axes.depth, true) && copies.mayCopy(side, axes.depth, lines, false))
      elements.alongDepth = false; // neighbours in steps
    if (isListed)                  // what is listed is no run of neighbours
      elements.alongDepth = axes.listsRows();
    elements.compute = [this, &code, &side, &lines, outside, fixed, isListed, along = elements.alongDepth](
                           OpBuilder &at, Location, Value line, Value first, Value count, Value target) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode lanes = *outside;
      IndicesOfLabels indices;
      for (int64_t label : axes.batch)
        indices[label] = fixed[label];
      Value place = isListed ? list.place(code, line) : line;
      reads.split(code, along ? lines : axes.depth, LaneValue::uniform(place), lanes, indices);
      reads.read(code, lanes, side, memoryOf(code, side), indices,
                 {along ? axes.depth : lines, first, count, target, along ? 16 : 1});
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
    };
    if (elements.areComputed && !isListed)
      elements.computeBlock = copiesOf(code, side, lines, elements.alongDepth, fixed);
    return elements;
  }

  /// As GemmElements::computeBlock.
  decltype(GemmElements::computeBlock) copiesOf(FunctionCode &code, const GemmSide &side, const Labels &lines, bool alongDepth,
                                                const SmallVector<LaneValue> &fixed) {
    const Labels &outer = alongDepth ? lines : axes.depth, &inner = alongDepth ? axes.depth : lines;
    if (!copies.mayCopy(side, outer, inner, alongDepth))
      return {};
    return [this, &code, &side, &outer, &inner, alongDepth, fixed](OpBuilder &at, Location, Value line, Value count, Value first,
                                                                   Value places, Value target, Value pitch) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      IndicesOfLabels indices;
      for (int64_t label : axes.batch)
        indices[label] = fixed[label];
      copies.copy(code, side, memoryOf(code, side), indices,
                  {outer, inner, alongDepth, line, count, first, places, target, pitch});
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
    };
  }

  /// A put whose last index is that of the columns, at the labels alone.
  PutOp plainPut() {
    for (PutOp put : block.getOps<PutOp>())
      if (!axes.columns.empty() && !put.getIndices().empty() &&
          put.getIndices().back() == block.getArgument(axes.columns.back()) &&
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
    if (axes.listsRows())
      row = LaneValue::uniform(list.place(code, row.base));
    reads.split(code, axes.rows, row, lanes, indices);
    reads.split(code, axes.columns, column, lanes, indices);
    for (int64_t label = 0; label < rank; ++label)
      lanes.bind(block.getArgument(label), indices[label]);
  }

  // Random bits.

  GemmRuns runsOf(FunctionCode &code, LaneCode *outside, const SmallVector<LaneValue> &fixed) {
    GemmRuns runs;
    runs.bytes = keptRuns.size() * kKeepBytes;
    runs.prepare = [this, &code, outside, fixed](OpBuilder &at, Location, Value row, Value column, Value count, Value memory) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      for (auto [number, op] : llvm::enumerate(keptRuns)) {
        Value first = elementOf(code, *outside, fixed, op, row, column);
        bitsOf(code, *outside, op)
            .draw(first, count, byteAddress(code.builder, memory, constant(code.builder, number * kKeepBytes)));
      }
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
    };
    return runs;
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

  BatchedGemmSpec batched(FunctionCode &code, LaneCode *outside) {
    BatchedGemmSpec spec;
    spec.batch = reads.sizeOf(code, axes.batch);
    spec.specOf = [this, &code, outside](OpBuilder &at, Location, Value index) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode scalars(code, {}, 1);
      SmallVector<LaneValue> indices(std::max<int64_t>(rank, 1));
      reads.split(code, axes.batch, LaneValue::uniform(index), scalars, indices);
      GemmSpec single = specOf(code, outside, indices);
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
      return single;
    };
    return spec;
  }

  GemmOp op;
  KernelSequence &sequence;
  Block &block;
  int64_t rank;
  GemmAxes axes;
  GemmReads reads;
  GemmCopies copies;
  GemmList list;
  unsigned ordered = 0; ///< number of its temporary
  SmallVector<RandomKeepOp> keptRuns;
  GemmChoice choice;
};

} // namespace

LogicalResult generateGemm(Operation *op, KernelSequence &sequence) { return Contraction(cast<GemmOp>(op), sequence).generate(); }

} // namespace tenon::cpu
