// Random integer graphs, evaluated at all places of small sizes: what was proved must hold there, and every bound that holds for
// all sizes tried is counted, so that a prover that proves nothing fails too.
#include "GraphBuilder.h"
#include "frontend/proofs/IndexProof.h"
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace tenon;
using namespace tenon::test;

namespace {

struct Concrete {
  const Entry &entry;
  std::vector<int64_t> dims;
  std::map<AxisId, int64_t> places;
  const std::vector<int64_t> &inputs; // value of each (scalar) input

  int64_t operator()(NodeId id) const {
    const Node &node = entry.nodes[id];
    auto arg = [&](size_t i) { return (*this)(node.operands[i]); };
    auto floorDiv = [](int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); };
    switch (node.op) {
    case Op::Constant:
      return node.integer;
    case Op::SizeValue:
      return node.size.evaluate(dims);
    case Op::Iota:
      return places.at(node.type.axes[0]);
    case Op::Input:
      return inputs[node.index];
    case Op::Add:
      return arg(0) + arg(1);
    case Op::Sub:
      return arg(0) - arg(1);
    case Op::Mul:
      return arg(0) * arg(1);
    case Op::Max:
      return std::max(arg(0), arg(1));
    case Op::Min:
      return std::min(arg(0), arg(1));
    case Op::Neg:
      return -arg(0);
    case Op::Abs:
      return std::abs(arg(0));
    case Op::FloorDiv:
      return floorDiv(arg(0), arg(1));
    case Op::Mod:
      return arg(0) - floorDiv(arg(0), arg(1)) * arg(1);
    case Op::Select:
      return arg(0) ? arg(1) : arg(2);
    case Op::Less:
      return arg(0) < arg(1);
    case Op::LessEqual:
      return arg(0) <= arg(1);
    case Op::Equal:
      return arg(0) == arg(1);
    case Op::NotEqual:
      return arg(0) != arg(1);
    case Op::And:
      return arg(0) && arg(1);
    case Op::Or:
      return arg(0) || arg(1);
    case Op::Not:
      return !arg(0);
    default:
      ADD_FAILURE() << "operation the fuzzer does not make";
      return 0;
    }
  }
};

struct RandomGraph : GraphBuilder {
  std::mt19937 random;
  Size M, T;
  std::vector<NodeId> leaves;
  AxisId queries, keys;

  explicit RandomGraph(unsigned seed, bool isOfNumbers = false) : random(seed) {
    M = dim("M");
    T = dim("T", pick(2) ? Size(-1) : *add(M, Size(2)));
    if (isOfNumbers)
      M = Size(3), T = Size(5);
    queries = axis("T", T);
    keys = axis("S", *add(M, T));
    leaves = {iota(queries),           iota(keys),       size(M), size(T), number(int64_t(pick(5)) - 2),
              input("x", {}, Size(4)), input("y", {}, T)};
  }
  unsigned pick(unsigned n) { return random() % n; }
  NodeId integer(unsigned depth) {
    if (depth == 0 || pick(5) == 0)
      return leaves[pick(unsigned(leaves.size()))];
    switch (pick(10)) {
    case 0:
    case 1:
      return plus(integer(depth - 1), integer(depth - 1));
    case 2:
    case 3:
      return minus(integer(depth - 1), integer(depth - 1));
    case 4:
      return arithmetic(Op::Mul, {integer(depth - 1), number(int64_t(pick(5)) - 2)});
    case 5:
      return arithmetic(pick(2) ? Op::Max : Op::Min, {integer(depth - 1), integer(depth - 1)});
    case 6:
      return arithmetic(pick(2) ? Op::Mod : Op::FloorDiv,
                        {integer(depth - 1), number(pick(3) ? 1 + pick(4) : -1 - int64_t(pick(3)))});
    case 7:
      return arithmetic(pick(2) ? Op::Mod : Op::FloorDiv, {integer(depth - 1), size(pick(2) ? T : M)});
    case 8:
      return arithmetic(pick(2) ? Op::Abs : Op::Neg, {integer(depth - 1)});
    default:
      return where(truth(depth - 1), integer(depth - 1), integer(depth - 1));
    }
  }
  NodeId truth(unsigned depth) {
    const Op comparisons[] = {Op::Less, Op::LessEqual, Op::Equal, Op::NotEqual};
    switch (depth ? pick(5) : 0) {
    case 1:
      return predicate(Op::And, {truth(depth - 1), truth(depth - 1)});
    case 2:
      return predicate(Op::Or, {truth(depth - 1), truth(depth - 1)});
    case 3:
      return predicate(Op::Not, {truth(depth - 1)});
    default:
      return predicate(comparisons[pick(4)], {integer(depth ? depth - 1 : 0), integer(depth ? depth - 1 : 0)});
    }
  }
  /// Calls `visit` with every place of every small size.
  void everywhere(const std::function<void(const Concrete &)> &visit) {
    for (int64_t m = 1; m <= 3; ++m)
      for (int64_t t = 1; t <= (entry.dimUpperBound[1] == Size(-1) ? 4 : std::min<int64_t>(4, m + 2)); ++t)
        for (int64_t i = 0; i < t; ++i)
          for (int64_t j = 0; j < m + t; ++j)
            for (int64_t x = 0; x < 4; ++x)
              for (int64_t y = 0; y < t; ++y) {
                std::vector<int64_t> inputs{x, y};
                visit({entry, {m, t}, {{queries, i}, {keys, j}}, inputs});
              }
  }
};

/// Plain interval arithmetic over numbers, written by itself: what a proof may not be worse than.
struct NumberInterval {
  const Entry &entry;
  std::map<NodeId, std::pair<int64_t, int64_t>> known = {};

  static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }
  static std::pair<int64_t, int64_t> hull(std::pair<int64_t, int64_t> a, std::pair<int64_t, int64_t> b) {
    return {std::min(a.first, b.first), std::max(a.second, b.second)};
  }
  std::pair<int64_t, int64_t> operator()(NodeId id) {
    auto found = known.find(id);
    return found != known.end() ? found->second : known[id] = of(entry.nodes[id]);
  }
  std::pair<int64_t, int64_t> of(const Node &node) {
    auto arg = [&](size_t i) { return (*this)(node.operands[i]); };
    const auto a = node.operands.empty() || node.type.element == Element::Bool ? std::pair<int64_t, int64_t>(0, 1)
                                                                               : arg(node.op == Op::Select ? 1 : 0);
    switch (node.op) {
    case Op::Constant:
      return {node.integer, node.integer};
    case Op::SizeValue:
      return {node.size.constant(), node.size.constant()};
    case Op::Iota:
      return {0, entry.axes[node.type.axes[0]].size.constant() - 1};
    case Op::Input:
      return {0, entry.inputs[node.index].bound.constant() - 1};
    case Op::Add:
      return {a.first + arg(1).first, a.second + arg(1).second};
    case Op::Sub:
      return {a.first - arg(1).second, a.second - arg(1).first};
    case Op::Mul: { // by a number
      const int64_t factor = arg(1).first;
      return hull({a.first * factor, a.first * factor}, {a.second * factor, a.second * factor});
    }
    case Op::Max:
      return {std::max(a.first, arg(1).first), std::max(a.second, arg(1).second)};
    case Op::Min:
      return {std::min(a.first, arg(1).first), std::min(a.second, arg(1).second)};
    case Op::Neg:
      return {-a.second, -a.first};
    case Op::Abs:
      return a.first >= 0    ? a
             : a.second <= 0 ? std::pair(-a.second, -a.first)
                             : std::pair(int64_t(0), std::max(-a.first, a.second));
    case Op::FloorDiv:
    case Op::Mod: { // by a number
      const int64_t divisor = arg(1).first, sign = divisor < 0 ? -1 : 1;
      if (node.op == Op::FloorDiv)
        return hull({floorDiv(sign * a.first, sign * divisor), floorDiv(sign * a.first, sign * divisor)},
                    {floorDiv(sign * a.second, sign * divisor), floorDiv(sign * a.second, sign * divisor)});
      return divisor < 0                          ? std::pair(divisor + 1, int64_t(0))
             : a.first >= 0 && a.second < divisor ? a
                                                  : std::pair(int64_t(0), divisor - 1);
    }
    case Op::Select:
      return hull(a, arg(2));
    default:
      return {0, 1};
    }
  }
};

} // namespace

TEST(IndexProofFuzz, WhatIsProvedHolds) {
  unsigned proved = 0, refuted = 0, refutedTrue = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomGraph g(seed);
    NodeId index = g.integer(3);
    std::vector<NodeId> conditions;
    for (unsigned i = g.pick(3); i > 0; --i)
      conditions.push_back(g.truth(2));
    const Size bounds[] = {Size(4), g.T, *add(g.M, g.T), *multiply(g.T, Size(2)), Size(9)};
    const Size low = g.pick(2) ? Size(0) : *subtract(Size(0), g.T), high = bounds[g.pick(5)];
    IndexProof proof = proveIndex(g.entry, index, low, high, conditions);
    bool holds = true;
    g.everywhere([&](const Concrete &at) {
      for (NodeId condition : conditions)
        if (!at(condition))
          return;
      const int64_t value = at(index);
      holds &= low.evaluate(at.dims) <= value && value < high.evaluate(at.dims);
    });
    if (proof.proved) {
      EXPECT_TRUE(holds) << "seed " << seed << ": proved, but " << proof.range << " leaves the range";
      ++proved;
    } else {
      ++(holds ? refutedTrue : refuted);
    }
  }
  // The prover must be good for something: most of what holds on all small sizes is proved.
  EXPECT_GE(proved, 60u);
  EXPECT_GE(refuted, 60u);
  EXPECT_LE(refutedTrue, proved / 3);
}

/// Larger expressions: where cases run out, intervals are what is left.
TEST(IndexProofFuzz, LargeExpressions) {
  unsigned proved = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomGraph g(1000 + seed);
    const NodeId value = g.integer(6);
    const Size limit = g.pick(2) ? Size(7) : g.T;
    const NodeId clipped = g.clip(value, g.number(0), g.minus(g.size(limit), g.number(1)));
    EXPECT_TRUE(proveIndex(g.entry, clipped, Size(0), limit, {}).proved)
        << "seed " << seed << ": what is clipped to the axis can leave it";
    std::vector<NodeId> conditions;
    for (unsigned i = g.pick(6); i > 0; --i)
      conditions.push_back(g.truth(2));
    const Size low = *multiply(g.T, Size(-int64_t(g.pick(4)))), high = *add(*multiply(g.T, Size(2)), Size(int64_t(g.pick(30))));
    if (!proveIndex(g.entry, value, low, high, conditions).proved)
      continue;
    ++proved;
    bool holds = true;
    g.everywhere([&](const Concrete &at) {
      for (NodeId condition : conditions)
        if (!at(condition))
          return;
      holds &= low.evaluate(at.dims) <= at(value) && at(value) < high.evaluate(at.dims);
    });
    EXPECT_TRUE(holds) << "seed " << seed << ": proved, but it leaves the range";
  }
  EXPECT_GE(proved, 30u);
}

TEST(IndexProofFuzz, NoWorseThanIntervals) {
  unsigned large = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomGraph g(5000 + seed, true);
    const NodeId value = g.integer(seed % 3 ? 6 : 9);
    const auto [low, high] = NumberInterval{g.entry}(value);
    EXPECT_TRUE(proveIndex(g.entry, value, Size(low), Size(high + 1), {}).proved)
        << "seed " << seed << ": " << low << " .. " << high;
    large += g.entry.nodes.size() > 60;
  }
  EXPECT_GE(large, 40u); // where cases run out
}
