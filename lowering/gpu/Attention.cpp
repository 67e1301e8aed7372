// Fused attention: operands, tiles, shared memory, products.
#include "lowering/gpu/Attention.h"
#include "dialect/ElementModel.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/Reductions.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::gpu {

static SmallVector<AffineExpr> sizesOfTensor(Value tensor) { return sizesOf(cast<RankedTensorType>(tensor.getType())); }

AffineExpr AttentionOperands::batches() const { return sizesOfTensor(query)[0]; }
AffineExpr AttentionOperands::queries() const { return sizesOfTensor(query)[1]; }
AffineExpr AttentionOperands::keys() const { return sizesOfTensor(key)[1]; }
AffineExpr AttentionOperands::rowsOfTables() const { return sizesOfTensor(anyTable())[0]; }

void AttentionOperands::read(ArrayAttr mask, ArrayAttr place, ArrayAttr indexLabels, Attribute selection) {
  std::string problem; // none: the op is verified
  for (Attribute attribute : mask)
    masks.push_back(*toMask(attribute, problem));
  for (Attribute attribute : place)
    places.push_back(*toForm(attribute, problem));
  for (Attribute attribute : indexLabels)
    labels.push_back(labelsOf(attribute));
  if (selection)
    select = *toMask(selection, problem);
}

SmallVector<Value> AttentionOperands::tensors() const {
  SmallVector<Value> result{query, key, value};
  for (Value optional : {positionQuery, table, selectedScores, scoreTable, valueTable, positionKey, keyTable})
    if (optional)
      result.push_back(optional);
  llvm::append_range(result, indexOperands);
  return result;
}

bool AttentionOperands::dependsOn(const MaskForm &form, int64_t label) const {
  return llvm::any_of(form.terms, [&](const MaskForm::Term &term) { return llvm::is_contained(labels[term.operand], label); });
}

std::optional<PairTile> PairTile::fitting(ArrayRef<int64_t> widths, int64_t planes, Type element) {
  constexpr int64_t sharedBytes = 48 << 10; // of a block, without asking for more
  for (int64_t side : {32, 16, 8}) {
    int64_t ofRow = planes * stride(side);
    for (int64_t width : widths)
      ofRow += stride(width);
    if (side * ofRow * elementBytes(element) <= sharedBytes)
      return PairTile{side};
  }
  return std::nullopt;
}

AttentionTile::AttentionTile(KernelCode &code, const AttentionOperands &operands, PairTile tile)
    : code(code), builder(code.builder), operands(operands), tile(tile), element(operands.element()), scalars(code, ValueRange()),
      queries(code.size(operands.queries())), keys(code.size(operands.keys())), drops(operands.threshold() > 0) {
  if (operands.anyTable())
    rows = code.size(operands.rowsOfTables());
  threadRow = divide(builder, code.thread(), number(PairTile::across));
  threadColumn = remainder(builder, code.thread(), number(PairTile::across));
}

Value AttentionTile::enter(int64_t heads, Value tiles, Value &ofHeads) {
  Value rest = divide(builder, code.block(), tiles), count = number(heads);
  ofHeads = remainder(builder, rest, count);
  batch = divide(builder, rest, count);
  return multiply(builder, remainder(builder, code.block(), tiles), number(tile.side));
}

/// Each thread combines with the one whose number differs in one bit: all get the same bits.
Value AttentionTile::acrossRow(Reduction kind, Value value) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto word = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(number)));
  };
  auto other = [&](StringRef name, Type type, Value own, int64_t lane) -> Value {
    return LLVM::CallIntrinsicOp::create(builder, type, builder.getStringAttr(name),
                                         ValueRange{word(-1), own, word(lane), word(31)})
        .getResult(0);
  };
  for (int64_t lane = 1; lane < PairTile::across; lane *= 2) {
    Value partner;
    if (element.isF64()) {
      Value bits = LLVM::BitcastOp::create(builder, i64, value), half = number(32);
      auto part = [&](Value shifted) -> Value {
        Value own = arith::TruncIOp::create(builder, i32, shifted);
        return arith::ExtUIOp::create(builder, i64, other("llvm.nvvm.shfl.sync.bfly.i32", i32, own, lane));
      };
      Value low = part(bits), high = part(arith::ShRUIOp::create(builder, bits, half));
      partner = LLVM::BitcastOp::create(builder, element,
                                        arith::OrIOp::create(builder, low, arith::ShLIOp::create(builder, high, half)));
    } else {
      partner = other("llvm.nvvm.shfl.sync.bfly.f32", element, value, lane);
    }
    if (kind == Reduction::max)
      value = select(arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, partner, value), partner, value);
    else
      value = arith::AddFOp::create(builder, value, partner);
  }
  return value;
}

Value AttentionTile::offsetOfQuery(Value query, int64_t width) {
  Value index = add(builder, multiply(builder, batch, queries), query);
  return multiply(builder, add(builder, multiply(builder, index, number(operands.heads())), head), number(width));
}
Value AttentionTile::offsetOfKey(Value key, int64_t width) {
  Value index = add(builder, multiply(builder, batch, keys), key);
  return multiply(builder, add(builder, multiply(builder, index, number(operands.keyHeads())), keyHead), number(width));
}
Value AttentionTile::offsetOfPlace(Value place, int64_t width) {
  return multiply(builder, add(builder, multiply(builder, place, number(operands.heads())), head), number(width));
}
Value AttentionTile::statistic(Value tensor, Value query) {
  Value index = add(builder, multiply(builder, batch, number(operands.heads())), head);
  return elementAddress(builder, code.pointer(tensor), element, add(builder, multiply(builder, index, queries), query));
}

Value AttentionTile::widened(Value value, bool isRounded) {
  if (isRounded)
    value = arith::TruncFOp::create(builder, operands.storage(), value);
  return value.getType() == element ? value : arith::ExtFOp::create(builder, element, value).getResult();
}
Value AttentionTile::load(Value tensor, Value index) {
  return widened(scalars.load(storedType(tensor), code.pointer(tensor), index), rounds(tensor));
}
void AttentionTile::store(Value tensor, Value index, Value value) {
  const Type stored = storedType(tensor);
  if (stored != element)
    value = arith::TruncFOp::create(builder, stored, value);
  scalars.store(stored, code.pointer(tensor), index, value);
}

Value AttentionTile::sharedAt(SharedRows rows, Value row, Value column) {
  return elementAddress(builder, rows.base, element, add(builder, multiply(builder, row, number(rows.stride)), column));
}

/// Threads beside each other read neighbours in memory.
void AttentionTile::fill(SharedRows to, Value tensor, int64_t width, Value first, Value count,
                         llvm::function_ref<Value(Value)> offsetOf) {
  const int64_t padded = to.stride - 1;
  code.overBlock(number(tile.side * padded), [&](Value index) {
    Value row = divide(builder, index, number(padded)), column = remainder(builder, index, number(padded));
    Value position = add(builder, first, row), inside = less(position, count);
    if (padded != width)
      inside = both(inside, less(column, number(width)));
    auto branch = scf::IfOp::create(builder, TypeRange(element), inside, true);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      Value loaded = load(tensor, add(builder, offsetOf(position), column));
      scf::YieldOp::create(builder, ValueRange{loaded});
      builder.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(builder, ValueRange{real(0)});
    }
    LLVM::StoreOp::create(builder, branch.getResult(0), sharedAt(to, row, column));
  });
}

Vectors AttentionTile::rowsOf(SharedRows rows) {
  Vectors vectors{Vectors::Of::Row, rows.base, element, false, {}};
  for (int64_t r = 0; r < tile.ownRows(); ++r)
    vectors.offsets.push_back(multiply(builder, row(r), number(rows.stride)));
  return vectors;
}
Vectors AttentionTile::columnsOf(SharedRows rows) {
  Vectors vectors{Vectors::Of::Column, rows.base, element, false, {}};
  for (int64_t c = 0; c < tile.ownColumns(); ++c)
    vectors.offsets.push_back(multiply(builder, column(c), number(rows.stride)));
  return vectors;
}
Vectors AttentionTile::ofQueries(Value tensor, const Pairs &pairs, int64_t width) {
  Vectors vectors = vectorsIn(tensor, Vectors::Of::Row);
  for (Value query : pairs.queries)
    vectors.offsets.push_back(offsetOfQuery(query, width));
  return vectors;
}
Vectors AttentionTile::ofKeys(Value tensor, const Pairs &pairs, int64_t width) {
  Vectors vectors = vectorsIn(tensor, pairs.keysBy);
  for (Value key : pairs.keysBy == Vectors::Of::Column ? pairs.columnKeys : pairs.keys)
    vectors.offsets.push_back(offsetOfKey(key, width));
  return vectors;
}
Vectors AttentionTile::ofPlaces(Value table, const Pairs &pairs, int64_t width, size_t which) {
  Vectors vectors = vectorsIn(table, pairs.placesBy);
  if (pairs.placesBy == Vectors::Of::Column)
    for (Value place : pairs.columnPlaces)
      vectors.offsets.push_back(offsetOfPlace(place, width));
  else
    for (const SmallVector<Value> &places : pairs.places)
      vectors.offsets.push_back(offsetOfPlace(places[which], width));
  return vectors;
}

SmallVector<Value> AttentionTile::dot(const Vectors &a, const Vectors &b, int64_t width, ValueRange sums) {
  auto loop = scf::ForOp::create(builder, number(0), number(width), number(1), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  auto read = [&](const Vectors &vectors) {
    return llvm::map_to_vector(vectors.offsets, [&](Value offset) -> Value {
      Value index = add(builder, offset, loop.getInductionVar());
      return widened(scalars.load(vectors.stored, vectors.base, index), vectors.rounds);
    });
  };
  SmallVector<Value> ofA = read(a), ofB = read(b), after;
  auto pick = [&](const Vectors &vectors, ArrayRef<Value> numbers, int64_t r, int64_t c) {
    return numbers[size_t(vectors.of == Vectors::Of::Row      ? r
                          : vectors.of == Vectors::Of::Column ? c
                                                              : r * tile.ownColumns() + c)];
  };
  for (int64_t r = 0; r < tile.ownRows(); ++r)
    for (int64_t c = 0; c < tile.ownColumns(); ++c)
      after.push_back(math::FmaOp::create(builder, pick(a, ofA, r, c), pick(b, ofB, r, c),
                                          loop.getRegionIterArgs()[unsigned(r * tile.ownColumns() + c)]));
  scf::YieldOp::create(builder, after);
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> AttentionTile::accumulate(ValueRange sums, int64_t width, RowNumbers weights, ColumnNumbers values) {
  auto loop = scf::ForOp::create(builder, number(0), number(tile.side), number(1), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value n = loop.getInductionVar();
  SmallVector<Value> ofRows = weights(n), after;
  const int64_t columns = PairTile::ownOf(width);
  SmallVector<SmallVector<Value>> ofColumns;
  for (int64_t c = 0; c < columns; ++c)
    ofColumns.push_back(values(n, column(c)));
  for (size_t r = 0; r < ofRows.size(); ++r)
    for (int64_t c = 0; c < columns; ++c) {
      ArrayRef<Value> numbers = ofColumns[size_t(c)];
      after.push_back(math::FmaOp::create(builder, ofRows[r], numbers.size() == 1 ? numbers[0] : numbers[r],
                                          loop.getRegionIterArgs()[unsigned(int64_t(r) * columns + c)]));
    }
  scf::YieldOp::create(builder, after);
  return llvm::to_vector_of<Value>(loop.getResults());
}

void AttentionTile::storeRows(Value tensor, ArrayRef<Value> offsets, ArrayRef<Value> exists, ValueRange sums, int64_t width,
                              ArrayRef<Value> factors) {
  const int64_t columns = PairTile::ownOf(width);
  for (size_t r = 0; r < offsets.size(); ++r)
    code.ifThen(exists[r], [&] {
      for (int64_t c = 0; c < columns; ++c) {
        Value value = sums[unsigned(int64_t(r) * columns + c)], at = column(c);
        if (!factors.empty())
          value = arith::MulFOp::create(builder, value, factors[r]);
        auto put = [&] { store(tensor, add(builder, offsets[r], at), value); };
        if ((c + 1) * PairTile::across <= width)
          put();
        else
          code.ifThen(less(at, number(width)), put);
      }
    });
}

void AttentionTile::storePairs(SharedRows to, ValueRange numbers) {
  for (int64_t r = 0; r < tile.ownRows(); ++r)
    for (int64_t c = 0; c < tile.ownColumns(); ++c)
      LLVM::StoreOp::create(builder, numbers[unsigned(r * tile.ownColumns() + c)], sharedAt(to, row(r), column(c)));
}

SmallVector<Value> AttentionTile::weightsOfRows(SharedRows pairs, Value n) {
  SmallVector<Value> weights;
  for (int64_t r = 0; r < tile.ownRows(); ++r)
    weights.push_back(LLVM::LoadOp::create(builder, element, sharedAt(pairs, row(r), n)));
  return weights;
}
SmallVector<Value> AttentionTile::weightsOfColumns(SharedRows pairs, Value n) {
  SmallVector<Value> weights;
  for (int64_t r = 0; r < tile.ownRows(); ++r)
    weights.push_back(LLVM::LoadOp::create(builder, element, sharedAt(pairs, n, row(r))));
  return weights;
}

} // namespace tenon::gpu
