// tenon.optimize: what is updated, as tables in the code, and where the kernels find it.
#include "lowering/artifact/Abi.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/OptimizerKernels.h"
#include "lowering/cpu/TierChoice.h"

using namespace mlir;

namespace tenon::cpu {

constexpr llvm::StringLiteral kTiles = "tiles";

/// The gradient norm is a sum over the tiles in their order: another number gives clipped steps other last bits.
DictionaryAttr chooseOptimize(Operation *op, Tier) {
  return makeChoice(op->getContext(), kTiles, {{"elements", 16384}}); // 28 bytes each: about 20 us at the speed of memory
}

LogicalResult OptimizerKernels::generate() {
  // Whole vectors of all lanes; a text may say as few as still keep the table of tiles small.
  FailureOr<Choice> choice = choiceForTier(op, sequence.tier(), {{kTiles, {{"elements", 64, int64_t(1) << 30, 64}}}});
  if (failed(choice))
    return failure();
  tileElements = *choice->number("elements");
  auto tabulated = tabulate(op, sequence.allParameters());
  if (failed(tabulated))
    return failure();
  table = std::move(*tabulated);
  collectTables();
  const bool comparesTensors = hasRatios() || isFactored();
  areas.norms = tileCount();
  areas.tensors = areas.norms + int64_t(table.bounds.size());
  areas.parameters = areas.tensors + (table.perTensor ? segmentCount() : 0);
  areas.directions = areas.parameters + (comparesTensors ? tileCount() : 0);
  areas.ratios = areas.directions + (comparesTensors ? tileCount() : 0);
  areas.scales = areas.ratios + (comparesTensors ? segmentCount() : 0);
  areas.rowMeans = areas.scales + (isFactored() ? segmentCount() : 0);
  areas.columns = areas.rowMeans + (isFactored() ? segmentCount() : 0);
  areas.count = areas.columns + columnSums;
  partials = sequence.temporary(getAffineConstantExpr(8 * areas.count, op.getContext()));
  addKernels("gradient_norm", false, &OptimizerKernels::emitNorm);
  addScalars();
  if (isFactored())
    addFactoredUpdate();
  else
    addUpdate();
  return success();
}

/// Segments are cut one by one, each by a row of the table; the kernels of all parts together have all elements.
SmallVector<CutSide> OptimizerKernels::sides() const {
  int64_t elements = 0;
  for (const OptimizerSegment &segment : table.segments)
    elements += segment.count;
  return {{getAffineConstantExpr(elements, OptimizeOp(op).getContext()), 0}};
}

std::string OptimizerKernels::emitGlobal(StringRef stem, Type type, DenseElementsAttr values) {
  OpBuilder builder = OpBuilder::atBlockEnd(sequence.module().getBody());
  std::string name = sequence.uniqueName(stem);
  LLVM::GlobalOp::create(builder, op.getLoc(), LLVM::LLVMArrayType::get(type, values.getNumElements()), true,
                         LLVM::Linkage::Internal, name, values);
  return name;
}

/// Elements of a tile: of means by rows and columns whole rows, as many as keep sums by columns few, and vectors whole.
int64_t OptimizerKernels::elementsPerTile(const OptimizerSegment &segment) const {
  constexpr int64_t kLeastRows = 64;
  const int64_t columns = segment.means.columnCount;
  return columns == 0 ? tileElements : columns * int64_t(llvm::alignTo(std::max(tileElements / columns, kLeastRows), kLeastRows));
}

/// Per tile its segment; per segment offset, elements, first tile, norm, the matrix in panels, the means of squares and the
/// elements of a tile, and the three factors; the bounds of the norms.
void OptimizerKernels::collectTables() {
  SmallVector<int64_t> whole;
  SmallVector<double> real;
  for (auto [i, segment] : llvm::enumerate(table.segments)) {
    firstTiles.push_back(tileCount());
    whole.append({segment.offset, segment.count, tileCount(), segment.norm, segment.lines, segment.columns});
    real.append({segment.rate, segment.gradient, segment.decay});
    const int64_t tiles = int64_t(llvm::divideCeil(segment.count, elementsPerTile(segment)));
    tileSegments.append(tiles, int32_t(i));
    if (!isFactored())
      continue;
    const OptimizerSegment::Means &means = segment.means;
    whole.append({means.rows, means.columns, means.rowCount, means.columnCount, elementsPerTile(segment), columnSums});
    columnSums += tiles * means.columnCount;
  }
  if (!sequence.onlyNotes())
    emitTables(whole, real);
}

void OptimizerKernels::emitTables(ArrayRef<int64_t> whole, ArrayRef<double> real) {
  Builder builder(op.getContext());
  auto shape = [&](size_t count, Type type) { return RankedTensorType::get({int64_t(count)}, type); };
  tileTable =
      emitGlobal("optimize_tiles", builder.getI32Type(),
                 DenseElementsAttr::get(shape(tileSegments.size(), builder.getI32Type()), ArrayRef<int32_t>(tileSegments)));
  wholeTable = emitGlobal("optimize_places", builder.getI64Type(),
                          DenseElementsAttr::get(shape(whole.size(), builder.getI64Type()), whole));
  realTable = emitGlobal("optimize_factors", builder.getF64Type(),
                         DenseElementsAttr::get(shape(real.size(), builder.getF64Type()), real));
  boundTable =
      emitGlobal("optimize_bounds", builder.getF64Type(),
                 DenseElementsAttr::get(shape(table.bounds.size(), builder.getF64Type()), ArrayRef<double>(table.bounds)));
}

Value OptimizerKernels::loadAt(FunctionCode &code, const std::string &name, Type type, Value index) {
  auto &builder = code.builder;
  Value base = LLVM::AddressOfOp::create(builder, pointer(builder), name);
  return LLVM::LoadOp::create(builder, type, elementAddress(builder, base, type, index));
}

/// Row of the segment table for a tile, i64.
Value OptimizerKernels::segmentOf(FunctionCode &code, Value tile) {
  return arith::ExtUIOp::create(code.builder, code.builder.getI64Type(),
                                loadAt(code, tileTable, code.builder.getI32Type(), tile));
}

Value OptimizerKernels::wholeColumn(FunctionCode &code, Value segment, int64_t i) {
  auto &builder = code.builder;
  return loadAt(code, wholeTable, builder.getI64Type(),
                add(builder, multiply(builder, segment, constant(builder, isFactored() ? 12 : 6)), constant(builder, i)));
}

Value OptimizerKernels::tileElementsOf(FunctionCode &code, Value segment) {
  return isFactored() ? wholeColumn(code, segment, 10) : constant(code.builder, tileElements);
}

OptimizerKernels::Piece OptimizerKernels::pieceOf(FunctionCode &code) {
  auto &builder = code.builder;
  Piece piece;
  const int64_t before = firstTile(part.first);
  piece.tile = before > 0 ? add(builder, code.tile, constant(builder, before)) : code.tile;
  piece.segment = segmentOf(code, piece.tile);
  Value row = multiply(builder, piece.segment, constant(builder, 3));
  auto factor = [&](int64_t i) { return loadAt(code, realTable, builder.getF64Type(), add(builder, row, constant(builder, i))); };
  Value most = tileElementsOf(code, piece.segment);
  Value first = multiply(builder, subtract(builder, piece.tile, wholeColumn(code, piece.segment, 2)), most);
  piece.first = first;
  piece.count = minimum(builder, most, subtract(builder, wholeColumn(code, piece.segment, 1), first));
  piece.offset =
      add(builder, wholeColumn(code, piece.segment, 0), multiply(builder, first, constant(builder, elementBytes(part.element))));
  piece.rate = factor(0);
  piece.gradient = factor(1);
  piece.decay = factor(2);
  piece.norm = wholeColumn(code, piece.segment, 3);
  return piece;
}

Value OptimizerKernels::arena(FunctionCode &code, TnArena number, const Piece &piece) {
  auto &builder = code.builder;
  Value base = LLVM::LoadOp::create(builder, pointer(builder),
                                    byteAddress(builder, code.pointerField(abi::Arenas), constant(builder, 8 * number)), 8);
  const Type held = number == TN_ARENA_COPIES                                    ? part.copies
                    : number == TN_ARENA_PARAMS || number == TN_ARENA_REMAINDERS ? part.stored
                                                                                 : part.element;
  if (held != part.element)
    return byteAddress(builder, base,
                       divide(builder, piece.offset, constant(builder, elementBytes(part.element) / elementBytes(held))));
  if (number != TN_ARENA_PARAMS || part.shrunk == 1)
    return byteAddress(builder, base, piece.offset);
  Value segment = wholeColumn(code, piece.segment, 0), inside = subtract(builder, piece.offset, segment);
  return byteAddress(builder, base, add(builder, divide(builder, segment, constant(builder, part.shrunk)), inside));
}

OptimizerKernels::Places OptimizerKernels::placesOf(FunctionCode &code, const Piece &piece) {
  const int moments = momentCount(op);
  Places places;
  places.parameters = arena(code, TN_ARENA_PARAMS, piece);
  places.gradients = arena(code, TN_ARENA_GRADS, piece);
  if (moments >= 1 && !isFactored()) // else its places are no elements'
    places.first = arena(code, TN_ARENA_MOMENT1, piece);
  if (moments >= 2)
    places.second = arena(code, TN_ARENA_MOMENT2, piece);
  if (part.copies)
    places.copies = arena(code, TN_ARENA_COPIES, piece);
  if (part.isSplit)
    places.remainders = arena(code, TN_ARENA_REMAINDERS, piece);
  return places;
}

Value OptimizerKernels::areaAddress(FunctionCode &code, int64_t area, Value index) {
  auto &builder = code.builder;
  return elementAddress(builder, code.temporary(0), builder.getF64Type(), add(builder, constant(builder, area), index));
}
Value OptimizerKernels::loadArea(FunctionCode &code, int64_t area, Value index) {
  return LLVM::LoadOp::create(code.builder, code.builder.getF64Type(), areaAddress(code, area, index), 8);
}
void OptimizerKernels::storeArea(FunctionCode &code, int64_t area, Value index, Value value) {
  LLVM::StoreOp::create(code.builder, value, areaAddress(code, area, index), 8);
}

int64_t OptimizerKernels::laneCount() { return elementModel(part.element).lanes; }
Value OptimizerKernels::real(FunctionCode &code, double value) {
  return arith::ConstantOp::create(code.builder, code.builder.getF64FloatAttr(value));
}

// TnContext::step counts batches: every `accumulate`-th makes an update.
Value OptimizerKernels::batchesPerUpdate(FunctionCode &code) { return constant(code.builder, op.accumulate()); }
/// i1: all gradients of this update are there.
Value OptimizerKernels::isLast(FunctionCode &code) {
  auto &builder = code.builder;
  Value batch = remainder(builder, code.field(abi::Step), batchesPerUpdate(code));
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, batch, constant(builder, op.accumulate() - 1));
}

/// An update is made after the last of its batches, and not where the norm is not finite: such a step leaves parameters and
/// moments as they are.
void OptimizerKernels::addKernel(StringRef name, int64_t tiles, bool afterNorm, std::function<void(FunctionCode &)> body,
                                 bool isUpdate) {
  Kernel kernel{name.str(), op.getLoc(), {}, {}, {}, {partials}, 0, {}, std::move(body)};
  if (isUpdate)
    kernel.cut = sides();
  kernel.tiles = [this, tiles, afterNorm](FunctionCode &code) -> Value {
    auto &builder = code.builder;
    if (!afterNorm)
      return constant(builder, tiles);
    Value on = arith::AndIOp::create(builder, isFinite(builder, scalarOf(code, normScalar)), isLast(code));
    return multiply(builder, arith::ExtUIOp::create(builder, builder.getI64Type(), on), constant(builder, tiles));
  };
  sequence.add(kernel);
}

void OptimizerKernels::addKernels(StringRef name, bool afterNorm, void (OptimizerKernels::*emit)(FunctionCode &), bool isUpdate) {
  for (const OptimizerPart &each : table.parts) {
    part = each;
    const std::string own = table.parts.size() > 1 ? (name + "_" + elementModel(part.stored).name()).str() : name.str();
    addKernel(
        own, firstTile(part.first + part.count) - firstTile(part.first), afterNorm,
        [this, emit](FunctionCode &code) { (this->*emit)(code); }, isUpdate);
  }
}

LogicalResult generateOptimize(Operation *op, KernelSequence &sequence) {
  return OptimizerKernels(cast<OptimizeOp>(op), sequence).generate();
}

} // namespace tenon::cpu
