#include "frontend/proofs/IndexProof.h"
#include "GraphBuilder.h"
#include "frontend/graph/Products.h"
#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::test;

namespace {

/// Transformer-XL: queries T, keys S = M + T, distances P = S.
struct Relative : GraphBuilder {
  Size M = dim("M"), T = dim("T"), S = *add(M, T);
  AxisId queries = axis("T", T), keys = axis("S", S);
  NodeId i = iota(queries), j = iota(keys);
  NodeId distance = minus(plus(size(M), i), j);
  ProofHints hints{{{queries, "i"}, {keys, "j"}}, {}};
};

} // namespace

TEST(IndexProof, TransformerXlDistanceNeedsTheMask) {
  Relative g;
  NodeId mask = g.predicate(Op::LessEqual, {g.j, g.plus(g.size(g.M), g.i)});
  IndexProof with = proveIndex(g.entry, g.distance, Size(0), g.S, {mask}, g.hints);
  EXPECT_TRUE(with.proved) << with.example;
  IndexProof without = proveIndex(g.entry, g.distance, Size(0), g.S, {}, g.hints);
  EXPECT_FALSE(without.proved);
  EXPECT_EQ(without.range, "1-T .. M+T-1");
  EXPECT_EQ(without.example, "i = 0, j = 2 gives -1 when M = 1, T = 2");
}

TEST(IndexProof, MaskOffByOneIsRefused) {
  Relative g;
  NodeId mask = g.predicate(Op::LessEqual, {g.j, g.plus(g.plus(g.size(g.M), g.i), g.number(1))});
  EXPECT_FALSE(proveIndex(g.entry, g.distance, Size(0), g.S, {mask}, g.hints).proved);
  NodeId other = g.predicate(Op::Less, {g.j, g.plus(g.plus(g.size(g.M), g.i), g.number(1))});
  EXPECT_TRUE(proveIndex(g.entry, g.distance, Size(0), g.S, {other}, g.hints).proved);
  // One distance too few in the table.
  EXPECT_FALSE(proveIndex(g.entry, g.distance, Size(0), *subtract(g.S, Size(1)), {other}, g.hints).proved);
}

TEST(IndexProof, ConjunctionsAndNegationsOfMasks) {
  Relative g;
  NodeId causal = g.predicate(Op::LessEqual, {g.j, g.plus(g.size(g.M), g.i)});
  NodeId window = g.predicate(Op::Or, {g.predicate(Op::Less, {g.i, g.j}), g.input("same", {}, std::nullopt, Element::Bool)});
  EXPECT_TRUE(proveIndex(g.entry, g.distance, Size(0), g.S, {g.predicate(Op::And, {causal, window})}, g.hints).proved);
  NodeId later = g.predicate(Op::Not, {causal});
  NodeId notOr = g.predicate(Op::Not, {g.predicate(Op::Or, {later, window})});
  EXPECT_TRUE(proveIndex(g.entry, g.distance, Size(0), g.S, {notOr}, g.hints).proved);
  EXPECT_FALSE(proveIndex(g.entry, g.distance, Size(0), g.S, {g.predicate(Op::Or, {causal, window})}, g.hints).proved);
}

TEST(IndexProof, XlnetSignedDistances) {
  GraphBuilder g;
  Size M = g.dim("M"), T = g.dim("T"), K = g.dim("K"), S = *add(M, T), P = *subtract(*multiply(S, Size(2)), Size(1));
  AxisId batch = g.axis("B", g.dim("B")), queries = g.axis("K", K), keys = g.axis("S", S);
  NodeId back = g.input("back", {batch}, std::nullopt, Element::Bool), at = g.input("at", {batch, queries}, T);
  NodeId j = g.iota(keys), forward = g.minus(g.minus(j, g.size(M)), at), backward = g.minus(g.plus(g.size(M), at), j);
  NodeId index = g.minus(g.plus(g.where(back, forward, backward), g.size(S)), g.number(1));
  IndexProof proof = proveIndex(g.entry, index, Size(0), P, {});
  EXPECT_TRUE(proof.proved) << proof.example;
  EXPECT_FALSE(proveIndex(g.entry, index, Size(0), *subtract(P, Size(1)), {}).proved);
}

TEST(IndexProof, GatherChainsKeepTheBoundOfWhatTheyGather) {
  GraphBuilder g;
  Size T = g.dim("T"), K = g.dim("K");
  AxisId places = g.axis("T", T), picked = g.axis("K", K);
  NodeId ids = g.input("ids", {places}, Size(100)), at = g.input("at", {picked}, T);
  NodeId chain = g.gather(ids, places, at);
  EXPECT_TRUE(proveIndex(g.entry, at, Size(0), T, {}).proved);
  EXPECT_TRUE(proveIndex(g.entry, chain, Size(0), Size(100), {}).proved);
  IndexProof wrong = proveIndex(g.entry, chain, Size(0), Size(99), {});
  EXPECT_FALSE(wrong.proved);
  EXPECT_EQ(wrong.range, "0 .. 99");
  // iota gathered at `at` is `at` itself
  EXPECT_TRUE(proveIndex(g.entry, g.minus(g.gather(g.iota(places), places, at), at), Size(0), Size(1), {}).proved);
}

TEST(IndexProof, ClipModDivSelectOfNumbers) {
  GraphBuilder g;
  Size T = g.dim("T");
  AxisId queries = g.axis("T", T), keys = g.axis("S", T), window = g.axis("W", Size(3));
  NodeId i = g.iota(queries), j = g.iota(keys), w = g.iota(window);
  NodeId clipped = g.plus(g.clip(g.minus(j, i), g.number(-64), g.number(64)), g.number(64));
  EXPECT_TRUE(proveIndex(g.entry, clipped, Size(0), Size(129), {}).proved);
  EXPECT_FALSE(proveIndex(g.entry, clipped, Size(0), Size(128), {}).proved);
  // Star-Transformer: (iota[T] + iota[W] - 1 + T) mod T, by a symbolic size
  NodeId ring = g.arithmetic(Op::Mod, {g.plus(g.minus(g.plus(i, w), g.number(1)), g.size(T)), g.size(T)});
  EXPECT_TRUE(proveIndex(g.entry, ring, Size(0), T, {}).proved);
  NodeId half = g.arithmetic(Op::FloorDiv, {i, g.number(2)});
  EXPECT_TRUE(proveIndex(g.entry, g.plus(half, half), Size(0), T, {}).proved);
  EXPECT_FALSE(proveIndex(g.entry, g.plus(g.plus(half, half), g.number(1)), Size(0), T, {}).proved);
  NodeId rest = g.arithmetic(Op::Mod, {g.minus(i, j), g.number(7)});
  EXPECT_TRUE(proveIndex(g.entry, rest, Size(0), Size(7), {}).proved);
  EXPECT_FALSE(proveIndex(g.entry, rest, Size(0), Size(6), {}).proved);
}

TEST(IndexProof, UnknownsUnderConditions) {
  GraphBuilder g;
  AxisId batch = g.axis("B", g.dim("B"));
  NodeId ids = g.input("ids", {batch}, Size(1000)), rank = g.input("rank", {batch}, std::nullopt);
  NodeId here =
      g.predicate(Op::And, {g.predicate(Op::LessEqual, {g.number(200), ids}), g.predicate(Op::Less, {ids, g.number(300)})});
  NodeId local = g.minus(ids, g.number(200));
  EXPECT_TRUE(proveIndex(g.entry, local, Size(0), Size(100), {here}).proved);
  EXPECT_FALSE(proveIndex(g.entry, local, Size(0), Size(100), {}).proved);
  EXPECT_TRUE(proveIndex(g.entry, g.where(here, local, g.number(0)), Size(0), Size(100), {}).proved);
  IndexProof open = proveIndex(g.entry, rank, Size(0), Size(10), {});
  EXPECT_FALSE(open.proved);
  EXPECT_EQ(open.range, "");
  EXPECT_EQ(open.example, "rank = -1 gives -1");
}

TEST(IndexProof, BoundedDims) {
  GraphBuilder g;
  Size T = g.dim("T", Size(512)), K = g.dim("K");
  AxisId places = g.axis("T", T), free = g.axis("K", K);
  EXPECT_TRUE(proveIndex(g.entry, g.iota(places), Size(0), Size(512), {}).proved);
  IndexProof open = proveIndex(g.entry, g.iota(free), Size(0), Size(512), {});
  EXPECT_FALSE(open.proved);
  EXPECT_EQ(open.range, "0 .. K-1");
  // RoBERTa: where(given, cumsum(given), 0) + 1 in L = 514 with T <= 512
  NodeId given = g.predicate(Op::NotEqual, {g.input("ids", {places}, Size(100)), g.number(1)});
  NodeId count = g.node(Op::Cumsum, Element::Int, {given}, {places});
  g.at(count).axesFrom = {places};
  NodeId place = g.plus(g.where(given, count, g.number(0)), g.number(1));
  EXPECT_TRUE(proveIndex(g.entry, place, Size(0), Size(514), {}).proved);
  EXPECT_FALSE(proveIndex(g.entry, g.plus(place, g.number(1)), Size(0), Size(514), {}).proved);
}

TEST(IndexProof, TruthValuesAreIndicesOfTwo) {
  GraphBuilder g;
  AxisId places = g.axis("T", g.dim("T"));
  NodeId same = g.predicate(Op::NotEqual, {g.input("a", {places}, Size(5)), g.input("b", {places}, Size(5))});
  EXPECT_TRUE(proveIndex(g.entry, same, Size(0), Size(2), {}).proved);
  EXPECT_FALSE(proveIndex(g.entry, same, Size(0), Size(1), {}).proved);
  EXPECT_TRUE(proveIndex(g.entry, g.input("flag", {}, std::nullopt, Element::Bool), Size(0), Size(2), {}).proved);
}

TEST(IndexProof, ConcatenatedMemory) {
  GraphBuilder g;
  Size M = g.dim("M"), T = g.dim("T"), S = *add(M, T);
  AxisId memory = g.axis("M", M), now = g.axis("T", T), keys = g.axis("S", S);
  NodeId joined = g.node(Op::Concat, Element::Int, {g.iota(memory), g.iota(now)}, {keys});
  g.at(joined).axesFrom = {memory, now};
  g.at(joined).axesTo = {keys};
  NodeId late = g.predicate(Op::LessEqual, {g.size(M), g.iota(keys)});
  EXPECT_TRUE(proveIndex(g.entry, joined, Size(0), T, {late}).proved);
  EXPECT_FALSE(proveIndex(g.entry, joined, Size(0), T, {}).proved);
}

TEST(IndexProof, Conditions) {
  GraphBuilder g;
  Size T = g.dim("T");
  AxisId queries = g.axis("T", T), keys = g.axis("S", T);
  NodeId i = g.iota(queries), j = g.iota(keys), before = g.predicate(Op::Less, {j, i});
  NodeId causal = g.predicate(Op::LessEqual, {j, i});
  EXPECT_TRUE(proveCondition(g.entry, causal, {before}).proved);
  EXPECT_FALSE(proveCondition(g.entry, before, {causal}).proved);
  EXPECT_FALSE(proveCondition(g.entry, causal, {}).proved);
  EXPECT_TRUE(proveCondition(g.entry, g.predicate(Op::Less, {j, g.size(T)}), {}).proved);
}

TEST(IndexProof, Slices) {
  GraphBuilder g;
  Size M = g.dim("M"), T = g.dim("T"), S = *add(M, T);
  EXPECT_TRUE(proveSlice(T, M, S, g.entry).proved); // c[S: T .. S -> M]
  IndexProof late = proveSlice(*add(T, Size(1)), M, S, g.entry);
  EXPECT_FALSE(late.proved);
  EXPECT_EQ(late.range, "T+1 .. M+T");
  EXPECT_EQ(late.example, "the slice ends 1 after the last place");
  EXPECT_EQ(proveSlice(Size(0), Size(9), T, g.entry).example, "the slice ends 8 after the last place when T = 1");
  EXPECT_FALSE(proveSlice(*subtract(T, Size(2)), M, S, g.entry).proved);
  EXPECT_TRUE(proveSlice(*subtract(T, Size(1)), M, S, g.entry).proved);
  EXPECT_EQ(proveNonNegative(*subtract(T, Size(2)), g.entry).example, "-1 when T = 1");
  EXPECT_TRUE(proveNonNegative(*subtract(S, Size(2)), g.entry).proved);
}

TEST(IndexProof, Comparisons) {
  GraphBuilder g;
  Size L = g.dim("L"), T = g.dim("T", L);
  EXPECT_TRUE(provablyAtMost(T, L, g.entry));
  EXPECT_FALSE(provablyAtMost(L, T, g.entry));
  EXPECT_EQ(compareAlways(T, L, g.entry), std::nullopt);
  EXPECT_EQ(compareAlways(T, *add(L, Size(1)), g.entry), -1);
  EXPECT_EQ(compareAlways(*add(L, Size(1)), T, g.entry), 1);
  EXPECT_EQ(compareAlways(T, T, g.entry), 0);
}

TEST(IndexProof, ProductsAreAtLeastTheirFactors) {
  GraphBuilder g;
  Size B = g.dim("B"), T = g.dim("T", Size(8));
  const Size N = *sema::multiplyDims(g.entry, B, T);
  EXPECT_EQ(N, sema::multiplyDims(g.entry, T, B));
  EXPECT_EQ(N.text(g.entry.dims), "B*T");
  EXPECT_TRUE(provablyAtMost(T, N, g.entry));
  EXPECT_TRUE(provablyAtMost(B, N, g.entry));
  EXPECT_FALSE(provablyAtMost(N, T, g.entry));
  EXPECT_FALSE(provablyAtMost(*add(B, Size(1)), N, g.entry));
  EXPECT_EQ(proveNonNegative(*subtract(N, Size(2)), g.entry).example, "-1 when B = 1, T = 1");
  EXPECT_EQ(sema::multiplyDims(g.entry, *add(B, Size(2)), *subtract(T, Size(1))),
            subtract(*add(*subtract(N, B), *multiply(T, Size(2))), Size(2)));
  EXPECT_EQ(sema::divideDims(g.entry, *multiply(N, Size(6)), *multiply(T, Size(3))), multiply(B, Size(2)));
  EXPECT_FALSE(sema::divideDims(g.entry, *add(N, Size(1)), T));
  EXPECT_FALSE(sema::multiplyDims(g.entry, *sema::multiplyDims(g.entry, N, N), B)); // five factors
  Size L = *sema::multiplyDims(g.entry, T, T);
  EXPECT_TRUE(provablyAtMost(L, Size(64), g.entry));
  EXPECT_FALSE(provablyAtMost(L, Size(63), g.entry));
}

TEST(IndexProof, OverflowProvesNothing) {
  GraphBuilder g;
  AxisId places = g.axis("T", g.dim("T"));
  NodeId huge = g.arithmetic(Op::Mul, {g.arithmetic(Op::Mul, {g.iota(places), g.number(INT64_MAX)}), g.number(4)});
  EXPECT_FALSE(proveIndex(g.entry, huge, Size(0), Size(INT64_MAX), {}).proved);
}

/// Masks hold together, so the one that says it is enough, whatever the others cost.
TEST(IndexProof, OneOfManyMasks) {
  for (bool isMasked : {true, false})
    for (unsigned others : {1u, 8u, 40u}) {
      Relative g;
      const NodeId place = g.plus(g.size(g.M), g.i), causal = g.predicate(Op::LessEqual, {g.j, place});
      std::vector<NodeId> masks;
      for (unsigned k = 0; k < others; ++k) {
        const NodeId rest = g.arithmetic(Op::Mod, {g.minus(g.i, g.j), g.number(k + 2)});
        const NodeId half = g.arithmetic(Op::FloorDiv, {g.plus(g.j, g.j), g.number(k + 1)});
        masks.push_back(g.predicate(Op::Or, {g.predicate(Op::Less, {rest, g.number(k + 1)}),
                                             g.predicate(Op::LessEqual, {half, g.plus(g.i, g.number(k + 3))})}));
      }
      if (isMasked)
        masks.push_back(causal);
      EXPECT_EQ(proveCondition(g.entry, causal, masks, g.hints).proved, isMasked) << others;
      EXPECT_EQ(proveIndex(g.entry, g.distance, Size(0), g.S, masks, g.hints).proved, isMasked) << others;
      // all in one
      NodeId all = masks[0];
      for (size_t k = 1; k < masks.size(); ++k)
        all = g.predicate(Op::And, {all, masks[k]});
      EXPECT_EQ(proveCondition(g.entry, causal, {all}, g.hints).proved, isMasked) << others;
    }
}

/// Two masks that say it only together, behind others.
TEST(IndexProof, TwoOfManyMasks) {
  Relative g;
  const NodeId place = g.plus(g.size(g.M), g.i), next = g.plus(place, g.number(1));
  std::vector<NodeId> masks;
  for (unsigned k = 0; k < 8; ++k)
    masks.push_back(g.predicate(
        Op::Or, {g.predicate(Op::Less, {g.arithmetic(Op::Mod, {g.minus(g.i, g.j), g.number(k + 2)}), g.number(k + 1)}),
                 g.predicate(Op::LessEqual, {g.j, g.plus(g.i, g.number(k + 3))})}));
  masks.push_back(g.predicate(Op::LessEqual, {g.j, next}));
  EXPECT_FALSE(proveIndex(g.entry, g.distance, Size(0), g.S, masks, g.hints).proved);
  masks.push_back(g.predicate(Op::NotEqual, {g.j, next}));
  EXPECT_TRUE(proveIndex(g.entry, g.distance, Size(0), g.S, masks, g.hints).proved);
}
