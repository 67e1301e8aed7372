// tenon.attention and its gradient in contractions, gathers, reductions and elementwise ops: every score exists. For targets and
// element types without a kernel for them, and the other side of the kernels' tests.
#include "dialect/AttentionMasks.h"
#include "dialect/AttentionPairs.h"
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon {
namespace {

/// What the op and its gradient have in common. Scores are tensors [B, I, H, J]; places, masks and selections [B, I, J].
template <typename Op> class Parts {
public:
  Parts(Op op, OpBuilder &builder)
      : op(op), builder(builder), g(builder, op.getLoc()), query(sizesOf(tensorOf(op.getQuery()))),
        key(sizesOf(tensorOf(op.getKey()))) {
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType())) {
        dimCount = std::max(dimCount, dimCountOf(tensorOf(operand)));
        if (tensorOf(operand).getElementType().isInteger(64))
          integer = builder.getI64Type();
      }
    scores = real({query[0], query[1], query[2], key[1]});
    pairs = tensorType({query[0], query[1], key[1]}, builder.getI1Type(), dimCount);
    for (Value table : {op.getTable(), op.getScoreTable(), op.getValueTable(), op.getKeyTable()})
      if (table)
        places = sizesOf(tensorOf(table))[0];
    if (places) {
      byPlace = real({query[0], query[1], query[2], places});
      byKey = real({query[0], key[1], query[2], places});
    }
  }

  RankedTensorType real(ArrayRef<AffineExpr> sizes) {
    return tensorType(sizes, tensorOf(op.getQuery()).getElementType(), dimCount);
  }

  // ---- integers and truth values of a pair

  Value formOf(const MaskForm &form) {
    auto type = withElement(pairs, integer);
    Value sum = integerOf(form.rest, type);
    auto add = [&](Value term, int64_t factor) {
      if (factor != 0)
        sum = g.add(sum, factor == 1 ? term : g.mul(term, g.constant(type, double(factor))));
    };
    add(IotaOp::create(builder, op.getLoc(), type, builder.getI64IntegerAttr(1)), form.query);
    add(IotaOp::create(builder, op.getLoc(), type, builder.getI64IntegerAttr(2)), form.key);
    for (const MaskForm::Term &term : form.terms)
      add(g.convert(operandOf(term.operand), integer), term.coefficient);
    for (const MaskForm::Part &part : form.parts) {
      Value of = formOf(part.of), divisor = g.constant(type, double(part.divisor));
      add(part.isQuotient ? Value(FloorDivOp::create(builder, op.getLoc(), type, of, divisor))
                          : Value(ModOp::create(builder, op.getLoc(), type, of, divisor)),
          part.coefficient);
    }
    return sum;
  }
  Value maskOf(const Mask &mask) {
    auto zero = [&] { return g.constant(withElement(pairs, integer), 0); };
    switch (mask.kind) {
    case Mask::Kind::AtMostZero:
      return g.compare(Comparison::le, formOf(mask.form), zero());
    case Mask::Kind::IsZero:
      return g.compare(Comparison::eq, formOf(mask.form), zero());
    case Mask::Kind::Holds:
      return operandOf(mask.operand);
    case Mask::Kind::Not:
      return NotOp::create(builder, op.getLoc(), pairs, maskOf(mask.parts.front()));
    case Mask::Kind::And:
    case Mask::Kind::Or:
      break;
    }
    Value all = g.constant(pairs, mask.kind == Mask::Kind::And ? 1 : 0);
    for (const Mask &part : mask.parts)
      all = mask.kind == Mask::Kind::And ? Value(AndOp::create(builder, op.getLoc(), pairs, all, maskOf(part)))
                                         : Value(OrOp::create(builder, op.getLoc(), pairs, all, maskOf(part)));
    return all;
  }
  /// Truth values [B, I, H, J]; null: all pairs are seen.
  Value visible() {
    Value all;
    std::string problem;
    for (Attribute attribute : op.getMask()) {
      Value mask = maskOf(*toMask(attribute, problem));
      all = all ? Value(AndOp::create(builder, op.getLoc(), pairs, all, mask)) : mask;
    }
    return all ? g.broadcast(all, {0, 1, 3}, withElement(scores, builder.getI1Type())) : all;
  }
  /// The rows of the tables at each pair, whose terms add up; where one lies outside of them the pair is masked.
  ArrayRef<Value> placesOfPair() {
    if (!known.empty() || !places)
      return known;
    std::string problem;
    if (op.getComputesPlace()) {
      SmallVector<Value> inputs;
      for (size_t number = 0; number < op.getIndexOperands().size(); ++number)
        inputs.push_back(operandOf(number));
      known = g.map(op.getPlaceCode()->front(), inputs, pairs);
      return known;
    }
    Value place = formOf(*toForm(op.getPlace()[0], problem));
    if (op.getPlace().size() == 2)
      place = g.select(operandOf(int64_t(*op.getBack())), formOf(*toForm(op.getPlace()[1], problem)), place);
    known.push_back(place);
    return known;
  }
  /// The one of a form.
  Value place() { return placesOfPair().front(); }
  /// The sum over the places.
  Value overPlaces(llvm::function_ref<Value(Value)> at) {
    Value sum;
    for (Value place : placesOfPair())
      sum = sum ? g.add(sum, at(place)) : at(place);
    return sum;
  }
  Value selection() {
    std::string problem;
    return g.convert(maskOf(*toMask(*op.getSelect(), problem)), builder.getI32Type());
  }

  // ---- between places and keys

  /// [B, I, H, n] at an index of the pair: [B, I, H, J].
  Value atKeys(Value x, Value index) {
    return GatherOp::create(builder, op.getLoc(), scores, x, index, builder.getI64IntegerAttr(3),
                            builder.getDenseI64ArrayAttr({0, 1, 2, -1}), builder.getDenseI64ArrayAttr({0, 1, 3}),
                            builder.getUnitAttr());
  }
  /// The sums over the keys of equal index: [B, I, H, J] to `type`, [B, I, H, n].
  Value byIndex(Value x, Value index, RankedTensorType type) {
    return ScatterAddOp::create(builder, op.getLoc(), type, x, index, Value(), builder.getI64IntegerAttr(3),
                                builder.getDenseI64ArrayAttr({0, 1, 2, -1}), builder.getDenseI64ArrayAttr({0, 1, 3}),
                                builder.getUnitAttr());
  }

  /// [B, J, H, P] at the place of the pair: [B, I, H, J].
  Value fromKeyPlaces(Value x) {
    return GatherOp::create(builder, op.getLoc(), scores, x, place(), builder.getI64IntegerAttr(3),
                            builder.getDenseI64ArrayAttr({0, 3, 2, -1}), builder.getDenseI64ArrayAttr({0, 1, 3}),
                            builder.getUnitAttr());
  }
  /// The sums over the queries of equal place: [B, I, H, J] to [B, J, H, P].
  Value toKeyPlaces(Value x) {
    return ScatterAddOp::create(builder, op.getLoc(), byKey, x, place(), Value(), builder.getI64IntegerAttr(3),
                                builder.getDenseI64ArrayAttr({0, 3, 2, -1}), builder.getDenseI64ArrayAttr({0, 1, 3}),
                                builder.getUnitAttr());
  }

  // ---- heads: query head h reads key head h div (H / K)

  bool grouped() const { return query[2] != key[2]; }
  /// [B, n, H, m] as [B, n, K, H / K, m].
  Value inGroups(Value x) {
    auto sizes = sizesOf(tensorOf(x));
    const int64_t members = cast<AffineConstantExpr>(query[2]).getValue() / cast<AffineConstantExpr>(key[2]).getValue();
    auto type = real({sizes[0], sizes[1], key[2], getAffineConstantExpr(members, op.getContext()), sizes[3]});
    return ReshapeOp::create(builder, op.getLoc(), type, x, builder.getDenseI64ArrayAttr({1, 1, 2, 1}));
  }
  Value fromGroups(Value x, RankedTensorType type) {
    return ReshapeOp::create(builder, op.getLoc(), type, x, builder.getDenseI64ArrayAttr({1, 1, -2, 1}));
  }
  /// Rows [B, J, K, m], repeated for the heads that read them: [B, J, H, m].
  Value keysOfHeads(Value rows) {
    if (!grouped())
      return rows;
    auto sizes = sizesOf(tensorOf(rows));
    const int64_t members = cast<AffineConstantExpr>(query[2]).getValue() / cast<AffineConstantExpr>(key[2]).getValue();
    auto apart = real({sizes[0], sizes[1], sizes[2], getAffineConstantExpr(members, op.getContext()), sizes[3]});
    return fromGroups(g.broadcast(rows, {0, 1, 2, 4}, apart), real({sizes[0], sizes[1], query[2], sizes[3]}));
  }
  /// Rows [B, I, H, m] against rows [B, J, K, m]: [B, I, H, J].
  Value perPair(Value rows, Value keyRows) {
    if (!grouped())
      return g.dot(rows, {0, 1, 2, 4}, keyRows, {0, 3, 2, 4}, scores);
    Value members = inGroups(rows);
    SmallVector<AffineExpr> sizes = sizesOf(tensorOf(members));
    sizes.back() = key[1];
    return fromGroups(g.dot(members, {0, 1, 2, 3, 5}, keyRows, {0, 4, 2, 5}, real(sizes)), scores);
  }
  /// [B, I, H, J] against rows [B, J, K, m]: `type`, [B, I, H, m].
  Value perQuery(Value weights, Value keyRows, RankedTensorType type) {
    if (!grouped())
      return g.dot(weights, {0, 1, 2, 4}, keyRows, {0, 4, 2, 3}, type);
    Value members = inGroups(weights);
    SmallVector<AffineExpr> sizes = sizesOf(tensorOf(members));
    sizes.back() = sizesOf(type).back();
    return fromGroups(g.dot(members, {0, 1, 2, 3, 5}, keyRows, {0, 5, 2, 4}, real(sizes)), type);
  }
  /// [B, I, H, J] against rows [B, I, H, m], summed over queries and the members of a group: `type`, [B, J, K, m].
  Value perKey(Value weights, Value rows, RankedTensorType type) {
    if (!grouped())
      return g.dot(weights, {0, 4, 2, 1}, rows, {0, 4, 2, 3}, type);
    return g.dot(inGroups(weights), {0, 4, 2, 5, 1}, inGroups(rows), {0, 4, 2, 5, 3}, type);
  }

  /// [B, J, H, m], summed over the heads that share keys: `type`, [B, J, K, m].
  Value overMembers(Value rows, RankedTensorType type) {
    return grouped() ? g.broadcast(g.reduce(Reduction::sum, inGroups(rows), {3}), {0, 1, 2, 3}, type) : rows;
  }

  // ---- scores

  /// The sum of all terms, scaled.
  Value scaledSum() {
    Value sum = perPair(op.getQuery(), op.getKey());
    if (op.getTable()) {
      Value ofPlaces = g.dot(op.getPositionQuery(), {0, 1, 2, 4}, op.getTable(), {3, 2, 4}, byPlace);
      sum = g.add(sum, overPlaces([&](Value place) { return atKeys(ofPlaces, place); }));
    }
    if (op.getKeyTable()) // [B, J, H, P] at the place of the pair
      sum = g.add(sum, fromKeyPlaces(g.dot(keysOfHeads(op.getPositionKey()), {0, 1, 2, 4}, op.getKeyTable(), {3, 2, 4}, byKey)));
    if (op.getSelectedScores())
      sum = g.add(sum, atKeys(op.getSelectedScores(), selection()));
    if (op.getScoreTable())
      sum = g.add(sum, overPlaces([&](Value place) -> Value {
                    return GatherOp::create(builder, op.getLoc(), scores, op.getScoreTable(), place, builder.getI64IntegerAttr(0),
                                            builder.getDenseI64ArrayAttr({-1, 2}), builder.getDenseI64ArrayAttr({0, 1, 3}),
                                            builder.getUnitAttr());
                  }));
    if (op.getPairScores())
      sum = g.add(sum, spreadPairs(builder, op.getPairScores(), op.getPairBatch(), scores));
    return g.scale(sum, op.getScale().convertToDouble());
  }
  /// The step on the scaled sum, and its derivative; the sum itself and null without one.
  SmallVector<Value> stepped(Value sum) {
    return op.getStep().empty() ? SmallVector<Value>{sum, Value()} : g.map(op.getStep().front().front(), sum, scores);
  }
  Value dropped(Value p) {
    if (op.getRate().convertToDouble() == 0)
      return p;
    auto drawn = [&](Value x) -> Value {
      return DropoutOp::create(builder, op.getLoc(), x.getType(), x, op.getDepth(), op.getRateAttr(), op.getSiteAttr(),
                               builder.getDenseI64ArrayAttr({}));
    };
    if (!op.getDrawnAt())
      return drawn(p);
    // What the whole draws, and of that the rows: [B, N, H, J] at the places of the queries.
    Value factor = drawn(g.constant(real({query[0], op.getDrawnOf()->getResult(0), query[2], key[1]}), 1));
    SmallVector<int64_t> ofPlaces = labelsOf(op.getIndexLabels()[*op.getDrawnAt()]); // batch and query stand there in `scores`
    return g.mul(p, GatherOp::create(builder, op.getLoc(), scores, factor, op.getIndexOperands()[*op.getDrawnAt()],
                                     builder.getI64IntegerAttr(1), builder.getDenseI64ArrayAttr({0, -1, 2, 3}),
                                     builder.getDenseI64ArrayAttr(ofPlaces), UnitAttr()));
  }
  /// [B, H, I] as [B, I, H].
  Value asRows(Value statistics) { return transposed(statistics, {query[0], query[1], query[2]}); }
  /// [B, I, H] as [B, H, I].
  Value asStatistics(Value rows) { return transposed(rows, {query[0], query[2], query[1]}); }

  Op op;
  OpBuilder &builder;
  Build g;
  SmallVector<AffineExpr> query, key; // [B, I, H, E], [B, J, K, E]
  AffineExpr places;
  RankedTensorType scores, pairs, byPlace, byKey; // the last two: [B, I, H, P], [B, J, H, P]

private:
  Value transposed(Value x, ArrayRef<AffineExpr> sizes) { return g.broadcast(x, {0, 2, 1}, real(sizes)); }
  Value integerOf(AffineExpr size, RankedTensorType type) {
    if (auto number = dyn_cast<AffineConstantExpr>(size))
      return g.constant(type, double(number.getValue()));
    Value scalar = SizeOp::create(builder, op.getLoc(), RankedTensorType::get({}, integer), sizeAttribute(size, dimCount));
    return g.broadcast(scalar, {}, type);
  }
  Value operandOf(int64_t number) {
    Value operand = op.getIndexOperands()[number];
    return g.broadcast(operand, labelsOf(op.getIndexLabels()[number]), withElement(pairs, tensorOf(operand).getElementType()));
  }
  unsigned dimCount = 0;
  Type integer = builder.getI32Type();
  SmallVector<Value> known; // places of the pair
};

constexpr double kLowest = -1e30; // of a pair that is not seen; exp makes 0 of it

/// The op with operands of 16 bits, decomposed in the type they are computed in: operands widened, results narrowed.
template <typename Op> SmallVector<Value> decomposeWidened(Op op, OpBuilder &builder) {
  const Type narrow = tensorOf(op.getQuery()).getElementType(), compute = elementModel(narrow).compute;
  Build g(builder, op.getLoc());
  IRMapping operands;
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()); type && type.getElementType() == narrow)
      operands.map(operand, g.convert(operand, compute));
  Operation *wide = builder.clone(*op, operands);
  for (Value result : wide->getResults())
    result.setType(withElement(tensorOf(result), compute));
  SmallVector<Value> results;
  for (auto [result, own] : llvm::zip(wide->getResults(), op->getResults()))
    results.push_back(own.use_empty() ? Value() : g.convert(result, tensorOf(own).getElementType()));
  OpBuilder before(wide, builder.getListener());
  SmallVector<Value> parts = cast<Op>(wide).decompose(before);
  for (auto [part, result, given] : llvm::zip(parts, wide->getResults(), results)) {
    if (given == result)
      given = part;
    if (part)
      result.replaceAllUsesWith(part);
  }
  wide->erase();
  return results;
}

template <typename Op> bool isNarrow(Op op) {
  const Type element = tensorOf(op.getQuery()).getElementType();
  return elementModel(element).compute != element;
}

} // namespace

SmallVector<Value> AttentionOp::decompose(OpBuilder &builder) {
  if (isNarrow(*this))
    return decomposeWidened(*this, builder);
  Parts<AttentionOp> parts(*this, builder);
  Build &g = parts.g;
  SmallVector<Value> step = parts.stepped(parts.scaledSum());
  Value score = step[0], visible = parts.visible();
  if (visible)
    score = g.select(visible, score, g.constant(parts.scores, kLowest));
  Value largest = g.reduceLast(Reduction::max, score);
  if (getPairScores()) // a row of -inf alone
    largest = MaxOp::create(builder, getLoc(), largest.getType(), largest, g.constant(largest.getType(), kLowest));
  Value p = g.unary<ExpOp>(g.sub(score, g.alongLast(largest, parts.scores)));
  if (visible)
    p = g.select(visible, p, g.constant(parts.scores, 0));
  // A row that sees no key has the sum 0 and gives p = 0.
  Value sum = g.reduceLast(Reduction::sum, p), zero = g.zerosLike(sum);
  Value inverse = g.select(g.compare(Comparison::lt, zero, sum), g.div(g.constant(sum.getType(), 1), sum), zero);
  p = parts.dropped(g.mul(p, g.alongLast(inverse, parts.scores)));
  Value y = parts.perQuery(p, getValue(), tensorOf(getY()));
  if (getValueTable())
    y = g.add(y,
              g.dot(parts.byIndex(p, parts.place(), parts.byPlace), {0, 1, 2, 4}, getValueTable(), {4, 2, 3}, tensorOf(getY())));
  return {y, getRowMax().use_empty() ? Value() : parts.asStatistics(largest),
          getRowSumInverse().use_empty() ? Value() : parts.asStatistics(inverse)};
}

SmallVector<Value> AttentionGradOp::decompose(OpBuilder &builder) {
  if (isNarrow(*this))
    return decomposeWidened(*this, builder);
  Parts<AttentionGradOp> parts(*this, builder);
  Build &g = parts.g;
  SmallVector<Value> step = parts.stepped(parts.scaledSum());
  Value visible = parts.visible(), zero = g.constant(parts.scores, 0);
  // Of a pair that is not seen the exponential may be anything; it is not read.
  Value p = g.unary<ExpOp>(g.sub(step[0], g.alongLast(parts.asRows(getRowMax()), parts.scores)));
  p = g.mul(p, g.alongLast(parts.asRows(getRowSumInverse()), parts.scores));
  if (visible)
    p = g.select(visible, p, zero);
  Value along = parts.perPair(getDy(), getValue());
  if (getValueTable())
    along = g.add(along, parts.atKeys(g.dot(getDy(), {0, 1, 2, 4}, getValueTable(), {3, 2, 4}, parts.byPlace), parts.place()));
  along = parts.dropped(along); // dropout is its own gradient
  Value mean = g.reduceLast(Reduction::sum, g.mul(p, along));
  Value dSum = g.scale(g.mul(p, g.sub(along, g.alongLast(mean, parts.scores))), getScale().convertToDouble());
  if (step[1])
    dSum = visible ? g.select(visible, g.mul(dSum, step[1]), zero) : g.mul(dSum, step[1]);

  SmallVector<Value> gradients;
  auto give = [&](Value result, llvm::function_ref<Value()> make) {
    if (result)
      gradients.push_back(result.use_empty() ? Value() : make());
  };
  Value weights = parts.dropped(p);
  Value dByPlace;
  if (getTable() || getScoreTable())
    dByPlace = parts.overPlaces([&](Value place) { return parts.byIndex(dSum, place, parts.byPlace); });
  give(getDquery(), [&] { return parts.perQuery(dSum, getKey(), tensorOf(getDquery())); });
  give(getDkey(), [&] { return parts.perKey(dSum, getQuery(), tensorOf(getDkey())); });
  give(getDvalue(), [&] { return parts.perKey(weights, getDy(), tensorOf(getDvalue())); });
  give(getDpositionQuery(), [&] { return g.dot(dByPlace, {0, 1, 2, 4}, getTable(), {4, 2, 3}, tensorOf(getDpositionQuery())); });
  give(getDtable(), [&] { return g.dot(dByPlace, {0, 4, 2, 1}, getPositionQuery(), {0, 4, 2, 3}, tensorOf(getDtable())); });
  give(getDselectedScores(), [&] { return parts.byIndex(dSum, parts.selection(), tensorOf(getDselectedScores())); });
  give(getDscoreTable(),
       [&] { return g.broadcast(g.reduce(Reduction::sum, dByPlace, {1}), {0, 2, 1}, tensorOf(getDscoreTable())); });
  give(getDvalueTable(), [&] {
    return g.dot(parts.byIndex(weights, parts.place(), parts.byPlace), {0, 4, 2, 1}, getDy(), {0, 4, 2, 3},
                 tensorOf(getDvalueTable()));
  });
  auto givePairs = [&] { give(getDpairScores(), [&] { return asPairs(builder, dSum, tensorOf(getDpairScores())); }); };
  if (!getKeyTable()) {
    givePairs();
    return gradients;
  }
  Value dByKey = parts.toKeyPlaces(dSum), keys = parts.keysOfHeads(getPositionKey());
  give(getDpositionKey(), [&] {
    Value ofHeads = g.dot(dByKey, {0, 1, 2, 4}, getKeyTable(), {4, 2, 3}, tensorOf(keys));
    return parts.overMembers(ofHeads, tensorOf(getDpositionKey()));
  });
  give(getDkeyTable(), [&] { return g.dot(dByKey, {0, 4, 2, 1}, keys, {0, 4, 2, 3}, tensorOf(getDkeyTable())); });
  givePairs();
  return gradients;
}

} // namespace tenon
