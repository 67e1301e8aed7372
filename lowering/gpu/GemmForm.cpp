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
  source.walk([&](Operation *inner) { launch.draws |= isa<RandomKeepOp, RandomBitsOp>(inner); });
  launch.blocks = [this, tileRows, tileColumns, slices](EntryCode &code) {
    auto &builder = code.builder;
    auto tiles = [&](const Labels &labels, int64_t size) {
      return ceilDivide(builder, code.size(sizeOf(labels)), constant(builder, size));
    };
    Value all =
        multiply(builder, code.size(sizeOf(batch)), multiply(builder, tiles(rows, tileRows), tiles(columns, tileColumns)));
    return multiply(builder, all, constant(builder, slices));
  };
  return launch;
}

GemmCode::GemmCode(const GemmForm &form, KernelCode &code, int64_t tileRows, int64_t tileColumns, int64_t slices)
    : form(form), code(code), builder(code.builder), scalars(code, GemmOp(form.op)->getResults()), slices(slices) {
  scalars.bindOutside(form.op);
  Value columnTiles = ceilDivide(builder, code.size(form.sizeOf(form.columns)), constant(builder, tileColumns));
  Value rowTiles = ceilDivide(builder, code.size(form.sizeOf(form.rows)), constant(builder, tileRows));
  Value perBatch = multiply(builder, columnTiles, rowTiles), number = remainder(builder, code.block(), perBatch);
  // Blocks that run at a time share few rows of tiles and few columns of them, so that operands come from the cache.
  Value together = constant(builder, 8), perGroup = multiply(builder, columnTiles, together);
  Value row = multiply(builder, divide(builder, number, perGroup), together), inGroup = remainder(builder, number, perGroup);
  Value rows = minimum(builder, subtract(builder, rowTiles, row), together);
  firstColumn = multiply(builder, divide(builder, inGroup, rows), constant(builder, tileColumns));
  firstRow = multiply(builder, add(builder, row, remainder(builder, inGroup, rows)), constant(builder, tileRows));
  batchNumber = divide(builder, code.block(), perBatch);
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
    good &= scalars.emitOps(*side.element);
    value = good ? scalars.get(cast<YieldOp>(side.element->getTerminator()).getOperand(0)) : zero;
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
  for (int64_t i = 0; i < int64_t(sums.size()); ++i) { // four of 16 x 8: two neighbours in two rows
    const int64_t block = i / 4, rows = 16 * (block / (warpColumns / 8)), columns = 8 * (block % (warpColumns / 8));
    const int64_t place = (rows + 8 * (i % 4 / 2)) * width + columns + i % 2;
    LLVM::StoreOp::create(builder, sums[size_t(i)], elementAddress(builder, base, f32, constant(builder, place)));
  }
}

/// A thread stays in its column, so that what depends on that alone is computed once. It takes some rows at a time, op by op:
/// their loads are on their way together, before the first of them is stored.
void GemmCode::overTile(int64_t rows, int64_t columns, int64_t together,
                        llvm::function_ref<void(Value, int64_t, int64_t, Value, Value)> body) {
  const int64_t threads = int64_t(llvm::bit_floor(uint64_t(code.threads))), across = std::min(columns, threads);
  const int64_t step = threads / across;
  together = std::max<int64_t>(std::min(together, rows / step), 1); // some threads may have no row
  auto emitAll = [&] {
    Value start = divide(builder, code.thread(), constant(builder, across));
    for (int64_t left = 0; left < columns; left += across) {
      Value place = add(builder, remainder(builder, code.thread(), constant(builder, across)), constant(builder, left));
      Value column = add(builder, firstColumn, place);
      code.ifThen(isBelow(column, form.columns), [&] {
        code.strided(start, constant(builder, step * together), constant(builder, rows),
                     [&](Value row) { body(row, step, together, place, column); });
      });
    }
  };
  if (threads == code.threads)
    emitAll();
  else
    code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, code.thread(), constant(builder, threads)), emitAll);
}

void GemmCode::emitResults(Value memory, int64_t width, Value first, int64_t rows, int64_t columns, int64_t together) {
  overTile(rows, columns, together, [&](Value row, int64_t step, int64_t count, Value place, Value column) {
    SmallVector<Value> sums;
    Value from = add(builder, multiply(builder, row, constant(builder, width)), place);
    for (int64_t i = 0; i < count; ++i) {
      Value at = elementAddress(builder, memory, form.element, add(builder, from, constant(builder, i * step * width)));
      sums.push_back(LLVM::LoadOp::create(builder, form.element, at));
    }
    row = add(builder, first, row);
    if (slices > 1)
      storeParts(row, step, column, sums);
    else
      emitTogether(row, step, column, sums);
  });
}

/// Rows behind the last one compute what that one does, and store nothing.
void GemmCode::emitTogether(Value row, int64_t step, Value column, ArrayRef<Value> sums) {
  std::vector<ScalarCode> each(sums.size(), scalars);
  SmallVector<Value> isInside;
  Value left = subtract(builder, code.size(form.sizeOf(form.rows)), row), last = subtract(builder, left, constant(builder, 1));
  for (auto [i, scalar] : llvm::enumerate(each)) {
    Value away = constant(builder, int64_t(i) * step), own = add(builder, row, minimum(builder, away, last));
    llvm::DenseMap<int64_t, Value> indices(batchIndices);
    for (auto [labels, index] :
         {std::pair<const Labels *, Value>(&form.rows, own), std::pair<const Labels *, Value>(&form.columns, column)})
      for (auto [label, one] : llvm::zip_equal(*labels, scalar.split(index, form.sizesOfLabels(*labels))))
        indices[label] = one;
    for (int64_t label = 0; label < form.rank; ++label)
      scalar.bind(form.block.getArgument(unsigned(label)), indices.lookup(label));
    scalar.bind(form.block.getArgument(unsigned(form.rank)), sums[i]);
    isInside.push_back(arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, left, away));
  }
  for (Operation &op : form.block)
    for (auto [scalar, inside] : llvm::zip_equal(each, isInside))
      if (isa<PutOp>(op))
        code.ifThen(inside, [&, &scalar = scalar] { good &= scalar.emitOp(op); });
      else if (!isa<YieldOp>(op))
        good &= scalar.emitOp(op);
}

Value GemmCode::batchPlace(ArrayRef<int64_t> labels) {
  Value place = constant(builder, 0);
  for (int64_t label : labels)
    place = add(builder, multiply(builder, place, code.size(form.sizeOf({label}))), batchIndices.lookup(label));
  return place;
}

} // namespace tenon::gpu
