// What a model finds against what is right: the numbers of sacrebleu, seqeval, scikit-learn and scipy (Inputs/measures/make.py).
#include "runtime/data/Measures.h"
#include "runtime/base/Json.h"
#include "runtime/data/Bleu.h"
#include "runtime/data/Text.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace tenon::data {

namespace {

using runtime::JsonValue;

const JsonValue &cases() {
  static const JsonValue all = [] {
    std::string text;
    EXPECT_TRUE(readTextFile(TENON_TEST_MEASURES, text).ok());
    auto json = runtime::parseJson(text);
    EXPECT_TRUE(json.ok());
    return json.take();
  }();
  return all;
}

std::vector<std::string> textsOf(const JsonValue &list) {
  std::vector<std::string> texts;
  for (const JsonValue &each : list.elements)
    texts.push_back(each.text);
  return texts;
}

std::vector<double> numbersOf(const JsonValue &list) {
  std::vector<double> numbers;
  for (const JsonValue &each : list.elements)
    numbers.push_back(each.real);
  return numbers;
}

TEST(Measures, Words) {
  const JsonValue &all = *cases().find("words");
  ASSERT_EQ(all.elements.size(), 16u);
  for (const JsonValue &each : all.elements)
    EXPECT_EQ(wordsOf13a(each.elements[0].text), textsOf(each.elements[1])) << each.elements[0].text;
}

std::vector<double> bleuOf(const std::vector<std::string> &texts, const JsonValue &references) {
  BleuCounts counts;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<std::string_view> right;
    for (const JsonValue &each : references.elements)
      right.emplace_back(each.elements[i].text);
    counts.add(texts[i], right);
  }
  const Bleu bleu = counts.result();
  std::vector<double> numbers = {bleu.score};
  numbers.insert(numbers.end(), bleu.precisions.begin(), bleu.precisions.end());
  numbers.insert(numbers.end(),
                 {bleu.brevityPenalty, static_cast<double>(bleu.length), static_cast<double>(bleu.referenceLength)});
  return numbers;
}

double farthest(const std::vector<double> &a, const std::vector<double> &b) {
  double distance = a.size() == b.size() ? 0 : HUGE_VAL;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    distance = std::max(distance, std::abs(a[i] - b[i]));
  return distance;
}

TEST(Measures, Bleu) {
  const JsonValue &all = *cases().find("bleu");
  ASSERT_EQ(all.elements.size(), 12u);
  std::set<size_t> references;
  for (const JsonValue &each : all.elements) {
    references.insert(each.elements[1].elements.size());
    EXPECT_LT(farthest(bleuOf(textsOf(each.elements[0]), each.elements[1]), numbersOf(each.elements[2])), 1e-9) << each.print();
  }
  EXPECT_EQ(references, (std::set<size_t>{1, 2, 3}));
  // A word of one text that another has is seen.
  std::vector<std::string> texts = textsOf(all.elements.back().elements[0]);
  std::swap(texts[0], texts[1]);
  EXPECT_GT(farthest(bleuOf(texts, all.elements.back().elements[1]), numbersOf(all.elements.back().elements[2])), 1);
}

std::vector<int32_t> tagsOf(const JsonValue &row, const std::vector<std::string> &labels) {
  std::vector<int32_t> tags;
  for (const JsonValue &each : row.elements)
    tags.push_back(static_cast<int32_t>(std::lower_bound(labels.begin(), labels.end(), each.text) - labels.begin()));
  return tags;
}

TEST(Measures, Spans) {
  const JsonValue &all = *cases().find("spans");
  ASSERT_EQ(all.elements.size(), 14u);
  for (const JsonValue &each : all.elements) {
    std::set<std::string> names;
    for (size_t side : {0, 1})
      for (const JsonValue &row : each.elements[side].elements)
        for (const JsonValue &tag : row.elements)
          names.insert(tag.text);
    const std::vector<std::string> labels(names.begin(), names.end());
    SpanCounts counts;
    ASSERT_TRUE(SpanCounts::make(labels, counts).ok());
    for (size_t i = 0; i < each.elements[0].elements.size(); ++i)
      counts.add(tagsOf(each.elements[0].elements[i], labels), tagsOf(each.elements[1].elements[i], labels));
    const SpanCounts::Measures found = counts.measures();
    const std::vector<double> wanted = numbersOf(each.elements[2]);
    EXPECT_LT(farthest({found.precision / 100, found.recall / 100, found.f1 / 100}, wanted), 1e-12) << each.print();
  }
}

TEST(Measures, OtherLabels) {
  SpanCounts counts;
  EXPECT_EQ(SpanCounts::make({"B-LOC", "NOUN", "O"}, counts).message(),
            "spans are marked by labels B-X, I-X and O, and \"NOUN\" is none of these");
  for (const char *label : {"B", "I-", "E-LOC", "o", "", "BLOC"})
    EXPECT_TRUE(SpanCounts::make({label}, counts).failed()) << label;
  // A class that no label names is no span, and ends one.
  ASSERT_TRUE(SpanCounts::make({"B-LOC", "I-LOC", "O"}, counts).ok());
  counts.add({0, 2, 1}, {0, 7, 1});
  EXPECT_EQ(counts.measures().f1, 100);
}

TEST(Measures, Correlations) {
  const JsonValue &all = *cases().find("numbers");
  ASSERT_EQ(all.elements.size(), 8u);
  for (const JsonValue &each : all.elements) {
    const std::vector<double> x = numbersOf(each.elements[0]), y = numbersOf(each.elements[1]);
    EXPECT_NEAR(pearson(x, y), each.elements[2].real, 1e-12) << each.print();
    EXPECT_NEAR(spearman(x, y), each.elements[3].real, 1e-12) << each.print();
  }
  EXPECT_TRUE(std::isnan(spearman({0.1, 0.1, 0.1}, {1, 2, 3})));
  EXPECT_TRUE(std::isnan(pearson({1, 2, 3}, {0.1, 0.1, 0.1})));
  EXPECT_TRUE(std::isnan(spearman({1, std::nan(""), 3}, {1, 2, 3})));
}

TEST(Measures, Classes) {
  const JsonValue &all = *cases().find("classes");
  ASSERT_EQ(all.elements.size(), 10u);
  for (const JsonValue &each : all.elements) {
    const std::vector<double> right = numbersOf(each.elements[0]), found = numbersOf(each.elements[1]);
    ClassCounts counts, turned;
    for (size_t row = 0; row < right.size(); ++row) {
      counts.add(static_cast<size_t>(right[row]), static_cast<size_t>(found[row]));
      turned.add(static_cast<size_t>(right[row]), static_cast<size_t>(found[(row + 1) % right.size()]));
    }
    EXPECT_NEAR(counts.matthews(), each.elements[2].real, 1e-12) << each.print();
    if (each.elements[3].kind != JsonValue::Kind::Null) {
      EXPECT_NEAR(counts.f1(), each.elements[3].real, 1e-12) << each.print();
    }
    if (right.size() == 40) {
      EXPECT_GT(std::abs(turned.matthews() - each.elements[2].real), 0.1) << each.print();
    }
  }
  EXPECT_EQ(ClassCounts().matthews(), 0);
  EXPECT_EQ(ClassCounts().f1(), 0);
}

} // namespace

} // namespace tenon::data
