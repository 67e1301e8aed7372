// Text files as token sequences.
#pragma once
#include "runtime/data/Vocabulary.h"

namespace tenon::data {

/// The whole file; an error names the path and the reason. A pipe is read once and remembered.
Status readTextFile(const std::string &path, std::string &text);
/// The same without the byte order mark that some editors begin a file of UTF-8 with: it is no character of the text.
Status readMarkedFile(const std::string &path, std::string &text);
/// Appends the files that a path, or a pattern with * ? [ ], names, in the order of their names. Fails if it names none.
Status listFiles(const std::string &pattern, std::vector<std::string> &paths);
/// The files of all patterns.
Status listTexts(const std::vector<std::string> &patterns, std::vector<std::string> &paths);
/// The texts of all files that each of `patterns` names, a newline between two. Fails if a pattern names none, or if all are
/// empty; and where characters are its symbols, if a file is not UTF-8. Bytes are those of the files, else they have no byte
/// order marks.
Status readTexts(const std::vector<std::string> &patterns, Unit unit, std::string &text);

/// Tokens in as few bytes each as the vocabulary allows: 1, 2 or 4.
class Tokens {
public:
  Tokens() = default;
  explicit Tokens(int64_t symbols) : width(symbols <= 256 ? 1 : symbols <= 65536 ? 2 : 4) {}
  void append(const std::vector<int32_t> &ids);
  int64_t size() const { return static_cast<int64_t>(bytes.size()) / width; }
  int32_t operator[](int64_t i) const {
    const unsigned char *at = bytes.data() + i * width;
    return width == 1   ? *at
           : width == 2 ? at[0] | at[1] << 8
                        : static_cast<int32_t>(at[0] | at[1] << 8 | at[2] << 16 | uint32_t{at[3]} << 24);
  }

private:
  int64_t width = 1;
  std::vector<unsigned char> bytes; // little-endian
};

/// Encodes piece by piece, so that the ids of a large text never stand in memory as a whole.
Status tokenize(const Vocabulary &vocabulary, std::string_view text, Tokens &tokens);

/// A text as sentences (lines) and documents (separated by empty lines).
struct Sentences {
  Tokens tokens;
  std::vector<int64_t> begins;    // first token of each sentence; one more at the end
  std::vector<int64_t> documents; // first sentence of each document; one more at the end
  std::vector<uint8_t> facts;     // of each token, by splitUnits: bits of Fact
  enum Fact : uint8_t {
    GoesOn = 1,  // it goes on the unit of the token before it
    Entity = 2,  // its unit is an entity
    Capital = 4, // its word begins with a capital letter
  };
  int64_t count() const { return static_cast<int64_t>(begins.size()) - 1; }
  int64_t length(int64_t sentence) const {
    return begins[static_cast<size_t>(sentence) + 1] - begins[static_cast<size_t>(sentence)];
  }
  /// The document of a sentence.
  int64_t documentOf(int64_t sentence) const;
};
/// `keepLineEnds`: each sentence ends with its newline where the unit has one (streams of bytes and characters).
Status splitSentences(const Vocabulary &vocabulary, std::string_view text, bool keepLineEnds, Sentences &result);
/// Lines whose units a tab ends, which is no symbol itself: words, phrases or, in [[ and ]], entities. `lower`: A to Z become a
/// to z in front of the vocabulary.
Status splitUnits(const Vocabulary &vocabulary, std::string_view text, bool lower, Sentences &result);
/// A to Z as a to z.
std::string lowerCase(std::string_view text);

/// The end of the training part of `text` when the last `fraction` is held out: after a line end if one is near, and between
/// characters.
size_t heldOutBegin(std::string_view text, double fraction);

} // namespace tenon::data
