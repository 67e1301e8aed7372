// Fused attention by fused multiply-adds: tiles, shared memory, products.
#include "lowering/gpu/Attention.h"
#include "dialect/ElementModel.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::gpu {

std::optional<PairTile> PairTile::fitting(ArrayRef<int64_t> widths, int64_t planes, Type element, int64_t most) {
  for (int64_t side = most; side >= 8; side /= 2) {
    int64_t ofRow = planes * stride(side);
    for (int64_t width : widths)
      ofRow += stride(width);
    if (side * ofRow * elementBytes(element) <= kBlockBytes)
      return PairTile{side};
  }
  return std::nullopt;
}

AttentionTile::AttentionTile(KernelCode &code, const AttentionOperands &operands, PairTile tile)
    : AttentionCode(code, operands), tile(tile) {
  threadRow = divide(builder, code.thread(), number(PairTile::across));
  threadColumn = remainder(builder, code.thread(), number(PairTile::across));
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
