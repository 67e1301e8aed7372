#include "lowering/cpu/Attention.h"
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Math.h"
#include "lowering/cpu/StreamRows.h"
#include "lowering/cpu/TierChoice.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::cpu {

SmallVector<Value> AttentionOperands::tensors() const {
  SmallVector<Value> result{query, key, value};
  for (Value optional : {positionQuery, table, selectedScores, scoreTable, valueTable, positionKey, keyTable, pairScores})
    if (optional)
      result.push_back(optional);
  llvm::append_range(result, indexOperands);
  return result;
}

constexpr llvm::StringLiteral kStrips = "strips", kStreams = "streams", kBySize = "by_size";

/// Packing pays where a panel is read more than once: keys and values that few queries of one head read are read where they are.
static llvm::StringRef formOfForward(AttentionOp op) {
  const auto query = cast<RankedTensorType>(op.getQuery().getType()), key = cast<RankedTensorType>(op.getKey().getType());
  if (query.getDimSize(2) != key.getDimSize(2))
    return kStrips;
  auto queries = dyn_cast<AffineConstantExpr>(sizesOf(query)[1]);
  return !queries ? kBySize : queries.getValue() <= kFewRows ? kStreams : kStrips;
}

DictionaryAttr chooseAttention(Operation *op, Tier) {
  const bool isForward = isa<AttentionOp>(op);
  const Value query = isForward ? Value(cast<AttentionOp>(op).getQuery()) : Value(cast<AttentionGradOp>(op).getQuery());
  int64_t rows = AttentionCode::stripLimit;
  if (auto queries = dyn_cast<AffineConstantExpr>(sizesOf(cast<RankedTensorType>(query.getType()))[1])) { // strips of one height
    const int64_t strips = std::max<int64_t>(llvm::divideCeil(queries.getValue(), rows), 1);
    rows = std::max<int64_t>(llvm::divideCeil(queries.getValue(), strips), 1);
  }
  constexpr int64_t keys = 1024, tasks = 32; // with fewer (batch, head) pairs the strips of one are shared out
  if (!isForward)
    return makeChoice(op->getContext(), kStrips, {{"rows", rows}, {"keys", keys}});
  return makeChoice(op->getContext(), formOfForward(cast<AttentionOp>(op)), {{"rows", rows}, {"keys", keys}, {"tasks", tasks}});
}

LogicalResult AttentionOperands::takeChoice(Operation *op, Tier tier) {
  // Of keys whole parts of those that the forward kernel sums at a time; a worker's scratch grows with them.
  SmallVector<ChoiceForm> forms{{kStrips, {{"rows", 1, AttentionCode::stripLimit}, {"keys", 64, 4096, 64}}}};
  if (isa<AttentionOp>(op)) {
    forms[0].numbers.push_back({"tasks", 1, int64_t(1) << 20});
    forms.append(2, ChoiceForm(forms[0]));
    forms[1].name = kStreams, forms[1].numbers[0].most = kFewRows;
    forms[2].name = kBySize;
  }
  FailureOr<Choice> choice = choiceForTier(op, tier, forms);
  if (failed(choice))
    return failure();
  reads = choice->form() == kStreams ? Reads::InPlace : choice->form() == kBySize ? Reads::BySize : Reads::Panels;
  mostRows = *choice->number("rows");
  chunkKeys = *choice->number("keys");
  tasks = choice->number("tasks").value_or(0);
  return success();
}

SmallVector<CutSide> AttentionOperands::sidesOfForward() const {
  const SmallVector<AffineExpr> sizes = sizesOf(cast<RankedTensorType>(query.getType()));
  return {{sizes[0], 1}, {getAffineConstantExpr(keyHeads(), query.getContext()), 1}, {sizes[1] * (heads() / keyHeads()), 0}};
}
SmallVector<CutSide> AttentionOperands::sidesOfGradient() const {
  const SmallVector<AffineExpr> sizes = sizesOf(cast<RankedTensorType>(query.getType()));
  return {{sizes[0], 1}, {sizes[2], heads() / keyHeads()}};
}

AttentionCode::AttentionCode(FunctionCode &code, const AttentionOperands &operands)
    : code(code), builder(code.builder), emit(code.builder, code.builder.getLoc()), element(operands.element()),
      lanes(tierLanes(code.tier, element)), rowLanes(elementModel(element).lanes), width(panelWidth(code.tier, element)),
      heads(operands.heads()), keyHeads(operands.keyHeads()), group(heads / keyHeads), keyWidth(operands.keyWidth()),
      valueWidth(operands.valueWidth()), chunkKeys(operands.chunkKeys) {
  SmallVector<AffineExpr> sizes = sizesOf(cast<RankedTensorType>(operands.query.getType()));
  batches = code.size(sizes[0]);
  queries = code.size(sizes[1]);
  keys = code.size(sizesOf(cast<RankedTensorType>(operands.key.getType()))[1]);
  strips = emit.max(emit.ceilDiv(queries, operands.mostRows), int64_t(1));
  stripRows = emit.max(emit.ceilDiv(queries, strips), int64_t(1));
  using Reads = AttentionOperands::Reads;
  readsInPlace = operands.reads == Reads::BySize ? emit.lessEqual(queries, emit.constant(kFewRows))
                                                 : emit.flag(operands.reads == Reads::InPlace);
  // Never a multiple of the page: rows of the strip would share the sets of the first-level cache.
  scoreStride = emit.add(emit.roundUp(emit.min(keys, chunkKeys), 64), 16);
  scoreStride = emit.min(scoreStride, chunkKeys + 16);
}

Value AttentionCode::spread(Value scalar) {
  return vector::BroadcastOp::create(builder, VectorType::get({rowLanes}, scalar.getType()), scalar);
}

Value AttentionCode::loadRow(Elements place, Value mask) {
  Value loaded =
      emitVectorLoad(builder, builder.getLoc(), VectorType::get({rowLanes}, memoryType(place.storage)), place.address, mask);
  return isShortReal(place.storage) ? widenBits(builder, builder.getLoc(), code.tier, place.storage, loaded) : loaded;
}

void AttentionCode::storeRow(Value vector, Elements place, Value mask) {
  Value stored = isShortReal(place.storage) ? narrowToBits(builder, builder.getLoc(), code.tier, place.storage, vector) : vector;
  emitVectorStore(builder, builder.getLoc(), stored, place.address, mask);
}

Value AttentionCode::atEach(Value base, Value index) {
  auto type = VectorType::get({rowLanes}, LLVM::LLVMPointerType::get(builder.getContext()));
  return LLVM::GEPOp::create(builder, type, element, base, ValueRange{index});
}

Value AttentionCode::every(Value address, int64_t step) {
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < rowLanes; ++lane)
    numbers.push_back(int32_t(lane * step));
  auto type = VectorType::get({rowLanes}, builder.getI32Type());
  return atEach(address, arith::ConstantOp::create(builder, DenseIntElementsAttr::get(type, numbers)));
}

Value AttentionCode::gather(Value addresses, Value mask) {
  if (!mask)
    mask = arith::ConstantOp::create(builder, DenseElementsAttr::get(VectorType::get({rowLanes}, builder.getI1Type()), true));
  return LLVM::masked_gather::create(builder, VectorType::get({rowLanes}, element), addresses, mask, ValueRange{spread(real(0))},
                                     bytes());
}

void AttentionCode::scatter(Value vector, Value addresses) {
  Value all = arith::ConstantOp::create(builder, DenseElementsAttr::get(VectorType::get({rowLanes}, builder.getI1Type()), true));
  LLVM::masked_scatter::create(builder, vector, addresses, all, bytes());
}

void AttentionCode::scatterAdd(Value vector, Value addresses) {
  for (int64_t lane = 0; lane < rowLanes; ++lane) {
    Value number = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(lane)));
    Value address = LLVM::ExtractElementOp::create(builder, addresses, number);
    Value term = vector::ExtractOp::create(builder, vector, ArrayRef<int64_t>{lane});
    storeScalar(arith::AddFOp::create(builder, loadScalar(address), term), address);
  }
}

Value AttentionCode::exponential(Value x) {
  if (element.isF32())
    return emitExpAtMostOne(builder, x);
  auto op = math::ExpOp::create(builder, x); // stands for the function while its code is made
  Value result = emitMathFunction(code, *op, x);
  op.erase();
  return result;
}

Value AttentionCode::roundDown(Value index, int64_t to) { return builder.createOrFold<arith::AndIOp>(index, number(-to)); }

Value AttentionCode::rowIndex(Value batch, Value positions, Value position, Value head, int64_t ofWidth) {
  Value place = emit.add(emit.mul(batch, positions), position);
  return emit.mul(emit.add(emit.mul(place, heads), head), ofWidth);
}

static Elements elementsOf(FunctionCode &code, Value tensor) {
  return {code.pointer(tensor), cast<RankedTensorType>(tensor.getType()).getElementType()};
}

Elements AttentionCode::row(Value tensor, Value batch, Value positions, Value position, Value head, int64_t ofWidth) {
  return at(elementsOf(code, tensor), rowIndex(batch, positions, position, head, ofWidth));
}

Elements AttentionCode::keyRow(Value tensor, Value batch, Value key, Value keyHead, int64_t ofWidth) {
  Value place = emit.add(emit.mul(batch, keys), key);
  return at(elementsOf(code, tensor), emit.mul(emit.add(emit.mul(place, keyHeads), keyHead), ofWidth));
}

Elements AttentionCode::pairRow(Value tensor, Value batch, Value head, Value query, Value key) {
  const SmallVector<AffineExpr> sizes = sizesOf(cast<RankedTensorType>(tensor.getType()));
  Value row = emit.constant(0);
  for (auto [size, index] : {std::pair(sizes[0], batch), std::pair(sizes[1], head), std::pair(sizes[2], query)})
    if (auto number = dyn_cast<AffineConstantExpr>(size); !number || number.getValue() != 1)
      row = emit.add(emit.mul(row, code.size(size)), index);
  return at(elementsOf(code, tensor), emit.add(emit.mul(row, keys), key));
}

std::pair<Value, Value> AttentionCode::step(Region &step, Value scores, bool slope) {
  Block &block = step.front();
  Operation *yield = block.getTerminator();
  llvm::SetVector<Operation *> needed;
  llvm::SmallVector<Value> work{yield->getOperand(0)};
  if (slope)
    work.push_back(yield->getOperand(1));
  while (!work.empty())
    if (Operation *op = work.pop_back_val().getDefiningOp(); op && needed.insert(op))
      llvm::append_range(work, op->getOperands());
  LaneCode lanes(code, {}, rowLanes);
  lanes.bind(block.getArgument(0), LaneValue::lanes(scores));
  for (Operation &op : block)
    if (needed.contains(&op))
      lanes.emitOp(op);
  auto result = [&](unsigned number) { return lanes.lanesOf(lanes.get(yield->getOperand(number))); };
  return {result(0), slope ? result(1) : Value()};
}

void AttentionCode::packColumns(Elements source, Value count, int64_t ofWidth, Value panels, Value stride, Type rounding) {
  func::FuncOp pack = getPackPanel(builder, builder.getLoc(), code.tier, source.storage, width, LayoutOfB::Transposed,
                                   DepthOrder::Ascending, rounding);
  emit.loop(emit.constant(0), emit.ceilDiv(count, width), 1, [&](Value panel) {
    Value column = emit.mul(panel, width);
    Value columns = emit.min(emit.sub(count, column), width);
    func::CallOp::create(builder, pack,
                         ValueRange{number(ofWidth), columns, at(source, emit.mul(column, stride)).address, number(1), stride,
                                    at(panels, emit.mul(panel, panelStride(ofWidth)))});
  });
}

void AttentionCode::gatherRows(Elements source, Value count, int64_t ofWidth, Value rows, Value stride) {
  emit.loop(emit.constant(0), count, 1, [&](Value row) {
    Elements from = at(source, emit.mul(row, stride));
    Value to = at(rows, emit.mul(row, rowWidth(ofWidth)));
    for (int64_t column = 0; column < ofWidth; column += rowLanes) {
      Value inside = column + rowLanes <= ofWidth ? Value() : firstLanes(code, number(ofWidth - column), rowLanes);
      storeRow(loadRow(at(from, number(column)), inside), at(to, number(column)));
    }
  });
}

void AttentionCode::packRows(Elements source, Value count, int64_t ofWidth, Value panels, Value panelStride, Value stride,
                             Type rounding) {
  func::FuncOp pack = getPackPanel(builder, builder.getLoc(), code.tier, source.storage, width, LayoutOfB::RowMajor,
                                   DepthOrder::Ascending, rounding);
  for (int64_t column = 0; column < ofWidth; column += width)
    func::CallOp::create(builder, pack,
                         ValueRange{count, number(std::min(width, ofWidth - column)), at(source, number(column)).address, stride,
                                    number(1), at(panels, emit.mul(panelStride, column / width))});
}

void AttentionCode::copyRow(Value from, Elements to, int64_t ofWidth, bool adds) {
  assert((!adds || !isShortReal(to.storage)) && "a sum that is rounded at each term");
  for (int64_t column = 0; column < ofWidth; column += rowLanes) {
    Value inside = column + rowLanes <= ofWidth ? Value() : firstLanes(code, number(ofWidth - column), rowLanes);
    Elements target = at(to, number(column));
    Value sum = loadRow(at(from, number(column)));
    if (adds)
      sum = arith::AddFOp::create(builder, loadRow(target, inside), sum);
    storeRow(sum, target, inside);
  }
}

KeepBits AttentionCode::keeps(const AttentionOperands &operands) {
  return {code, operands.site, operands.threshold(), operands.depth ? code.scalar(operands.depth) : Value()};
}

SmallVector<Value> AttentionCode::alongRow(Value low, Value high, ValueRange carried,
                                           llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  return forLoop(builder, low, high, number(rowLanes), carried, body);
}

void AttentionCode::fill(Value base, Value low, Value high, Value vector, bool exactly) {
  Value whole = exactly ? emit.add(low, roundDown(emit.sub(high, low), rowLanes)) : high;
  alongRow(low, whole, {}, [&](Value index, ValueRange) -> SmallVector<Value> {
    storeRow(vector, at(base, index));
    return {};
  });
  if (exactly)
    storeRow(vector, at(base, whole), firstLanes(code, emit.sub(high, whole), rowLanes));
}

} // namespace tenon::cpu
