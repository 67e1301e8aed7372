// tenon.attention and tenon.attention_grad by their formulas, element by element in f64, with every score in memory.
#include "dialect/AttentionMasks.h"
#include "dialect/TensorSizes.h"
#include "test/lowering/cpu/Reference.h"
#include <cmath>
#include <tuple>

using namespace mlir;

namespace tenon::test {
namespace {

/// The operands and attributes that the op and its gradient have in common.
struct Shared {
  template <class Op>
  Shared(Op op)
      : query(op.getQuery()), key(op.getKey()), value(op.getValue()), positionQuery(op.getPositionQuery()), table(op.getTable()),
        selected(op.getSelectedScores()), scoreTable(op.getScoreTable()), valueTable(op.getValueTable()),
        positionKey(op.getPositionKey()), keyTable(op.getKeyTable()), pairs(op.getPairScores()), indices(op.getIndexOperands()),
        masks(op.getMask()), place(op.getPlace()), labels(op.getIndexLabels()), select(op.getSelect().value_or(Attribute())),
        back(op.getBack()), step(op.getStep().empty() ? nullptr : &op.getStep().front()), placeCode(op.getPlaceCode()),
        scale(op.getScale().convertToDouble()), rate(op.getRate().convertToDouble()), site(op.getSite()),
        drawnAt(op.getDrawnAt()), drawnOf(op.getDrawnOf().value_or(AffineMap())),
        pairBatch(op.getPairBatch().value_or(AffineMap())) {}
  Value query, key, value, positionQuery, table, selected, scoreTable, valueTable, positionKey, keyTable, pairs;
  SmallVector<Value> indices;
  ArrayAttr masks, place, labels;
  Attribute select;
  std::optional<int64_t> back;
  Region *step, *placeCode;
  double scale, rate;
  int64_t site;
  std::optional<int64_t> drawnAt;
  AffineMap drawnOf, pairBatch;
};

class Attention {
public:
  Attention(Shared op, int64_t depth, const Machine &machine, Tensors &tensors)
      : op(op), depth(depth), machine(machine), tensors(tensors) {
    auto q = shape(op.query), k = shape(op.key), v = shape(op.value);
    B = q[0], I = q[1], H = q[2], E = q[3], J = k[1], K = k[2], F = v[3];
    for (Value table : {op.table, op.scoreTable, op.valueTable, op.keyTable})
      if (table)
        P = shape(table)[0];
    std::string problem;
    for (Attribute mask : op.masks)
      masks.push_back(*toMask(mask, problem));
    for (Attribute form : op.place)
      places.push_back(*toForm(form, problem));
    if (op.select)
      select = *toMask(op.select, problem);
  }

  void forward(AttentionOp results) {
    for (Value result : results->getResults())
      tensors[result]; // an insertion moves what is there
    Numbers &y = at(results.getY()), &largest = at(results.getRowMax()), &inverse = at(results.getRowSumInverse());
    y.assign(B * I * H * F, 0), largest.assign(B * H * I, 0), inverse.assign(B * H * I, 0);
    forRows([&](int64_t b, int64_t i, int64_t h) {
      Row row = scores(b, i, h);
      largest[(b * H + h) * I + i] = row.largest;
      inverse[(b * H + h) * I + i] = row.inverse;
      for (int64_t j = 0; j < J; ++j)
        for (int64_t f = 0; f < F; ++f)
          if (row.shown[j])
            y[element(b, i, I, h, f, F)] += row.dropped[j] * valueOf(b, i, j, h, f);
    });
  }

  void backward(AttentionGradOp grad) {
    for (Value result : grad->getResults())
      tensors[result]; // an insertion moves what is there
    auto result = [&](Value value, int64_t count) -> Numbers * {
      if (!value)
        return nullptr;
      at(value).assign(count, 0);
      return &at(value);
    };
    Numbers *dq = result(grad.getDquery(), B * I * H * E), *dk = result(grad.getDkey(), B * J * K * E),
            *dv = result(grad.getDvalue(), B * J * K * F);
    Numbers *dp = result(grad.getDpositionQuery(), B * I * H * E), *dt = result(grad.getDtable(), B * P * H * E);
    Numbers *ds = result(grad.getDselectedScores(), B * I * H * 2), *dd = result(grad.getDscoreTable(), B * P * H);
    Numbers *dw = result(grad.getDvalueTable(), B * P * H * F);
    Numbers *da = result(grad.getDpositionKey(), B * J * K * E), *db = result(grad.getDkeyTable(), B * P * H * E),
            *dPairs = result(grad.getDpairScores(), B * H * I * J);
    const Numbers &dy = at(grad.getDy()), &y = at(grad.getY()), &q = at(op.query), &k = at(op.key);
    forRows([&](int64_t b, int64_t i, int64_t h) {
      Row row = scores(b, i, h);
      double product = 0;
      for (int64_t f = 0; f < F; ++f)
        product += dy[element(b, i, I, h, f, F)] * y[element(b, i, I, h, f, F)];
      for (int64_t j = 0; j < J; ++j) {
        if (!row.shown[j])
          continue;
        double along = 0;
        const std::vector<int64_t> found = distances(b, i, j);
        const int64_t d = P > 0 ? found.front() : 0;
        for (int64_t f = 0; f < F; ++f) {
          along += dy[element(b, i, I, h, f, F)] * valueOf(b, i, j, h, f);
          (*dv)[ofKey(b, j, h, f, F)] += row.dropped[j] * dy[element(b, i, I, h, f, F)];
          if (dw)
            (*dw)[((b * P + d) * H + h) * F + f] += row.dropped[j] * dy[element(b, i, I, h, f, F)];
        }
        const double g = row.p[j] * (along * row.factor[j] - product) * row.slope[j] * op.scale;
        for (int64_t e = 0; e < E; ++e) {
          const int64_t at_i = element(b, i, I, h, e, E), at_j = ofKey(b, j, h, e, E);
          (*dq)[at_i] += g * k[at_j];
          (*dk)[at_j] += g * q[at_i];
          for (int64_t row : found) {
            if (dp)
              (*dp)[at_i] += g * at(op.table)[(row * H + h) * E + e];
            if (dt)
              (*dt)[((b * P + row) * H + h) * E + e] += g * at(op.positionQuery)[at_i];
          }
          if (da)
            (*da)[at_j] += g * at(op.keyTable)[(d * H + h) * E + e];
          if (db)
            (*db)[((b * P + d) * H + h) * E + e] += g * at(op.positionKey)[at_j];
        }
        if (dPairs)
          (*dPairs)[((b * H + h) * I + i) * J + j] = g;
        if (ds)
          (*ds)[((b * I + i) * H + h) * 2 + holds(select, b, i, j)] += g;
        for (int64_t row : found)
          if (dd)
            (*dd)[(b * P + row) * H + h] += g;
      }
    });
  }

private:
  struct Row {
    std::vector<char> shown;
    Numbers p, dropped, factor, slope; // factor: of the dropout; slope: of the step
    double largest = 0, inverse = 0;
  };

  std::vector<int64_t> shape(Value tensor) {
    std::vector<int64_t> sizes;
    for (AffineExpr size : sizesOf(cast<RankedTensorType>(tensor.getType())))
      sizes.push_back(evaluateExpression(size, machine.dims));
    return sizes;
  }
  Numbers &at(Value value) { return tensors[value]; }
  int64_t element(int64_t b, int64_t row, int64_t rows, int64_t h, int64_t e, int64_t width) const {
    return ((b * rows + row) * H + h) * width + e;
  }
  int64_t ofKey(int64_t b, int64_t j, int64_t h, int64_t e, int64_t width) const {
    return ((b * J + j) * K + h / (H / K)) * width + e;
  }
  void forRows(llvm::function_ref<void(int64_t, int64_t, int64_t)> body) {
    for (int64_t b = 0; b < B; ++b)
      for (int64_t i = 0; i < I; ++i)
        for (int64_t h = 0; h < H; ++h)
          body(b, i, h);
  }

  int64_t operand(int64_t number, int64_t b, int64_t i, int64_t j) {
    int64_t index = 0;
    auto sizes = shape(op.indices[number]);
    for (auto [dim, label] : llvm::enumerate(cast<DenseI64ArrayAttr>(op.labels[number]).asArrayRef()))
      index = index * sizes[dim] + (label == kBatchLabel ? b : label == kQueryLabel ? i : j);
    return int64_t(at(op.indices[number])[index]);
  }
  int64_t value(const MaskForm &form, int64_t b, int64_t i, int64_t j) {
    int64_t sum = evaluateExpression(form.rest, machine.dims) + form.query * i + form.key * j;
    for (const MaskForm::Term &term : form.terms)
      sum += term.coefficient * operand(term.operand, b, i, j);
    for (const MaskForm::Part &part : form.parts) {
      const int64_t of = value(part.of, b, i, j), quotient = llvm::divideFloorSigned(of, part.divisor);
      sum += part.coefficient * (part.isQuotient ? quotient : of - quotient * part.divisor);
    }
    return sum;
  }
  bool holds(const Mask &mask, int64_t b, int64_t i, int64_t j) {
    auto part = [&](const Mask &inner) { return holds(inner, b, i, j); };
    switch (mask.kind) {
    case Mask::Kind::And:
      return llvm::all_of(mask.parts, part);
    case Mask::Kind::Or:
      return llvm::any_of(mask.parts, part);
    case Mask::Kind::Not:
      return !part(mask.parts[0]);
    case Mask::Kind::AtMostZero:
      return value(mask.form, b, i, j) <= 0;
    case Mask::Kind::IsZero:
      return value(mask.form, b, i, j) == 0;
    case Mask::Kind::Holds:
      return operand(mask.operand, b, i, j) != 0;
    }
    return false;
  }
  std::vector<int64_t> computedPlaces(int64_t b, int64_t i, int64_t j) {
    Block &block = op.placeCode->front();
    llvm::DenseMap<Value, Scalar> scalars;
    for (BlockArgument argument : block.getArguments())
      scalars[argument] = Scalar{0, operand(argument.getArgNumber(), b, i, j)};
    for (Operation &inner : block.without_terminator())
      scalars[inner.getResult(0)] = evaluateArithmetic(inner, [&](Value value) { return scalars.lookup(value); });
    std::vector<int64_t> found;
    for (Value place : block.getTerminator()->getOperands())
      found.push_back(scalars.lookup(place).whole);
    return found;
  }
  /// Rows of the tables whose terms add up; none without tables.
  std::vector<int64_t> distances(int64_t b, int64_t i, int64_t j) {
    if (P == 0)
      return {};
    bool other = op.back && operand(*op.back, b, i, j) != 0;
    std::vector<int64_t> found =
        op.placeCode ? computedPlaces(b, i, j) : std::vector<int64_t>{value(places[other ? 1 : 0], b, i, j)};
    for (int64_t d : found)
      if (d < 0 || d >= P) {
        llvm::errs() << "reference: distance " << d << " of a visible key is outside a table of " << P << "\n";
        exit(2);
      }
    return found;
  }

  double ofPair(int64_t b, int64_t h, int64_t i, int64_t j) {
    const std::vector<int64_t> sizes = shape(op.pairs);
    if (op.pairBatch)
      b = b / evaluateExpression(op.pairBatch.getResult(1), machine.dims) % sizes[0];
    return at(op.pairs)[((b % sizes[0] * sizes[1] + h % sizes[1]) * sizes[2] + i % sizes[2]) * J + j];
  }

  double valueOf(int64_t b, int64_t i, int64_t j, int64_t h, int64_t f) {
    double value = at(op.value)[ofKey(b, j, h, f, F)];
    return op.valueTable ? value + at(op.valueTable)[(distances(b, i, j).front() * H + h) * F + f] : value;
  }

  std::pair<double, double> stepOf(double score) {
    Block &block = op.step->front();
    llvm::DenseMap<Value, Scalar> scalars{{block.getArgument(0), Scalar{score, 0}}};
    for (Operation &inner : block.without_terminator())
      scalars[inner.getResult(0)] = evaluateArithmetic(inner, [&](Value value) { return scalars.lookup(value); });
    ValueRange yielded = block.getTerminator()->getOperands();
    return {scalars.lookup(yielded[0]).real, scalars.lookup(yielded[1]).real};
  }

  Row scores(int64_t b, int64_t i, int64_t h) {
    Row row;
    Numbers s(J, -INFINITY);
    row.shown.assign(J, 0), row.p.assign(J, 0), row.dropped.assign(J, 0), row.factor.assign(J, 0), row.slope.assign(J, 1);
    double largest = -INFINITY, sum = 0;
    for (int64_t j = 0; j < J; ++j) {
      row.shown[j] = llvm::all_of(masks, [&](const Mask &mask) { return holds(mask, b, i, j); });
      if (!row.shown[j])
        continue;
      double score = 0;
      const std::vector<int64_t> found = distances(b, i, j);
      const int64_t d = P > 0 ? found.front() : 0;
      for (int64_t e = 0; e < E; ++e) {
        const int64_t at_i = element(b, i, I, h, e, E);
        score += at(op.query)[at_i] * at(op.key)[ofKey(b, j, h, e, E)];
        if (op.keyTable)
          score += at(op.positionKey)[ofKey(b, j, h, e, E)] * at(op.keyTable)[(d * H + h) * E + e];
        for (int64_t place : found)
          if (op.table)
            score += at(op.positionQuery)[at_i] * at(op.table)[(place * H + h) * E + e];
      }
      for (int64_t place : found)
        if (op.scoreTable)
          score += at(op.scoreTable)[place * H + h];
      if (op.selected)
        score += at(op.selected)[((b * I + i) * H + h) * 2 + holds(select, b, i, j)];
      if (op.pairs)
        score += ofPair(b, h, i, j);
      s[j] = score * op.scale;
      if (op.step)
        std::tie(s[j], row.slope[j]) = stepOf(s[j]);
      largest = std::max(largest, s[j]);
    }
    for (int64_t j = 0; j < J; ++j)
      sum += row.shown[j] ? row.p[j] = std::exp(s[j] - largest) : 0;
    row.largest = sum > 0 ? largest : 0;
    row.inverse = sum > 0 ? 1 / sum : 0;
    const int64_t threshold = std::llround(op.rate * 65536);
    const int64_t line =
        !op.drawnAt ? b * I + i : b * evaluateExpression(op.drawnOf.getResult(0), machine.dims) + operand(*op.drawnAt, b, i, 0);
    for (int64_t j = 0; j < J; ++j) {
      row.p[j] *= row.inverse;
      const bool keep = threshold == 0 || survives(machine, (line * H + h) * J + j, op.site, depth, threshold);
      row.factor[j] = keep ? 65536.0 / double(65536 - threshold) : 0;
      row.dropped[j] = row.p[j] * row.factor[j];
    }
    return row;
  }

  Shared op;
  int64_t depth;
  const Machine &machine;
  Tensors &tensors;
  std::vector<Mask> masks;
  std::vector<MaskForm> places;
  Mask select;
  int64_t B = 0, I = 0, J = 0, H = 0, K = 0, E = 0, F = 0, P = 0;
};

} // namespace

void evaluateAttention(AttentionOp op, int64_t depth, const Machine &machine, Tensors &tensors) {
  Attention(Shared(op), depth, machine, tensors).forward(op);
}
void evaluateAttentionGrad(AttentionGradOp op, int64_t depth, const Machine &machine, Tensors &tensors) {
  Attention(Shared(op), depth, machine, tensors).backward(op);
}

} // namespace tenon::test
