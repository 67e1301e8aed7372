// squad and groups: questions about texts in windows, what their answers are worth, and one of several candidates.
#include "runtime/data/Answers.h"
#include "test/data/Batch.h"
#include <fstream>

namespace tenon::data::test {

namespace {

const char *const kWords = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\n##x\n";

std::string written(const std::string &name, const std::string &text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TaskSettings settingsOf(const std::string &task, const std::string &text) {
  TaskSettings settings;
  settings.name = task;
  settings.file = written("spans-file.txt", text);
  settings.vocabulary = written("spans-words.txt", kWords);
  settings.question = 2;
  settings.windowStride = 2;
  return settings;
}

std::string errorOf(const TaskSettings &settings) {
  std::unique_ptr<DataTask> task;
  return makeTask(settings, Part::HeldOut, nullptr, task).message();
}

std::string line(const std::string &answer, int start, const std::string &context = "a  b cx d e", const std::string &id = "q") {
  return "{\"id\": \"" + id + "\", \"context\": \"" + context + "\", \"question\": \"e d c\", \"answers\": {\"text\": [\"" +
         answer + "\"], \"answer_start\": [" + std::to_string(start) + "]}}\n";
}

Batch batchOf(int64_t rows, int64_t places) {
  Batch batch = Batch().add("ids", DataType::I32, {rows, places}, 11).add("seg", DataType::I32, {rows, places}, 2);
  return batch.add("len", DataType::I32, {rows}, places + 1)
      .add("start", DataType::I32, {rows}, places)
      .add("end", DataType::I32, {rows}, places)
      .add("inside", DataType::F32, {rows});
}

void expectRow(const Batch &batch, const std::string &name, int64_t row, std::vector<int32_t> wanted) {
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(batch.integer(name, row * static_cast<int64_t>(wanted.size()) + static_cast<int64_t>(i)), wanted[i])
        << name << " " << row << " " << i;
}

} // namespace

/// The context is a b c ##x d e; the question is cut to two symbols, and four of the text stand in a row of nine.
TEST(Spans, WindowsAndWhereTheAnswerStands) {
  std::unique_ptr<DataTask> task;
  const TaskSettings settings = settingsOf("squad", line("cx d", 5));
  ASSERT_EQ(errorOf(settings), "");
  ASSERT_TRUE(makeTask(settings, Part::HeldOut, nullptr, task).ok());
  Batch batch = batchOf(2, 9);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  EXPECT_EQ(task->evaluationBatches(), 1u);
  EXPECT_EQ(task->validRows(0), 2);
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "ids", 0, {2, 9, 8, 3, 5, 6, 7, 10, 3});
  expectRow(batch, "ids", 1, {2, 9, 8, 3, 7, 10, 8, 9, 3});
  expectRow(batch, "seg", 0, {0, 0, 0, 0, 1, 1, 1, 1, 1});
  expectRow(batch, "len", 0, {9, 9});
  expectRow(batch, "start", 0, {0, 4}); // the first window has not all of the answer
  expectRow(batch, "end", 0, {0, 6});
  EXPECT_TRUE(batch.real("inside", 0) == 0 && batch.real("inside", 1) == 1);
  ASSERT_EQ(task->notes().size(), 1u);
  EXPECT_NE(task->notes()[0].find("1 question of"), std::string::npos);
  const SpanTask &spans = *task->spans();
  EXPECT_EQ(spans.textOf(1, 2, 4), "cx d");
  EXPECT_TRUE(spans.hasMostContext(0, 2) != spans.hasMostContext(1, 2));
}

TEST(Spans, TheBestAnswerOfAllWindows) {
  std::unique_ptr<DataTask> task;
  TaskSettings settings = settingsOf("squad", line("cx d", 5));
  Batch batch = batchOf(2, 9);
  auto open = [&](int64_t longest) {
    settings.longestAnswer = longest;
    EXPECT_TRUE(makeTask(settings, Part::HeldOut, nullptr, task).ok() && task->bind(batch.tensors).ok());
  };
  auto found = [&](std::vector<double> first, std::vector<double> last, int64_t longest) {
    open(longest);
    AnswerSearch search(*task->spans());
    search.add(0, std::vector<double>(9, -50), std::vector<double>(9, -50));
    search.add(1, first, last);
    return search.predictions();
  };
  // Refused are a mark, a beginning that has more context in the other window, an end in front of it, and what is too long.
  EXPECT_NE(found({99, 0, 0, 0, 5, 4, 0, 0, 0}, {99, 0, 0, 0, 0, 0, 7, 3, 0}, 30).find("\"q\": \"x d\""), std::string::npos);
  EXPECT_NE(found({0, 0, 0, 0, 0, 0, 9, 0, 0}, {0, 0, 0, 0, 9, 0, 5, 0, 0}, 30).find("\"q\": \"d\""), std::string::npos);
  EXPECT_NE(found({0, 0, 0, 0, 0, 9, 8, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 9, 0}, 2).find("\"q\": \"d e\""), std::string::npos);
  open(30);
  AnswerSearch search(*task->spans());
  search.add(0, {0, 0, 0, 0, 0, 0, 9, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 9, 0});
  EXPECT_EQ(search.result().all.exact, 0); // "cx" of "cx d"
  EXPECT_NEAR(search.result().all.f1, 100 * 2 * 1 * 0.5 / 1.5, 1e-9);
}

/// The text first, <cls> last and padding in front (XLNet), with pairs of places that a model has chosen.
TEST(Spans, AnotherFormAndPlacesOfTheModelsOwn) {
  TaskSettings settings = settingsOf("squad", line("cx d", 5));
  settings.form = "b [SEP] a [CLS]";
  settings.padLeft = true;
  settings.length = 8;
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(settings, Part::HeldOut, nullptr, task).ok());
  Batch batch = batchOf(2, 9);
  batch.add("allowed", DataType::Bool, {2, 9});
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "ids", 0, {0, 5, 6, 7, 10, 3, 9, 8, 2});
  expectRow(batch, "seg", 0, {0, 0, 0, 0, 0, 0, 1, 1, 1});
  expectRow(batch, "len", 0, {8, 8});
  expectRow(batch, "start", 0, {8, 1}); // the first window points to [CLS]
  expectRow(batch, "end", 0, {8, 3});
  for (int64_t t = 0; t < 9; ++t)
    EXPECT_EQ(batch.truth("allowed", t), (t >= 1 && t < 5) || t == 8) << t;
  AnswerSearch search(*task->spans());
  search.add(0, AnswerPlaces{{{8, 9}, {1, 1}}, {{{8, 9}}, {{8, 9}, {2, 1}}}}, 0); // [CLS] is no answer
  EXPECT_NE(search.predictions().find("\"q\": \"a  b\""), std::string::npos);
  search.add(1, AnswerPlaces{{{2, 1}, {3, 2}}, {{{3, 5}, {4, 2}}, {{1, 9}, {4, 3}}}}, 0); // the end is that of its own beginning
  EXPECT_NE(search.predictions().find("\"q\": \"x d\""), std::string::npos);
  settings.form = "b [SEP] a";
  EXPECT_NE(errorOf(settings).find("form: 'b [SEP] a' must have <cls>"), std::string::npos);
}

/// Normalization leaves nothing of a right answer: whoever says that there is none is right, also among all thresholds.
TEST(Spans, AnswersOfPunctuation) {
  const std::string none = R"({"id": "n", "context": "a b c", "question": "d", "answers": {"text": [], "answer_start": []}})";
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(settingsOf("squad", line("!", 2, "a ! c") + none + "\n"), Part::HeldOut, nullptr, task).ok());
  Batch batch = batchOf(2, 8);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  AnswerSearch search(*task->spans());
  const std::vector<double> nothing = {9, -9, -9, -9, -9, -9, -9, -9};
  search.add(0, nothing, nothing);
  search.add(1, nothing, nothing);
  const AnswerSearch::Result result = search.result();
  EXPECT_EQ(result.all.f1, 100);
  EXPECT_EQ(result.bestF1.value, 100);
  EXPECT_EQ(result.bestExact.value, 100);
}

/// Three questions about one text, the last one without an answer; scores as run_squad.py takes them, measures as
/// evaluate-v2.0.py: of the doubts -4 (right), 1 (right) and -1 (nothing is right) the best threshold is the first or none at
/// all.
TEST(Spans, QuestionsWithoutAnAnswer) {
  const std::string none = R"({"id": "n", "context": "a b c", "question": "d", "answers": {"text": [], "answer_start": []}})";
  std::unique_ptr<DataTask> task;
  const TaskSettings settings =
      settingsOf("squad", line("b", 2, "a b c") + line("c", 4, "a b c").replace(8, 1, "r") + none + "\n");
  ASSERT_EQ(errorOf(settings), "");
  ASSERT_TRUE(makeTask(settings, Part::Training, nullptr, task).ok());
  Batch batch = batchOf(3, 8);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  ASSERT_EQ(task->notes().size(), 2u);
  EXPECT_NE(task->notes()[1].find("1 question of"), std::string::npos);
  ASSERT_TRUE(makeTask(settings, Part::HeldOut, nullptr, task).ok());
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  EXPECT_TRUE(batch.integer("start", 2) == 0 && batch.integer("end", 2) == 0 && batch.real("inside", 2) == 0);
  EXPECT_TRUE(batch.integer("start", 0) == 5 && batch.real("inside", 0) == 1);
  auto scores = [](double nothing, int64_t place, double score) {
    std::vector<double> all(8, -9);
    all[0] = nothing;
    all[static_cast<size_t>(place)] = score;
    return all;
  };
  AnswerSearch search(*task->spans());
  search.add(0, scores(0, 5, 2), scores(0, 5, 2));
  search.add(1, scores(2, 6, 1), scores(1, 6, 1));
  search.add(2, scores(0.5, 4, 1), scores(0.5, 4, 1));
  EXPECT_EQ(search.predictions(), "{\n \"q\": \"b\",\n \"r\": \"\",\n \"n\": \"b\"\n}\n");
  EXPECT_NE(search.predictions(1).find("\"r\": \"c\""), std::string::npos);
  const AnswerSearch::Result result = search.result();
  EXPECT_TRUE(result.hasUnanswered);
  EXPECT_NEAR(result.all.exact, 100. / 3, 1e-9);
  EXPECT_EQ(result.answered.exact, 50);
  EXPECT_EQ(result.unanswered.exact, 0);
  EXPECT_EQ(search.result(-2).unanswered.f1, 100);
  EXPECT_NEAR(result.bestF1.value, 200. / 3, 1e-9);
  EXPECT_EQ(result.bestF1.threshold, -4);
  EXPECT_EQ(search.result(result.bestF1.threshold).all.f1, result.bestF1.value);
  AnswerSearch tied(*task->spans()); // of one doubt below 0, two of three wrong: best is a threshold that answers nothing
  tied.add(0, scores(0, 5, 2), scores(0, 5, 2));
  tied.add(1, scores(0, 5, 2), scores(0, 5, 2));
  tied.add(2, scores(0, 4, 2), scores(0, 4, 2));
  const AnswerSearch::Result none3 = tied.result();
  EXPECT_NEAR(none3.bestExact.value, 100. / 3, 1e-9);
  EXPECT_LT(none3.bestExact.threshold, -4);
  EXPECT_EQ(tied.result(none3.bestExact.threshold).all.exact, none3.bestExact.value);
  AnswerSearch judged(*task->spans()); // by the model itself: whatever the scores of place 0 are
  judged.add(0, scores(9, 5, 2), scores(9, 5, 2), -3.0);
  judged.add(1, scores(9, 6, 1), scores(9, 6, 1), -2.0);
  judged.add(2, scores(-9, 3, 1), scores(-9, 3, 1), 5.0);
  EXPECT_EQ(judged.result().all.exact, 100);
}

/// evaluate-v1.1.py finds no words in common where normalization leaves none: f1 is 0 where exact match is 1.
TEST(Spans, AnAnswerThatIsAnArticle) {
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(settingsOf("squad", line("a", 0, "a b c")), Part::HeldOut, nullptr, task).ok());
  Batch batch = batchOf(1, 8);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  AnswerSearch search(*task->spans());
  const std::vector<double> scores = {-9, -9, -9, -9, 9, -9, -9, -9};
  search.add(0, scores, scores);
  EXPECT_EQ(search.result().all.exact, 100);
  EXPECT_EQ(search.result().all.f1, 0);
}

/// Symbols are bytes: an answer has whole characters.
TEST(Spans, AnswersAreText) {
  TaskSettings settings = settingsOf("squad", line("b", 1, "\u00E9b\u00E9"));
  settings.vocabulary.clear();
  settings.question = 1;
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(settings, Part::HeldOut, nullptr, task).ok());
  Batch batch = Batch().add("ids", DataType::I32, {1, 9}, 264).add("start", DataType::I32, {1}, 9);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  EXPECT_EQ(task->spans()->textOf(0, 1, 3), "\u00E9b\u00E9");
  EXPECT_EQ(task->spans()->textOf(0, 0, 0), "\u00E9");
  EXPECT_EQ(task->spans()->textOf(0, 2, 2), "b");
}

TEST(Spans, AnswersAreComparedAsSquadDoes) {
  EXPECT_EQ(normalizedAnswer("The  Cat, an  \"A-team\"!"), "cat ateam");
  EXPECT_EQ(normalizedAnswer("\xC3\x89"
                             "cole the"),
            "\xC3\xA9"
            "cole");
  EXPECT_EQ(normalizedAnswer("\xC4\xB9 \xD4\xB1"), "\xC4\xBA \xD5\xA1"); // of Latin and Armenian
  EXPECT_EQ(normalizedAnswer("a b an c"), "b c");
  EXPECT_EQ(normalizedAnswer("theatre"), "theatre");
  EXPECT_EQ(normalizedAnswer("10\u202Fkm\u205Fa\u1680b"), "10 km b"); // blanks, as Python has them
  EXPECT_EQ(normalizedAnswer("a\u00B2 a\u0301"), "a\u00B2 \u0301");   // a number goes on a word, an accent does not
  EXPECT_TRUE(isExactMatch("the U.S.", "US"));
  EXPECT_FALSE(isExactMatch("US", "USA"));
  EXPECT_DOUBLE_EQ(wordF1("a red red fox", "red fox runs"), 2. / 3);
  EXPECT_EQ(wordF1("x", "y"), 0);
  EXPECT_EQ(wordF1("the", "a"), 1);
}

TEST(Spans, SquadsOwnFormAndWhatIsRefused) {
  const std::string nested = R"({"version": "1.1", "data": [{"paragraphs": [{"context": "é b c", "qas": [
    {"id": "1", "question": "a", "answers": [{"text": "b", "answer_start": 2}, {"text": "b c", "answer_start": 2}]}]}]}]})";
  Questions questions;
  ASSERT_TRUE(readQuestions(written("spans-nested.json", nested), questions).ok());
  ASSERT_EQ(questions.all.size(), 1u);
  EXPECT_EQ(questions.all[0].begin, 3u); // places count characters
  EXPECT_EQ(questions.all[0].answers.size(), 2u);
  EXPECT_NE(errorOf(settingsOf("squad", line("cx d", 5) + line("cx d", 4, "a  b cx d e", "r")))
                .find("spans-file.txt:2: the answer \"cx d\" does not"),
            std::string::npos);
  EXPECT_NE(errorOf(settingsOf("squad", "\n{\"question\": \"a\"}\n")).find("spans-file.txt:2: expected an object with"),
            std::string::npos);
  const std::string damaged = errorOf(settingsOf("squad", "{\n \"version\": \"1.1\",\n \"data\": [\n  {]\n}\n"));
  EXPECT_TRUE(damaged.find("near byte 36") != std::string::npos) << damaged;
  EXPECT_NE(errorOf(settingsOf("squad", "{\n \"version\": \"1.1\"\n}\n")).find("expected an object with a list \"data\""),
            std::string::npos);
  const std::string twice = errorOf(settingsOf("squad", line("cx d", 5) + line("d", 8, "a  b cx d e", "r") + line("d", 8)));
  EXPECT_NE(twice.find("spans-file.txt:3: the id \"q\" is that of another question, "), std::string::npos) << twice;
  EXPECT_NE(twice.find("spans-file.txt:1; "), std::string::npos) << twice;
  const std::string asked = R"({"id": "1", "question": "a", "answers": []})";
  const std::string inOne =
      errorOf(settingsOf("squad", R"({"data": [{"paragraphs": [{"context": "b", "qas": [)" + asked + ", " + asked + "]}]}]}"));
  EXPECT_NE(inOne.find("article 1, paragraph 1, question 2: the id \"1\" is that of another question"), std::string::npos)
      << inOne;
  const std::string impossible = R"({"context": "a", "question": "b", "is_impossible": true, )";
  EXPECT_NE(errorOf(settingsOf("squad", impossible + R"("answers": {"text": ["a"], "answer_start": [0]}})"))
                .find("\"is_impossible\" is true, but there is the answer \"a\""),
            std::string::npos);
  const std::string question = R"({"context": "a", "question": "b", "answers": {"text": [], "answer_start": )";
  EXPECT_NE(errorOf(settingsOf("squad", question + "[4]}}")).find(":1: the answers have 0 texts and 1 of \"answer_start\""),
            std::string::npos);
  EXPECT_NE(errorOf(settingsOf("squad", question + R"([]}, "is_impossible": "true"})")).find("must be true or false"),
            std::string::npos);
  EXPECT_NE(errorOf(settingsOf("squad", question + R"([]}, "is_impossible": false})")).find("is false, but there is no answer"),
            std::string::npos);
  EXPECT_NE(errorOf(settingsOf("squad", R"({"context": "a", "question": "b"})")).find("expected \"answers\""), std::string::npos);
  EXPECT_NE(errorOf(settingsOf("squad", R"({"context": "a", "answers": []})")).find("expected a text as \"question\""),
            std::string::npos);
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(settingsOf("squad", line("cx d", 5)), Part::HeldOut, nullptr, task).ok());
  EXPECT_NE(task->bind(batchOf(1, 5).tensors).message().find("set question = .."), std::string::npos);
}

TEST(Groups, ARowHasTheTextWithEachCandidate) {
  TaskSettings settings = settingsOf("groups", "1\ta b\tc\td e\n0\ta\tb\tcx\n");
  settings.size = 2;
  settings.input = "many";
  settings.label = "best";
  std::unique_ptr<DataTask> task;
  ASSERT_EQ(errorOf(settings), "");
  ASSERT_TRUE(makeTask(settings, Part::HeldOut, nullptr, task).ok());
  Batch batch = Batch().add("many", DataType::I32, {2, 2, 6}, 11).add("many_seg", DataType::I32, {2, 2, 6}, 2);
  batch.add("many_len", DataType::I32, {2, 2}, 7).add("best", DataType::I32, {2}, 2).add("at", DataType::I32, {2, 2}, 6);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  expectRow(batch, "many", 0, {2, 5, 6, 3, 7, 3, 2, 5, 6, 3, 8, 3}); // of equal texts the second is cut
  expectRow(batch, "many", 1, {2, 5, 3, 6, 3, 0, 2, 5, 3, 7, 10, 3});
  expectRow(batch, "many_len", 0, {6, 6});
  expectRow(batch, "many_len", 1, {5, 6});
  expectRow(batch, "at", 0, {5, 5});
  expectRow(batch, "at", 1, {4, 5});
  expectRow(batch, "best", 0, {1, 0});
  Batch other = Batch().add("many", DataType::I32, {2, 3, 6}, 11);
  EXPECT_NE(task->bind(other.tensors).message().find("have 3 candidates, and groups 2"), std::string::npos);
  settings.file = written("spans-groups.tsv", "0\ta\tb\tc\n2\ta\tb\tc\n");
  EXPECT_NE(errorOf(settings).find("spans-groups.tsv:2: expected which candidate is right, 0 to 1, got '2'"), std::string::npos);
  settings.file = written("spans-groups.tsv", "0\ta\tb\n");
  EXPECT_NE(errorOf(settings).find("a text and 2 candidates, with tabs between them, got 3 columns"), std::string::npos);
}

TEST(Groups, RelationsAreNamedForTheirInput) {
  for (const std::string name : {"relations", "relevance"}) {
    std::unique_ptr<DataTask> task;
    ASSERT_TRUE(makeTask(settingsOf(name, "2\ta\tb\n0\tc\td\n"), Part::HeldOut, nullptr, task).ok());
    const std::string input = name == "relations" ? "relation" : "relevance";
    Batch batch = Batch().add("ids", DataType::I32, {2, 6}, 11).add(input, DataType::I32, {2}, 3);
    ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
    ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
    expectRow(batch, "ids", 0, {2, 5, 3, 6, 3, 0});
    expectRow(batch, input, 0, {2, 0});
  }
}

} // namespace tenon::data::test
