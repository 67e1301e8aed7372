// Units that a text marks: mlm_nsp with words = units (BERT-wwm), ernie_masks.
#include "test/data/Batch.h"
#include <cmath>
#include <map>
#include <set>

namespace tenon::data::test {

namespace {

constexpr int64_t B = 8, T = 64, K = 24;
constexpr int32_t kCls = 258, kSep = 259, kMask = 260;

/// Lines of units of one to four letters, each unit of one letter alone: "aa\tc\t[[bbb]]"; every third of more than one is an
/// entity.
std::string unitsOf(int lines) {
  std::string text;
  uint32_t state = 77;
  auto draw = [&](uint32_t n) { return (state = state * 1664525u + 1013904223u) / 65536u % n; };
  uint32_t last = 26;
  for (int i = 0; i < lines; ++i) {
    for (uint32_t unit = 0, units = 4 + draw(4); unit < units; ++unit) {
      uint32_t letter = draw(26); // never that of the unit before, so that letters tell units apart
      letter = letter == last ? (letter + 1) % 26 : letter;
      last = letter;
      const std::string word(1 + draw(4), static_cast<char>('a' + letter));
      text += (unit ? "\t" : "") + (letter % 3 == 0 && word.size() > 1 ? "[[" + word + "]]" : word);
    }
    text += (i + 1) % 6 == 0 ? "\n\n" : "\n";
  }
  return text;
}

Batch inputs(bool ernie) {
  Batch batch = Batch()
                    .add("ids", DataType::I32, {B, T}, 264)
                    .add("seg", DataType::I32, {B, T}, 2)
                    .add("len", DataType::I32, {B}, T + 1)
                    .add("at", DataType::I32, {B, K}, T)
                    .add("word", DataType::I32, {B, K}, 264)
                    .add("weight", DataType::F32, {B, K});
  if (!ernie)
    return batch.add("follows", DataType::I32, {B}, 2);
  return batch.add("label", DataType::I32, {B}, 2).add("upper", DataType::I32, {B, T}, 2).add("topic", DataType::I32, {B, T}, 2);
}

TaskSettings settings(const std::string &name) {
  TaskSettings result;
  result.name = name;
  result.seed = 21;
  return result;
}

struct Row {
  std::string original; // letters; marks are ^, $ and _
  std::vector<bool> predicted;
  std::vector<int32_t> ids;
};
Row rowOf(const Batch &batch, int64_t b) {
  Row row{"", std::vector<bool>(T), {}};
  for (int64_t t = 0; t < T; ++t)
    row.ids.push_back(batch.integer("ids", b * T + t));
  std::vector<int32_t> original = row.ids;
  for (int64_t k = 0; k < K; ++k)
    if (batch.real("weight", b * K + k) == 1) {
      const auto at = static_cast<size_t>(batch.integer("at", b * K + k));
      original[at] = batch.integer("word", b * K + k);
      row.predicted[at] = true;
    }
  for (int32_t id : original)
    row.original += id == kCls ? '^' : id == kSep ? '$' : id > 255 ? '_' : static_cast<char>(id);
  return row;
}

/// How often neighbours of one unit are predicted apart, of all such neighbours; by whether the unit may be an entity.
std::map<bool, std::pair<int, int>> tornBy(const TaskSettings &one, bool ernie) {
  auto task = makeOrFail(one, unitsOf(400), Vocabulary::bytes(true));
  Batch batch = inputs(ernie);
  EXPECT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  std::map<bool, std::pair<int, int>> torn;
  for (uint64_t i = 0; i < 40; ++i) {
    EXPECT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < B; ++b) {
      const Row row = rowOf(batch, b);
      for (size_t t = 1; t < T; ++t)
        if (row.original[t] >= 'a' && row.original[t] <= 'z' && row.original[t] == row.original[t - 1]) {
          auto &[apart, all] = torn[(row.original[t] - 'a') % 3 == 0];
          apart += row.predicted[t] != row.predicted[t - 1];
          ++all;
        }
    }
  }
  EXPECT_TRUE(torn[true].second > 500 && torn[false].second > 500);
  return torn;
}

} // namespace

TEST(Units, AreMaskedWhole) {
  TaskSettings one = settings("mlm_nsp");
  one.words = WordChoice::Units;
  auto units = tornBy(one, false);
  EXPECT_EQ(units[true].first + units[false].first, 0);
  one.words = WordChoice::Pieces;
  one.lowerCase = true; // read by units, masked by symbols: the check can fail
  auto symbols = tornBy(one, false);
  EXPECT_GT(symbols[true].first, 20);
  EXPECT_GT(symbols[false].first, 20);
}

TEST(Units, StagesOfErnie) {
  TaskSettings one = settings("ernie_masks");
  one.stages = {WordChoice::Pieces};
  auto symbols = tornBy(one, true);
  EXPECT_TRUE(symbols[true].first > 20 && symbols[false].first > 20);
  one.stages = {WordChoice::Units};
  auto phrases = tornBy(one, true);
  EXPECT_EQ(phrases[true].first + phrases[false].first, 0);
  one.stages = {WordChoice::Entities}; // what is no entity is masked by symbols
  auto entities = tornBy(one, true);
  EXPECT_EQ(entities[true].first, 0);
  EXPECT_GT(entities[false].first, 20);
  one.stages = {WordChoice::Units, WordChoice::Pieces}; // one of them for each row
  auto both = tornBy(one, true);
  EXPECT_GT(both[false].first, symbols[false].first / 4);
  EXPECT_LT(both[false].first, 3 * symbols[false].first / 4);
}

TEST(Units, EachUnitIsDrawnByItself) {
  TaskSettings one = settings("ernie_masks");
  one.stages = {WordChoice::Units};
  auto task = makeOrFail(one, unitsOf(400), Vocabulary::bytes(true));
  Batch batch = inputs(true);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  double symbols = 0, predicted = 0, masked = 0, kept = 0, real = 0, rows = 0;
  std::set<size_t> counts;
  for (uint64_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < B; ++b) {
      const Row row = rowOf(batch, b);
      size_t count = 0;
      for (size_t t = 0; t < T; ++t) {
        const bool letter = row.original[t] >= 'a' && row.original[t] <= 'z';
        EXPECT_TRUE(letter || !row.predicted[t]);
        symbols += letter;
        if (!row.predicted[t])
          continue;
        ++count;
        masked += row.ids[t] == kMask;
        kept += row.ids[t] == row.original[t];
        EXPECT_NE(row.ids[t], 0) << "the first symbol is not drawn";
      }
      predicted += static_cast<double>(count);
      counts.insert(count);
      real += batch.integer("label", b);
      ++rows;
    }
  }
  EXPECT_NEAR(predicted / symbols, 0.15, 0.01);
  EXPECT_GT(counts.size(), 10u) << "no fixed number of places";
  EXPECT_NEAR(masked / predicted, 0.8, 2 / std::sqrt(predicted));
  EXPECT_NEAR(kept / predicted, 0.1, 1.5 / std::sqrt(predicted));
  EXPECT_NEAR(real / rows, 0.45, 0.1) << "half of the pairs are real, but none of a single sentence";
}

/// Each symbol as a digit: 1 goes on its unit, 2 is of an entity, 4 of a word with a capital.
TEST(Units, FactsOfSymbols) {
  auto factsOf = [](const std::string &line) {
    Sentences sentences;
    EXPECT_TRUE(splitUnits(Vocabulary::bytes(true), line, true, sentences).ok());
    std::string facts;
    for (uint8_t fact : sentences.facts)
      facts += static_cast<char>('0' + fact);
    return facts;
  };
  EXPECT_EQ(factsOf("(Ab) c,De\tf"), std::string("0") + "55" + "1" + "1" + "1" + "1" + "55" + "0");
  EXPECT_EQ(factsOf("x\t [[Ab c]]"), std::string("0") + "2" + "77" + "33"); // with a blank in front
  EXPECT_EQ(factsOf("[[a]] \t[b]"), std::string("23") + "011");
  EXPECT_EQ(factsOf("\xC3\x89z \xC3\xA9"), std::string("455") + "1" + "11"); // capital and small e with an accent
  EXPECT_EQ(factsOf("iP 3D"), std::string("01") + "1" + "11");
}

TEST(Units, CapitalsAndWhatTheDocumentHasElsewhere) {
  TaskSettings one = settings("ernie_masks");
  one.rate = 0;
  one.lowerCase = true;
  one.shortRate = 0;
  // A pair is both lines of the first document, or one line and what the other document has from some line on.
  const std::string first = "Xy z", second = "z Qw", other = "Xk kq";
  auto task = makeOrFail(one, first + "\n" + second + "\n\n" + other + "\n", Vocabulary::bytes(true));
  const std::map<std::string, std::pair<std::string, std::string>> wanted = {
      // text: capitals, symbols that its document has outside of it
      {"xy z", {"1100", "0011"}},
      {"z qw", {"0011", "1100"}},
      {"xk kq", {"11000", "00000"}},
      {"xy zz qw", {"11000011", "00000000"}}};
  Batch batch = inputs(true);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  std::set<std::string> seen;
  for (uint64_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < B; ++b) {
      const Row row = rowOf(batch, b);
      for (size_t begin = 1; row.original[begin] != '_';) {
        const size_t end = row.original.find('$', begin);
        const std::string text = row.original.substr(begin, end - begin);
        std::string upper, topic;
        for (size_t t = begin; t < end; ++t) {
          upper += static_cast<char>('0' + batch.integer("upper", b * T + static_cast<int64_t>(t)));
          topic += static_cast<char>('0' + batch.integer("topic", b * T + static_cast<int64_t>(t)));
        }
        ASSERT_TRUE(wanted.count(text)) << text;
        EXPECT_EQ(upper, wanted.at(text).first) << text;
        EXPECT_EQ(topic, wanted.at(text).second) << text;
        seen.insert(text);
        begin = end + 1;
      }
    }
  }
  EXPECT_EQ(seen.size(), 4u);
}

TEST(Units, PositionIsAllThereIs) {
  TaskSettings one = settings("ernie_masks");
  one.stages = {WordChoice::Pieces, WordChoice::Units, WordChoice::Entities};
  expectRestartable(one, unitsOf(120), Vocabulary::bytes(true), inputs(true));
}

} // namespace tenon::data::test
