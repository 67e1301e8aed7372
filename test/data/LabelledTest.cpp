// single(..), pairs(..) and tags(..): labelled texts in lines of a file.
#include "test/data/Batch.h"
#include <fstream>

namespace tenon::data::test {

namespace {

const char *const kWords = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\n##x\n";

std::string written(const std::string &name, const std::string &text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TaskSettings settingsOf(const std::string &task, const std::string &text, const std::string &words = kWords) {
  TaskSettings settings;
  settings.name = task;
  settings.file = written("labelled.tsv", text);
  if (!words.empty())
    settings.vocabulary = written("labelled-words.txt", words);
  return settings;
}

std::unique_ptr<DataTask> made(const TaskSettings &settings, Part part = Part::HeldOut, const Vocabulary *known = nullptr) {
  std::unique_ptr<DataTask> task;
  Status status = makeTask(settings, part, known, task);
  EXPECT_TRUE(status.ok()) << status.message();
  return task;
}

std::string errorOf(const TaskSettings &settings, Batch batch, Part part = Part::Training) {
  std::unique_ptr<DataTask> task;
  Status status = makeTask(settings, part, nullptr, task);
  return status.failed() ? status.message() : task->bind(batch.tensors).message();
}

Batch batchOf(int64_t rows, int64_t places, int64_t classes, int64_t symbols = 8) {
  Batch batch = Batch().add("ids", DataType::I32, {rows, places}, symbols).add("seg", DataType::I32, {rows, places}, 2);
  return batch.add("len", DataType::I32, {rows}, places + 1).add("label", DataType::I32, {rows}, classes);
}

void expectRow(const Batch &batch, const std::string &name, int64_t row, std::vector<int32_t> wanted) {
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(batch.integer(name, row * static_cast<int64_t>(wanted.size()) + static_cast<int64_t>(i)), wanted[i])
        << name << " " << row << " " << i;
}

} // namespace

TEST(Labelled, PairsAsInBert) {
  auto task = made(settingsOf("pairs", "yes\ta b\tc\r\nno\ta b c a\tb b\n\nyes\tax\tz\n"));
  Batch batch = batchOf(3, 7, 2).add("at", DataType::I32, {3}, 7);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "at", 0, {5, 6, 5}); // of the last symbol
  expectRow(batch, "ids", 0, {2, 4, 5, 3, 6, 3, 0});
  expectRow(batch, "seg", 0, {0, 0, 0, 0, 1, 1, 0});
  expectRow(batch, "ids", 1, {2, 4, 5, 3, 5, 5, 3}); // the longer one is cut
  expectRow(batch, "ids", 2, {2, 4, 7, 3, 1, 3, 0}); // pieces, and what is not known
  expectRow(batch, "len", 0, {6, 7, 6});
  expectRow(batch, "label", 0, {1, 0, 1}); // sorted names
  EXPECT_EQ(task->vocabulary().classes.at("label"), (std::vector<std::string>{"no", "yes"}));
  ASSERT_EQ(task->notes().size(), 1u);
  EXPECT_NE(task->notes()[0].find("1 row of"), std::string::npos);
}

TEST(Labelled, PairsAsInXlnet) {
  TaskSettings settings = settingsOf("pairs", "yes\ta b\tc\nno\ta\tb\n");
  settings.form = "a [SEP] b [SEP] [CLS]";
  settings.padLeft = true;
  auto task = made(settings);
  auto batch = [](int64_t segments) {
    Batch made = Batch().add("ids", DataType::I32, {2, 7}, 8).add("seg", DataType::I32, {2, 7}, segments);
    return made.add("rank", DataType::I32, {2, 7}).add("back", DataType::Bool, {2}).add("label", DataType::I32, {2}, 2);
  };
  Batch wide = batch(5);
  ASSERT_TRUE(task->bind(wide.tensors).ok()) << task->bind(wide.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, wide.tensors).ok());
  expectRow(wide, "ids", 0, {0, 4, 5, 3, 6, 3, 2});
  expectRow(wide, "seg", 0, {0, 0, 0, 0, 1, 1, 2}); // zihangdai/xlnet, classifier_utils.py
  expectRow(wide, "rank", 0, {8, -1, -1, -1, -1, -1, -1});
  expectRow(wide, "rank", 1, {8, 8, -1, -1, -1, -1, -1}); // everything sees what is no padding
  EXPECT_FALSE(wide.truth("back", 0) || wide.truth("back", 1));
  Batch two = batch(2); // models with two segments
  ASSERT_TRUE(task->bind(two.tensors).ok()) << task->bind(two.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, two.tensors).ok());
  expectRow(two, "seg", 0, {0, 0, 0, 0, 1, 1, 1});
  Batch indices = Batch().add("rank", DataType::I32, {2, 7}, 9);
  EXPECT_NE(errorOf(settings, indices).find("the input 'rank' is an index, and pairs gives -1"), std::string::npos);
}

TEST(Labelled, TakesPiecesOfSentencepiece) {
  TaskSettings settings = settingsOf("pairs", "yes\tthe dog\tfox\nno\tthe\tdog\n");
  settings.vocabulary = TENON_TEST_TOKENIZERS "/pieces/xlnet.model";
  settings.sentencePieces = true;
  settings.form = "a <sep> b <sep> <cls>";
  auto task = made(settings);
  Batch batch = batchOf(2, 10, 2, 92);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "ids", 0, {22, 18, 41, 39, 4, 42, 53, 4, 3, 5}); // the dog <sep> fox <sep> <cls> <pad>
  settings.vocabulary = written("labelled-words.txt", kWords);
  EXPECT_NE(errorOf(settings, batchOf(2, 10, 2)).find("labelled-words.txt: it is no file of sentencepiece"), std::string::npos);
}

TEST(Labelled, AByteOrderMarkIsNoCharacter) {
  const std::string mark = "\xEF\xBB\xBF";
  auto task = made(settingsOf("single", mark + "yes\ta\nno\tb\nyes\tc\n"));
  Batch batch = batchOf(3, 4, 2);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message(); // else three classes
  EXPECT_EQ(task->vocabulary().classes.at("label"), (std::vector<std::string>{"no", "yes"}));
  auto tags = made(settingsOf("tags", mark + "a X\n"));
  Batch words = Batch().add("ids", DataType::I32, {1, 2}, 8).add("tag", DataType::I32, {1, 2}, 1);
  ASSERT_TRUE(tags->bind(words.tensors).ok()) << tags->bind(words.tensors).message();
  ASSERT_TRUE(tags->fillEvaluation(0, words.tensors).ok());
  expectRow(words, "ids", 0, {4, 0});
}

TEST(Labelled, FormsLengthsAndSides) {
  TaskSettings settings = settingsOf("pairs", "0\ta\tb c\n1\tb\ta\n");
  settings.form = "a [SEP] b [SEP] [CLS]";
  settings.padLeft = true;
  settings.length = 5;
  auto task = made(settings);
  Batch batch = batchOf(2, 6, 2);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "ids", 0, {0, 4, 3, 5, 3, 2});
  expectRow(batch, "ids", 1, {0, 5, 3, 4, 3, 2});
  expectRow(batch, "seg", 0, {0, 0, 0, 1, 1, 1});
  expectRow(batch, "label", 0, {0, 1}); // numbers are classes
  EXPECT_TRUE(task->vocabulary().classes.empty());
}

TEST(Labelled, SingleTextsAloneAndNumbers) {
  auto task = made(settingsOf("single", "0.5\ta b\n-2\tc\n", "<pad>\n<unk>\na\nb\nc\n"));
  Batch batch = Batch().add("ids", DataType::I32, {2, 3}, 5).add("score", DataType::F32, {2}).add("at", DataType::I32, {2}, 3);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "ids", 0, {2, 3, 0});
  expectRow(batch, "at", 0, {1, 0});
  EXPECT_TRUE(batch.real("score", 0) == 0.5f && batch.real("score", 1) == -2.0f);
  TaskSettings bytes = settingsOf("single", "1\tab\n", "");
  Batch other = batchOf(1, 5, 2, 264);
  auto plain = made(bytes);
  ASSERT_TRUE(plain->bind(other.tensors).ok());
  ASSERT_TRUE(plain->fillEvaluation(0, other.tensors).ok());
  expectRow(other, "ids", 0, {258, 'a', 'b', 259, 256});
  TaskSettings named = settingsOf("single", "1\ta\n");
  named.label = "accept";
  Batch own = Batch().add("ids", DataType::I32, {1, 3}, 8).add("accept", DataType::I32, {1}, 2);
  auto task2 = made(named);
  ASSERT_TRUE(task2->bind(own.tensors).ok()) << task2->bind(own.tensors).message();
  ASSERT_TRUE(task2->fillEvaluation(0, own.tensors).ok());
  EXPECT_EQ(own.integer("accept", 0), 1);
}

TEST(Labelled, TagsAtTheFirstPieces) {
  auto task = made(settingsOf("tags", "a\tX\nbx  POS  Y\n\n\nc X\n"));
  Batch batch = Batch().add("ids", DataType::I32, {2, 4}, 8).add("len", DataType::I32, {2}, 5);
  batch.add("tag", DataType::I32, {2, 4}, 2).add("weight", DataType::F32, {2, 4});
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "ids", 0, {4, 5, 7, 0});
  expectRow(batch, "tag", 0, {0, 1, 0, 0});
  expectRow(batch, "ids", 1, {6, 0, 0, 0});
  expectRow(batch, "len", 0, {3, 1});
  const float weights[] = {1, 1, 0, 0, 1, 0, 0, 0};
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(batch.real("weight", i), weights[i]);
}

/// "[CLS] words [SEP]", whose tags count nothing; of a row that is too long the last words are cut off.
TEST(Labelled, TagsInAForm) {
  TaskSettings settings = settingsOf("tags", "a X\nbx Y\n\nc X\nb Y\na Y\nb X\n");
  settings.form = "[CLS] a [SEP]";
  auto task = made(settings);
  Batch batch =
      Batch().add("ids", DataType::I32, {2, 5}, 8).add("len", DataType::I32, {2}, 6).add("seg", DataType::I32, {2, 5}, 2);
  batch.add("tag", DataType::I32, {2, 5}, 2).add("weight", DataType::F32, {2, 5});
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "ids", 0, {2, 4, 5, 7, 3});
  expectRow(batch, "tag", 0, {0, 0, 1, 0, 0});
  expectRow(batch, "ids", 1, {2, 6, 5, 4, 3});
  expectRow(batch, "tag", 1, {0, 0, 1, 1, 0});
  expectRow(batch, "seg", 0, {0, 0, 0, 0, 0});
  expectRow(batch, "len", 0, {5, 5});
  const float weights[] = {0, 1, 1, 0, 0, 0, 1, 1, 1, 0};
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(batch.real("weight", i), weights[i]) << i;
}

/// Lines that begin a document in CoNLL-2003 are no words, with and without an empty line around them.
TEST(Labelled, DocumentsOfConll) {
  const char *const text = "-DOCSTART- -X- -X- O\n\na X\nb Y\n-DOCSTART- -X- O O\nc X\n\n-DOCSTART- O\n";
  auto task = made(settingsOf("tags", text));
  Batch batch =
      Batch().add("ids", DataType::I32, {2, 3}, 8).add("len", DataType::I32, {2}, 4).add("tag", DataType::I32, {2, 3}, 2);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  EXPECT_EQ(task->extent().all, 2);
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "ids", 0, {4, 5, 0});
  expectRow(batch, "ids", 1, {6, 0, 0});
  EXPECT_EQ(task->vocabulary().classes.at("tag"), (std::vector<std::string>{"X", "Y"})); // no O
}

/// What no row has room for, in training and in an evaluation, which knows its own rows alone.
TEST(Labelled, WordsThatAreCutOff) {
  TaskSettings settings = settingsOf("tags", "a X\nbx Y\nc X\na Y\n\nc X\nb Y\na Y\nb X\nbx X\n\na X\n");
  settings.form = "[CLS] a [SEP]";
  auto task = made(settings);
  Batch batch =
      Batch().add("ids", DataType::I32, {1, 5}, 8).add("len", DataType::I32, {1}, 6).add("tag", DataType::I32, {1, 5}, 2);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_EQ(task->notes().size(), 1u);
  EXPECT_NE(task->notes()[0].find("2 rows of"), std::string::npos) << task->notes()[0];
  EXPECT_NE(task->notes()[0].find("cut off, with 4 words and their tags"), std::string::npos) << task->notes()[0];
  settings.heldOut = 0.34;
  task = made(settings);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  ASSERT_EQ(task->extent().all, 1);
  const bool isLong = batch.integer("len", 0) == 5;
  ASSERT_EQ(task->notes().size(), isLong ? 1u : 0u);
  EXPECT_TRUE(!isLong || task->notes()[0].find("1 row of") != std::string::npos);
}

/// The symbols of all texts of a row.
TEST(Labelled, SymbolsOfABatch) {
  auto task = made(settingsOf("single", "yes\ta b\nno\tc\n"), Part::Training);
  Batch flat = batchOf(2, 6, 2), one = Batch().add("ids", DataType::I32, {2, 1, 6}, 8).add("label", DataType::I32, {2}, 2);
  ASSERT_TRUE(task->bind(flat.tensors).ok());
  EXPECT_EQ(task->tokensPerBatch(), 12);
  ASSERT_TRUE(task->bind(one.tensors).ok()) << task->bind(one.tensors).message(); // a text for each of A = 1 candidates
  EXPECT_EQ(task->tokensPerBatch(), 12);
}

/// Comments in front of a row of tags; a word "#" is none.
TEST(Labelled, CommentsOfTags) {
  auto task = made(settingsOf("tags", "# sent_id = 1\n# text = a b\na X\n# Y\n\n# id 7 domain=en\nc _ _ X\n"));
  Batch batch =
      Batch().add("ids", DataType::I32, {2, 3}, 8).add("len", DataType::I32, {2}, 4).add("tag", DataType::I32, {2, 3}, 2);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "ids", 0, {4, 1, 0});
  expectRow(batch, "tag", 0, {0, 1, 0});
  expectRow(batch, "ids", 1, {6, 0, 0});
}

/// The class of a line of headings, where each other class has several rows; and no class of blanks beside a name.
TEST(Labelled, HeadingsAndBlanks) {
  auto notes = [](const std::string &text, int64_t classes) {
    auto task = made(settingsOf("single", text));
    Batch batch = batchOf(1, 4, classes);
    EXPECT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
    return task->notes();
  };
  const auto heading = notes("label\ta\nyes\ta\nno \tb\n yes\ta\nno\tc\n", 3);
  ASSERT_EQ(heading.size(), 1u);
  EXPECT_NE(heading[0].find("labelled.tsv:1: the class \"label\" is that of the first row alone"), std::string::npos)
      << heading[0];
  EXPECT_TRUE(notes("some\ta\nyes\ta\nno\tb\nyes\ta\n", 3).empty()); // others are rare, too
  EXPECT_TRUE(notes("yes\ta\nno \tb\n yes\ta\nno\tc\n", 2).empty());
}

TEST(Labelled, FilesOfOtherForms) {
  auto error = [](const std::string &task, const std::string &text) { return errorOf(settingsOf(task, text), batchOf(1, 4, 2)); };
  EXPECT_NE(error("single", "yes,a\nno,b\n").find(":1: expected a label, a tab and a text, got 1 column; commas separate none"),
            std::string::npos);
  EXPECT_NE(error("single", "yes;a\n").find("semicolons separate none"), std::string::npos);
  EXPECT_NE(error("single", "yes\ta\rno\tb\r").find("its lines end in carriage returns alone: tr"), std::string::npos);
  EXPECT_NE(error("single", std::string("\xFF\xFEy\0", 4)).find("labelled.tsv: the file is UTF-16"), std::string::npos);
  EXPECT_NE(error("tags", "# text = a\n1\ta\ta\tX\t_\t_\t0\t_\t_\t_\n").find(":2: a line of CoNLL-U"), std::string::npos);
}

TEST(Labelled, WhatIsRefused) {
  EXPECT_NE(
      errorOf(settingsOf("single", "yes\ta\nno\n"), batchOf(1, 4, 2)).find("labelled.tsv:2: expected a label, a tab and a text"),
      std::string::npos);
  EXPECT_NE(errorOf(settingsOf("pairs", "yes\ta\n"), batchOf(1, 4, 2)).find("two texts"), std::string::npos);
  EXPECT_NE(
      errorOf(settingsOf("tags", "a X\nb\n"), batchOf(1, 4, 2)).find("labelled.tsv:2: expected a word and its tag, got 'b'"),
      std::string::npos);
  EXPECT_NE(errorOf(settingsOf("single", ""), batchOf(1, 4, 2)).find("has no rows"), std::string::npos);
  EXPECT_NE(errorOf(settingsOf("single", "0\ta\n2\tb\n"), batchOf(1, 4, 2))
                .find("labelled.tsv:2: the label '2' is none of the numbers 0 to 1"),
            std::string::npos);
  EXPECT_NE(errorOf(settingsOf("single", "yes\ta\nno\ta\nnp\tb\n"), batchOf(1, 4, 2)).find("has 3 classes"), std::string::npos);
  EXPECT_NE(errorOf(settingsOf("single", "0\ta\n1\tb\n"), batchOf(3, 4, 2)).find("fewer than the 3 of one batch; bind smaller"),
            std::string::npos);
  TaskSettings form = settingsOf("pairs", "0\ta\tb\n");
  form.form = "<s> a </s> b";
  EXPECT_NE(errorOf(form, batchOf(1, 4, 2)).find("the vocabulary has no symbol '<s>'"), std::string::npos);
  form.form = "a [SEP] a";
  EXPECT_NE(errorOf(form, batchOf(1, 4, 2)).find("must have a and b once"), std::string::npos);
  EXPECT_NE(errorOf(settingsOf("pairs", "0\ta\tb\n", "<unk>\na\nb\n"), batchOf(1, 4, 2)).find("say how both texts stand"),
            std::string::npos);
  Batch score = Batch().add("ids", DataType::I32, {1, 3}, 8).add("score", DataType::F32, {1});
  EXPECT_NE(errorOf(settingsOf("single", "yes\ta\n"), score).find("is no number"), std::string::npos);
  Batch tag = Batch().add("ids", DataType::I32, {1, 3}, 8).add("tag", DataType::I32, {1, 3}, 2);
  const std::string rare = errorOf(settingsOf("tags", "a X\nb Y\n\na X\nb Y\na Z\n"), tag);
  EXPECT_NE(rare.find("\"Z\" 1 (" + ::testing::TempDir() + "labelled.tsv:6"), std::string::npos) << rare; // the word's line
  // What a run knows: a name that it has not seen.
  auto first = made(settingsOf("single", "yes\ta\nno\tb\n"), Part::Training);
  Batch batch = batchOf(1, 4, 2);
  ASSERT_TRUE(first->bind(batch.tensors).ok());
  const Vocabulary known = first->vocabulary();
  auto second = made(settingsOf("single", "yess\ta\n"), Part::HeldOut, &known);
  EXPECT_NE(second->bind(batch.tensors).message().find("did you mean \"yes\"?"), std::string::npos);
}

} // namespace tenon::data::test
