// The cases of tokenizers/golden.json: of other makers than those of cases.json, down to what texts are cut into first.
#include "runtime/base/Base64.h"
#include "runtime/data/BasicWords.h"
#include "runtime/data/PreTokens.h"
#include "test/data/Tokenizers.h"
#include <fstream>

namespace tenon::data {

namespace {

const runtime::JsonValue &golden() {
  static const runtime::JsonValue all = casesOf("golden.json");
  return all;
}

std::string write(const std::string &name, const std::string &bytes) {
  const std::string path = testing::TempDir() + "golden-" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::vector<std::string> textsOf(const runtime::JsonValue *list) {
  std::vector<std::string> texts;
  for (const runtime::JsonValue &each : list->elements)
    texts.push_back(each.text);
  return texts;
}

std::vector<int32_t> idsOf(const runtime::JsonValue *list) {
  std::vector<int32_t> ids;
  for (const runtime::JsonValue &each : list->elements)
    ids.push_back(static_cast<int32_t>(each.integer));
  return ids;
}

std::vector<int32_t> encoded(const Vocabulary &vocabulary, const std::string &text) {
  std::vector<int32_t> ids;
  const Status status = vocabulary.encode(text, ids);
  EXPECT_TRUE(status.ok()) << text << ": " << status.message();
  return ids;
}

Vocabulary opened(const std::string &path) {
  Vocabulary vocabulary;
  const Status status = Vocabulary::read(path, "", vocabulary);
  EXPECT_TRUE(status.ok()) << status.message();
  return vocabulary;
}

/// The golden cases cut marks like any text, Tenon takes them for what they are.
bool hasMarks(const std::string &text) {
  return text.find("<mask>") != std::string::npos || text.find("<|endoftext|>") != std::string::npos;
}

TEST(Golden, WordPieces) {
  const runtime::JsonValue &all = *golden().find("wordpiece");
  std::vector<std::string> symbols = textsOf(all.find("vocab"));
  std::string lines;
  for (const std::string &symbol : symbols)
    lines += symbol + "\n";
  const Vocabulary lower = opened(write("lower.txt", lines));
  const Vocabulary cased = opened(write("cased.txt", lines + "Capital\n")); // which makes all of its capitals count
  auto words = [](const std::string &text, bool isLower) {
    std::vector<std::string> result;
    EXPECT_TRUE(basicWords(text, isLower, [&](const BasicWord &word) -> Status {
                  result.push_back(word.text);
                  return {};
                }).ok());
    return result;
  };
  auto pieces = [&](const Vocabulary &vocabulary, const std::string &text) {
    std::vector<std::string> result;
    for (int32_t id : encoded(vocabulary, text))
      result.push_back(symbols[static_cast<size_t>(id)]);
    return result;
  };
  ASSERT_EQ(all.find("cases")->elements.size(), 15u);
  for (const runtime::JsonValue &each : all.find("cases")->elements) {
    const std::string &text = each.find("text")->text;
    EXPECT_EQ(words(text, true), textsOf(each.find("basic_lower"))) << text;
    EXPECT_EQ(words(text, false), textsOf(each.find("basic_cased"))) << text;
    for (const auto &[vocabulary, name] : {std::pair(&lower, "pieces_lower"), {&cased, "pieces_cased"}}) {
      std::vector<std::string> wanted = textsOf(each.find(name));
      if (text.ends_with("un[SEP]")) { // the golden cases cut a mark that is no word of its own
        wanted.resize(4);
        wanted.emplace_back("[SEP]");
      }
      EXPECT_EQ(pieces(*vocabulary, text), wanted) << text;
    }
  }
}

TEST(Golden, PairsOfBytes) {
  const runtime::JsonValue &all = *golden().find("byte_bpe");
  std::vector<char32_t> points;
  for (char32_t byte = 0, next = 256; byte < 256; ++byte)
    points.push_back((byte > 32 && byte < 127) || (byte > 160 && byte != 173) ? byte : next++);
  std::sort(points.begin(), points.end());
  std::string vocab, merges;
  int64_t id = 0;
  auto add = [&](const std::string &symbol) {
    vocab += runtime::concat(id == 0 ? "{" : ", ", runtime::quoteJson(symbol), ": ", id);
    ++id;
  };
  for (char32_t point : points) {
    std::string symbol;
    appendCodePoint(symbol, point);
    add(symbol);
  }
  for (const runtime::JsonValue &pair : all.find("merges")->elements) {
    merges += pair.elements[0].text + " " + pair.elements[1].text + "\n";
    add(pair.elements[0].text + pair.elements[1].text);
  }
  add("<|endoftext|>");
  write("merges.txt", merges);
  Vocabulary vocabulary;
  ASSERT_TRUE(Vocabulary::read(write("vocab.json", vocab + "}"), write("merges.txt", merges), vocabulary).ok());
  int64_t compared = 0;
  for (const runtime::JsonValue &each : all.find("cases")->elements) {
    const std::string &text = each.find("text")->text;
    std::vector<std::string> split;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = endOfPreToken(text, begin);
      split.push_back(text.substr(begin, end - begin));
      begin = end;
    }
    EXPECT_EQ(split, textsOf(each.find("split"))) << text;
    if (hasMarks(text))
      continue;
    EXPECT_EQ(encoded(vocabulary, text), idsOf(each.find("ids"))) << text;
    ++compared;
  }
  EXPECT_EQ(compared, 11);
}

TEST(Golden, PairsOfCharacters) {
  const runtime::JsonValue &all = *golden().find("gpt1_bpe");
  std::vector<std::string> symbols = {"<unk>"};
  std::string merges, vocab;
  for (const char *end : {"", "</w>"})
    for (const std::string &symbol : textsOf(all.find("symbols")))
      symbols.push_back(symbol + end);
  for (const runtime::JsonValue &pair : all.find("merges")->elements) {
    merges += pair.elements[0].text + " " + pair.elements[1].text + "\n";
    if (const std::string made = pair.elements[0].text + pair.elements[1].text;
        std::find(symbols.begin(), symbols.end(), made) == symbols.end())
      symbols.push_back(made);
  }
  for (size_t i = 0; i < symbols.size(); ++i)
    vocab += runtime::concat(i == 0 ? "{" : ", ", runtime::quoteJson(symbols[i]), ": ", i);
  Vocabulary vocabulary;
  ASSERT_TRUE(Vocabulary::read(write("vocab.json", vocab + "}"), write("merges.txt", merges), vocabulary).ok());
  ASSERT_EQ(all.find("cases")->elements.size(), 4u);
  for (const runtime::JsonValue &each : all.find("cases")->elements)
    EXPECT_EQ(encoded(vocabulary, each.find("text")->text), idsOf(each.find("ids"))) << each.find("text")->text;
}

TEST(Golden, PiecesOfXlnet) {
  const runtime::JsonValue &all = *golden().find("unigram");
  const std::optional<std::string> file = runtime::fromBase64(all.find("model_base64")->text);
  ASSERT_TRUE(file);
  SentencePieces pieces;
  ASSERT_TRUE(SentencePieces::make(*file, 0, pieces).ok());
  for (const runtime::JsonValue &each : all.find("cases")->elements) {
    std::vector<int32_t> ids;
    ASSERT_TRUE(pieces.encodeUnchanged(each.find("text")->text, ids).ok());
    EXPECT_EQ(ids, idsOf(each.find("ids"))) << each.find("text")->text;
  }
  const Vocabulary vocabulary = opened(write("xlnet.model", *file));
  int64_t compared = 0;
  for (const runtime::JsonValue &each : all.find("xlnet_cases")->elements) {
    if (hasMarks(each.find("text")->text))
      continue;
    EXPECT_EQ(encoded(vocabulary, each.find("text")->text), idsOf(each.find("ids"))) << each.find("text")->text;
    ++compared;
  }
  EXPECT_EQ(compared, 8);
}

} // namespace

} // namespace tenon::data
