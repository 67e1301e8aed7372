#include "lowering/cpu/GemmTile.h"
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

/// Columns of one panel.
int64_t panelWidth(Tier tier, Type storage) { return microTile(tier).vectors * tierLanes(tier, elementModel(storage).compute); }

/// Steps of the longest block of K: pairs where pairs are multiplied. Panels and rows in scratch take as many elements of the
/// sums' size.
int64_t mostSteps(Tier tier, Type storage) { return gemmLimits(tier, storage).whole / (multipliesPairs(tier, storage) ? 2 : 1); }

/// Elements of the packed panel in scratch: one whole square of rows more than its depth, which the transposing form may clear.
int64_t panelElements(Tier tier, Type storage) {
  return (mostSteps(tier, storage) + tierLanes(tier, elementModel(storage).compute)) * panelWidth(tier, storage);
}

/// Elements of the sums of a whole tile.
int64_t sumElements(Tier tier, Type storage) {
  GemmLimits limits = gemmLimits(tier, storage);
  return limits.rows * panelWidth(tier, storage) * limits.panels;
}

/// Elements of the rows of A that a tile reads for one block of K, where they are in scratch. What is read in place by tiles has
/// its last steps there.
int64_t leftElements(Tier tier, Type storage, bool inPlace) {
  if (inPlace)
    return multipliesTiles(tier, storage) ? gemmLimits(tier, storage).rows * kTileBytes / 4 : 0;
  int64_t rows = gemmLimits(tier, storage).rows, steps = mostSteps(tier, storage);
  return std::max(rows * stagedPitch(steps), steps * stagedPitch(rows));
}

/// Bytes of the block of A, or panel of B, that is computed into scratch, in either direction; a multiple of 64.
int64_t computedBytes(Tier tier, Type storage, int64_t lines) {
  const int64_t steps = gemmLimits(tier, storage).whole;
  return std::max(lines * stagedPitch(steps), steps * stagedPitch(lines)) * elementBytes(storage);
}
int64_t computedBytesOfA(Tier tier, Type storage) { return computedBytes(tier, storage, gemmLimits(tier, storage).rows); }
int64_t computedBytesOfB(Tier tier, Type storage) { return computedBytes(tier, storage, panelWidth(tier, storage)); }

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
  TileEmitter(Emitter &emit, const GemmSpec &spec, const GemmPlan &plan, Value scratch)
      : emit(emit), spec(spec), plan(plan), element(spec.element()), isPairs(multipliesPairs(spec.tier, spec.storage)),
        isTiles(multipliesTiles(spec.tier, spec.storage)), vector(tierVector(spec.tier, element)), lanes(vector.getNumElements()),
        bytes(elementBytes(element)), packed(scratch), sums(emit.at(scratch, element, panelElements(spec.tier, spec.storage))),
        staged(emit.at(sums, element, sumElements(spec.tier, spec.storage))),
        computedB(emit.at(staged, element, leftElements(spec.tier, spec.storage, spec.readsLeftInPlace()))),
        computedA(emit.at(computedB, emit.builder.getI8Type(),
                          spec.elementsOfB.areComputed ? computedBytesOfB(spec.tier, spec.storage) : 0)),
        runs(emit.at(computedA, emit.builder.getI8Type(),
                     spec.elementsOfA.areComputed ? computedBytesOfA(spec.tier, spec.storage) : 0)) {
    std::optional<int64_t> n = Emitter::constantOf(spec.n);
    mayBePartial = !n || *n % plan.width != 0;
    mayBeFull = !n || *n >= plan.width;
  }

  void run(Value tile) {
    Value rowBlock = emit.div(tile, emit.max(plan.columnBlocks, 1));
    Value columnBlock = emit.sub(tile, emit.mul(rowBlock, plan.columnBlocks));
    firstRow = emit.mul(rowBlock, plan.rowsPerBlock);
    rows = emit.min(plan.rowsPerBlock, emit.sub(spec.m, firstRow));
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
      depth = emit.max(emit.min(plan.depthPerBlock, emit.sub(spec.k, startDepth)), int64_t(0));
      isLater = emit.less(emit.constant(0), block);
      isLast = emit.equal(block, emit.sub(plan.depthBlocks, 1));
      if (isTiles)
        stageTiles();
      else if (!spec.readsLeftInPlace())
        stageLeft();
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
    func::FuncOp function = byRows ? getStreamRows(emit.builder, emit.location, spec.tier, spec.storage)
                                   : getStreamColumns(emit.builder, emit.location, spec.tier, spec.storage);
    func::CallOp::create(emit.builder, emit.location, function,
                         ValueRange{rows, spec.k, columns, emit.at(spec.a.base, unit, emit.mul(firstRow, spec.a.rowStride)),
                                    spec.a.rowStride, spec.a.colStride,
                                    emit.at(spec.b.base, unit, emit.mul(firstColumn, spec.b.colStride)),
                                    byRows ? spec.b.rowStride : spec.b.colStride, sums, sumsPitch});
    isLast = emit.flag(true);
    isStreamed = true;
    repeat(panels, [&](Value panel) {
      panelSums = emit.at(sums, element, emit.mul(panel, plan.width));
      finishPanel(panel, emit.mul(emit.add(firstPanel, panel), plan.width));
    });
    isStreamed = false;
  }

  /// A's rows of this tile and block of K into scratch: of the micro-kernels' type along the direction in which they are
  /// neighbours in memory, or as pairs.
  void stageLeft() {
    GemmOperand a = spec.a;
    if (spec.elementsOfA.areComputed) {
      a = computeBlock(spec.elementsOfA, firstRow, rows, computedA);
      if (!isShortReal(spec.storage)) {
        left = a;
        return;
      }
    } else if (!spec.rangesOfA) {
      a.base =
          emit.at(a.base, memoryType(spec.storage), emit.add(emit.mul(firstRow, a.rowStride), emit.mul(startDepth, a.colStride)));
    }
    Value source = a.base;
    bool isTransposed = isOne(a.rowStride) && !isOne(a.colStride);
    Value one = emit.constant(1);
    if (isPairs) {
      Value pitch = pitchOf(isTransposed ? rows : emit.ceilDiv(depth, 2));
      func::FuncOp function = getPairRows(emit.builder, emit.location, spec.tier, isTransposed);
      func::CallOp::create(emit.builder, emit.location, function,
                           ValueRange{rows, depth, source, a.rowStride, a.colStride, staged, pitch});
      left = isTransposed ? GemmOperand{staged, one, pitch} : GemmOperand{staged, emit.mul(pitch, 2), one};
      return;
    }
    Value outer = rows, inner = depth, outerStride = a.rowStride, innerStride = a.colStride;
    if (isTransposed)
      std::swap(outer, inner), std::swap(outerStride, innerStride);
    Value pitch = pitchOf(inner);
    FormOfA form = isTransposed ? FormOfA::AlongRows : isOne(innerStride) ? FormOfA::AlongDepth : FormOfA::Strided;
    func::FuncOp function = getWidenRows(emit.builder, emit.location, spec.tier, spec.storage, form, order());
    auto widen = [&](Value lines, Value from, Value to) {
      func::CallOp::create(emit.builder, emit.location, function,
                           ValueRange{lines, inner, from, outerStride, innerStride, to, pitch});
    };
    if (spec.rangesOfA)
      forRanges([&](Value row, Value count) {
        widen(count, addressInRange(row, startDepth), emit.at(staged, element, emit.mul(row, pitch)));
      });
    else
      widen(outer, source, staged);
    left = isTransposed ? GemmOperand{staged, one, pitch} : GemmOperand{staged, pitch, one};
  }

  /// A's rows of this tile and block of K, row-major: where they are in memory, or computed, but for the steps behind the last
  /// whole 32, as far as K is contiguous there; otherwise in scratch. What is in scratch ends in zeros: behind a row may be NaN.
  void stageTiles() {
    GemmOperand a = spec.a;
    if (spec.elementsOfA.areComputed)
      a = computeBlock(spec.elementsOfA, firstRow, rows, computedA);
    else if (!spec.rangesOfA)
      a.base =
          emit.at(a.base, memoryType(spec.storage), emit.add(emit.mul(firstRow, a.rowStride), emit.mul(startDepth, a.colStride)));
    Value steps = depth, source = a.base, pitch = emit.constant(kTileSteps);
    FormOfRows form = FormOfRows::AlongDepth;
    if (isOne(a.colStride)) {
      left = a;
      if (Emitter::constantOf(plan.multipliesTiles) == int64_t(0)) // pairs are read up to the end of a row
        return;
      wholeSteps = emit.div(depth, kTileSteps);
      Value whole = emit.mul(wholeSteps, kTileSteps);
      steps = emit.sub(depth, whole);
      if (spec.rangesOfA)
        return stageRests(whole, steps);
      source = emit.at(source, memoryType(spec.storage), whole);
    } else {
      // An odd number of lines from row to row, so that rows do not share the sets of a cache.
      pitch = emit.mul(emit.add(emit.mul(emit.ceilDiv(depth, 2 * kTileSteps), 2), 1), kTileSteps);
      form = isOne(a.rowStride) ? FormOfRows::AlongRows : FormOfRows::Strided;
      left = {staged, pitch, emit.constant(1)};
      wholeSteps = emit.ceilDiv(depth, kTileSteps);
    }
    if (Emitter::constantOf(steps) == int64_t(0))
      return;
    func::FuncOp function = getTileRows(emit.builder, emit.location, spec.tier, form);
    func::CallOp::create(emit.builder, emit.location, function,
                         ValueRange{rows, steps, source, a.rowStride, a.colStride, staged, pitch});
  }

  /// The steps behind the last whole 32 of rows that lie in several ranges.
  void stageRests(Value whole, Value steps) {
    if (Emitter::constantOf(steps) == int64_t(0))
      return;
    Value pitch = emit.constant(kTileSteps);
    func::FuncOp function = getTileRows(emit.builder, emit.location, spec.tier, FormOfRows::AlongDepth);
    forRanges([&](Value row, Value count) {
      func::CallOp::create(emit.builder, emit.location, function,
                           ValueRange{count, steps, addressInRange(row, emit.add(startDepth, whole)), spec.a.rowStride,
                                      spec.a.colStride, emit.at(staged, emit.builder.getI8Type(), emit.mul(row, kTileBytes)),
                                      pitch});
    });
  }

  /// Calls `body` with the first row and the number of rows of each range's part of the tile.
  void forRanges(llvm::function_ref<void(Value, Value)> body) {
    spec.rangesOfA.visit(emit.builder, emit.location, firstRow, emit.add(firstRow, rows),
                         [&](Value low, Value high, Value address) {
                           rangeRow = emit.sub(low, firstRow);
                           rangeBase = address;
                           body(rangeRow, emit.sub(high, low));
                         });
  }
  /// Of a row of the tile in the current range, and a step of K.
  Value addressInRange(Value row, Value step) {
    Value place = emit.add(emit.mul(emit.sub(row, rangeRow), spec.a.rowStride), emit.mul(step, spec.a.colStride));
    return emit.at(rangeBase, memoryType(spec.storage), place);
  }
  /// Whether strips read A where it is, in several ranges: none goes over the border of two.
  bool hasStripsInRanges() const { return spec.rangesOfA && (isTiles || spec.readsLeftInPlace()); }

  /// Lines [first, first + lines) of an operand, rows of A or columns of B, at this block's steps of K. Strides are those of a
  /// line and of a step.
  GemmOperand computeBlock(const GemmElements &elements, Value firstLine, Value lines, Value target) {
    Value outer = lines, inner = depth, outerStart = firstLine, innerStart = startDepth;
    if (!elements.alongDepth)
      std::swap(outer, inner), std::swap(outerStart, innerStart);
    Value pitch = pitchOf(inner);
    emit.loop(emit.constant(0), outer, 1, [&](Value number) {
      elements.compute(emit.builder, emit.location, emit.add(outerStart, number), innerStart, inner,
                       emit.at(target, memoryType(spec.storage), emit.mul(number, pitch)));
    });
    Value one = emit.constant(1);
    return elements.alongDepth ? GemmOperand{target, pitch, one} : GemmOperand{target, one, pitch};
  }

  Value pitchOf(Value columns) { return emit.add(emit.roundUp(columns, kStagedPad), kStagedPad); }

  /// bf16 is summed in one order in all tiers, that of the instruction for pairs.
  DepthOrder order() const { return depthOrderOf(spec.storage); }

  void emitPanel(Value panel, Value column) {
    Value isSplit = emit.less(emit.constant(1), plan.depthBlocks);
    Value offset = emit.mul(emit.mul(panel, rows), plan.width);
    panelSums = emit.at(sums, element, emit.select(isSplit, offset, emit.constant(0)));
    sumsPerRow = emit.select(isSplit, emit.constant(plan.width), emit.constant(0));
    if (spec.elementsOfB.areComputed)
      computedPanel =
          computeBlock(spec.elementsOfB, column, emit.min(emit.sub(spec.n, column), emit.constant(plan.width)), computedB);
    finishPanel(panel, column);
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

  Value runMemory(Value row) { return emit.at(runs, emit.builder.getI8Type(), emit.mul(row, spec.runs.bytes)); }

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
    right = placeRight(emit, spec, plan, {startDepth, depth, packed, computedPanel}, column,
                       columns ? columns : emit.constant(plan.width));
    emitStrips(column, columns, vectors);
  }

  /// Calls `body` with the first row and the number of rows of each strip.
  void forStrips(llvm::function_ref<void(Value, Value)> body) {
    if (!hasStripsInRanges())
      return cutStrips(emit.constant(0), rows, body);
    forRanges([&](Value row, Value count) { cutStrips(row, count, body); });
  }
  void cutStrips(Value first, Value count, llvm::function_ref<void(Value, Value)> body) {
    if (isTiles) { // full ones, and what is left; all rows where there are too few for tiles
      std::optional<int64_t> m = Emitter::constantOf(spec.m);
      bool allSame = m && !spec.rangesOfA && (*m % kStripRows == 0 || *m < kStripRows);
      return repeat(emit.ceilDiv(count, kStripRows), [&](Value strip) {
        Value row = emit.mul(strip, kStripRows);
        body(emit.add(first, row), allSame ? usualRows(emit, spec) : emit.min(emit.sub(count, row), kStripRows));
      });
    }
    Value strips = emit.ceilDiv(count, microTile(spec.tier).rows);
    Value height = emit.div(count, spec.rangesOfA ? emit.max(strips, 1) : strips);
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
      emit.branch(
          plan.multipliesTiles, [&] { callTileKernel(row, stripRows, stripSums, vectors); },
          [&] { callMicroKernel(row, stripRows, stripSums, vectors); });
      emit.branch(isLast, [&] { finishStrip(emit.add(firstRow, row), stripRows, stripSums, column, columns, vectors); });
    });
  }

  void callTileKernel(Value row, Value stripRows, Value stripSums, int64_t vectors) {
    auto call = [&](int64_t rowTiles) {
      func::FuncOp function = getTileKernel(emit.builder, emit.location, {spec.tier, rowTiles, vectors, plan.width});
      Value first = hasStripsInRanges() ? addressInRange(row, startDepth)
                                        : emit.at(left.base, memoryType(spec.storage), emit.mul(row, left.rowStride));
      Value hasRest = emit.less(wholeSteps, emit.ceilDiv(depth, kTileSteps));
      Value restRow = emit.at(staged, emit.builder.getI8Type(), emit.mul(row, kTileBytes));
      func::CallOp::create(
          emit.builder, emit.location, function,
          ValueRange{wholeSteps, hasRest, first, emit.mul(left.rowStride, 2), restRow, right, stripSums, isLater});
    };
    Value usual = usualRows(emit, spec), isOther = emit.compare(arith::CmpIPredicate::ne, stripRows, usual);
    emit.branch(isOther, [&] { configureTiles(emit, spec.tier, stripRows); });
    emit.branch(emit.less(emit.constant(kTileRows), stripRows), [&] { call(2); }, [&] { call(1); });
    emit.branch(isOther, [&] { configureTiles(emit, spec.tier, usual); });
  }

  void callMicroKernel(Value row, Value stripRows, Value stripSums, int64_t vectors) {
    bool inPlace = !isTiles && spec.readsLeftInPlace(); // `left` is wherever they are
    const GemmOperand &a = inPlace ? spec.a : left;
    WalkOfA walk = isOne(a.colStride) ? WalkOfA::RowMajor : isOne(a.rowStride) ? WalkOfA::Transposed : WalkOfA::Strided;
    Value offset;
    if (!hasStripsInRanges()) {
      offset = emit.mul(inPlace ? emit.add(firstRow, row) : row, a.rowStride);
      if (inPlace)
        offset = emit.add(offset, emit.mul(startDepth, a.colStride));
    }
    Type unit = !isPairs                    ? element
                : walk == WalkOfA::RowMajor ? Type(emit.builder.getI16Type())
                                            : Type(emit.builder.getI32Type());
    Value first = offset ? emit.at(a.base, unit, offset) : addressInRange(row, startDepth);
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
  Value packed, sums, staged, computedB, computedA, runs; ///< scratch: one panel of B; sums of all panels of the tile; rows of A;
                                                          ///< a panel of B and rows of A as computed; memory of the rows of a run
  Value right;                                            ///< the panel of B, wherever it is
  GemmOperand computedPanel;
  bool mayBePartial, mayBeFull;
  Value firstRow, rows;
  Value startDepth, depth, isLater, isLast;
  Value rangeRow, rangeBase; ///< of the current range of rows of A: its first row in the tile, where that lies
  GemmOperand left;          ///< rows of A in `staged`; with tiles, wherever they are
  Value wholeSteps;          ///< with tiles: how often 32 steps of K are read there
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

int64_t gemmScratchBytes(Tier tier, Type storage, int64_t runBytes, bool inPlace, bool computesA, bool computesB) {
  Type element = elementModel(storage).compute;
  int64_t elements = panelElements(tier, storage) + sumElements(tier, storage) + leftElements(tier, storage, inPlace);
  return elements * elementBytes(element) + (computesA ? computedBytesOfA(tier, storage) : 0) +
         (computesB ? computedBytesOfB(tier, storage) : 0) + gemmLimits(tier, storage).rows * runBytes;
}

} // namespace tenon::cpu
