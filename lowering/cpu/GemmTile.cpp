#include "lowering/cpu/GemmTile.h"
#include "lowering/cpu/GemmLeft.h"
#include "lowering/cpu/GemmRight.h"
#include "lowering/cpu/MicroKernel.h"
#include "lowering/cpu/Pack.h"
#include "lowering/cpu/PackPairs.h"
#include "lowering/cpu/ShortReals.h"
#include "lowering/cpu/StreamColumns.h"
#include "lowering/cpu/StreamRows.h"
#include "lowering/cpu/TileKernel.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

bool isOne(Value value) { return Emitter::constantOf(value) == int64_t(1); }

void configureTiles(Emitter &emit, Tier tier, Value rows) {
  func::CallOp::create(emit.builder, emit.location, getTileConfiguration(emit.builder, emit.location, tier), rows);
}

/// The strips that tiles are configured for, but for the last one of a tile of work.
Value usualRows(Emitter &emit, const GemmSpec &spec) { return emit.min(spec.m, kStripRows); }

/// Emits the code of one tile. Chain of shapes: A[rows, depth] in place or in scratch, B[depth, width] packed into scratch, sums
/// [rows, width] per panel in scratch (one strip only when K is a single block), epilogue per vector of a row.
class TileEmitter {
public:
  TileEmitter(Emitter &emit, const GemmSpec &spec, const GemmPlan &plan, Value base)
      : emit(emit), spec(spec), plan(plan), element(spec.element()), isPairs(multipliesPairs(spec.tier, spec.storage)),
        isTiles(multipliesTiles(spec.tier, spec.storage)), vector(tierVector(spec.tier, element)), lanes(vector.getNumElements()),
        bytes(elementBytes(element)), scratch(emit, spec, base), left(emit, spec, plan, scratch) {
    std::optional<int64_t> n = Emitter::constantOf(spec.n);
    mayBePartial = !n || *n % plan.width != 0;
    mayBeFull = !n || *n >= plan.width;
  }

  void run(Value tile) {
    Value rowBlock = emit.div(tile, emit.max(plan.columnBlocks, 1));
    Value columnBlock = emit.sub(tile, emit.mul(rowBlock, plan.columnBlocks));
    firstRow = emit.mul(rowBlock, plan.rowsPerBlock);
    rows = emit.min(plan.rowsPerBlock, emit.sub(spec.m, firstRow));
    if (spec.listed && spec.listed.ofRows)
      listedRows = emit.max(emit.min(rows, emit.sub(spec.listed.count, firstRow)), int64_t(0));
    left.enterTile(firstRow, listedRows ? listedRows : rows);
    Value firstPanel = emit.mul(columnBlock, plan.panelsPerBlock);
    Value panels = emit.min(plan.panelsPerBlock, emit.sub(plan.panels, firstPanel));
    emit.branch(plan.streamsRight, [&] { streamPanels(firstPanel, panels); }, [&] { multiplyPanels(firstPanel, panels); });
  }

private:
  /// A loop over [0, count) that disappears when it runs exactly once.
  void repeat(Value count, llvm::function_ref<void(Value)> body) {
    if (isOne(count))
      body(emit.constant(0));
    else
      emit.loop(emit.constant(0), count, 1, body);
  }

  void multiplyPanels(Value firstPanel, Value panels) {
    sumsPitch = emit.constant(plan.width);
    repeat(plan.depthBlocks, [&](Value block) {
      startDepth = emit.mul(block, plan.depthPerBlock);
      Value steps = spec.listed && !spec.listed.ofRows ? spec.listed.count : spec.k;
      depth = emit.max(emit.min(plan.depthPerBlock, emit.sub(steps, startDepth)), int64_t(0));
      isLater = emit.less(emit.constant(0), block);
      isLast = emit.equal(block, emit.sub(plan.depthBlocks, 1));
      left.stage(startDepth, depth);
      repeat(panels, [&](Value panel) { emitPanel(panel, emit.mul(emit.add(firstPanel, panel), plan.width)); });
    });
  }

  /// All sums of the tile first, then the epilogue panel by panel.
  void streamPanels(Value firstPanel, Value panels) {
    Value firstColumn = emit.mul(firstPanel, plan.width);
    Value columns = emit.min(emit.mul(panels, plan.width), emit.sub(spec.n, firstColumn));
    sumsPitch = emit.mul(plan.panelsPerBlock, plan.width);
    Type unit = memoryType(spec.storage);
    const bool byRows = isOne(spec.b.colStride);
    func::FuncOp function = byRows ? getStreamRows(emit.builder, emit.location, spec.tier, {spec.storage})
                                   : getStreamColumns(emit.builder, emit.location, spec.tier, {spec.storage});
    func::CallOp::create(emit.builder, emit.location, function,
                         ValueRange{rows, spec.k, columns, emit.at(spec.a.base, unit, emit.mul(firstRow, spec.a.rowStride)),
                                    spec.a.rowStride, spec.a.colStride,
                                    emit.at(spec.b.base, unit, emit.mul(firstColumn, spec.b.colStride)),
                                    byRows ? spec.b.rowStride : spec.b.colStride, scratch.sums, sumsPitch});
    isLast = emit.flag(true);
    isStreamed = true;
    repeat(panels, [&](Value panel) {
      panelSums = emit.at(scratch.sums, element, emit.mul(panel, plan.width));
      finishPanel(panel, emit.mul(emit.add(firstPanel, panel), plan.width));
    });
    isStreamed = false;
  }

  /// bf16 is summed in one order in all tiers, that of the instruction for pairs.
  DepthOrder order() const { return depthOrderOf(spec.storage); }

  void emitPanel(Value panel, Value column) {
    Value isSplit = emit.less(emit.constant(1), plan.depthBlocks);
    Value offset = emit.mul(emit.mul(panel, rows), plan.width);
    panelSums = emit.at(scratch.sums, element, emit.select(isSplit, offset, emit.constant(0)));
    sumsPerRow = emit.select(isSplit, emit.constant(plan.width), emit.constant(0));
    if (spec.elementsOfB.areComputed)
      computePanel(column, emit.min(emit.sub(spec.n, column), emit.constant(plan.width)));
    finishPanel(panel, column);
  }

  void computePanel(Value column, Value columns) {
    const bool isPanel = spec.computesPanels();
    if (isPanel && mayBePartial)
      emit.branch(emit.less(columns, emit.constant(plan.width)), [&] { clearLines(depth, scratch.packed, plan.width / lanes); });
    computedPanel = computeLines(emit, spec.elementsOfB, spec.storage, column, columns, startDepth, depth,
                                 isPanel ? scratch.packed : scratch.computedB, isPanel ? emit.constant(plan.width) : Value());
  }

  /// What is left to do for a panel, by the number of its columns.
  void finishPanel(Value panel, Value column) {
    Value columns = emit.sub(spec.n, column);
    if (spec.runs.bytes > 0)
      enterRun(panel, column, columns);
    Value isFull = !mayBePartial ? emit.flag(true)
                   : !mayBeFull  ? emit.flag(false)
                                 : emit.lessEqual(emit.constant(plan.width), columns);
    emit.branch(
        isFull, [&] { emitColumns(column, /*columns=*/nullptr, plan.width / lanes); },
        [&] { emitPartialPanel(column, columns, 1); });
  }

  /// Sets the run that the panel is in; its first panel prepares all rows.
  void enterRun(Value panel, Value column, Value columns) {
    Value inside = emit.rem(panel, emit.constant(plan.panelsPerRun));
    runColumn = emit.sub(column, emit.mul(inside, plan.width));
    Value begins = emit.equal(inside, emit.constant(0));
    emit.branch(emit.select(isLast, begins, emit.flag(false)), [&] {
      Value count = emit.min(columns, plan.panelsPerRun * plan.width);
      emit.loop(emit.constant(0), rows, 1, [&](Value row) {
        spec.runs.prepare(emit.builder, emit.location, emit.add(firstRow, row), column, count, runMemory(row));
      });
    });
  }

  Value runMemory(Value row) { return emit.at(scratch.runs, emit.builder.getI8Type(), emit.mul(row, spec.runs.bytes)); }

  /// Panels with fewer columns run micro-kernels with fewer vectors: padding costs less than one vector.
  void emitPartialPanel(Value column, Value columns, int64_t vectors) {
    if (vectors == plan.width / lanes)
      return emitColumns(column, columns, vectors);
    std::optional<int64_t> n = Emitter::constantOf(spec.n);
    Value fits = n ? emit.flag(*n % plan.width <= vectors * lanes) : emit.lessEqual(columns, emit.constant(vectors * lanes));
    emit.branch(fits, [&] { emitColumns(column, columns, vectors); }, [&] { emitPartialPanel(column, columns, vectors + 1); });
  }

  /// Packs one panel and runs the strips of rows over it, unless its sums are there already. `columns` is null for a full panel.
  void emitColumns(Value column, Value columns, int64_t vectors) {
    if (isStreamed)
      return finishStrip(firstRow, rows, panelSums, column, columns, vectors);
    auto place = [&] {
      right = placeRight(emit, spec, plan, {startDepth, depth, scratch.packed, computedPanel}, column,
                         columns ? columns : emit.constant(plan.width));
    };
    if (!listedRows || spec.readsRightInPlace()) {
      place();
    } else { // no row, no panel
      emit.branch(emit.less(emit.constant(0), listedRows), place);
      right = scratch.packed;
    }
    emitStrips(column, columns, vectors);
  }

  /// Calls `body` with the first row and the number of rows of each strip. Rows that are not listed are in strips of their own.
  void forStrips(llvm::function_ref<void(Value, Value)> body) {
    if (listedRows) // one call, since the epilogue's code is in it
      return repeat(spec.listed.restStays ? emit.select(spec.listed.restStays, emit.constant(1), emit.constant(2))
                                          : emit.constant(2),
                    [&](Value part) {
                      Value isListed = emit.equal(part, emit.constant(0));
                      cutStrips(emit.select(isListed, emit.constant(0), listedRows),
                                emit.select(isListed, listedRows, emit.sub(rows, listedRows)), body);
                    });
    if (!left.hasStripsInRanges())
      return cutStrips(emit.constant(0), rows, body);
    left.forRanges([&](Value row, Value count) { cutStrips(row, count, body); });
  }
  void cutStrips(Value first, Value count, llvm::function_ref<void(Value, Value)> body) {
    if (isTiles) { // full ones, and what is left; all rows where there are too few for tiles
      std::optional<int64_t> m = Emitter::constantOf(spec.m);
      bool allSame = m && !spec.rangesOfA && !listedRows && (*m % kStripRows == 0 || *m < kStripRows);
      return repeat(emit.ceilDiv(count, kStripRows), [&](Value strip) {
        Value row = emit.mul(strip, kStripRows);
        body(emit.add(first, row), allSame ? usualRows(emit, spec) : emit.min(emit.sub(count, row), kStripRows));
      });
    }
    Value strips = emit.ceilDiv(count, plan.stripRows);
    Value height = emit.div(count, spec.rangesOfA || listedRows ? emit.max(strips, 1) : strips);
    Value taller = emit.sub(count, emit.mul(height, strips));
    repeat(strips, [&](Value strip) {
      Value row = emit.add(emit.mul(strip, height), emit.min(strip, taller));
      body(emit.add(first, row), emit.select(emit.less(strip, taller), emit.add(height, 1), height));
    });
  }

  void emitStrips(Value column, Value columns, int64_t vectors) {
    forStrips([&](Value row, Value stripRows) {
      Value stripSums = emit.at(panelSums, element, emit.mul(row, sumsPerRow));
      if (spec.target.address)
        emit.branch(isLast, [&] { fetchTarget(emit.add(firstRow, row), stripRows, column, vectors); });
      auto multiply = [&] {
        emit.branch(
            plan.multipliesTiles, [&] { callTileKernel(row, stripRows, stripSums, vectors); },
            [&] { callMicroKernel(row, stripRows, stripSums, vectors); });
      };
      if (listedRows)
        emit.branch(emit.less(row, listedRows), multiply, [&] { clearLines(stripRows, stripSums, vectors); });
      else
        multiply();
      emit.branch(isLast, [&] { finishStrip(emit.add(firstRow, row), stripRows, stripSums, column, columns, vectors); });
    });
  }

  /// Of sums, or of a panel.
  void clearLines(Value count, Value first, int64_t vectors) {
    Value zero = emit.zero(vector);
    emit.loop(emit.constant(0), count, 1, [&](Value line) {
      for (int64_t part = 0; part < vectors; ++part)
        emit.store(zero, emit.at(first, element, emit.add(emit.mul(line, plan.width), part * lanes)), bytes * lanes);
    });
  }

  void callTileKernel(Value row, Value stripRows, Value stripSums, int64_t vectors) {
    auto call = [&](int64_t rowTiles) {
      func::FuncOp function = getTileKernel(emit.builder, emit.location, {spec.tier, rowTiles, vectors, plan.width});
      Value first = left.hasStripsInRanges()
                        ? left.addressInRange(row, startDepth)
                        : emit.at(left.memory.base, memoryType(spec.storage), emit.mul(row, left.memory.rowStride));
      Value hasRest = emit.less(left.wholeSteps, emit.ceilDiv(depth, kTileSteps));
      Value restRow = emit.at(scratch.staged, emit.builder.getI8Type(), emit.mul(row, kTileBytes));
      func::CallOp::create(
          emit.builder, emit.location, function,
          ValueRange{left.wholeSteps, hasRest, first, emit.mul(left.memory.rowStride, 2), restRow, right, stripSums, isLater});
    };
    Value usual = usualRows(emit, spec), isOther = emit.compare(arith::CmpIPredicate::ne, stripRows, usual);
    emit.branch(isOther, [&] { configureTiles(emit, spec.tier, stripRows); });
    emit.branch(emit.less(emit.constant(kTileRows), stripRows), [&] { call(2); }, [&] { call(1); });
    emit.branch(isOther, [&] { configureTiles(emit, spec.tier, usual); });
  }

  void callMicroKernel(Value row, Value stripRows, Value stripSums, int64_t vectors) {
    bool inPlace = !isTiles && spec.readsLeftInPlace(); // `left.memory` is wherever they are
    const GemmOperand &a = inPlace ? spec.a : left.memory;
    WalkOfA walk = isOne(a.colStride) ? WalkOfA::RowMajor : isOne(a.rowStride) ? WalkOfA::Transposed : WalkOfA::Strided;
    Value offset;
    if (!left.hasStripsInRanges()) {
      offset = emit.mul(inPlace ? emit.add(firstRow, row) : row, a.rowStride);
      if (inPlace)
        offset = emit.add(offset, emit.mul(startDepth, a.colStride));
    }
    Type unit = !isPairs                    ? element
                : walk == WalkOfA::RowMajor ? Type(emit.builder.getI16Type())
                                            : Type(emit.builder.getI32Type());
    Value first = offset ? emit.at(a.base, unit, offset) : left.addressInRange(row, startDepth);
    // What is staged ends in zeros.
    Value steps = order() == DepthOrder::OddFirst && !inPlace && !isTiles ? emit.roundUp(depth, 2) : depth;
    Value width = emit.constant(plan.width);
    auto call = [&](int64_t height) {
      const bool inPanels = spec.readsRightInPlace();
      MicroKernel kernel{spec.tier,
                         isPairs ? spec.storage : element,
                         height,
                         vectors,
                         walk,
                         inPanels ? spec.panelsOfB.width : plan.width,
                         inPanels && height <= kFewRows};
      func::FuncOp function = getMicroKernel(emit.builder, emit.location, kernel);
      func::CallOp::create(emit.builder, emit.location, function,
                           ValueRange{steps, first, a.rowStride, a.colStride, right, stripSums, width, isLater});
    };
    ArrayRef<int64_t> heights = plan.stripHeights;
    if (heights.empty())
      return;
    Type index = emit.builder.getIndexType();
    Value selector = arith::IndexCastOp::create(emit.builder, emit.location, index, stripRows);
    ArrayRef<int64_t> cases = heights.drop_front();
    if (cases.empty())
      return call(heights.front());
    auto choice = scf::IndexSwitchOp::create(emit.builder, emit.location, TypeRange(), selector, cases, cases.size());
    OpBuilder::InsertionGuard guard(emit.builder);
    auto fill = [&](Region &region, int64_t height) {
      emit.builder.createBlock(&region);
      call(height);
      scf::YieldOp::create(emit.builder, emit.location);
    };
    fill(choice.getDefaultRegion(), heights.front());
    for (auto [position, height] : llvm::enumerate(cases))
      fill(choice.getCaseRegions()[position], height);
  }

  /// The lines that the epilogue of a strip will write are on their way while its sums are computed.
  void fetchTarget(Value row, Value stripRows, Value column, int64_t vectors) {
    emit.loop(emit.constant(0), stripRows, 1, [&](Value stripRow) {
      Value address = spec.target.address(emit.builder, emit.location, emit.add(row, stripRow), column);
      for (int64_t byte = 0; byte < vectors * lanes * spec.target.bytes; byte += 64)
        LLVM::Prefetch::create(emit.builder, emit.location, emit.at(address, emit.builder.getI8Type(), byte), /*rw=*/1,
                               /*hint=*/3, /*cache=*/1);
    });
  }

  /// Hands the finished sums of one strip to the epilogue.
  void finishStrip(Value row, Value stripRows, Value stripSums, Value column, Value columns, int64_t vectors) {
    SmallVector<Value> masks(vectors);
    if (columns)
      for (int64_t part = 0; part < vectors; ++part)
        masks[part] = emit.firstLanes(emit.sub(columns, part * lanes), lanes);
    emit.loop(emit.constant(0), stripRows, 1, [&](Value stripRow) {
      Value from = emit.at(stripSums, element, emit.mul(stripRow, sumsPitch)), inMatrix = emit.add(row, stripRow);
      Value memory = spec.runs.bytes > 0 ? runMemory(emit.sub(inMatrix, firstRow)) : Value();
      for (int64_t part = 0; part < vectors; ++part) {
        Value sum = emit.load(vector, emit.at(from, element, part * lanes), bytes * lanes);
        bool whole = !columns || part + 1 < vectors;
        spec.epilogue(emit.builder, emit.location,
                      {inMatrix, emit.add(column, part * lanes), sum, whole ? Value() : masks[part], runColumn, memory});
      }
    });
  }

  Emitter &emit;
  const GemmSpec &spec;
  const GemmPlan &plan;
  Type element;
  bool isPairs, isTiles;
  VectorType vector;
  int64_t lanes, bytes;
  GemmScratch scratch;
  GemmLeft left;
  Value right; ///< the panel of B, wherever it is
  GemmOperand computedPanel;
  bool mayBePartial, mayBeFull;
  Value firstRow, rows, listedRows; ///< the last one null: all
  Value startDepth, depth, isLater, isLast;
  Value panelSums, sumsPerRow;
  Value sumsPitch;         ///< elements from one row of sums to the next, when they are finished
  bool isStreamed = false; ///< the code that is emitted finishes sums of streamPanels
  Value runColumn;         ///< of the current panel's run
};

} // namespace

void emitTileOfGemm(Emitter &emit, const GemmSpec &spec, const GemmPlan &plan, Value scratch, Value tile) {
  TileEmitter(emit, spec, plan, scratch).run(tile);
}

void withTiles(Emitter &emit, const GemmSpec &spec, const GemmPlan &plan, llvm::function_ref<void()> work) {
  emit.branch(plan.multipliesTiles, [&] { configureTiles(emit, spec.tier, usualRows(emit, spec)); });
  work();
  emit.branch(plan.multipliesTiles, [&] { emitTileRelease(emit.builder, emit.location); });
}

} // namespace tenon::cpu
