// translation(..): rows of an encoder and a decoder from two files of lines.
#include "test/data/Batch.h"
#include <fstream>

namespace tenon::data::test {

namespace {

std::string written(const std::string &name, const std::string &text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TaskSettings settingsOf(const std::string &source, const std::string &target, const std::string &words = "") {
  TaskSettings settings;
  settings.name = "translation";
  settings.sourceText = written("source.txt", source);
  settings.targetText = written("target.txt", target);
  if (!words.empty())
    settings.vocabulary = written("words.txt", words);
  return settings;
}

std::string errorOf(const TaskSettings &settings) {
  std::unique_ptr<DataTask> task;
  return makeTask(settings, Part::Training, nullptr, task).message();
}

Batch batchOf(int64_t rows, int64_t symbols) {
  Batch batch = Batch().add("src", DataType::I32, {rows, 4}, symbols).add("src_len", DataType::I32, {rows}, 5);
  return batch.add("tgt", DataType::I32, {rows, 3}, symbols)
      .add("tgt_len", DataType::I32, {rows}, 4)
      .add("label", DataType::I32, {rows, 3}, symbols);
}

void expectRow(const Batch &batch, const std::string &name, int64_t row, std::vector<int32_t> wanted) {
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(batch.integer(name, row * static_cast<int64_t>(wanted.size()) + static_cast<int64_t>(i)), wanted[i])
        << name << " " << row << " " << i;
}

} // namespace

TEST(Translation, WordsOfAVocabulary) {
  const TaskSettings settings = settingsOf("a b\r\nb b b b b\n\n", "c\nc a b\nb\n", "<pad>\n<eos>\n<unk>\na\nb\nc\n");
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(settings, Part::HeldOut, nullptr, task).ok());
  Batch batch = batchOf(3, 6);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "src", 0, {3, 4, 1, 0});
  expectRow(batch, "src", 1, {4, 4, 4, 1}); // cut, and ended all the same
  expectRow(batch, "src", 2, {1, 0, 0, 0}); // an empty line is a text of no words
  expectRow(batch, "src_len", 0, {3, 4, 1});
  expectRow(batch, "tgt", 0, {0, 5, 0});
  expectRow(batch, "tgt", 1, {0, 5, 3});
  expectRow(batch, "label", 0, {5, 1, 0});
  expectRow(batch, "label", 1, {5, 3, 1});
  expectRow(batch, "tgt_len", 0, {2, 3, 2});
  ASSERT_EQ(task->notes().size(), 2u);
  EXPECT_NE(task->notes()[0].find("1 line of"), std::string::npos);
  EXPECT_NE(task->notes()[1].find("T = 3"), std::string::npos);
}

TEST(Translation, BytesWithoutAVocabulary) {
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(settingsOf("ab", "cd"), Part::HeldOut, nullptr, task).ok());
  Batch batch = batchOf(1, 256);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "src", 0, {'a', 'b', 1, 0});
  expectRow(batch, "tgt", 0, {0, 'c', 'd'});
  expectRow(batch, "label", 0, {'c', 'd', 1});
}

TEST(Translation, EachPairOnceInAnEpochInAnyOrder) {
  std::string source, target;
  for (char c = 'a'; c <= 'i'; ++c) {
    source += std::string(1, c) + "\n";
    target += std::string(1, static_cast<char>(c - 'a' + 'A')) + "\n";
  }
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(settingsOf(source, target), Part::Training, nullptr, task).ok());
  Batch batch = batchOf(3, 256);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  EXPECT_EQ(task->batchesPerEpoch(), 3u);
  std::string seen;
  for (uint64_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t row = 0; row < 3; ++row) {
      seen += static_cast<char>(batch.integer("src", 4 * row));
      EXPECT_EQ(batch.integer("label", 3 * row), batch.integer("src", 4 * row) - 'a' + 'A'); // lines stay together
    }
  }
  std::string first = seen.substr(0, 9), second = seen.substr(9);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, "abcdefghi");
  EXPECT_EQ(second, first);
}

/// A loss that leaves out label 0 would leave out a word, and count what fills the rows.
TEST(Translation, AnotherNumberOfPadIsSaid) {
  for (const char *words : {"<pad>\n<eos>\na\n", "<eos>\n<pad>\na\n"}) {
    std::unique_ptr<DataTask> task;
    ASSERT_TRUE(makeTask(settingsOf("a\n", "a\n", words), Part::Training, nullptr, task).ok());
    Batch batch = batchOf(1, 3);
    ASSERT_TRUE(task->bind(batch.tensors).ok());
    const std::vector<std::string> notes = task->notes();
    ASSERT_EQ(notes.size(), words[1] == 'e' ? 1u : 0u);
    if (!notes.empty())
      EXPECT_NE(notes[0].find("`label != 1`"), std::string::npos) << notes[0];
  }
}

TEST(Translation, WhatIsRefused) {
  EXPECT_NE(errorOf(settingsOf("a\nb\n", "a\n")).find("they have 1 and 2 lines"), std::string::npos);
  EXPECT_NE(errorOf(settingsOf("a\n", "a\n", "<pad>\na\nb\n")).find("translation needs <eos>"), std::string::npos);
  EXPECT_NE(errorOf(settingsOf("a\n", "a\n", "a\nb\n<eos>\n")).find("translation needs <pad>"), std::string::npos);
  EXPECT_NE(errorOf(settingsOf("a\n", "b\n", "<eos>\n<pad>\na\n")).find("target.txt:1"), std::string::npos); // no <unk>
  EXPECT_NE(errorOf(settingsOf(std::string("a\nb\x01\n"), "a\nb\n")).find("source.txt:2"), std::string::npos);
  EXPECT_NE(errorOf(settingsOf("", "")).find("has no rows"), std::string::npos);
  TaskSettings missing = settingsOf("a\n", "b\n");
  missing.targetText = "/nowhere/target.txt";
  EXPECT_NE(errorOf(missing).find("/nowhere/target.txt"), std::string::npos);
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(settingsOf("a\nb\n", "b\na\n"), Part::Training, nullptr, task).ok());
  EXPECT_NE(task->bind(batchOf(3, 256).tensors).message().find("fewer than the 3 of one batch"), std::string::npos);
  EXPECT_NE(task->bind(batchOf(2, 90).tensors).message().find("gives 256 different ones"), std::string::npos);
  Batch other = Batch().add("words", DataType::I32, {2, 4}, 256);
  EXPECT_NE(task->bind(other.tensors).message().find("it gives src, src_len, tgt, tgt_len, label"), std::string::npos);
}

} // namespace tenon::data::test
