// Pieces of sentencepiece: models in the form of public ones (tokenizers/make_pieces.py), and damaged ones.
#include "runtime/base/Base64.h"
#include "runtime/data/BareText.h"
#include "test/data/Tokenizers.h"
#include <fstream>

namespace tenon::data {

namespace {

const std::string pieces = "pieces/";

std::string bytesOf(const std::string &model) {
  std::string bytes;
  EXPECT_TRUE(readTextFile(folder + "/" + pieces + model, bytes).ok());
  return bytes;
}

std::string textOf(const Vocabulary &vocabulary, const std::vector<int32_t> &ids) {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i)
    text += vocabulary.text(ids[i], i > 0 ? ids[i - 1] : -1);
  return text;
}

std::vector<int32_t> idsOf(const Vocabulary &vocabulary, const std::string &text, std::vector<TextPlace> *places = nullptr) {
  std::vector<int32_t> ids;
  const Status status = vocabulary.encode(text, ids, places);
  EXPECT_TRUE(status.ok()) << status.message();
  return ids;
}

class PublicPieces : public testing::TestWithParam<const char *> {};

TEST_P(PublicPieces, HaveTheirSymbols) {
  const runtime::JsonValue all = casesOf(pieces + "cases.json"), *own = all.find(GetParam());
  ASSERT_NE(own, nullptr);
  expectSymbols(vocabularyOf(pieces + GetParam() + ".model"), *own);
}

INSTANTIATE_TEST_SUITE_P(Models, PublicPieces, testing::Values("t5", "llama", "albert", "xlnet"),
                         [](const auto &info) { return std::string(info.param); });

TEST(Pieces, GiveTextsBack) {
  const Vocabulary t5 = vocabularyOf(pieces + "t5.model"), llama = vocabularyOf(pieces + "llama.model");
  EXPECT_EQ(textOf(t5, idsOf(t5, "the quick  brown fox, it's")), "the quick brown fox, it's");
  for (const std::string text : {"the  fox\n\nit's \t5,", "naïve 中文 \u00a0x", "emoji \xF0\x9F\x98\x80", "a"})
    EXPECT_EQ(textOf(llama, idsOf(llama, text)), text);
  EXPECT_EQ(textOf(t5, idsOf(t5, "the \u4e00 fox")), "the  \u2047  fox"); // of a character that is none of its pieces
  // A text that is made stands behind <pad>, and has no blank in front; behind another piece a word has.
  const auto the = idsOf(t5, "the");
  EXPECT_EQ(t5.text(the[0], *t5.special("pad")) + textOf(t5, {the.begin() + 1, the.end()}), "the");
  EXPECT_EQ(t5.text(the[0], the.back()).front(), ' ');
  EXPECT_EQ(t5.text(*t5.special("eos"), the.back()), "");
}

TEST(Pieces, KnowSpecialsAndWords) {
  const Vocabulary t5 = vocabularyOf(pieces + "t5.model"), xlnet = vocabularyOf(pieces + "xlnet.model"),
                   llama = vocabularyOf(pieces + "llama.model"), albert = vocabularyOf(pieces + "albert.model");
  EXPECT_EQ(t5.special("pad"), 0);
  EXPECT_EQ(t5.special("eos"), 1);
  EXPECT_EQ(t5.special("unk"), 2);
  EXPECT_EQ(xlnet.special("cls"), 3);
  EXPECT_EQ(xlnet.special("sep"), 4);
  EXPECT_EQ(xlnet.special("mask"), 6);
  EXPECT_EQ(llama.special("cls"), 1); // <s>
  EXPECT_EQ(llama.special("eos"), 2);
  EXPECT_EQ(xlnet.mark("[SEP]"), xlnet.special("sep"));
  EXPECT_EQ(llama.mark("<EOS>"), llama.special("eos"));
  EXPECT_EQ(xlnet.mark("[sep>"), std::nullopt);
  EXPECT_EQ(xlnet.mark("<>"), std::nullopt);
  EXPECT_EQ(albert.find("[CLS]"), albert.special("cls"));
  EXPECT_TRUE(xlnet.isSpecial(8)); // <eop>, which is user-defined
  EXPECT_FALSE(xlnet.isSpecial(9));
  EXPECT_FALSE(llama.isSpecial(3)); // <0x00>
  auto words = [](const Vocabulary &vocabulary, const std::string &text) {
    const std::vector<int32_t> ids = idsOf(vocabulary, text);
    int64_t count = 0;
    for (size_t i = 0; i < ids.size(); ++i)
      count += vocabulary.startsWord(i > 0 ? ids[i - 1] : -1, ids[i]);
    return count;
  };
  EXPECT_EQ(words(xlnet, "unquestionable zebras existed"), 3);
  EXPECT_EQ(words(xlnet, "zebras. existed"), 3); // a full stop is a word (XLNet's is_start_piece)
  EXPECT_EQ(words(llama, "unquestionable zebras existed"), 3);
}

TEST(Pieces, SentinelsStandBehindThem) {
  Vocabulary t5;
  ASSERT_TRUE(Vocabulary::readPieces(folder + "/" + pieces + "t5.model", 100, t5).ok());
  EXPECT_EQ(t5.size(), 203);
  EXPECT_EQ(t5.find("<extra_id_0>"), 202);
  EXPECT_EQ(t5.find("<extra_id_99>"), 103);
  EXPECT_TRUE(t5.isSpecial(103)); // which RoBERTa's masks do not draw
  EXPECT_FALSE(vocabularyOf(pieces + "t5.model").find("<extra_id_0>"));
  const runtime::JsonValue all = casesOf(pieces + "cases.json"), &own = *all.find("sentinels");
  ASSERT_EQ(own.elements.size(), 9u);
  EXPECT_EQ(differences(t5, own), std::vector<std::string>());
  EXPECT_EQ(differences(vocabularyOf(pieces + "t5.model"), own).size(), 7u);
  size_t compared = 0;
  for (const runtime::JsonValue &each : own.elements) {
    std::string made = each.elements[2].text; // in which </s> is seen, and the unknown piece in another form
    if (made.ends_with(" </s>"))
      made.resize(made.size() - 5);
    if (made.find("<unk>") != std::string::npos)
      continue;
    EXPECT_EQ(textOf(t5, idsOf(t5, each.elements[0].text)), made);
    ++compared;
  }
  EXPECT_EQ(compared, 7u);
  EXPECT_EQ(t5.text(202, *t5.special("pad")), "<extra_id_0>"); // a text that is made begins with it
  Vocabulary kept;
  ASSERT_TRUE(Vocabulary::restore(t5.save(), kept).ok());
  EXPECT_EQ(kept.sentinels(), 100);
  EXPECT_EQ(differences(kept, own).size(), 0u);
  EXPECT_NE(t5.note(), vocabularyOf(pieces + "t5.model").note()); // weights tell them apart
  std::string spoilt = t5.save();
  spoilt.replace(spoilt.find("\"sentinels\": 100"), 16, "\"sentinels\": \"9\"");
  EXPECT_NE(Vocabulary::restore(spoilt, kept).message().find("it has no number of sentinels"), std::string::npos);
  // A model that has such pieces itself.
  std::string bytes = bytesOf("t5.model");
  SentencePieces made;
  const size_t at = bytes.find("\n\x05<pad>");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 7, "\n\x0C<extra_id_7>");
  bytes[at - 1] = static_cast<char>(bytes[at - 1] + 7);
  EXPECT_EQ(SentencePieces::make(bytes, 100, made).message(), "it has the piece <extra_id_7> itself; leave out sentinels = 100");
}

TEST(Pieces, PlacesAreThoseOfTheText) {
  for (const char *model : {"t5", "llama", "xlnet", "albert"}) {
    const Vocabulary vocabulary = vocabularyOf(pieces + model + ".model");
    const std::string text = "In  the ``b\u00e9ginning'' of 50, 中文 \uff21x";
    std::vector<TextPlace> places;
    idsOf(vocabulary, text, &places);
    size_t end = 0;
    std::string seen;
    for (const TextPlace &place : places) {
      EXPECT_TRUE(place.begin >= end || place.begin == places[&place - places.data() - 1].begin) << model; // bytes of a character
      seen += place.begin >= end ? text.substr(place.begin, place.end - place.begin) : "";
      end = std::max(end, place.end);
    }
    EXPECT_EQ(end, text.size()) << model;
    seen.erase(std::remove(seen.begin(), seen.end(), ' '), seen.end());
    EXPECT_EQ(seen, "Inthe``b\u00e9ginning''of50,中文\uff21x") << model;
  }
}

TEST(Pieces, LongTextsAreCutBetweenWords) {
  for (const char *model : {"t5", "llama", "xlnet"}) {
    const Vocabulary vocabulary = vocabularyOf(pieces + model + ".model");
    std::string text;
    while (text.size() < (5u << 18))
      text += text.size() % 3 == 0 ? "the things\n\n\n  that exploded" : " into nothing \n it's";
    const std::vector<int32_t> whole = idsOf(vocabulary, text);
    Tokens tokens;
    ASSERT_TRUE(tokenize(vocabulary, text, tokens).ok());
    ASSERT_EQ(tokens.size(), static_cast<int64_t>(whole.size())) << model;
    for (int64_t i = 0; i < tokens.size(); ++i)
      ASSERT_EQ(tokens[i], whole[static_cast<size_t>(i)]) << model << " " << i;
  }
}

TEST(Pieces, ChangeTextsAsXlnetDoes) {
  const BareText bare = bareText(" \t``A\u0301\u00e9'' \u2028 \ufb01  ", true);
  EXPECT_EQ(bare.text, "\"ae\" fi");
  ASSERT_EQ(bare.bytes.size(), bare.text.size());
  EXPECT_EQ(bare.bytes[0].begin, 2u);
  EXPECT_EQ(bare.bytes[0].end, 4u);
  EXPECT_EQ(bare.bytes[5].begin, bare.bytes[6].begin); // of one character
  EXPECT_EQ(bareText("\x1c\x1f ", false).text, "");
}

TEST(Pieces, RefuseDamagedModels) {
  Vocabulary result;
  auto messageOf = [&](const std::string &bytes) {
    const std::string path = testing::TempDir() + "damaged.model";
    std::ofstream(path, std::ios::binary) << bytes;
    return Vocabulary::read(path, "", result).message();
  };
  const std::string good = bytesOf("t5.model");
  EXPECT_EQ(messageOf(good), "");
  EXPECT_NE(messageOf("the\nfox\n").find("damaged.model: it is no file of sentencepiece"), std::string::npos);
  EXPECT_NE(messageOf("").find("it has no pieces"), std::string::npos);
  EXPECT_NE(messageOf(good.substr(0, good.size() / 2)).find("or its end is missing"), std::string::npos);
  std::string spoilt = good; // the first piece's score
  spoilt[spoilt.find("<pad>") + 9] = spoilt[spoilt.find("<pad>") + 8] = '\xFF';
  EXPECT_NE(messageOf(spoilt).find("its piece 0, '<pad>', has no score or no kind"), std::string::npos);
  spoilt = good;
  spoilt[spoilt.find("<pad>")] = '\xFF';
  EXPECT_NE(messageOf(spoilt).find("its piece 0 is no text in UTF-8"), std::string::npos);
  spoilt = good;
  spoilt.replace(spoilt.find("</s>"), 4, "<pa>"); // what the library finds; none is left that is unknown
  EXPECT_EQ(messageOf(spoilt), "");
  spoilt = good;
  spoilt.replace(spoilt.find("<unk>"), 5, "<pad>");
  EXPECT_NE(messageOf(spoilt).find("libsentencepiece does not read it: <pad> is already defined"), std::string::npos);
}

/// Every unit of the table of a model, with each of its bits the other way: what leads out of the table is refused, and the rest
/// cuts texts into something.
TEST(Pieces, TablesOfRulesStayInThemselves) {
  const std::string good = bytesOf("t5.model");
  size_t begin = 0;
  for (size_t at = 0; at + 8 < good.size() && begin == 0; ++at) { // precompiled_charsmap: field 2, whose bytes begin with a size
    const auto size = static_cast<unsigned char>(good[at + 1]);
    begin = good[at] == 0x12 && size >= 128 && good.substr(at + 3, 4).find('\0') != std::string::npos ? at + 3 : 0;
  }
  ASSERT_GT(begin, 0u);
  int64_t refused = 0, taken = 0;
  for (size_t at = begin; at < std::min(good.size(), begin + 1100); at += 3)
    for (int bit = 0; bit < 8; ++bit) {
      std::string spoilt = good;
      spoilt[at] = static_cast<char>(spoilt[at] ^ (1 << bit));
      SentencePieces model;
      if (SentencePieces::make(spoilt, 0, model).failed()) {
        ++refused;
        continue;
      }
      std::vector<int32_t> ids;
      ++taken;
      ASSERT_TRUE(model.encode("the \uff21\ufb01\u00bd e\u0301\u00b2\u200b\u3000fox \xff\x01", ids, nullptr).ok());
    }
  EXPECT_GT(refused, 50);
  EXPECT_GT(taken, 50);
}

} // namespace

} // namespace tenon::data
