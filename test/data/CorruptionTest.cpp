// span_corruption: pieces of a text whose spans of noise stand in the target, by the rules of T5.
#include "runtime/data/Corruption.h"
#include "runtime/data/Inputs.h"
#include "test/data/Batch.h"
#include <cmath>
#include <fstream>
#include <map>
#include <set>

namespace tenon::data::test {

namespace {

constexpr int32_t kPad = 0, kEnd = 1, kWords = 50; // ids 2 to 51 are words, 52 is <extra_id_9>, the last <extra_id_0>

Vocabulary vocabularyOf(int sentinels) {
  const std::string path = testing::TempDir() + "corruption.txt";
  std::ofstream file(path);
  file << "<pad>\n<eos>\n";
  for (int i = 0; i < kWords; ++i)
    file << "w" << i << "\n";
  for (int i = sentinels; i-- > 0;)
    file << "<extra_id_" << i << ">\n";
  file.close();
  Vocabulary vocabulary;
  const Status status = Vocabulary::readWords(path, vocabulary);
  EXPECT_TRUE(status.ok()) << status.message();
  return vocabulary;
}

std::string textOf(int words) {
  std::string text;
  for (int i = 0; i < words; ++i)
    text += "w" + std::to_string(i * 7 % kWords) + " ";
  return text;
}

TaskSettings settings() {
  TaskSettings result;
  result.name = "span_corruption";
  result.seed = 5;
  return result;
}

Batch inputs(int64_t rows, int64_t source, int64_t target, int64_t symbols = 2 + kWords + 10) {
  return Batch()
      .add("src", DataType::I32, {rows, source}, symbols)
      .add("src_len", DataType::I32, {rows}, source + 1)
      .add("tgt", DataType::I32, {rows, target}, symbols)
      .add("tgt_len", DataType::I32, {rows}, target + 1)
      .add("label", DataType::I32, {rows, target}, symbols);
}

bool isSentinel(int32_t id) { return id >= 2 + kWords; }

/// The piece of a row, spans in the places of their sentinels; what is no row of T5's is a failure.
std::vector<int32_t> pieceOf(const Batch &batch, int64_t b, int64_t S, int64_t T) {
  const int64_t source = batch.integer("src_len", b), target = batch.integer("tgt_len", b);
  for (int64_t s = 0; s < S; ++s)
    EXPECT_EQ(s < source - 1 && batch.integer("src", b * S + s) > kEnd, s < source - 1);
  EXPECT_EQ(batch.integer("src", b * S + source - 1), kEnd);
  EXPECT_EQ(batch.integer("tgt", b * T), kPad);
  EXPECT_EQ(batch.integer("label", b * T + target - 1), kEnd);
  std::map<int32_t, std::vector<int32_t>> spans;
  int32_t sentinel = 0, next = 2 + kWords + 10;
  for (int64_t t = 0; t < T; ++t) {
    const int32_t id = batch.integer("label", b * T + t);
    if (t > 0)
      EXPECT_EQ(batch.integer("tgt", b * T + t), batch.integer("label", b * T + t - 1));
    if (t >= target)
      EXPECT_EQ(id, kPad);
    if (isSentinel(id))
      EXPECT_EQ(sentinel = id, --next) << "<extra_id_0>, <extra_id_1>, ..";
    else if (t < target - 1)
      spans[sentinel].push_back(id);
  }
  std::vector<int32_t> piece;
  next = 2 + kWords + 10;
  for (int64_t s = 0; s < source - 1; ++s) {
    const int32_t id = batch.integer("src", b * S + s);
    if (!isSentinel(id)) {
      piece.push_back(id);
      continue;
    }
    EXPECT_EQ(id, --next);
    piece.insert(piece.end(), spans[id].begin(), spans[id].end());
  }
  EXPECT_EQ(static_cast<size_t>(2 + kWords + 10 - next), spans.size());
  return piece;
}

} // namespace

TEST(Corruption, SizesAreThoseOfT5) {
  // random_spans_helper(inputs_length, 0.15, 3.0, 1, 1) of t5/data/preprocessors.py: (tokens_length, targets_length).
  const std::map<int64_t, std::pair<int64_t, int64_t>> wanted = {{512, {568, 114}}, {128, {141, 29}}, {1024, {1137, 229}}};
  for (const auto &[places, lengths] : wanted) {
    const CorruptionSize size = CorruptionSize::thatFits(places, 0.15, 3);
    EXPECT_EQ(std::pair(size.symbols, size.target), lengths) << places;
    EXPECT_LE(size.source, places);
    EXPECT_GT(CorruptionSize::of(size.symbols + 1, 0.15, 3).source, places);
  }
  EXPECT_EQ(CorruptionSize::thatFits(3, 0.15, 3).symbols, 2);
  EXPECT_EQ(CorruptionSize::thatFits(2, 0.15, 3).symbols, 0);
}

TEST(Corruption, AllWaysToCutAreAsLikely) {
  // 20 symbols, 6 of them noise in two spans: 1 + 5 to 5 + 1, and 13 ways for the others.
  std::map<int64_t, double> noise, before;
  constexpr int kDraws = 20000;
  for (uint64_t i = 0; i < kDraws; ++i) {
    RandomStream random(3, Purpose::Mask, i);
    const std::vector<NoiseSpan> spans = drawSpans(20, 0.3, 3, random);
    ASSERT_EQ(spans.size(), 2u);
    EXPECT_EQ(spans[0].noise + spans[1].noise, 6);
    EXPECT_EQ(spans[0].before + spans[1].before, 14);
    ++noise[spans[0].noise];
    ++before[spans[0].before];
  }
  ASSERT_EQ(noise.size(), 5u);
  ASSERT_EQ(before.size(), 13u);
  for (const auto &[length, count] : noise)
    EXPECT_NEAR(count / kDraws, 1. / 5, 0.015) << length;
  for (const auto &[length, count] : before)
    EXPECT_NEAR(count / kDraws, 1. / 13, 0.01) << length;
}

TEST(Corruption, SourceAndTargetAreThePiece) {
  constexpr int64_t rows = 3, S = 60, T = 16;
  const CorruptionSize size = CorruptionSize::thatFits(S, 0.15, 3);
  const std::string text = textOf(500);
  auto task = makeOrFail(settings(), text, vocabularyOf(10));
  EXPECT_EQ(task->gives(), inputsOf("span_corruption"));
  Batch batch = inputs(rows, S, T);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  EXPECT_EQ(task->batchesPerEpoch(), static_cast<uint64_t>(500 / size.symbols / rows));
  std::set<std::vector<int32_t>> sources;
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::set<int32_t> firsts;
    for (uint64_t i = 0; i < task->batchesPerEpoch(); ++i) {
      ASSERT_TRUE(task->fill(epoch * task->batchesPerEpoch() + i, batch.tensors).ok());
      for (int64_t b = 0; b < rows; ++b) {
        const std::vector<int32_t> piece = pieceOf(batch, b, S, T);
        ASSERT_EQ(static_cast<int64_t>(piece.size()), size.symbols);
        for (size_t at = 1; at < piece.size(); ++at)
          EXPECT_EQ(piece[at] - 2, (piece[at - 1] - 2 + 7) % kWords) << "a piece of the text";
        firsts.insert(piece[0]);
        std::vector<int32_t> source;
        for (int64_t s = 0; s < S; ++s)
          source.push_back(batch.integer("src", b * S + s));
        sources.insert(source);
      }
    }
    EXPECT_EQ(firsts.size(), task->batchesPerEpoch() * rows) << "each piece once";
  }
  EXPECT_EQ(sources.size(), 3 * task->batchesPerEpoch() * rows) << "other spans in each epoch";
}

TEST(Corruption, AnEvaluationHasTheRest) {
  constexpr int64_t rows = 4, S = 60, T = 16;
  for (int words : {500, 261, 1}) { // the last piece has many symbols, few, or one alone
    TaskSettings own = settings();
    own.evaluation = true;
    auto task = makeOrFail(own, textOf(words), vocabularyOf(10));
    Batch batch = inputs(rows, S, T), again = inputs(rows, S, T);
    ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
    int64_t all = 0, count = 0;
    for (uint64_t i = 0; i < task->evaluationBatches(); ++i) {
      ASSERT_TRUE(task->fillEvaluation(i, batch.tensors).ok());
      ASSERT_TRUE(task->fillEvaluation(i, again.tensors).ok());
      EXPECT_EQ(batch.bytes(), again.bytes());
      for (int64_t b = 0; b < task->validRows(i); ++b) {
        const std::vector<int32_t> piece = pieceOf(batch, b, S, T);
        EXPECT_EQ(piece[0] - 2, all * 7 % kWords);
        all += static_cast<int64_t>(piece.size());
        ++count;
      }
    }
    EXPECT_EQ(all, words);
    EXPECT_EQ(task->extent().all, count);
  }
}

TEST(Corruption, WhatHasNoRoom) {
  auto task = makeOrFail(settings(), textOf(500), vocabularyOf(2));
  Batch wide = inputs(2, 60, 16, 2 + kWords + 2), narrow = inputs(2, 30, 6, 2 + kWords + 2),
        few = inputs(2, 2, 6, 2 + kWords + 2);
  EXPECT_EQ(task->bind(wide.tensors).message(), "a piece of 66 symbols has 3 spans, and the vocabulary 2 sentinels");
  EXPECT_EQ(task->bind(narrow.tensors).message(),
            "T = 6 has no room for the targets of S = 30, which have 8 symbols; bind T = 8");
  EXPECT_EQ(task->bind(few.tensors).message(), "S = 2 has no room for two symbols, a sentinel and an end");
  std::unique_ptr<DataTask> none;
  EXPECT_NE(makeTaskFromText(settings(), "a b", Vocabulary::bytes(true), none).message().find("sentinels = 100"),
            std::string::npos);
}

TEST(Corruption, PositionIsAllThereIs) { expectRestartable(settings(), textOf(2000), vocabularyOf(10), inputs(3, 60, 16)); }

} // namespace tenon::data::test
