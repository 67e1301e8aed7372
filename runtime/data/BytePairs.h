// Byte-pair encoding (Sennrich et al. 2016) by the files of public models: a vocab.json of symbols and a merges.txt.
#pragma once
#include "runtime/base/Status.h"
#include "runtime/data/Utf8.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tenon::data {

using runtime::inputError;
using runtime::Status;

/// In one of two forms, which the symbols tell. Of bytes (GPT-2, RoBERTa): each byte is a symbol, spelled as a visible character,
/// and a word begins with its blank. Of characters (GPT-1): words of `basicWords` in lower case, whose last symbols end with
/// `</w>`. Value type.
class BytePairs {
public:
  /// The symbols of a vocab.json, `text`, by their ids; errors name its `path`.
  static Status parseSymbols(const std::string &text, const std::string &path, std::vector<std::string> &symbols);
  /// The lines of a merges.txt, "left right", without its line about the version.
  static Status readMerges(const std::string &path, std::vector<std::string> &merges);
  /// Fails where a merge is of unknown symbols, or makes one, and where a byte has no symbol.
  static Status make(const std::vector<std::string> &symbols, std::vector<std::string> merges, BytePairs &result);

  /// Appends the ids of `text`. What is spelled as a special symbol is one. Of characters fails on an unknown one without
  /// `<unk>`.
  Status encode(std::string_view text, std::vector<int32_t> &ids, std::vector<TextPlace> *places) const;
  /// Text of a symbol behind `previous` (-1: none); of bytes it may be a part of a character. Specials give nothing.
  std::string text(int32_t id, int32_t previous) const;
  /// No merge makes it, and it stands for no byte or character: `<s>`, `<|endoftext|>`.
  bool isSpecial(int32_t id) const { return special[static_cast<size_t>(id)]; }
  /// Whether `id` goes on a word that `previous` began.
  bool continuesWord(int32_t previous, int32_t id) const;
  const std::vector<std::string> &merges() const { return lines; }
  bool isOfBytes() const { return ofBytes; }

private:
  struct Merge {
    int32_t rank, made;
  };
  /// Merges neighbours, the first of the lines first, until none is left; `ends`: of each symbol in the word.
  void merge(std::vector<int32_t> &ids, std::vector<size_t> &ends) const;
  void encodeWord(std::string_view word, size_t begin, std::vector<int32_t> &ids, std::vector<TextPlace> *places) const;
  Status encodeBytes(std::string_view text, size_t begin, std::vector<int32_t> &ids, std::vector<TextPlace> *places) const;
  Status encodeCharacters(std::string_view text, size_t begin, std::vector<int32_t> &ids, std::vector<TextPlace> *places) const;
  std::optional<int32_t> find(const std::string &symbol) const;

  bool ofBytes = true;
  std::vector<std::string> spelled; // what a symbol stands for: its bytes, without `</w>`
  std::vector<bool> special, endsWord;
  std::vector<std::string> lines;
  std::unordered_map<std::string, int32_t> ids;
  std::vector<int32_t> byteSymbols;            // of bytes: for each of the 256
  std::unordered_map<uint64_t, Merge> merging; // left << 32 | right
  std::vector<std::string> specials;           // spellings, longest first
};

} // namespace tenon::data
