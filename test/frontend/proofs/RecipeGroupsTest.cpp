// Which parameters patterns of recipes are about: groups, exceptions of numerics.
#include "frontend/ElementTypes.h"
#include "frontend/recipes/RecipeSchema.h"
#include "test/frontend/proofs/RecipeChecks.h"
#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::test;

namespace {

Param param(const std::string &path, std::vector<int64_t> counts = {}) {
  Param made;
  made.path = path;
  made.stackCounts = std::move(counts);
  return made;
}

} // namespace

TEST(Recipes, GlobsCrossDots) {
  EXPECT_TRUE(globMatches("*.bias", "blocks.3.wq.bias"));
  EXPECT_TRUE(globMatches("*norm*", "blocks.3.norm1.weight"));
  EXPECT_TRUE(globMatches("word", "word"));
  EXPECT_TRUE(globMatches("*a*b*", "xaxbx"));
  EXPECT_FALSE(globMatches("word", "words"));
  EXPECT_FALSE(globMatches("*.bias", "bias"));
  EXPECT_FALSE(globMatches("a*b", "acbd"));
}

TEST(Recipes, GroupsGiveEachDepthItsFactor) {
  Checked c(train(
      "groups = (group(\"*.bias\", decay = 0), group(\"blocks.*\", lr = 0.5 ^ (N - depth), decay = 0.1))\nfreeze = \"emb\""));
  ASSERT_EQ(c.mistakes(), "");
  auto policies = resolvePolicies(c.checked[0],
                                  {param("emb"), param("blocks.*.w.bias", {12}), param("blocks.*.w.weight", {12}), param("head")},
                                  c.context, c.diagnostics);
  ASSERT_EQ(c.mistakes(), "");
  EXPECT_EQ(policies.count("head"), 0u);
  EXPECT_TRUE(policies["emb"].frozen);
  const ParamPolicy &bias = policies["blocks.*.w.bias"], &weight = policies["blocks.*.w.weight"];
  EXPECT_EQ(bias.decay, std::vector<double>(12, 0.0)); // the first group that has the key wins
  EXPECT_EQ(weight.decay, std::vector<double>(12, 0.1));
  EXPECT_EQ(bias.learningRate[11], 0.5);
  EXPECT_EQ(bias.learningRate[0], std::pow(0.5, 12));
  EXPECT_EQ(weight.gradient, std::vector<double>(12, 1.0));
  EXPECT_TRUE(std::isnan(policies["emb"].decay[0]));
}

TEST(Recipes, GroupsThatMeanNothingAreMistakes) {
  auto of = [](const std::string &text) {
    Checked c(train(text));
    resolvePolicies(c.checked[0], {param("emb"), param("blocks.*.w", {12})}, c.context, c.diagnostics);
    return c.mistakes();
  };
  EXPECT_EQ(of("groups = group(\"*.w\", \"*.bias\", decay = 0)"), "T0640 5:23");
  EXPECT_EQ(of("freeze = (\"emb\", \"head\")"), "T0640 5:18");
  EXPECT_EQ(of("groups = group(\"*\", lr = 0.9 ^ depth)"), "T0642 5:26");
  EXPECT_EQ(of("groups = group(\"blocks.*\", lr = 2 - depth)"), "T0609 5:33");
  EXPECT_EQ(of("groups = group(\"blocks.*\", clip = depth)"), "T0609 5:35");
  EXPECT_EQ(of("freeze = \"blocks.0.*\""), "");
}

/// Exceptions of a numerics policy name parameters and layers: all elements of a stack, or none.
TEST(Recipes, ExceptionsOfNumerics) {
  std::map<std::string, std::string> types;
  auto of = [&](const std::string &policy) {
    Checked c(train("numerics = policy(" + policy + ")"));
    types = resolveExceptions(c.checked[0], {param("emb"), param("blocks.*.w.weight", {12})},
                              {{"", {}}, {"blocks.*.w", {12}}, {"rnn", {}}}, c.context, c.diagnostics);
    return c.mistakes();
  };
  using Types = std::map<std::string, std::string>;
  EXPECT_EQ(of("compute = bf16, f32 = \"emb\""), "");
  EXPECT_EQ(types, (Types{{"emb", "f32"}}));
  EXPECT_EQ(of("bf16 = (\"rnn.*\", \"*.weight\"), f32 = \"*\""), ""); // the first that matches wins
  EXPECT_EQ(types, (Types{{"rnn", "bf16"}, {"blocks.*.w.weight", "bf16"}, {"blocks.*.w", "f32"}, {"emb", "f32"}}));
  EXPECT_EQ(of("compute = bf16, f32 = \"blocks.*.w\""), "");
  EXPECT_EQ(types, (Types{{"blocks.*.w", "f32"}}));
  EXPECT_EQ(of("compute = bf16, f32 = (\"emb\", \"rmn\")"), "T0640 5:49");
  EXPECT_EQ(of("compute = bf16, f32 = \"blocks.1*\""), "T0690 5:41"); // 1, 10 and 11 of twelve
  EXPECT_EQ(of("compute = bf16"), "");
  EXPECT_EQ(types, Types());
}

/// Words of specifications, choices of a policy and those of --numerics are of one table: every real of it can be written and
/// chosen; exceptions are what needs no scale; --numerics are what f32 can multiply.
TEST(Recipes, WordsOfTypesAreThoseOfTheTable) {
  const schema::Function &policy = *schema::find("numerics", "policy");
  std::vector<std::string> factors = schema::factorsOfF32();
  auto has = [](const auto &words, std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  auto parameter = [&](std::string_view name) {
    auto found = std::ranges::find(policy.parameters, name, &schema::Parameter::name);
    return found == policy.parameters.end() ? nullptr : &*found;
  };
  size_t reals = 0;
  for (const runtime::DataTypeRow &row : runtime::kDataTypes) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(findElement(row.name) != nullptr, row.isInCode);
    EXPECT_EQ(isWrittenReal(row.name), row.kind == runtime::NumberKind::Real);
    if (!isWrittenReal(row.name))
      continue;
    ++reals;
    EXPECT_EQ(writtenBits(row.name), 8 * row.bytes);
    for (std::string_view of : {"params", "compute", "reduce"})
      EXPECT_TRUE(has(parameter(of)->choices, row.name));
    EXPECT_EQ(parameter(row.name) != nullptr, !needsScale(row.name));
    EXPECT_EQ(has(factors, row.name), !isWideReal(row.name));
  }
  EXPECT_EQ(parameter("params")->choices.size(), reals);
  EXPECT_EQ(parameter("compute")->choices.size(), reals + 1);
  EXPECT_EQ(factors.back(), schema::kRoundedFactors);
  EXPECT_EQ(findElement(schema::kRoundedFactors), nullptr); // no type of elements
  for (std::string_view of : {"params", "compute", "reduce"})
    EXPECT_EQ(parameter(of)->choices.at(size_t(parameter(of)->initial)), "f32");
}
