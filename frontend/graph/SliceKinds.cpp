#include "frontend/graph/SliceKinds.h"
#include "frontend/Dims.h"
#include <algorithm>

namespace tenon::sema {
namespace {

/// Scalars around carries are few; what is asked for more is refused as what does not add up.
constexpr size_t kMostAsked = 200;

bool contains(const std::vector<AxisId> &axes, AxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

using Kind = Slices::Kind;

/// `isCount`: the divisor is how many elements a batch has.
Kind applied(Op op, const std::vector<Kind> &kinds, bool isCount) {
  switch (op) {
  case Op::Neg:
    return kinds[0];
  case Op::Add:
  case Op::Sub: {
    auto meanOr = [](Kind kind) { return kind == Kind::Fixed ? Kind::Mean : kind; };
    return meanOr(kinds[0]) == meanOr(kinds[1]) ? meanOr(kinds[0]) : Kind::Other;
  }
  case Op::Mul:
    return kinds[0] == Kind::Fixed ? kinds[1] : kinds[1] == Kind::Fixed ? kinds[0] : Kind::Other;
  case Op::Div:
    return kinds[1] == Kind::Fixed ? kinds[0] : kinds[0] == Kind::Sum && isCount ? Kind::Mean : Kind::Other;
  default:
    return Kind::Other;
  }
}

/// A number that stands in the text, or how many elements a batch has. One that is the same for the whole and for a slice is the
/// former, even if by chance there are as many rows.
std::optional<double> numberOf(const Entry &entry, const Average &average) {
  if (average.kind == Average::Kind::Constant)
    return average.number;
  if (average.kind != Average::Kind::Count)
    return std::nullopt;
  double product = 1;
  for (const Size &size : average.sizes)
    product *= double(size.evaluate(nominalDims(entry)));
  return product;
}

/// The node whose value a formula takes as it is.
NodeId nodeOf(const Entry &entry, const Average &value) {
  return value.output < entry.results.size() ? entry.results[value.output].second
                                             : entry.parts[value.output - entry.results.size()];
}

} // namespace

Slices::Slices(Entry itsWhole, Entry itsPart, AxisId batch)
    : whole(std::move(itsWhole)), part(std::move(itsPart)), batch(batch), rows(whole, part, batch) {
  // Formulas over the rows, as evaluations have them.
  addAverages(whole);
  addAverages(part);
  for (auto [entry, loops] : {std::pair(&whole, &wholeLoops), std::pair(&part, &partLoops)})
    for (NodeId id = 0; id < entry->nodes.size(); ++id)
      if (isLoop(entry->nodes[id]))
        (*loops)[entry->nodes[id].index] = id;
}

// ---- what mixes rows

NodeId Slices::mixedStates() {
  auto add = [&](const auto &next, const auto &others) {
    for (size_t i = 0; i < std::min(next.size(), others.size()); ++i)
      open.push_back({next[i].second, others[i].second, true});
  };
  add(whole.nextStates, part.nextStates);
  for (size_t i = 0; i < std::min(whole.stacks.size(), part.stacks.size()); ++i)
    add(whole.stacks[i].nextStates, part.stacks[i].nextStates);
  return search();
}

NodeId Slices::search() {
  NodeId found = kNoNode;
  seen.clear();
  while (!open.empty()) {
    const Pair pair = open.back();
    open.pop_back();
    if (!seen.insert(std::tie(pair.whole, pair.part, pair.inside)).second)
      continue;
    const Node &a = whole.nodes[pair.whole], &b = part.nodes[pair.part];
    if (a.op != b.op || a.operands.size() != b.operands.size() || (pair.inside && mixes(a, b)) || countsRows(a, b)) {
      if (found == kNoNode || hasPlace(a))
        found = pair.whole;
      if (hasPlace(a))
        open.clear();
      continue;
    }
    follow(pair, a, b);
  }
  return found;
}

/// What `a` and `b` read. Of a stack that is what the result reads, and not what others of its results are made of.
void Slices::follow(const Pair &pair, const Node &a, const Node &b) {
  auto result = [&](uint32_t stack, uint32_t other, uint32_t index) {
    const StackInfo &info = whole.stacks[stack], &ofPart = part.stacks[other];
    open.push_back({info.results[bodyResultOf(info, index)], ofPart.results[bodyResultOf(ofPart, index)], true});
  };
  if (a.op == Op::Result && isLoop(whole.nodes[a.operands[0]])) {
    open.push_back({a.operands[0], b.operands[0], pair.inside}); // as many rounds as there are rows?
    if (auto carry = pair.inside ? std::nullopt : added(a, b)) {
      open.push_back(carry->start);
      open.insert(open.end(), carry->terms.begin(), carry->terms.end());
    } else {
      result(whole.nodes[a.operands[0]].index, part.nodes[b.operands[0]].index, a.index);
    }
  } else if (a.op == Op::BodyArgument) {
    const Node &loop = whole.nodes[wholeLoops.at(a.stack)], &ofPart = part.nodes[partLoops.at(b.stack)];
    open.push_back({loop.operands[a.index], ofPart.operands[b.index], true});
    if (a.index < whole.stacks[a.stack].carries) // what the round before has made
      result(a.stack, b.stack, a.index);
  } else if (!isLoop(a)) {
    const bool isSummed = !pair.inside && (a.op == Op::Sum || a.op == Op::Dot) && rows.any(a.axesFrom);
    for (size_t i = 0; i < a.operands.size(); ++i)
      open.push_back(isSummed ? terms({a.operands[i], b.operands[i], true}) : Pair{a.operands[i], b.operands[i], pair.inside});
  }
}

/// Names and order of axes that are summed do not matter, nor what they are joined to.
Slices::Pair Slices::terms(Pair pair) const {
  for (;;) {
    const Node &a = whole.nodes[pair.whole], &b = part.nodes[pair.part];
    if (a.op != b.op || (a.op != Op::Rename && a.op != Op::Transpose && a.op != Op::Merge && a.op != Op::Split))
      return pair;
    pair.whole = a.operands[0];
    pair.part = b.operands[0];
  }
}

/// A loop of as many rounds as there are rows.
bool Slices::countsRows(const Node &a, const Node &b) const {
  if (!isLoop(a))
    return false;
  const Size &count = whole.stacks[a.index].count;
  return count != part.stacks[b.index].count || rows.sizes(count);
}

bool Slices::mixes(const Node &a, const Node &b) const {
  const bool hasRows = contains(a.type.axes, batch);
  if (contains(a.axesFrom, batch) || contains(a.axesTo, batch) || (a.attend && a.attend->key == batch))
    return true;
  if (hasRows && (a.op == Op::Iota || a.op == Op::Sinusoid))
    return true; // the number of the row
  if (a.number != b.number || a.integer != b.integer || a.size != b.size || rows.sizes(a.size))
    return true; // how many rows there are
  for (size_t i = 0; i < a.type.axes.size() && i < b.type.axes.size(); ++i) {
    const AxisId axis = a.type.axes[i];
    if (axis != batch && (whole.axes[axis].size != part.axes[b.type.axes[i]].size || rows.has(axis)))
      return true;
  }
  return !hasRows && !isLoop(a) && a.op != Op::Result && std::any_of(a.operands.begin(), a.operands.end(), [&](NodeId operand) {
    return contains(whole.nodes[operand].type.axes, batch);
  });
}

std::optional<Slices::Added> Slices::added(const Node &result, const Node &ofPart) const {
  const Node &loop = whole.nodes[result.operands[0]], &other = part.nodes[ofPart.operands[0]];
  const StackInfo &info = whole.stacks[loop.index], &partInfo = part.stacks[other.index];
  if (!isLoop(other) || !result.type.axes.empty() || result.index >= info.carries || result.index != ofPart.index ||
      info.carries != partInfo.carries)
    return std::nullopt;
  Added carry{{loop.operands[result.index], other.operands[result.index], false}, {}};
  size_t carries = 0;
  std::vector<Pair> sums = {{info.results[result.index], partInfo.results[result.index], false}};
  while (!sums.empty()) {
    const Pair pair = sums.back();
    sums.pop_back();
    const Node &a = whole.nodes[pair.whole], &b = part.nodes[pair.part];
    if (a.op != b.op)
      return std::nullopt;
    if (a.op == Op::BodyArgument && a.stack == loop.index && a.index == result.index)
      ++carries;
    else if ((a.op == Op::Add || a.op == Op::Sub) && a.stack == loop.index)
      for (size_t i = 0; i < 2; ++i)
        (i == 1 && a.op == Op::Sub ? carry.terms : sums).push_back({a.operands[i], b.operands[i], false});
    else
      carry.terms.push_back(pair);
    if (carry.terms.size() > kMostAsked)
      return std::nullopt;
  }
  return carries == 1 ? std::optional(carry) : std::nullopt;
}

// ---- how losses follow from those of slices

bool Slices::isSameNumber(const Average &a, const Average &b) const {
  const auto ofWhole = numberOf(whole, a), ofPart = numberOf(part, b);
  return whole.axes[batch].size.isConstant() && ofWhole && ofWhole == ofPart;
}

/// Whether a divisor is as many times larger for the whole batch as that has more rows.
bool Slices::countsElements(NodeId id, NodeId ofPart) const {
  const std::vector<int64_t> dims = nominalDims(whole);
  std::vector<int64_t> more = dims;
  for (unsigned dim = 0; dim < more.size(); ++dim)
    more[dim] *= whole.axes[batch].size.coefficients().count(dim) != 0 ? 2 : 1;
  fillProducts(whole, more);
  const bool isOpen = !whole.axes[batch].size.isConstant();
  const auto many = isOpen ? productOfSizes(whole, id, more) : productOfSizes(whole, id, dims);
  const auto few = isOpen ? productOfSizes(whole, id, dims) : productOfSizes(part, ofPart, dims);
  const double times = isOpen ? 2 : double(whole.axes[batch].size.constant()) / double(part.axes[batch].size.constant());
  return many && few && *many == times * *few;
}

Kind Slices::kindOf(const Average &a, const Average &b) {
  using Of = Average::Kind;
  if (isSameNumber(a, b))
    return Kind::Fixed;
  if (a.kind != b.kind || a.operands.size() != b.operands.size() || a.op != b.op ||
      (a.kind == Of::Constant && a.number != b.number) || (a.perBatch && !hasCarry(a, b)))
    return Kind::Other;
  std::vector<Kind> kinds;
  for (size_t i = 0; i < a.operands.size(); ++i)
    kinds.push_back(kindOf(a.operands[i], b.operands[i]));
  const bool allFixed = std::all_of(kinds.begin(), kinds.end(), [](Kind kind) { return kind == Kind::Fixed; });
  switch (a.kind) {
  case Of::Constant:
    return Kind::Fixed;
  case Of::Value: // the same in every batch, but maybe not in one of another size; or added up in a loop
    return kindOf(nodeOf(whole, a), nodeOf(part, b));
  case Of::Sum:
  case Of::Count:
    return Kind::Sum;
  case Of::Greatest:
  case Of::Least:
    return Kind::Other;
  case Of::Apply:
    return allFixed ? Kind::Fixed : applied(a.op, kinds, a.op == Op::Div && a.operands[1].kind == Of::Count);
  case Of::Along:
    return allFixed || a.op == Op::Sum || a.op == Op::Div ? kinds[0] : Kind::Other;
  case Of::Rename:
  case Of::Expand:
  case Of::Slice:
    return kinds[0];
  }
  return Kind::Other;
}

/// Whether a value that formulas over the rows do not reach is a carry that adds up.
bool Slices::hasCarry(const Average &a, const Average &b) {
  if (a.kind == Average::Kind::Value && b.kind == Average::Kind::Value) {
    const Kind kind = kindOf(nodeOf(whole, a), nodeOf(part, b));
    return kind == Kind::Mean || kind == Kind::Sum;
  }
  for (size_t i = 0; i < std::min(a.operands.size(), b.operands.size()); ++i)
    if (hasCarry(a.operands[i], b.operands[i]))
      return true;
  return false;
}

/// Of a scalar that loops make, or what is made of them.
Kind Slices::kindOf(NodeId id, NodeId ofPart) {
  if (++asked > kMostAsked)
    return Kind::Other;
  if (search({id, ofPart, true}) == kNoNode)
    return Kind::Fixed;
  const Node &a = whole.nodes[id], &b = part.nodes[ofPart];
  if (a.op != b.op || a.operands.size() != b.operands.size())
    return Kind::Other;
  auto own = [&](size_t i) { return kindOf(a.operands[i], b.operands[i]); };
  switch (a.op) {
  case Op::ToReal:
  case Op::Rename:
  case Op::Transpose:
    return own(0);
  case Op::Sum:
  case Op::Dot:
    return rows.any(a.axesFrom) ? Kind::Sum : a.op == Op::Sum ? own(0) : Kind::Other;
  case Op::Neg:
    return own(0);
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
    return applied(a.op, {own(0), own(1)}, false);
  case Op::Div: {
    const Kind divisor = own(1);
    return applied(a.op, {own(0), divisor}, countsElements(a.operands[1], b.operands[1]));
  }
  case Op::Result:
    if (auto carry = isLoop(whole.nodes[a.operands[0]]) ? added(a, b) : std::nullopt)
      return kindOf(*carry);
    return Kind::Other;
  default:
    return Kind::Other;
  }
}

Kind Slices::kindOf(const Added &carry) {
  const Node &start = whole.nodes[carry.start.whole];
  std::vector<Pair> terms = carry.terms;
  if (start.op != Op::Constant || start.number != 0 || start.integer != 0)
    terms.push_back(carry.start); // a sum starts with nothing
  std::optional<Kind> all;
  for (const Pair &term : terms) {
    const Kind kind = kindOf(term.whole, term.part);
    all = all ? applied(Op::Add, {*all, kind}, false) : kind;
  }
  return all.value_or(Kind::Fixed);
}

} // namespace tenon::sema
