#include "lowering/gpu/GemmForm.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/LinearReads.h"
#include "lowering/code/Parameters.h"
#include "lowering/target/Rows.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

using namespace mlir;

namespace tenon::gpu {

GemmSide::GemmSide(Value operand, RankedTensorType type, ArrayRef<int64_t> labels, Block *code)
    : tensor(operand), type(type), labels(labels), element(code), strides(rowMajorStrides(operand ? storedType(operand) : type)),
      offset(getAffineConstantExpr(0, type.getContext())), isPadded(operand && storedType(operand) != type) {
  auto read = element ? linearRead(element->getTerminator()->getOperand(0), *element, type.getElementType(), {}) : std::nullopt;
  if (!read || rowStepOf(read->tensor) != 0)
    return;
  tensor = read->tensor;
  strides = read->strides;
  offset = read->offset;
  element = nullptr;
  isView = true;
}

int64_t GemmSide::aligned(int64_t most) const {
  if (labels.empty() || strides.back() != getAffineConstantExpr(1, type.getContext()))
    return 0;
  auto isMultiple = [&](AffineExpr number) { return number.isMultipleOf(most); };
  while (most > 1 && !((isPadded || isMultiple(sizesOf(type).back())) && isMultiple(offset) &&
                       llvm::all_of(ArrayRef(strides).drop_back(), isMultiple)))
    most /= 2;
  return most;
}

GemmForm::GemmForm(GemmOp op)
    : op(op), block(op.getBody().front()), rank(op.getRank()), a(op.getA(), op.typeOfA(), op.getALabels(), op.elementOfA()),
      b(op.getB(), op.typeOfB(), op.getBLabels(), op.elementOfB()), stored(op.typeOfA().getElementType()),
      element(elementModel(stored).compute) {
  for (const GemmSide *side : {&a, &b})
    for (auto [dim, label] : llvm::enumerate(side->labels))
      sizes.try_emplace(label, sizesOf(side->type)[dim]);
  sortLabels();
}

AffineExpr GemmForm::sizeOf(const Labels &labels) const { return product(sizesOfLabels(labels), op->getContext()); }

SmallVector<AffineExpr> GemmForm::sizesOfLabels(const Labels &labels) const {
  return llvm::map_to_vector(labels, [&](int64_t label) { return sizes.lookup(label); });
}

void GemmForm::sortLabels() {
  int64_t last = rank - 1;
  for (PutOp put : block.getOps<PutOp>())
    if (!put.getIndices().empty())
      if (auto index = dyn_cast<BlockArgument>(put.getIndices().back()); index && index.getOwner() == &block) {
        last = index.getArgNumber();
        break;
      }
  if (!b.has(last) && a.has(last))
    std::swap(a, b);
  for (int64_t label : a.labels)
    (label >= rank ? depth : b.has(label) ? batch : rows).push_back(label);
  for (int64_t label : b.labels)
    if (!a.has(label))
      columns.push_back(label);
}

LogicalResult checkBlock(Operation *op, int64_t threads, int64_t sharedBytes, int64_t mostShared, int64_t registers) {
  constexpr int64_t mostThreads = 1024;
  if (threads >= 32 && threads <= mostThreads && sharedBytes <= mostShared) {
    if (canStart(threads, registers))
      return success();
    return op->emitOpError("expects in ") << kChosen << " a block whose threads have the registers of a processor, got " // S11
                                          << threads << " threads with " << registers << " registers each";
  }
  return op->emitOpError("expects in ") << kChosen << " a block of 32 to " << mostThreads << " threads with at most "
                                        << mostShared << " bytes of shared memory, got " << threads << " threads and "
                                        << sharedBytes << " bytes"; // S11
}

Launch GemmForm::launchOf(StringRef name, int64_t tileRows, int64_t tileColumns, int64_t slices) const {
  GemmOp source = op;
  llvm::SetVector<Value> read(source->operand_begin(), source->operand_end());
  source.walk([&](AtOp at) { read.insert(at.getTensor()); });
  Launch launch{name.str(),
                source.getLoc(),
                llvm::to_vector(read),
                llvm::to_vector_of<Value>(source->getResults()),
                {},
                {},
                {},
                {},
                1,
                false,
                {}};
  source.walk([&](DrawOpInterface) { launch.draws = true; });
  launch.blocks = [this, tileRows, tileColumns, slices](EntryCode &code) { return tilesOf(code, tileRows, tileColumns, slices); };
  return launch;
}

GemmCode::GemmCode(const GemmForm &form, KernelCode &code, int64_t tileRows, int64_t tileColumns, int64_t slices, Value tile)
    : form(form), code(code), builder(code.builder), scalars(code, GemmOp(form.op)->getResults()), slices(slices) {
  scalars.bindOutside(form.op);
  Value columnTiles = ceilDivide(builder, code.size(form.sizeOf(form.columns)), constant(builder, tileColumns));
  Value rowTiles = ceilDivide(builder, code.size(form.sizeOf(form.rows)), constant(builder, tileRows));
  if (!tile)
    tile = code.block();
  Value perBatch = multiply(builder, columnTiles, rowTiles), number = remainder(builder, tile, perBatch);
  // Tiles that are computed at a time share few rows of tiles and few columns of them, so that operands come from the cache.
  Value together = constant(builder, 8), perGroup = multiply(builder, columnTiles, together);
  Value row = multiply(builder, divide(builder, number, perGroup), together), inGroup = remainder(builder, number, perGroup);
  Value rows = minimum(builder, subtract(builder, rowTiles, row), together);
  firstColumn = multiply(builder, divide(builder, inGroup, rows), constant(builder, tileColumns));
  firstRow = multiply(builder, add(builder, row, remainder(builder, inGroup, rows)), constant(builder, tileRows));
  batchNumber = divide(builder, tile, perBatch);
  if (slices > 1) {
    Value batches = code.size(form.sizeOf(form.batch));
    slice = divide(builder, batchNumber, batches);
    batchNumber = remainder(builder, batchNumber, batches);
  }
  for (auto [label, index] : llvm::zip_equal(form.batch, scalars.split(batchNumber, form.sizesOfLabels(form.batch))))
    batchIndices[label] = index;
}

Value GemmCode::isBelow(Value index, const Labels &labels) {
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, index, code.size(form.sizeOf(labels)));
}

Value GemmCode::isInside(const GemmSide &side, Value line, Value step) {
  return arith::AndIOp::create(builder, isBelow(line, linesOf(side)), isBelow(step, form.depth));
}

SmallVector<Value> GemmCode::placesOf(const GemmSide &side, Value line, Value step) {
  llvm::DenseMap<int64_t, Value> indices(batchIndices);
  for (auto [labels, number] :
       {std::pair<const Labels *, Value>(&linesOf(side), line), std::pair<const Labels *, Value>(&form.depth, step)})
    for (auto [label, index] : llvm::zip_equal(*labels, scalars.split(number, form.sizesOfLabels(*labels))))
      indices[label] = index;
  return llvm::map_to_vector(side.labels, [&](int64_t label) { return indices.lookup(label); });
}

/// Labels that are neighbours in memory, too, are one: their number need not be taken apart.
Value GemmCode::addRuns(const GemmSide &side, const Labels &labels, Value number, Value offset) {
  SmallVector<AffineExpr> sizes = form.sizesOfLabels(labels), runs, ofRuns; // sizes and strides of runs
  for (auto [label, size] : llvm::zip_equal(labels, sizes)) {
    const AffineExpr stride = side.strides[size_t(llvm::find(side.labels, label) - side.labels.begin())];
    if (!runs.empty() && ofRuns.back() == stride * size) {
      runs.back() = runs.back() * size;
      ofRuns.back() = stride;
    } else {
      runs.push_back(size);
      ofRuns.push_back(stride);
    }
  }
  for (auto [stride, index] : llvm::zip_equal(ofRuns, scalars.split(number, runs)))
    offset = add(builder, offset, multiply(builder, index, code.size(stride)));
  return offset;
}

Value GemmCode::numberOf(const GemmSide &side, Value line, Value step) {
  Value offset = code.size(side.offset);
  for (auto [dim, label] : llvm::enumerate(side.labels))
    if (Value index = batchIndices.lookup(label))
      offset = add(builder, offset, multiply(builder, index, code.size(side.strides[dim])));
  offset = addRuns(side, linesOf(side), line, offset);
  return addRuns(side, form.depth, step, offset);
}

Value GemmCode::elementAt(const GemmSide &side, Value line, Value step) {
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(form.stored));
  auto branch = scf::IfOp::create(builder, TypeRange(form.stored), isInside(side, line, step), true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value value = zero;
  if (!side.element) {
    value = scalars.load(form.stored, code.pointer(side.tensor), numberOf(side, line, step));
  } else {
    for (auto [source, index] : llvm::zip_equal(side.element->getArguments(), placesOf(side, line, step)))
      scalars.bind(source, index);
    scalars.emitOps(*side.element);
    value = scalars.get(cast<YieldOp>(side.element->getTerminator()).getOperand(0));
  }
  scf::YieldOp::create(builder, ValueRange{value});
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, ValueRange{zero});
  return branch.getResult(0);
}

void GemmCode::storeSums(ValueRange sums, int64_t warpColumns, Value row, Value column, Value memory, int64_t width) {
  Type f32 = builder.getF32Type();
  Value lane = remainder(builder, code.thread(), constant(builder, 32));
  row = add(builder, row, divide(builder, lane, constant(builder, 4)));
  column = add(builder, column, multiply(builder, remainder(builder, lane, constant(builder, 4)), constant(builder, 2)));
  Value base = elementAddress(builder, memory, f32, add(builder, multiply(builder, row, constant(builder, width)), column));
  for (int64_t i = 0; i < int64_t(sums.size()); i += 2) { // four of 16 x 8: two neighbours in two rows
    const int64_t block = i / 4, rows = 16 * (block / (warpColumns / 8)), columns = 8 * (block % (warpColumns / 8));
    const int64_t place = (rows + 8 * (i % 4 / 2)) * width + columns;
    storeVector(builder, {sums[size_t(i)], sums[size_t(i + 1)]}, elementAddress(builder, base, f32, constant(builder, place)));
  }
}

/// What depends on the columns of a thread alone is computed once. It takes some rows at a time, op by op: their loads are on
/// their way together, before the first of them is stored.
void GemmCode::overPart(const SumsPart &part, int64_t together, llvm::function_ref<void(const Places &, const LaneCode &)> body) {
  const int64_t vectors = part.columns / part.lanes, across = std::min(vectors, part.threads), step = part.threads / across;
  together = std::max<int64_t>(std::min(together, part.rows / step), 1); // some threads may have no row
  Value start = divide(builder, part.thread, constant(builder, across));
  auto overRows = [&](Value place, int64_t lanes) {
    Value column = add(builder, part.firstColumn, place);
    const LaneCode columns = ofColumns(column, lanes);
    code.strided(start, constant(builder, step * together), constant(builder, part.rows),
                 [&](Value row) { body({row, step, together, place, column, lanes}, columns); });
  };
  const bool breakOff = !form.sizeOf(form.columns).isMultipleOf(part.lanes);
  for (int64_t left = 0; left < vectors; left += across) {
    Value place = add(builder, remainder(builder, part.thread, constant(builder, across)), constant(builder, left));
    place = multiply(builder, place, constant(builder, part.lanes));
    auto ifInside = [&](int64_t lane, llvm::function_ref<void()> then) {
      code.ifThen(isBelow(add(builder, part.firstColumn, add(builder, place, constant(builder, lane))), form.columns), then);
    };
    ifInside(breakOff ? part.lanes - 1 : 0, [&] { overRows(place, part.lanes); });
    if (!breakOff)
      continue;
    Value end = subtract(builder, code.size(form.sizeOf(form.columns)), constant(builder, part.lanes));
    Value isBroken = arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, add(builder, part.firstColumn, place), end);
    code.ifThen(isBroken, [&] {
      code.strided(constant(builder, 0), constant(builder, 1), constant(builder, part.lanes - 1), [&](Value lane) {
        Value own = add(builder, place, lane);
        code.ifThen(isBelow(add(builder, part.firstColumn, own), form.columns), [&] { overRows(own, 1); });
      });
    });
  }
}

void GemmCode::ofBlock(Value row, int64_t rows, int64_t columns, int64_t lanes, llvm::function_ref<void(const SumsPart &)> body) {
  const int64_t threads = int64_t(llvm::bit_floor(uint64_t(code.threads)));
  auto emitAll = [&] { body({row, firstColumn, rows, columns, threads, code.thread(), lanes}); };
  if (threads == code.threads)
    emitAll();
  else
    code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, code.thread(), constant(builder, threads)), emitAll);
}

int64_t GemmForm::lanes() const {
  if (columns.empty())
    return 1;
  const int64_t last = columns.back();
  return lanesOf({&block}, block.getArgument(unsigned(last)), sizeOf({last}), columns.size() == 1);
}

int64_t GemmCode::mostLanes() const {
  constexpr int64_t ofSums = 4; // 16 bytes of f32
  if (slices > 1 && !form.columns.empty())
    return form.sizeOf(form.columns).isMultipleOf(ofSums) ? ofSums : 1;
  return form.lanes();
}

void GemmCode::emitResults(Value memory, int64_t width, Value first, int64_t rows, int64_t columns, int64_t together,
                           int64_t lanes) {
  ofBlock(first, rows, columns, lanes, [&](const SumsPart &part) { emitPart(part, memory, width, together); });
}

void GemmCode::emitPart(const SumsPart &part, Value memory, int64_t width, int64_t together) {
  // All rows of the part are inside then, or none.
  const bool isWhole = slices == 1 && form.sizeOf(form.rows).isMultipleOf(part.rows);
  auto emitRows = [&](const Places &places, const LaneCode &columns) {
    const int64_t ofVector = std::min<int64_t>(places.lanes, 4);
    SmallVector<SmallVector<Value>> sums(static_cast<size_t>(places.count));
    Value from = add(builder, multiply(builder, places.row, constant(builder, width)), places.place);
    for (int64_t i = 0; i < places.count; ++i)
      for (int64_t first = 0; first < places.lanes; first += ofVector) {
        Value number = add(builder, from, constant(builder, i * places.step * width + first));
        Value address = elementAddress(builder, memory, form.element, number);
        llvm::append_range(sums[size_t(i)], loadVector(builder, form.element, address, ofVector));
      }
    Value row = add(builder, part.firstRow, places.row);
    if (slices > 1)
      storeParts(row, places.step, places.column, sums);
    else
      emitTogether(columns, row, places.step, sums, isWhole);
  };
  if (isWhole)
    code.ifThen(isBelow(part.firstRow, form.rows), [&] { overPart(part, together, emitRows); });
  else
    overPart(part, together, emitRows);
}

/// Of each row what lies in one line of the cache; places behind the last ones ask for what these do.
void GemmCode::prefetch(const SumsPart &part) {
  constexpr int64_t line = 128; // bytes
  if (slices > 1 || form.columns.empty())
    return;
  const Value last = form.block.getArgument(unsigned(form.columns.back()));
  auto isLabel = [&](Value index) { return isa<BlockArgument>(index) && index.getParentBlock() == &form.block; };
  auto isOfRow = [&](Value index) { return llvm::is_contained(form.rows, cast<BlockArgument>(index).getArgNumber()); };
  for (AtOp at : form.block.getOps<AtOp>()) {
    ValueRange indices = at.getIndices();
    if (indices.empty() || indices.back() != last || at.getType().isInteger(1) || !llvm::all_of(indices, isLabel) ||
        llvm::none_of(indices, isOfRow))
      continue;
    const Type element = at.getType();
    const int64_t ofLine = line / elementBytes(element), across = std::max<int64_t>(part.columns / ofLine, 1);
    auto within = [&](Value place, const Labels &labels) {
      return minimum(builder, place, subtract(builder, code.size(form.sizeOf(labels)), constant(builder, 1)));
    };
    code.strided(part.thread, constant(builder, part.threads), constant(builder, part.rows * across), [&](Value number) {
      ScalarCode scalar = scalars;
      Value row = add(builder, part.firstRow, divide(builder, number, constant(builder, across)));
      Value column = multiply(builder, remainder(builder, number, constant(builder, across)), constant(builder, ofLine));
      for (auto [label, index] : indicesOf(within(row, form.rows), within(add(builder, part.firstColumn, column), form.columns)))
        scalar.bind(form.block.getArgument(unsigned(label)), index);
      SmallVector<Value> own = llvm::map_to_vector(indices, [&](Value index) { return scalar.get(index); });
      Value address = elementAddress(builder, code.pointer(at.getTensor()), element, scalar.linearIndex(at.getTensor(), own));
      LLVM::CallIntrinsicOp::create(builder, builder.getStringAttr("llvm.nvvm.prefetch.global.L2"), ValueRange{address});
    });
  }
}

SmallVector<std::pair<int64_t, Value>> GemmCode::indicesOf(Value row, Value column) {
  SmallVector<std::pair<int64_t, Value>> indices(batchIndices.begin(), batchIndices.end());
  for (auto [labels, number] :
       {std::pair<const Labels *, Value>(&form.rows, row), std::pair<const Labels *, Value>(&form.columns, column)})
    if (number)
      for (auto [label, index] : llvm::zip_equal(*labels, scalars.split(number, form.sizesOfLabels(*labels))))
        indices.push_back({label, index});
  return indices;
}

LaneCode GemmCode::ofColumns(Value column, int64_t lanes) {
  ScalarCode scalar = scalars;
  for (auto [label, index] : indicesOf({}, column))
    scalar.bind(form.block.getArgument(unsigned(label)), index);
  ValueRange results = GemmOp(form.op)->getResults();
  LaneCode columns = lanes == 1 ? LaneCode(code, std::vector<ScalarCode>{scalar}, results, ValueRange())
                                : LaneCode(code, scalar, results, form.block.getArgument(unsigned(form.columns.back())), lanes);
  llvm::DenseSet<Value> ofRow{form.block.getArgument(unsigned(form.rank))};
  for (int64_t label : form.rows)
    ofRow.insert(form.block.getArgument(unsigned(label)));
  for (Operation &op : form.block) {
    const bool isCommon = op.getNumRegions() == 0 && op.getNumResults() > 0 &&
                          llvm::none_of(op.getOperands(), [&](Value operand) { return ofRow.contains(operand); });
    if (!isCommon) {
      ofRow.insert(op.result_begin(), op.result_end());
      continue;
    }
    ofAllRows.insert(&op);
    columns.emitOp(op);
  }
  return columns;
}

/// Rows behind the last one, if there are some, compute what that one does, and store nothing.
void GemmCode::emitTogether(const LaneCode &columns, Value row, int64_t step, Rows sums, bool areInside) {
  std::vector<LaneCode> each(sums.size(), columns);
  SmallVector<Value> isInside;
  Value left = subtract(builder, code.size(form.sizeOf(form.rows)), row), last = subtract(builder, left, constant(builder, 1));
  for (auto [i, lanes, ofRow] : llvm::enumerate(each, sums)) {
    Value away = constant(builder, int64_t(i) * step), own = add(builder, row, areInside ? away : minimum(builder, away, last));
    for (auto [label, index] : llvm::zip_equal(form.rows, scalars.split(own, form.sizesOfLabels(form.rows))))
      lanes.bindAll(form.block.getArgument(unsigned(label)), index);
    lanes.bind(form.block.getArgument(unsigned(form.rank)), ofRow);
    isInside.push_back(arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, left, away));
  }
  for (Operation &op : form.block) {
    if (ofAllRows.contains(&op) || isa<YieldOp>(op))
      continue;
    for (auto [lanes, inside] : llvm::zip_equal(each, isInside))
      if (isa<PutOp>(op) && !areInside)
        code.ifThen(inside, [&, &lanes = lanes] { lanes.emitOp(op); });
      else
        lanes.emitOp(op);
  }
}

Value GemmCode::batchPlace(ArrayRef<int64_t> labels) {
  Value place = constant(builder, 0);
  for (int64_t label : labels)
    place = add(builder, multiply(builder, place, code.size(form.sizeOf({label}))), batchIndices.lookup(label));
  return place;
}

} // namespace tenon::gpu
