// Pieces of sentencepiece (Kudo, Richardson 2018), of unigram models and byte pairs: T5, XLNet, ALBERT, Llama.
#pragma once
#include "runtime/data/PieceFile.h"
#include "runtime/data/Utf8.h"
#include <memory>

namespace tenon::data {

constexpr int64_t kMostSentinels = 10'000; // T5 and its successors: 100

/// A model with the symbols of its file. Value type, copies share the model.
class SentencePieces {
public:
  /// Of the bytes of a model file, `file`. Fails where they are none, and where libsentencepiece is not there. `sentinels`: so
  /// many symbols of T5's stand behind its pieces that it does not have, <extra_id_0> last.
  static Status make(std::string file, int64_t sentinels, SentencePieces &result);

  /// Appends the ids of `text`. What is spelled as a control piece, such as <sep>, is one. Models that have <cls> or [CLS] are
  /// XLNet's and ALBERT's: texts are changed first (`bareText`, ALBERT's in lower case where no piece has a capital), and a comma
  /// behind a digit is a piece of its own. A piece that comes from no byte, as a blank in front, has an empty place.
  Status encode(std::string_view text, std::vector<int32_t> &ids, std::vector<TextPlace> *places) const;
  /// The library's pieces of the text as it is: no marks are looked for, nothing is changed.
  Status encodeUnchanged(std::string_view text, std::vector<int32_t> &ids) const;
  /// Text of a piece behind `previous` (-1: none); a byte may be a part of a character. Specials give nothing, but sentinels what
  /// they are called, as a word.
  std::string text(int32_t id, int32_t previous) const;
  /// Control pieces, the unknown one, sentinels, and user-defined ones that are spelled as marks: <eop>.
  bool isSpecial(int32_t id) const;
  /// Whether `id` goes on a word that `previous` began; marks of punctuation are words of their own (zihangdai/xlnet,
  /// data_utils.py: is_start_piece).
  bool continuesWord(int32_t previous, int32_t id) const;
  /// Whether a text that is encoded for itself begins with a blank.
  bool addsBlank() const;
  const std::vector<std::string> &pieces() const;
  const std::string &file() const;
  int64_t sentinels() const;

private:
  struct Model;
  std::shared_ptr<const Model> model;
};

} // namespace tenon::data
