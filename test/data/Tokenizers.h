// Texts with the ids that other tokenizers give them: [[text, [id, ..]], ..].
#pragma once
#include "runtime/base/Json.h"
#include "runtime/data/Text.h"
#include <algorithm>
#include <gtest/gtest.h>

namespace tenon::data {

inline const std::string folder = TENON_TEST_TOKENIZERS;

inline Vocabulary vocabularyOf(const std::string &path, const std::string &merges = "") {
  Vocabulary vocabulary;
  const Status status = Vocabulary::read(folder + "/" + path, merges, vocabulary);
  EXPECT_TRUE(status.ok()) << status.message();
  return vocabulary;
}

/// Texts whose ids are others than `expected`, each with the first difference.
inline std::vector<std::string> differences(const Vocabulary &vocabulary, const runtime::JsonValue &expected) {
  std::vector<std::string> found;
  for (const runtime::JsonValue &each : expected.elements) {
    std::vector<int32_t> ids;
    std::vector<TextPlace> places;
    const std::string &text = each.elements[0].text;
    const Status status = vocabulary.encode(text, ids, &places);
    std::vector<int32_t> wanted;
    for (const runtime::JsonValue &id : each.elements[1].elements)
      wanted.push_back(static_cast<int32_t>(id.integer));
    size_t at = 0;
    while (at < ids.size() && at < wanted.size() && ids[at] == wanted[at])
      ++at;
    const bool mayBeEmpty = vocabulary.unit() == Unit::SentencePieces; // a blank in front of the text
    const bool inOrder = places.size() == ids.size() && std::all_of(places.begin(), places.end(), [&](const TextPlace &place) {
                           return (place.begin < place.end || mayBeEmpty) && place.begin <= place.end && place.end <= text.size();
                         });
    if (status.failed() || ids != wanted || !inOrder)
      found.push_back(runtime::concat("'", text, "' at ", at, ": ", at < ids.size() ? ids[at] : -1, " instead of ",
                                      at < wanted.size() ? wanted[at] : -1, " ", status.message()));
  }
  return found;
}

inline runtime::JsonValue casesOf(const std::string &file) {
  std::string text;
  EXPECT_TRUE(readTextFile(folder + "/" + file, text).ok());
  auto json = runtime::parseJson(text);
  EXPECT_TRUE(json.ok());
  return json.take();
}

/// What a vocabulary makes of them, and what a run keeps of it; one that is spoilt must be seen.
inline void expectSymbols(const Vocabulary &vocabulary, const runtime::JsonValue &own) {
  ASSERT_GT(own.elements.size(), 20u);
  for (const std::string &difference : differences(vocabulary, own))
    ADD_FAILURE() << difference;
  // What a run keeps has them, too.
  Vocabulary kept;
  ASSERT_TRUE(Vocabulary::restore(vocabulary.save(), kept).ok());
  EXPECT_EQ(differences(kept, own).size(), 0u);
  EXPECT_EQ(kept.save(), vocabulary.save());
  runtime::JsonValue spoilt = own;
  ++spoilt.elements[0].elements[1].elements[2].integer;
  EXPECT_EQ(differences(vocabulary, spoilt).size(), 1u);
}

} // namespace tenon::data
