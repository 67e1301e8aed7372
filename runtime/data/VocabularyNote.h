// What weights files say of the symbols and classes of their model: enough to tell whether others are the same.
#pragma once
#include "runtime/data/Vocabulary.h"

namespace tenon::runtime {
class JsonValue;
}

namespace tenon::data {

/// Names of classes by input: the number of a name is its place.
using ClassLists = std::map<std::string, std::vector<std::string>>;

/// Null: damaged. Lists of names, each once.
std::optional<ClassLists> restoreClasses(const runtime::JsonValue *saved);

struct VocabularyNote {
  Unit unit = Unit::Bytes;
  int64_t symbols = 0;
  std::string hash;                // of words: of the symbols alone, or of the classes too where the note does not have them
  std::optional<Vocabulary> whole; // of bytes and characters
  ClassLists classes;

  /// Fails on text that Vocabulary::note did not write.
  static runtime::Expected<VocabularyNote> parse(const std::string &text);
  bool hasSymbolsOf(const Vocabulary &vocabulary) const;
  bool hasClassesOf(const Vocabulary &vocabulary) const;
  /// Whether each number of both is the same symbol, of vocabularies of which one has more behind them.
  bool beginsAs(const Vocabulary &vocabulary) const;
  /// Bytes, or numbers out of files that stand for anything: notes say the same of both.
  bool isOfNumbers() const { return unit == Unit::Bytes && symbols == 256; }
  /// "1,000 words"; of characters also the first that differs.
  std::string text() const;
  std::string firstOther(const Vocabulary &vocabulary) const;
};

/// "1,000 words"
std::string countOf(Unit unit, int64_t symbols);

} // namespace tenon::data
