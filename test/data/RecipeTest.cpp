// Recipes of manifests and progress lines.
#include "runtime/train/Recipe.h"
#include "runtime/train/Progress.h"
#include <gtest/gtest.h>

using namespace tenon::train;
using tenon::runtime::Manifest;

namespace {

Manifest manifestOf(const std::string &settings) {
  Manifest manifest;
  auto json = tenon::runtime::parseJson("{\"kind\": \"train\", \"name\": \"small\", \"settings\": {" + settings + "}}");
  EXPECT_TRUE(json.ok()) << json.status().message();
  manifest.recipe = *json;
  return manifest;
}
const std::string kData = R"("data": {"call": "byte_stream", "args": [], "keywords": {"text": "a.txt"}})";

std::string errorOf(const std::string &settings, const DataOverrides &overrides = {}) {
  auto recipe = readRecipe(manifestOf(settings), overrides, std::nullopt);
  return recipe.ok() ? "" : recipe.status().message();
}

} // namespace

TEST(Recipe, ReadsEverySetting) {
  auto recipe = readRecipe(
      manifestOf(kData + R"(, "steps": 700, "seed": 5, "checkpoint": {"call": "every", "args": [100], "keywords": {"keep": 4}},
    "valid": {"call": "byte_stream", "args": [], "keywords": {"text": "b.txt", "every": 50}},
    "init": {"call": "load", "args": ["w.safetensors"], "keywords": {"names": "hf"}})"),
      {}, std::nullopt);
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(recipe->steps, 700);
  EXPECT_EQ(recipe->seed, 5u);
  EXPECT_EQ(recipe->data.seed, 5u);
  EXPECT_EQ(recipe->checkpointEvery, 100);
  EXPECT_EQ(recipe->keep, 4);
  EXPECT_EQ(recipe->data.texts, std::vector<std::string>{"a.txt"});
  ASSERT_TRUE(recipe->valid);
  EXPECT_EQ(recipe->valid->texts, std::vector<std::string>{"b.txt"});
  EXPECT_EQ(recipe->validEvery, 50);
  EXPECT_EQ(recipe->initFile, "w.safetensors");
  EXPECT_EQ(recipe->initScheme, "hf");
}

TEST(Recipe, WhatIsHeldOutIsEvaluatedAsOftenAsItsTaskSays) {
  auto recipe = readRecipe(
      manifestOf(R"("data": {"call": "byte_stream", "args": [], "keywords": {"text": "a.txt", "held_out": 0.1, "every": 50}})"),
      {}, {});
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(recipe->validEvery, 50);
}

TEST(Recipe, TasksAndTheirKeywords) {
  auto recipe = readRecipe(
      manifestOf(R"("data": {"call": "permutation_lm", "args": [], "keywords": {"text": ["a.txt", "b.txt"], "reuse": 64,
    "alpha": 5, "beta": 2, "both_ways": true}})"),
      {}, 9);
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(recipe->data.texts.size(), 2u);
  EXPECT_EQ(recipe->data.reuse, 64);
  EXPECT_EQ(recipe->data.alpha, 5);
  EXPECT_TRUE(recipe->data.bothWays);
  EXPECT_EQ(recipe->seed, 9u);
  EXPECT_FALSE(recipe->valid);
  recipe = readRecipe(
      manifestOf(R"("data": {"call": "mlm_nsp", "args": [], "keywords": {"text": "a", "rate": 0.2, "words": "whole"}})"), {}, {});
  ASSERT_TRUE(recipe.ok());
  EXPECT_EQ(recipe->data.words, tenon::data::WordChoice::Whole);
  EXPECT_EQ(recipe->data.rate, 0.2);
  recipe = readRecipe(manifestOf(R"("data": {"call": "rtd", "args": [], "keywords": {"text": "a", "keep": 0.4}})"), {}, {});
  ASSERT_TRUE(recipe.ok());
  EXPECT_EQ(recipe->data.keepRate, 0.4);
  recipe = readRecipe(manifestOf(R"("data": {"call": "char_stream", "args": [], "keywords": {"text": "a"}})"), {}, {});
  ASSERT_TRUE(recipe.ok());
  EXPECT_EQ(recipe->data.unit, tenon::data::Unit::Characters);
}

TEST(Recipe, FilesOfLines) {
  const std::string pairs = R"("data": {"call": "pairs", "args": [], "keywords": {"file": "train.tsv", "held_out": 0.1}})",
                    lines = R"("data": {"call": "translation", "args": [], "keywords": {"source": "a.en", "target": "a.de"}})";
  DataOverrides overrides;
  overrides.files = {{"file", "/here/other.tsv"}};
  auto recipe = readRecipe(manifestOf(pairs), overrides, std::nullopt);
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(filesOf(recipe->data), (std::vector<std::string>{"/here/other.tsv"}));
  EXPECT_NE(errorOf(lines, overrides).find("--data source=FILE and --data target=FILE"), std::string::npos);
  overrides.files = {{"target", "/here/b.de"}};
  recipe = readRecipe(manifestOf(lines), overrides, std::nullopt);
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(filesOf(recipe->data), (std::vector<std::string>{"a.en", "/here/b.de"}));
  overrides.files.clear();
  overrides.validText = "book.txt";
  EXPECT_NE(errorOf(pairs, overrides).find("reads no plain text; --data file=FILE"), std::string::npos);
}

TEST(Recipe, OwnFiles) {
  const std::string data =
      R"("data": {"call": "arrays", "args": [], "keywords": {"ids": {"call": "ragged", "args": [], "keywords": {"values": "i.npy",
    "offsets": "o.npy", "pad": 3, "side": "left"}}, "label": "l.npy", "held_out": 0.1}})";
  DataOverrides overrides;
  overrides.folder = "/there";
  overrides.files = {{"label", "/here/m.npy"}, {"ids.offsets", "p.npy"}};
  auto recipe = readRecipe(manifestOf(data), overrides, std::nullopt);
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(filesOf(recipe->data), (std::vector<std::string>{"/there/i.npy", "/there/p.npy", "/here/m.npy"}));
  EXPECT_EQ(filesOf(*recipe->valid), filesOf(recipe->data));
  EXPECT_EQ(recipe->data.sources[0].pad, 3);
  EXPECT_TRUE(recipe->data.sources[0].left);
  EXPECT_FALSE(recipe->data.sources[1].left);
  EXPECT_EQ(recipe->valid->heldOut, 0.1);
  overrides.whole = true;
  EXPECT_EQ(readRecipe(manifestOf(data), overrides, std::nullopt)->valid->heldOut, 0);
  overrides.files = {{"x", "y.npy"}};
  EXPECT_NE(errorOf(data, overrides).find("--data x=y.npy: the data task arrays has no file for 'x'"), std::string::npos);
  overrides.files.clear();
  overrides.text = "book.txt";
  EXPECT_NE(errorOf(data, overrides).find("arrays reads no text"), std::string::npos);
  EXPECT_NE(errorOf(R"("data": {"call": "arrays", "args": [], "keywords": {"ids": 3}})")
                .find("ids must be a text, ragged(values, offsets) or fixed(values)"),
            std::string::npos);
  auto rate = readRecipe(manifestOf(R"("data": {"call": "arrays", "args": [], "keywords": {"rate": "r.npy", "text": "t.npy"}})"),
                         {}, {}); // inputs, not settings
  ASSERT_TRUE(rate.ok()) << rate.status().message();
  EXPECT_EQ(rate->data.sources.size(), 2u);
  EXPECT_NE(errorOf(R"("data": {"call": "byte_stream", "args": [], "keywords": {"text": "a", "alpha": 3}})")
                .find("not supported yet: alpha"),
            std::string::npos);
  EXPECT_NE(errorOf(R"("data": {"call": "caller", "args": [], "keywords": {}})").find("takes its batches from the caller"),
            std::string::npos);
  EXPECT_NE(errorOf(R"("data": {"call": "dialogues", "args": [], "keywords": {"text": "f"}})")
                .find("not supported yet: the data task dialogues"),
            std::string::npos);
  EXPECT_EQ(errorOf(R"("data": {"call": "permutation_lm", "args": [], "keywords": {"text": "a", "reuse": 0}})"), "");
}

TEST(Recipe, OtherTextHoldsOutItsEnd) {
  DataOverrides overrides;
  overrides.text = "book.txt";
  std::string withValid = kData + R"(, "valid": {"call": "byte_stream", "args": [], "keywords": {"text": "b.txt"}})";
  auto recipe = readRecipe(manifestOf(withValid), overrides, std::nullopt);
  ASSERT_TRUE(recipe.ok());
  EXPECT_EQ(recipe->data.heldOut, 0.05);
  EXPECT_EQ(recipe->valid->texts, std::vector<std::string>{"book.txt"});
  overrides.heldOut = 0;
  recipe = readRecipe(manifestOf(withValid), overrides, std::nullopt);
  ASSERT_TRUE(recipe.ok());
  EXPECT_FALSE(recipe->valid);
  overrides.validText = "other.txt";
  recipe = readRecipe(manifestOf(withValid), overrides, std::nullopt);
  ASSERT_TRUE(recipe.ok());
  EXPECT_EQ(recipe->valid->texts, std::vector<std::string>{"other.txt"});
  EXPECT_EQ(recipe->valid->heldOut, 0);
}

TEST(Recipe, MistakesAreNamed) {
  EXPECT_EQ(errorOf(kData), "");
  EXPECT_NE(errorOf("\"steps\": 3").find("has no data"), std::string::npos);
  EXPECT_NE(errorOf(kData + ", \"steps\": 0").find("steps must be a whole number"), std::string::npos);
  EXPECT_NE(errorOf(kData + ", \"seed\": -1").find("seed must be"), std::string::npos);
  EXPECT_NE(errorOf(R"("data": {"call": "byte_stream", "args": [], "keywords": {}})").find("names no text"), std::string::npos);
  EXPECT_NE(errorOf(R"("data": {"call": "single", "args": [], "keywords": {"file": "a", "vectors": "m"}})")
                .find("not supported yet: vectors"),
            std::string::npos);
  EXPECT_NE(errorOf(R"("data": {"call": "lm_stream", "args": [], "keywords": {"text": "a", "model": "m", "vocab": "v"}})")
                .find("has model = \"m\", whose pieces are its vocabulary, and vocab besides"),
            std::string::npos);
  EXPECT_NE(errorOf(R"("data": {"call": "mlm_nsp", "args": [], "keywords": {"text": "a", "model": "m", "words": "units"}})")
                .find("cuts units for themselves"),
            std::string::npos);
  EXPECT_NE(errorOf(R"("data": {"call": "mlm_nsp", "args": [], "keywords": {"text": "a", "words": "jieba"}})")
                .find("\"whole\" or \"units\""),
            std::string::npos);
  EXPECT_NE(errorOf(R"("data": {"call": "mlm_nsp", "args": [], "keywords": {"text": "a", "rate": 2}})").find("from 0 to below 1"),
            std::string::npos);
  EXPECT_NE(errorOf(kData + R"(, "checkpoint": {"call": "every", "args": [0], "keywords": {}})").find("at least 1"),
            std::string::npos);
  EXPECT_NE(readRecipe(Manifest(), {}, std::nullopt).status().message().find("no train recipe"), std::string::npos);
}

TEST(Progress, Text) {
  EXPECT_EQ(progressText({120, 4000, 1.75, 2.525, 4100.4, 3803, 412ull << 20}),
            "step 120/4000  loss 1.7500  2.525 bits/char  4,100 tokens/s  1:03:23 left  412 MiB");
  EXPECT_EQ(progressText({7, 0, 10, std::nullopt, 999, -1, 1ull << 20}), "step 7  loss 10.0000  999 tokens/s  1 MiB");
}
