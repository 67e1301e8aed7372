#include "frontend/graph/Averages.h"
#include "frontend/Dims.h"
#include "frontend/graph/BatchReductions.h"

namespace tenon::sema {

namespace {

class Averages {
public:
  explicit Averages(Entry &entry) : entry(entry), reductions(entry) {
    const Input *first = nullptr; // symbols, if the entry reads any: their second axis is that of the text
    for (const Input &input : entry.inputs)
      if (!input.type.axes.empty() && (!first || (!isText(*first) && isText(input))))
        first = &input;
    if (first)
      entry.batchAxes.assign(first->type.axes.begin(), first->type.axes.begin() + std::min<size_t>(2, first->type.axes.size()));
    findPlaceShifts();
  }

  std::vector<BatchResult> run() {
    std::vector<BatchResult> results;
    for (auto &[name, result] : entry.results) {
      const std::optional<Average> average = whole(result);
      entry.averages.push_back(average.value_or(value(result)));
      const Depends depends = dependsOf(entry.averages.back());
      entry.averages.back().perBatch = depends.onBatch;
      if (depends.onBatch)
        results.push_back({name, !average         ? BatchResult::Why::Large
                                 : depends.inside ? BatchResult::Why::Inside
                                                  : BatchResult::Why::Other});
    }
    for (Average &average : entry.averages)
      giveOutputs(average);
    return results;
  }

private:
  using Kind = Average::Kind;
  // Values are shared in the graph, and written out where formulas are kept: `let b = a * a + a` twenty times is a million terms.
  // A manifest nests formulas twice as deep, and 64 levels of JSON are read.
  static constexpr uint32_t kMostTerms = 400, kMostTermsOfAll = 5000, kMostLevels = 24;
  Entry &entry;
  BatchReductions reductions;
  uint32_t terms = 0, termsOfAll = 0, level = 0; // of the result at hand, of all, of the value at hand

  /// h[T: 0 .. T1 -> T1] against ids[T: 1 .. T -> T1]: T1 are places, each of which needs one more.
  void findPlaceShifts() {
    if (entry.batchAxes.size() < 2)
      return;
    std::vector<AxisId> open; // slices that begin where the dims say
    for (const Node &each : entry.nodes)
      if (each.op == Op::Slice && each.axesFrom[0] == entry.batchAxes[1] &&
          !std::count(entry.batchAxes.begin(), entry.batchAxes.end(), each.axesTo[0])) {
        if (auto begin = each.size.asConstant(); begin && *begin >= 0)
          entry.placeShifts[each.axesTo[0]] = std::max(entry.placeShifts[each.axesTo[0]], *begin);
        else
          open.push_back(each.axesTo[0]);
      }
    for (AxisId axis : open)
      entry.placeShifts.erase(axis);
  }
  static bool isText(const Input &input) { return input.type.element == Element::Int && input.type.axes.size() >= 2; }
  const Node &node(NodeId id) const { return entry.nodes[id]; }
  static bool isLeaf(const Average &average) {
    return average.kind == Kind::Sum || average.kind == Kind::Greatest || average.kind == Kind::Least;
  }

  /// What a number still has of a single batch.
  struct Depends {
    bool onBatch = false, inside = false; // on any of its values; on one that is inside of what is reduced over its rows
  };
  Depends dependsOf(const Average &average) const {
    Depends result;
    if (average.kind == Kind::Value)
      result.onBatch = reductions.reaches(average.output, true);
    if (isLeaf(average) && reductions.isInside(average.output))
      result = {true, true};
    for (const Average &operand : average.operands) {
      const Depends inner = dependsOf(operand);
      result = {result.onBatch || inner.onBatch, result.inside || inner.inside};
    }
    return result;
  }

  /// Outputs are nodes until all formulas are known, since whole formulas without a sum become one value.
  Average value(NodeId id) const {
    Average result;
    result.kind = Kind::Value;
    result.output = id;
    return result;
  }
  void giveOutputs(Average &average) {
    for (Average &operand : average.operands)
      giveOutputs(operand);
    if (average.kind != Kind::Value && average.kind != Kind::Count && !isLeaf(average))
      return;
    auto own =
        std::find_if(entry.results.begin(), entry.results.end(), [&](auto &result) { return result.second == average.output; });
    average.output =
        average.kind == Kind::Value && own != entry.results.end() ? uint32_t(own - entry.results.begin()) : part(average.output);
  }
  uint32_t part(NodeId id) {
    auto found = std::find(entry.parts.begin(), entry.parts.end(), id);
    if (found == entry.parts.end())
      found = entry.parts.insert(found, id);
    return uint32_t(entry.results.size() + (found - entry.parts.begin()));
  }

  /// nullopt: too large.
  std::optional<Average> whole(NodeId result) {
    terms = 0;
    Average average = of(result);
    if (!isWithin() || termsOfAll + terms > kMostTermsOfAll)
      return std::nullopt;
    termsOfAll += terms;
    return average;
  }
  bool isWithin() const { return terms <= kMostTerms; }
  Average of(NodeId id) {
    if (level > kMostLevels)
      terms = kMostTerms;
    ++terms;
    if (!isWithin())
      return value(id);
    ++level;
    Average result = formula(id);
    --level;
    return result;
  }

  /// Of a value without the axis of the batch.
  Average formula(NodeId id) {
    const Op op = node(id).op;
    if (op == Op::Constant)
      return number(node(id).type.element == Element::Real ? node(id).number : double(node(id).integer));
    if (isReduction(op))
      return reduction(id, node(id).operands[0]);
    switch (op) {
    case Op::Dot:
      return reduction(id, reductions.product(id));
    case Op::ToReal:
    case Op::StopGradient:
    case Op::Transpose: // axes have names
      return replaced(of(node(id).operands[0]), id);
    case Op::Rename:
    case Op::Expand:
    case Op::Slice:
    case Op::Gather:
      return view(id);
    default:
      return apply(id);
    }
  }
  static Average number(double number) {
    Average result;
    result.number = number;
    return result;
  }
  /// The value of an operand is of no use where that of the whole is to be had.
  Average replaced(Average average, NodeId whole) const { return average.kind == Kind::Value ? value(whole) : average; }

  Average apply(NodeId id) {
    static const Op known[] = {Op::Neg,  Op::Exp,       Op::Log,    Op::Sqrt, Op::Abs, Op::Add,   Op::Sub,
                               Op::Mul,  Op::Div,       Op::Pow,    Op::Max,  Op::Min, Op::Equal, Op::NotEqual,
                               Op::Less, Op::LessEqual, Op::Select, Op::Not,  Op::And, Op::Or,    Op::Relu};
    const Op op = node(id).op;
    if (std::find(std::begin(known), std::end(known), op) == std::end(known) ||
        (op == Op::Div && node(id).type.element != Element::Real))
      return value(id);
    Average result;
    result.kind = Kind::Apply;
    result.op = op;
    const std::vector<NodeId> operands = node(id).operands;
    for (NodeId operand : operands)
      result.operands.push_back(of(operand));
    // Without a part of the batch it is the same in every batch, or nothing that combines.
    if (std::none_of(result.operands.begin(), result.operands.end(), [](const Average &each) { return firstLeaf(each); }))
      return value(id);
    if (op == Op::Div)
      divideByCount(result, operands[1]);
    // Truth values are 0 and 1.
    if (op == Op::Not)
      result.operands.insert(result.operands.begin(), number(1));
    if (op == Op::Relu)
      result.operands.push_back(number(0));
    result.op = op == Op::Not ? Op::Sub : op == Op::And ? Op::Min : op == Op::Or || op == Op::Relu ? Op::Max : op;
    return result;
  }
  static const Average *firstLeaf(const Average &average, bool isSum = false) {
    if (average.kind == Kind::Sum || (!isSum && isLeaf(average)))
      return &average;
    for (const Average &operand : average.operands)
      if (const Average *found = firstLeaf(operand, isSum))
        return found;
    return nullptr;
  }

  /// A quotient whose divisor is a number of elements: a mean along axes of the formula, or over the batch.
  void divideByCount(Average &quotient, NodeId divisor) const {
    Average &dividend = quotient.operands[0];
    const std::vector<int64_t> dims = nominalDims(entry);
    const auto wanted = productOfSizes(entry, divisor, dims);
    double places = 1;
    for (AxisId axis : dividend.axes)
      places *= double(entry.axes[axis].size.evaluate(dims));
    if (wanted && dividend.kind == Kind::Along && dividend.op == Op::Sum && places == *wanted) {
      Average mean = std::move(dividend); // axes of places may be shorter when all is known
      mean.op = Op::Div;
      quotient = std::move(mean);
    } else if (const Average *part = firstLeaf(dividend, true)) {
      if (auto count = reductions.countOf(divisor, *part); count && degree(dividend) > 0)
        quotient.operands[1] = *count;
    }
  }
  /// Of a formula in its sums: a mean has 0, so that the 2 below the sum of two means counts nothing, however many rows a batch
  /// has.
  static int degree(const Average &average) {
    if (average.kind == Kind::Sum || average.kind == Kind::Count)
      return 1;
    int highest = 0, all = 0;
    for (const Average &operand : average.operands) {
      highest = std::max(highest, degree(operand));
      all += degree(operand);
    }
    if (average.kind != Kind::Apply)
      return highest;
    switch (average.op) {
    case Op::Mul:
      return all;
    case Op::Div:
      return degree(average.operands[0]) - degree(average.operands[1]);
    case Op::Add:
    case Op::Sub:
    case Op::Neg:
    case Op::Abs:
    case Op::Max:
    case Op::Min:
    case Op::Select:
      return highest;
    default:
      return 0;
    }
  }

  Average view(NodeId id) {
    const Node own = node(id);
    Average result;
    result.axes = own.axesFrom;
    result.to = own.axesTo;
    if (own.op == Op::Rename) {
      result.kind = Kind::Rename;
    } else if (own.op == Op::Expand) {
      result.kind = Kind::Expand;
      result.axes.clear();
      for (AxisId axis : own.type.axes)
        if (!contains(node(own.operands[0]).type.axes, axis))
          result.axes.push_back(axis);
      for (AxisId axis : result.axes)
        result.sizes.push_back(entry.axes[axis].size);
    } else if (own.op == Op::Slice) {
      result.kind = Kind::Slice;
      result.sizes = {own.size, entry.axes[own.axesTo[0]].size};
    } else { // one place of an axis
      if (node(own.operands[1]).op != Op::Constant)
        return value(id);
      result.kind = Kind::Slice;
      result.to.clear();
      result.sizes = {Size(node(own.operands[1]).integer), Size(1)};
    }
    result.operands.push_back(of(own.operands[0]));
    return firstLeaf(result) ? result : value(id);
  }

  Average reduction(NodeId id, NodeId terms) {
    if (auto ofBatch = reductions.of(id, terms))
      return *ofBatch;
    const Op op = node(id).op == Op::Dot ? Op::Sum : node(id).op;
    Average result;
    result.kind = Kind::Along;
    result.op = op == Op::Any ? Op::ReduceMax : op == Op::All ? Op::ReduceMin : op;
    result.axes = node(id).axesFrom;
    result.operands.push_back(of(terms));
    const Depends depends = dependsOf(result); // tensors of single batches are of no use to anybody
    return firstLeaf(result) && (!depends.onBatch || depends.inside) ? result : value(id);
  }
};

} // namespace

std::optional<AxisId> placesAmong(const Entry &entry, const std::vector<AxisId> &axes) {
  if (entry.batchAxes.size() < 2)
    return std::nullopt;
  if (std::find(axes.begin(), axes.end(), entry.batchAxes[1]) != axes.end())
    return entry.batchAxes[1];
  auto found = std::find_if(axes.begin(), axes.end(), [&](AxisId axis) { return entry.placeShifts.count(axis) != 0; });
  return found == axes.end() ? std::nullopt : std::optional(*found);
}

std::vector<int64_t> nominalDims(const Entry &entry) {
  static const int64_t primes[] = {10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079};
  std::vector<int64_t> dims;
  for (size_t i = 0; i < entry.dims.size(); ++i)
    dims.push_back(primes[i % std::size(primes)]);
  fillProducts(entry, dims);
  return dims;
}

std::optional<double> productOfSizes(const Entry &entry, NodeId id, const std::vector<int64_t> &dims) {
  const Node &node = entry.nodes[id];
  if (node.op == Op::Constant)
    return node.type.element == Element::Real ? node.number : double(node.integer);
  if (node.op == Op::SizeValue)
    return double(node.size.evaluate(dims));
  if (node.op == Op::ToReal)
    return productOfSizes(entry, node.operands[0], dims);
  if (node.op != Op::Mul)
    return std::nullopt;
  auto left = productOfSizes(entry, node.operands[0], dims), right = productOfSizes(entry, node.operands[1], dims);
  return left && right ? std::optional(*left * *right) : std::nullopt;
}

std::vector<BatchResult> addAverages(Entry &entry) { return Averages(entry).run(); }

} // namespace tenon::sema
