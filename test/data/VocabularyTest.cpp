#include "runtime/base/Hash.h"
#include "runtime/data/Text.h"
#include "runtime/data/Utf8.h"
#include "runtime/data/VocabularyNote.h"
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>

using namespace tenon::data;

namespace {

std::string writeFile(const std::string &text) {
  std::string path = testing::TempDir() + "tenon-vocabulary-" + testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ofstream(path, std::ios::binary) << text;
  return path;
}
Vocabulary readOrFail(const std::string &text) {
  Vocabulary vocabulary;
  Status status = Vocabulary::read(writeFile(text), "", vocabulary);
  EXPECT_TRUE(status.ok()) << status.message();
  return vocabulary;
}
std::vector<int32_t> encoded(const Vocabulary &vocabulary, std::string_view text) {
  std::vector<int32_t> ids;
  Status status = vocabulary.encode(text, ids);
  EXPECT_TRUE(status.ok()) << status.message();
  return ids;
}
std::string decoded(const Vocabulary &vocabulary, const std::vector<int32_t> &ids) {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i)
    text += vocabulary.text(ids[i], i ? ids[i - 1] : -1);
  return text;
}

} // namespace

TEST(Vocabulary, BytesRoundTrip) {
  std::string text;
  for (int c = 0; c < 256; ++c)
    text += static_cast<char>(c);
  Vocabulary plain = Vocabulary::bytes(false), marked = Vocabulary::bytes(true);
  EXPECT_EQ(decoded(plain, encoded(plain, text)), text);
  EXPECT_EQ(plain.size(), 256);
  EXPECT_EQ(marked.size(), 264);
  EXPECT_EQ(marked.special("cls"), 258);
  EXPECT_EQ(plain.special("cls"), std::nullopt);
  EXPECT_TRUE(marked.isSpecial(256) && !marked.isSpecial(255));
  EXPECT_TRUE(marked.continuesWord('a', 'b') && marked.startsWord(' ', 'b') && marked.startsWord(258, 'b'));
}

TEST(Vocabulary, CharactersRoundTrip) {
  std::string text = "na\xC3\xAFve \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80";
  Vocabulary vocabulary = Vocabulary::characters(text, false);
  EXPECT_EQ(vocabulary.size(), 9);
  EXPECT_EQ(encoded(vocabulary, text).size(), 10u);
  EXPECT_EQ(decoded(vocabulary, encoded(vocabulary, text)), text);
  std::vector<int32_t> ids;
  EXPECT_EQ(vocabulary.encode("z", ids).message(), "the character 'z' is not among the characters of the training text");
}

TEST(Vocabulary, MalformedUtf8IsFound) {
  for (std::string text : {"\xC3", "\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    size_t offset = 0;
    EXPECT_EQ(decodeCodePoint(text, offset), 0xFFFDu);
    EXPECT_EQ(offset, 1u);
  }
  EXPECT_EQ(malformedAt("a\xEF\xBF\xBD\xC3\xA9"), std::nullopt); // U+FFFD itself is a character
  EXPECT_EQ(malformedAt("a\xC3\xA9\xE9z"), 3u);
  std::vector<int32_t> ids;
  EXPECT_EQ(Vocabulary::characters("a\xEF\xBF\xBD", false).encode("a\xE9", ids).message(),
            "it is not UTF-8: its byte 1 belongs to no character");
  EXPECT_EQ(incompleteTail("ab\xE2\x82"), 2u);
  EXPECT_EQ(incompleteTail("ab\xE2\x82\xAC"), 0u);
  EXPECT_EQ(incompleteTail("\xF0\x9F\x98"), 3u);
  EXPECT_EQ(incompleteTail("\x80"), 0u);
}

TEST(Vocabulary, WordsAreSplitAtBlanks) {
  Vocabulary vocabulary = readOrFail("\xEF\xBB\xBF<eos>\r\n<unk>\r\nthe\r\ncat\r\n");
  EXPECT_EQ(encoded(vocabulary, "the cat\n\nsat\tthe"), (std::vector<int32_t>{2, 3, 0, 0, 1, 2}));
  EXPECT_EQ(decoded(vocabulary, {2, 3, 0, 2}), "the cat\nthe");
}

// google-research/bert, tokenization.py, WordpieceTokenizer: greedy longest match, and one unknown piece makes the word unknown.
TEST(Vocabulary, WordPieces) {
  Vocabulary vocabulary = readOrFail("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\nable\n,\nun##\n");
  EXPECT_EQ(encoded(vocabulary, "unaffable, able"), (std::vector<int32_t>{5, 6, 7, 9, 8}));
  EXPECT_EQ(encoded(vocabulary, "unaffordable un"), (std::vector<int32_t>{1, 5}));
  EXPECT_EQ(decoded(vocabulary, {5, 6, 7, 9, 8}), "unaffable , able");
  EXPECT_EQ(vocabulary.special("mask"), 4);
  EXPECT_TRUE(vocabulary.continuesWord(5, 6) && vocabulary.startsWord(9, 8));
}

// bert-base-uncased has U+211D, a letter of category Lu that has no small one.
TEST(Vocabulary, SymbolsWithoutASmallLetterAreNoCapitals) {
  const std::string real = "\xE2\x84\x9D", accented = "caf\xC3\xA9";
  const std::string symbols = "[PAD]\n[UNK]\nthe\ncafe\n##s\n" + real + "\n";
  EXPECT_EQ(encoded(readOrFail(symbols), "The C" + accented.substr(1) + "s " + real), (std::vector<int32_t>{2, 3, 4, 5}));
  EXPECT_EQ(encoded(readOrFail(symbols + "The\n"), "The " + accented), (std::vector<int32_t>{6, 1})) << "one with capitals";
}

TEST(Vocabulary, ATabAndTheNumberOfTheLine) {
  EXPECT_EQ(encoded(readOrFail("[UNK]\t0\r\na\t1\n##b\t2\n"), "ab a c"), (std::vector<int32_t>{1, 2, 1, 0}));
  Vocabulary vocabulary;
  const std::string message = Vocabulary::read(writeFile("[UNK]\t0\na\t7\n"), "", vocabulary).message();
  EXPECT_NE(message.find("has a tab in line 2; expected"), std::string::npos) << message;
}

TEST(Vocabulary, WordsOfBadTextAreRefused) {
  std::vector<int32_t> ids;
  EXPECT_EQ(readOrFail("[UNK]\na\n##b\n").encode("a a\xE9", ids).message(),
            "it is not UTF-8: its byte 3 belongs to no character");
  std::string text;
  const std::string path = writeFile("a\n\xE9");
  EXPECT_NE(readTexts({path}, Unit::Words, text).message().find("its byte 2 (0xE9)"), std::string::npos);
  EXPECT_TRUE(readTexts({path}, Unit::Bytes, text).ok());
}

TEST(Vocabulary, SavedAndRestored) {
  for (const Vocabulary &vocabulary :
       {Vocabulary::bytes(true), Vocabulary::bytes(false), Vocabulary::characters("h\xC3\xA9!\n\"", true),
        readOrFail("<unk>\n\"quoted\"\n##x\nw\xC3\xB6rd\n")}) {
    Vocabulary restored;
    Status status = Vocabulary::restore(vocabulary.save(), restored);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(restored.save(), vocabulary.save());
    EXPECT_EQ(restored.size(), vocabulary.size());
    for (int32_t id = 0; id < vocabulary.size(); ++id)
      EXPECT_EQ(restored.text(id, -1), vocabulary.text(id, -1));
  }
  Vocabulary restored;
  EXPECT_FALSE(Vocabulary::restore("{\"unit\": \"words\"}", restored).ok());
  EXPECT_FALSE(Vocabulary::restore("nonsense", restored).ok());
}

TEST(Vocabulary, MistakesAreNamed) {
  Vocabulary vocabulary;
  EXPECT_NE(Vocabulary::read(writeFile("a\nb\na\n"), "", vocabulary).message().find("'a' in line 1 and again in line 3"),
            std::string::npos);
  EXPECT_NE(Vocabulary::read(writeFile(""), "", vocabulary).message().find("has no symbols"), std::string::npos);
  EXPECT_NE(Vocabulary::read("/nonexistent/vocabulary", "", vocabulary).message().find("No such file"), std::string::npos);
  std::vector<int32_t> ids;
  EXPECT_NE(readOrFail("a\nb\n").encode("a c", ids).message().find("'c' is not in the vocabulary"), std::string::npos);
}

TEST(Text, HeldOutPartsMeetAndCutLines) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "line " + std::to_string(i) + "\n";
  size_t cut = heldOutBegin(text, 0.05);
  EXPECT_EQ(text[cut - 1], '\n');
  EXPECT_NEAR(static_cast<double>(text.size() - cut), 0.05 * static_cast<double>(text.size()), 12);
  const std::string line = std::string(1000, 'a') + "\n"; // a cut at its end would hold out nothing
  EXPECT_EQ(heldOutBegin(line, 0.1), 901u);
}

TEST(Text, SentencesAndDocuments) {
  Sentences sentences;
  ASSERT_TRUE(splitSentences(Vocabulary::bytes(true), "a b\ncd\n\n \ne\r\n", false, sentences).ok());
  EXPECT_EQ(sentences.begins, (std::vector<int64_t>{0, 3, 5, 6}));
  EXPECT_EQ(sentences.documents, (std::vector<int64_t>{0, 2, 3}));
  EXPECT_EQ(sentences.documentOf(1), 0);
  EXPECT_EQ(sentences.documentOf(2), 1);
}

TEST(Text, TokensOfEveryWidth) {
  for (int64_t symbols : {256, 257, 65536, 65537, 2000000000}) {
    Tokens tokens(symbols);
    std::vector<int32_t> ids = {0, 1, 255, static_cast<int32_t>(symbols - 1)};
    tokens.append(ids);
    ASSERT_EQ(tokens.size(), 4);
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_EQ(tokens[i], ids[static_cast<size_t>(i)]);
  }
}

TEST(Text, LongTextsAreTokenizedPieceByPiece) {
  std::string text;
  while (text.size() < (3u << 20))
    text += text.size() % 777 == 0 ? "\n" : "\xC3\xA9z";
  Vocabulary vocabulary = Vocabulary::characters(text, false);
  Tokens tokens;
  ASSERT_TRUE(tokenize(vocabulary, text, tokens).ok());
  std::vector<int32_t> whole = encoded(vocabulary, text);
  ASSERT_EQ(tokens.size(), static_cast<int64_t>(whole.size()));
  for (size_t i = 0; i < whole.size(); ++i)
    ASSERT_EQ(tokens[static_cast<int64_t>(i)], whole[i]);
}

// Of one line: a block of a megabyte ends at a blank, at an ideograph (three bytes) or, where neither is, not at all.
TEST(Text, WordsWithoutLineEndsAreNotCut) {
  const std::string ideograph = "\xE4\xB8\xAD";
  for (const std::string &part : {std::string("abc abcabc "), ideograph, std::string("abcabcabc")}) {
    for (const std::string &piece : {std::string("\n##abc"), std::string()}) {
      const Vocabulary vocabulary = readOrFail("[UNK]\nabc\n" + ideograph + piece + "\n");
      std::string text = "a";
      while (text.size() < (5u << 19))
        text += part;
      Tokens tokens;
      ASSERT_TRUE(tokenize(vocabulary, text, tokens).ok());
      const std::vector<int32_t> whole = encoded(vocabulary, text);
      ASSERT_EQ(tokens.size(), static_cast<int64_t>(whole.size())) << part << piece;
      for (size_t i = 0; i < whole.size(); ++i)
        ASSERT_EQ(tokens[static_cast<int64_t>(i)], whole[i]) << part << piece;
    }
  }
}

// Found by fuzz-readers: the copy of such a vocabulary in the run could be written and never be read again.
TEST(Vocabulary, FilesAreUtf8) {
  Vocabulary vocabulary;
  const std::string message = Vocabulary::read(writeFile("the\ncaf\xe9\n"), "", vocabulary).message();
  EXPECT_NE(message.find("is not UTF-8 in line 2; convert it"), std::string::npos) << message;
}

TEST(Vocabulary, NotesOfWordsHaveClassesAndTellOtherSymbols) {
  Vocabulary words = readOrFail("a\nb\nc\n"), swapped = readOrFail("b\na\nc\n"), more = readOrFail("a\nb\nc\nd\n");
  const std::string bare = words.note();
  words.classes["label"] = {"yes", "no"}; // in the order of other weights
  auto note = VocabularyNote::parse(words.note());
  ASSERT_TRUE(note.ok()) << note.status().message();
  EXPECT_EQ(note->classes, words.classes);
  EXPECT_TRUE(note->hasSymbolsOf(words) && note->hasClassesOf(words) && note->beginsAs(more));
  EXPECT_FALSE(note->hasSymbolsOf(swapped) || note->hasSymbolsOf(more) || note->beginsAs(swapped));
  Vocabulary other = words;
  other.classes["label"] = {"no", "yes"};
  EXPECT_TRUE(note->hasSymbolsOf(other));
  EXPECT_FALSE(note->hasClassesOf(other));
  // As notes were: no classes, and a hash of both.
  auto old = VocabularyNote::parse("{\"unit\": \"words\", \"symbols\": 3, \"xxh3\": \"" + tenon::runtime::hash128(words.save()) +
                                   "\"}\n");
  ASSERT_TRUE(old.ok()) << old.status().message();
  EXPECT_TRUE(old->hasSymbolsOf(words) && old->hasClassesOf(words));
  EXPECT_FALSE(old->hasSymbolsOf(other) || old->hasClassesOf(other) || old->hasSymbolsOf(swapped));
  auto unlabelled = VocabularyNote::parse(bare);
  ASSERT_TRUE(unlabelled.ok());
  EXPECT_TRUE(unlabelled->hasSymbolsOf(words));
  EXPECT_FALSE(unlabelled->hasClassesOf(words));
  EXPECT_FALSE(VocabularyNote::parse("{\"unit\": \"words\", \"symbols\": 3}\n").ok());
  Vocabulary saved;
  ASSERT_TRUE(Vocabulary::restore(words.save(), saved).ok());
  EXPECT_EQ(saved.classes, words.classes);
  words.classes["label"] = {"yes", "yes"};
  EXPECT_FALSE(Vocabulary::restore(words.save(), saved).ok());
}

TEST(Vocabulary, NotesOfCharactersTellTheFirstOther) {
  auto note = VocabularyNote::parse(Vocabulary::characters("abd", false).note());
  ASSERT_TRUE(note.ok());
  EXPECT_EQ(note->firstOther(Vocabulary::characters("abcd", false)), "symbol 2 is \"d\" there and \"c\" here");
  EXPECT_TRUE(note->beginsAs(Vocabulary::characters("abde", false)));
  EXPECT_FALSE(note->beginsAs(Vocabulary::characters("abcd", false)));
}
