// tenon.gemm: labels sorted into rows, columns, depth and batch of packed contractions (Gemm.h); the body becomes the epilogue.
#include "dialect/Panels.h"
#include "dialect/Refusal.h"
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/GemmReads.h"
#include "lowering/cpu/KeepBits.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/LinearReads.h"
#include "lowering/cpu/Loops.h"
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
      : op(op), sequence(sequence), block(op.getBody().front()), rank(op.getRank()),
        a(op.getA(), op.typeOfA(), op.getALabels(), op.elementOfA()),
        b(op.getB(), op.typeOfB(), op.getBLabels(), op.elementOfB()), reads(sizes) {
    for (const GemmSide *side : {&a, &b})
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
    sortLabels();
    if (Panels::of(op) && (b.tensor != op.getB() || isGathered || columns.size() + depth.size() != b.labels.size()))
      return notSupported(op) << "a contraction that does not read its weights line by line, with these in panels";
    findRanges();
    if (isReordered)
      reorder();
    findKeptRuns();
    if (isReordered)
      kernel.temporaries.push_back(ordered);
    kernel.scratchBytes =
        gemmScratchBytes(sequence.tier(), storage, keptRuns.size() * kKeepBytes, readsLeftInPlace(), computesA(), computesB());
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

  /// Sorts labels into rows, columns, depth and batch. An operand in memory whose depth is no strided dimension is brought in
  /// order first (A), or read element by element where it is packed (B).
  void sortLabels() {
    if (!b.has(contiguousLabel()) && a.has(contiguousLabel()))
      std::swap(a, b);
    if (depthOrder(); a.element && !b.element && !isRun(b, depth)) // B would be read element by element, A is so anyway
      std::swap(a, b);
    depthOrder();
    Labels onlyA, onlyB, both;
    for (int64_t label : a.labels)
      if (!b.has(label))
        onlyA.push_back(label);
      else if (label < rank)
        both.push_back(label);
    for (int64_t label : b.labels)
      if (!a.has(label))
        onlyB.push_back(label);
    isReordered = !isRun(a, depth);
    isGathered = !isRun(b, depth);
    if (isReordered) {
      inMemory = a;
      ordering = both;
      ordering.append(onlyA);
      ordering.append(depth);
      AffineExpr stride = getAffineConstantExpr(1, op.getContext());
      for (int64_t label : llvm::reverse(ordering)) {
        a.strides[llvm::find(a.labels, label) - a.labels.begin()] = stride;
        stride = stride * sizes.lookup(label);
      }
      a.offset = getAffineConstantExpr(0, op.getContext());
    }
    rows = a.runOf(onlyA, sizes);
    if (isSlice(onlyA)) { // a batch of its outer dimension would pack B for each entry
      a.readInRanges(rows.back(), sizes.lookup(rows.back()));
      rows = onlyA;
    }
    columns = b.element || isGathered ? columnsOfResult(onlyB) : b.runOf(onlyB, sizes);
    batch = both;
    for (int64_t label : onlyA)
      if (!llvm::is_contained(rows, label))
        batch.push_back(label);
    for (int64_t label : onlyB)
      if (!llvm::is_contained(columns, label))
        batch.push_back(label);
    llvm::sort(batch);
  }

  /// Ranges of rows of A, or of steps of B, that are read where they lie: A row by row, as strips of micro-kernels, B where it is
  /// packed. Other operands with ranges are copied into scratch.
  void findRanges() {
    hasRowsInRanges = a.hasLinesInRanges(rows, depth, sizes);
    auto isEven = [](AffineExpr start) { return start.isMultipleOf(2); }; // pairs are not cut
    hasStepsInRanges = b.hasLinesInRanges(depth, columns, sizes) && !isGathered &&
                       (!b.type.getElementType().isBF16() || llvm::all_of(b.starts, isEven));
  }
  bool computesA() const { return a.element && !hasRowsInRanges; }
  bool computesB() const { return (b.element && !hasStepsInRanges) || isGathered; }

  GemmRanges rangesOf(FunctionCode &code, const GemmSide &side, const Labels &lines, const SmallVector<LaneValue> &fixed) {
    GemmRanges ranges;
    ranges.visit = [this, &code, &side, &lines, fixed](OpBuilder &at, Location, Value first, Value end,
                                                       llvm::function_ref<void(Value, Value, Value)> body) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode scalars(code, {}, 1);
      IndicesOfLabels indices;
      for (int64_t label : batch)
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

  /// Whether A is some rows of each entry of an outer dimension, as many as make strips, known (few rows read B where it is).
  bool isSlice(const Labels &lines) {
    constexpr int64_t kFewestOfEntry = 16;
    if (a.element || isReordered || lines.size() != 2 || rows.size() != 1 || depth.empty())
      return false;
    auto size = dyn_cast<AffineConstantExpr>(sizes.lookup(rows.back()));
    return size && size.getValue() >= kFewestOfEntry && isOneElement(a.strideOf(depth, sizes));
  }

  bool isRun(const GemmSide &side, const Labels &labels) { return side.runOf(labels, sizes).size() == labels.size(); }

  /// Sets `depth` in the order of A, or in that of B where more operands have it in memory, or are computed side by side.
  void depthOrder() {
    auto orderOf = [&](const GemmSide &side) {
      Labels order;
      for (int64_t label : side.labels)
        if (label >= rank)
          order.push_back(label);
      return order;
    };
    auto gain = [&](const GemmSide &side, const Labels &order) {
      if (!side.element)
        return isRun(side, order) ? 2 : 0;
      Labels wide;
      for (int64_t label : order)
        if (!isOneElement(sizes.lookup(label)))
          wide.push_back(label);
      return !wide.empty() && side.contiguous(side.labels, sizes) == wide.back() ? 1 : 0;
    };
    const Labels ofA = orderOf(a), ofB = orderOf(b);
    depth = gain(a, ofB) + gain(b, ofB) > gain(a, ofA) + gain(b, ofA) ? ofB : ofA;
  }

  /// Of labels that B alone has, where its elements are read one by one: those along which the result is contiguous; all, where
  /// these are too few for panels.
  Labels columnsOfResult(Labels labels) {
    constexpr int64_t kFewColumns = 64;
    PutOp put = block.getOps<PutOp>().empty() ? PutOp() : *block.getOps<PutOp>().begin();
    Labels ordered, near;
    bool isNear = true;
    for (Value index : put ? llvm::to_vector(llvm::reverse(put.getIndices())) : SmallVector<Value>()) {
      auto argument = dyn_cast<BlockArgument>(index);
      const int64_t label = argument && argument.getOwner() == &block ? int64_t(argument.getArgNumber()) : -1;
      if (llvm::is_contained(labels, label) && !llvm::is_contained(ordered, label)) {
        ordered.insert(ordered.begin(), label);
        if (isNear)
          near.insert(near.begin(), label);
      } else {
        isNear &= label >= 0 && isOneElement(sizes.lookup(label));
      }
    }
    if (ordered.size() != labels.size())
      return labels;
    SmallVector<AffineExpr> factors;
    for (int64_t label : near)
      factors.push_back(sizes.lookup(label));
    auto places = dyn_cast<AffineConstantExpr>(product(factors, op.getContext()));
    return places && places.getValue() < kFewColumns ? ordered : near;
  }

  /// A kernel of its own in front: A as rows of its depth, in a temporary.
  void reorder() {
    const Type storage = inMemory.type.getElementType();
    SmallVector<AffineExpr> factors;
    for (int64_t label : ordering)
      factors.push_back(sizes.lookup(label));
    ordered = sequence.temporary(product(factors, op.getContext()) * elementBytes(storage));
    Kernel kernel{"gemm_order", op.getLoc(), {inMemory.tensor}, {}, {}, {ordered}, 0, {}, {}};
    kernel.tiles = [this](FunctionCode &code) { return ceilDivide(code.builder, orderedRows(code), rowsPerTile(code)); };
    kernel.body = [this](FunctionCode &code) {
      auto &builder = code.builder;
      LaneCode lanes(code, {}, elementModel(inMemory.type.getElementType()).lanes);
      Value low = multiply(builder, code.tile, rowsPerTile(code));
      Value high = minimum(builder, add(builder, low, rowsPerTile(code)), orderedRows(code));
      reads.order(code, lanes, inMemory, code.pointer(inMemory.tensor), outerOrdering(), low, high, depth, code.temporary(0));
    };
    sequence.add(kernel);
  }
  ArrayRef<int64_t> outerOrdering() { return ArrayRef<int64_t>(ordering).drop_back(depth.size()); }
  Value orderedRows(FunctionCode &code) { return reads.sizeOf(code, outerOrdering()); }
  Value rowsPerTile(FunctionCode &code) {
    auto &builder = code.builder;
    Value most = maximum(builder, reads.sizeOf(code, depth), constant(builder, 1));
    return maximum(builder, divide(builder, constant(builder, 40000), most), constant(builder, 1));
  }

  /// Memory of an operand; null: its elements are computed.
  Value memoryOf(FunctionCode &code, const GemmSide &side) {
    if (side.element)
      return {};
    return &side == &a && isReordered ? code.temporary(0) : code.pointer(side.tensor);
  }

  /// GemmSpec::readsLeftInPlace, before there is code; false where it is not known.
  bool readsLeftInPlace() const {
    const GemmSide &memory = hasRowsInRanges ? a.ranges.front() : a;
    auto strideOf = [&](const Labels &labels) {
      auto number = dyn_cast<AffineConstantExpr>(memory.strideOf(labels, sizes));
      return number ? number.getValue() : 0;
    };
    return !computesA() && !isShortReal(a.type.getElementType()) && // with pairs it depends on the tier
           !(strideOf(depth) == 1 && rowsShareSet(sequence.tier(), a.type.getElementType(), strideOf(rows)));
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
    auto operand = [&](const GemmSide &side, const Labels &outer, const Labels &inner) {
      GemmOperand result;
      const GemmSide &memory = side.ranges.empty() ? side : side.ranges.front();
      auto stride = [&](const Labels &labels) { return code.size(memory.strideOf(labels, sizes)); };
      result.rowStride = stride(outer);
      result.colStride = stride(inner);
      if (outside && !side.element) {
        Value offset = code.size(side.offset);
        for (int64_t label : batch)
          offset = add(builder, offset, multiply(builder, batchIndices[label].base, code.size(side.strideOf(label))));
        result.base = elementAddress(builder, memoryOf(code, side), memoryType(side.type.getElementType()), offset);
      }
      return result;
    };
    GemmSpec spec;
    spec.tier = sequence.tier();
    spec.storage = a.type.getElementType();
    spec.m = reads.sizeOf(code, rows);
    spec.n = reads.sizeOf(code, columns);
    spec.k = reads.sizeOf(code, depth);
    spec.a = operand(a, rows, depth);
    spec.b = operand(b, depth, columns);
    if (std::optional<Panels> panels = Panels::of(op)) {
      const bool linesAreSteps = llvm::is_contained(depth, b.labels.front()) != panels->transposed;
      spec.panelsOfB = {panels->width, panels->steps, !linesAreSteps};
    }
    SmallVector<LaneValue> fixed(batchIndices);
    fixed.resize(rank);
    if (hasRowsInRanges)
      spec.rangesOfA = rangesOf(code, a, rows, fixed);
    else
      spec.elementsOfA = elementsOf(code, a, rows, outside, fixed, good);
    if (hasStepsInRanges)
      spec.rangesOfB = rangesOf(code, b, depth, fixed);
    else
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
      SmallVector<Value> merged;
      SmallVector<AffineExpr> mergedSizes;
      for (int64_t label : columns) {
        merged.push_back(block.getArgument(label));
        mergedSizes.push_back(sizes.lookup(label));
      }
      lanes.bindMerged(merged, mergedSizes, LaneValue::affine(result.column, constant(code.builder, 1), lanes.lanes()));
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
  GemmElements elementsOf(FunctionCode &code, const GemmSide &side, const Labels &lines, LaneCode *outside,
                          const SmallVector<LaneValue> &fixed, bool &good) {
    GemmElements elements;
    elements.areComputed = side.element || (&side == &b && isGathered);
    Labels candidates(lines);
    candidates.append(depth);
    const int64_t near = side.contiguous(candidates, sizes);
    elements.alongDepth =
        near >= 0 ? llvm::is_contained(depth, near) : side.labels.empty() || !llvm::is_contained(lines, side.labels.back());
    elements.compute = [this, &code, &side, &lines, outside, fixed, along = elements.alongDepth,
                        &good](OpBuilder &at, Location, Value line, Value first, Value count, Value target) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode lanes = *outside;
      IndicesOfLabels indices;
      for (int64_t label : batch)
        indices[label] = fixed[label];
      reads.split(code, along ? lines : depth, LaneValue::uniform(line), lanes, indices);
      good &= reads.read(code, lanes, side, memoryOf(code, side), indices,
                         {along ? depth : lines, first, count, target, along ? 16 : 1});
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
    };
    return elements;
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
    reads.split(code, rows, row, lanes, indices);
    reads.split(code, columns, column, lanes, indices);
    for (int64_t label = 0; label < rank; ++label)
      lanes.bind(block.getArgument(label), indices[label]);
  }

  // Random bits: where neighbouring columns are neighbouring elements of the site, they are drawn for runs of columns.

  void findKeptRuns() {
    for (RandomKeepOp keep : block.getOps<RandomKeepOp>()) {
      AffineExpr expected = getAffineConstantExpr(1, op.getContext());
      bool neighbours = !columns.empty();
      for (int64_t label : llvm::reverse(columns)) {
        neighbours &= growthOf(keep.getIndex(), label, block) == expected;
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
    spec.batch = reads.sizeOf(code, batch);
    spec.specOf = [this, &code, outside, &good](OpBuilder &at, Location, Value index) {
      OpBuilder::InsertionGuard guard(code.builder);
      code.builder.restoreInsertionPoint(at.saveInsertionPoint());
      LaneCode scalars(code, {}, 1);
      SmallVector<LaneValue> indices(std::max<int64_t>(rank, 1));
      reads.split(code, batch, LaneValue::uniform(index), scalars, indices);
      GemmSpec single = specOf(code, outside, indices, good);
      at.restoreInsertionPoint(code.builder.saveInsertionPoint());
      return single;
    };
    return spec;
  }

  GemmOp op;
  KernelSequence &sequence;
  Block &block;
  int64_t rank;
  GemmSide a, b;
  SizesOfLabels sizes;
  GemmReads reads;
  Labels rows, columns, depth, batch;
  bool isReordered = false, isGathered = false; ///< A is brought in order first; B is read element by element
  bool hasRowsInRanges = false, hasStepsInRanges = false;
  GemmSide inMemory = a;              ///< A before that
  Labels ordering;                    ///< of A after it
  unsigned ordered = 0;               ///< number of its temporary
  SmallVector<RandomKeepOp> keptRuns; ///< whose bits are drawn for runs of columns
};

} // namespace

LogicalResult generateGemm(Operation *op, KernelSequence &sequence) { return Contraction(cast<GemmOp>(op), sequence).generate(); }

} // namespace tenon::cpu
