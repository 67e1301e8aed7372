// Symbols of texts as the tokenizers of public models have them (tokenizers/make.py).
#include "test/data/Tokenizers.h"
#include <fstream>

namespace tenon::data {

class PublicTokenizers : public testing::TestWithParam<std::pair<const char *, const char *>> {};

TEST_P(PublicTokenizers, HaveTheirSymbols) {
  const auto [name, file] = GetParam();
  const runtime::JsonValue all = casesOf("cases.json"), *own = all.find(name);
  ASSERT_NE(own, nullptr);
  expectSymbols(vocabularyOf(file), *own);
}

INSTANTIATE_TEST_SUITE_P(Models, PublicTokenizers,
                         testing::Values(std::pair("gpt1", "gpt1/vocab.json"), std::pair("gpt2", "gpt2/vocab.json"),
                                         std::pair("roberta", "roberta/vocab.json"), std::pair("cased", "cased.txt"),
                                         std::pair("uncased", "uncased.txt")),
                         [](const auto &info) { return std::string(info.param.first); });

TEST(BytePairs, GiveBackEveryText) {
  const Vocabulary vocabulary = vocabularyOf("gpt2/vocab.json");
  const runtime::JsonValue all = casesOf("cases.json");
  for (const runtime::JsonValue &each : all.find("gpt2")->elements) {
    std::vector<int32_t> ids;
    ASSERT_TRUE(vocabulary.encode(each.elements[0].text, ids).ok());
    std::string text = each.elements[0].text, back;
    for (size_t i = 0; i < ids.size(); ++i)
      back += vocabulary.text(ids[i], i > 0 ? ids[i - 1] : -1);
    for (size_t at; (at = text.find("<|endoftext|>")) != std::string::npos;)
      text.erase(at, 13); // gives nothing
    EXPECT_EQ(back, text);
  }
  std::vector<int32_t> ids; // bytes that are no character, too
  ASSERT_TRUE(vocabulary.encode("a\xff\xfe z\x80", ids).ok());
  std::string back;
  for (int32_t id : ids)
    back += vocabulary.text(id, -1);
  EXPECT_EQ(back, "a\xff\xfe z\x80");
}

TEST(BytePairs, KnowSpecialsAndWords) {
  const Vocabulary roberta = vocabularyOf("roberta/vocab.json"), gpt2 = vocabularyOf("gpt2/vocab.json"),
                   gpt1 = vocabularyOf("gpt1/vocab.json");
  EXPECT_EQ(roberta.special("cls"), 0);
  EXPECT_EQ(roberta.special("pad"), 1);
  EXPECT_EQ(roberta.special("sep"), 2);
  EXPECT_EQ(roberta.special("eos"), 2);
  EXPECT_EQ(roberta.special("mask"), roberta.size() - 1);
  EXPECT_EQ(gpt2.special("eos"), gpt2.size() - 1);
  EXPECT_FALSE(gpt2.special("mask"));
  EXPECT_TRUE(gpt2.isSpecial(static_cast<int32_t>(gpt2.size()) - 1));
  EXPECT_FALSE(gpt2.isSpecial(0));
  auto words = [](const Vocabulary &vocabulary, const std::string &text) {
    std::vector<int32_t> ids;
    EXPECT_TRUE(vocabulary.encode(text, ids).ok());
    int64_t count = 0;
    for (size_t i = 0; i < ids.size(); ++i)
      count += vocabulary.startsWord(i > 0 ? ids[i - 1] : -1, ids[i]);
    return count;
  };
  EXPECT_EQ(words(gpt2, "unquestionable zebras existed"), 3);
  EXPECT_EQ(words(gpt1, "unquestionable zebras existed"), 3);
  std::vector<int32_t> ids;
  ASSERT_TRUE(gpt1.encode("The zebras, existed", ids).ok());
  std::string back;
  for (size_t i = 0; i < ids.size(); ++i)
    back += gpt1.text(ids[i], i > 0 ? ids[i - 1] : -1);
  EXPECT_EQ(back, "the zebras , existed");
}

/// RoBERTa's and BART's files have GPT-2's end of a text beside their own.
TEST(BytePairs, EndWithTheirOwnSymbol) {
  std::string text;
  ASSERT_TRUE(readTextFile(folder + "/roberta/vocab.json", text).ok());
  const std::string size = std::to_string(vocabularyOf("roberta/vocab.json").size());
  text.insert(text.find_last_of('}'), ", \"<|endoftext|>\": " + size);
  const std::string path = testing::TempDir() + "roberta-and-gpt2.json";
  std::ofstream(path) << text;
  Vocabulary both;
  ASSERT_TRUE(Vocabulary::read(path, folder + "/roberta/merges.txt", both).ok());
  EXPECT_EQ(std::to_string(both.find("<|endoftext|>").value_or(-1)), size);
  EXPECT_EQ(both.special("eos"), 2);
  EXPECT_EQ(both.special("eod"), 2);
}

/// Units are cut as any other text: a blank belongs to the word behind it, between units, too.
TEST(BytePairs, UnitsAreCutAsTexts) {
  const Vocabulary vocabulary = vocabularyOf("gpt2/vocab.json");
  Sentences units, whole;
  ASSERT_TRUE(splitUnits(vocabulary, "In the\t [[beginning was]]\t the word\n", false, units).ok());
  ASSERT_TRUE(splitSentences(vocabulary, "In the beginning was the word\n", false, whole).ok());
  ASSERT_EQ(units.tokens.size(), whole.tokens.size());
  ASSERT_EQ(units.facts.size(), static_cast<size_t>(whole.tokens.size()));
  for (int64_t i = 0; i < whole.tokens.size(); ++i)
    EXPECT_EQ(units.tokens[i], whole.tokens[i]) << i;
}

TEST(BytePairs, PlacesAreThoseOfTheText) {
  const std::string text = "In  the béginning";
  std::vector<int32_t> ids;
  std::vector<TextPlace> places;
  ASSERT_TRUE(vocabularyOf("gpt2/vocab.json").encode(text, ids, &places).ok());
  size_t end = 0;
  std::string seen;
  for (const TextPlace &place : places) {
    EXPECT_GE(place.begin, end);
    end = place.end;
    seen += text.substr(place.begin, place.end - place.begin);
  }
  EXPECT_EQ(end, text.size());
  EXPECT_EQ(seen, "In thebéginning"); // a blank in front of a word is no part of where it stands
}

TEST(BytePairs, LongTextsAreCutBetweenWords) {
  const Vocabulary vocabulary = vocabularyOf("gpt2/vocab.json");
  std::string text;
  while (text.size() < (5u << 19))
    text += text.size() % 3 == 0 ? "the things\n\n\n  that exploded" : " into nothing \n it's";
  std::vector<int32_t> whole;
  ASSERT_TRUE(vocabulary.encode(text, whole).ok());
  Tokens tokens;
  ASSERT_TRUE(tokenize(vocabulary, text, tokens).ok());
  ASSERT_EQ(tokens.size(), static_cast<int64_t>(whole.size()));
  for (int64_t i = 0; i < tokens.size(); ++i)
    ASSERT_EQ(tokens[i], whole[static_cast<size_t>(i)]) << i;
}

TEST(BytePairs, RefuseFilesThatDoNotFit) {
  const std::string own = testing::TempDir() + "byte-pairs-";
  auto write = [&](const std::string &name, const std::string &text) {
    std::ofstream(own + name) << text;
    return own + name;
  };
  Vocabulary result;
  auto messageOf = [&](const std::string &vocab, const std::string &merges) {
    return Vocabulary::read(vocab, merges, result).message();
  };
  const std::string gpt2 = folder + "/gpt2/vocab.json", merges = folder + "/gpt2/merges.txt";
  EXPECT_NE(messageOf(write("list.json", "[1]"), merges).find("is no table"), std::string::npos);
  EXPECT_NE(messageOf(write("bad.json", "{"), merges).find("is no JSON"), std::string::npos);
  EXPECT_NE(messageOf(write("twice.json", "{\"a\": 0, \"b\": 0}"), merges).find("gives the symbol 'b' no number of its own"),
            std::string::npos);
  EXPECT_NE(messageOf(write("few.json", "{\"a\": 0, \"b\": 1}"), merges).find("no symbol 'Ā' for the byte 0"), std::string::npos);
  EXPECT_NE(messageOf(gpt2, write("one.txt", "#version: 0.2\nth e\nthe\n")).find("line 3 of the merges"), std::string::npos);
  EXPECT_NE(messageOf(gpt2, write("other.txt", "q q\n")).find("the merge 'q q' is of symbols that"), std::string::npos);
  EXPECT_NE(messageOf(write("vocab.json", "{\"a\": 0}"), "").find("merges.txt"), std::string::npos); // none beside it
}

} // namespace tenon::data
