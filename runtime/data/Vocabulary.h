// Symbols of a text: bytes, characters or the lines of a vocabulary file, and the text of symbols.
#pragma once
#include "runtime/data/BytePairs.h"
#include "runtime/data/SentencePieces.h"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tenon::data {

enum class Unit { Bytes, Characters, Words, BytePairs, SentencePieces };

/// Ids of symbols. Value type; the run directory keeps a copy (`save`), so that later commands need no text and no vocabulary
/// file.
class Vocabulary {
public:
  /// Ids 0..255. With `specials`, these eight follow: <pad> 256, <unk>, <cls>, <sep>, <mask>, <eod>, <eop>, <eos> 263.
  static Vocabulary bytes(bool specials);
  /// The code points that occur in `text`, ascending; malformed UTF-8 counts as U+FFFD. Specials come last.
  static Vocabulary characters(std::string_view text, bool specials);
  /// One symbol per line, id = line number from 0; CRLF, a byte-order mark and one empty last line are accepted,
  /// and a tab with that number behind each symbol.
  /// Fails on an unreadable or empty file and on a symbol that occurs twice.
  static Status readWords(const std::string &path, Vocabulary &result);
  /// A model of sentencepiece, with so many sentinels behind it (SentencePieces). Fails on any other file.
  static Status readPieces(const std::string &path, int64_t sentinels, Vocabulary &result);
  /// Either of them, or byte pairs: of a vocab.json by the file `merges`, or by the merges.txt beside it where that is empty; or
  /// what `save` has written into a .json file. `sentinels`: of a model; no other vocabulary has them.
  static Status read(const std::string &path, const std::string &merges, Vocabulary &result, int64_t sentinels = 0);
  /// Text form of the vocabulary, and back; `restore` fails on text that `save` did not write.
  std::string save() const;
  static Status restore(std::string_view text, Vocabulary &result);
  /// What weights files say of the symbols and classes of their model (VocabularyNote): the text form, of words their number and
  /// hash, and the classes.
  std::string note() const;
  /// Of the first symbols alone, or of so many with sentinels behind a model.
  std::string symbolsHash(int64_t first) const;
  /// The vocabulary of a note; nullopt where the note is empty or about words. Fails on text that `note` did not write.
  static runtime::Expected<std::optional<Vocabulary>> ofNote(const std::string &text);

  /// Names of classes by input: the id of a name is its place. Of data that have names for their labels (jsonl). Ascending, or
  /// as the weights have them that a training starts from.
  std::map<std::string, std::vector<std::string>> classes;
  /// Inputs whose labels are whole numbers and so the classes themselves. Of the data of this command: not saved.
  std::set<std::string> numbered;

  Unit unit() const { return kind; }
  /// Symbols of one character or byte; else of words or of parts of them, which a file tells.
  bool isOfCharacters() const { return kind == Unit::Bytes || kind == Unit::Characters; }
  /// In a sentence: what encodes a word for itself puts one in front of it.
  bool wordsBeginWithBlank() const {
    return (kind == Unit::BytePairs && pairs.isOfBytes()) || (kind == Unit::SentencePieces && !sentence.addsBlank());
  }
  /// What encodes a part of a text that stands behind a blank must leave that out: it comes in front of every text.
  bool textsBeginWithBlank() const { return kind == Unit::SentencePieces && sentence.addsBlank(); }
  /// Words that are cut into pieces ("##").
  bool isOfPieces() const { return pieces; }
  int64_t size() const { return count; }
  /// Symbols <extra_id_0> and so on behind the pieces of a model.
  int64_t sentinels() const { return kind == Unit::SentencePieces ? sentence.sentinels() : 0; }
  /// Appends the ids of `text`. Words: whitespace separates; with "##" symbols, words are cut as BERT's are (`basicWords`, in
  /// lower case where no symbol but the specials has a capital) and into the longest known pieces (WordPiece), but for [MASK] and
  /// its like, which are symbols; `<eos>` ends each line if the vocabulary has it. Fails on an unknown symbol where there is no
  /// `<unk>`/`[UNK]`. `places`: also where each of them stands.
  Status encode(std::string_view text, std::vector<int32_t> &ids, std::vector<TextPlace> *places = nullptr) const;
  /// Text of `id` when it follows `previous` (-1, or what is no symbol: nothing). Specials give nothing, except `<eos>`, a line
  /// end. Bytes may be parts of a character: the caller holds incomplete tails back.
  std::string text(int32_t id, int32_t previous) const;
  /// "pad", "cls", "sep", "mask", "eod", "unk", "eos": by `<name>` or `[NAME]`; of byte pairs and pieces of sentencepiece also
  /// `<s>` for cls, `</s>` for sep, and `</s>` or else `<|endoftext|>` for eod and eos.
  std::optional<int32_t> special(std::string_view name) const;
  /// A symbol by its spelling, such as `<|endoftext|>`.
  std::optional<int32_t> find(std::string_view symbol) const;
  /// The same; of a spelling in brackets also what `special` finds by the name in them: [SEP] and <sep> are one.
  std::optional<int32_t> mark(std::string_view symbol) const;
  bool isSpecial(int32_t id) const;
  /// Whether `id` goes on a word that `previous` began: "##" pieces, letters and digits of bytes and characters.
  bool continuesWord(int32_t previous, int32_t id) const;
  /// Whether a word may begin with `id` (XLNet's spans start there).
  bool startsWord(int32_t previous, int32_t id) const { return !continuesWord(previous, id); }

private:
  std::string symbolsText(int64_t first) const;
  void addSpecials();
  void index();
  Status takePieces(std::string file, int64_t sentinels);
  /// `ends`: the bytes of the word up to the end of each symbol.
  Status encodeWord(std::string_view word, std::vector<int32_t> &ids, std::vector<size_t> &ends) const;
  Status encodeCharacters(std::string_view text, std::vector<int32_t> &ids, std::vector<TextPlace> *places) const;
  Status encodePieces(std::string_view text, std::vector<int32_t> &ids, std::vector<TextPlace> *places) const;
  Status encodeBasic(std::string_view text, size_t begin, std::vector<int32_t> &ids, std::vector<TextPlace> *places) const;
  Status encodeWords(std::string_view text, std::vector<int32_t> &ids, std::vector<TextPlace> *places) const;
  bool wordCharacter(int32_t id) const;

  Unit kind = Unit::Bytes;
  int64_t count = 0;
  bool pieces = false;              // some symbol starts with "##"
  bool lower = false;               // none has a capital letter
  std::vector<int32_t> marks;       // of pieces: what a text may spell, [CLS] or [MASK]
  BytePairs pairs;                  // of them, with the spellings of `symbols`
  SentencePieces sentence;          // the same
  std::vector<std::string> symbols; // words; for bytes and characters only the specials, from `firstSpecial` on
  int64_t firstSpecial = 0;
  std::vector<char32_t> points;                 // characters, ascending
  std::unordered_map<std::string, int32_t> ids; // spelling -> id, of `symbols`
};

} // namespace tenon::data
