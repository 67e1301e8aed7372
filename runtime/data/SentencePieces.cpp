#include "runtime/data/SentencePieces.h"
#include "runtime/data/BareText.h"
#include "runtime/data/PieceLibrary.h"
#include "runtime/data/Unicode.h"
#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace tenon::data {

namespace {

using Piece = PieceLibrary::Piece;
using Kind = PieceFile::Kind;

constexpr std::string_view kBlank = "\u2581";
constexpr size_t kLongestText = 1u << 30; // of one call; places in it have 32 bits

bool isMark(std::string_view spelling) {
  return spelling.size() > 2 &&
         ((spelling.front() == '<' && spelling.back() == '>') || (spelling.front() == '[' && spelling.back() == ']'));
}

bool hasCapital(std::string_view text) {
  for (size_t offset = 0; offset < text.size();)
    if (isUpperCase(decodeCodePoint(text, offset)))
      return true;
  return false;
}

std::string withBlanks(std::string_view spelling) {
  std::string text;
  for (size_t at = 0; at < spelling.size();) {
    const size_t blank = std::min(spelling.find(kBlank, at), spelling.size());
    text.append(spelling.substr(at, blank - at));
    if (blank < spelling.size())
      text += ' ';
    at = blank + kBlank.size();
  }
  return text;
}

} // namespace

struct SentencePieces::Model {
  Model() = default;
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;
  ~Model() {
    if (segmenter)
      library->close(segmenter);
  }

  std::string bytes;
  PieceFile file; // with the sentinels
  int64_t sentinels = 0;
  bool isBare = false, lower = false;                 // texts are changed first, and how
  std::vector<std::pair<std::string, int32_t>> marks; // control pieces that texts may spell, the longest first
  std::unordered_map<std::string, int32_t> ids;
  int32_t unknown = 0;
  std::vector<std::string> texts;
  const PieceLibrary *library = nullptr;
  const void *segmenter = nullptr;

  Status addSentinels(int64_t count);
  void index();
  Status segment(std::string_view text, std::vector<Piece> &pieces) const;
  Status encodePlain(std::string_view text, size_t begin, std::vector<int32_t> &result, std::vector<TextPlace> *places) const;
  Status encodeBare(std::string_view text, size_t begin, std::vector<int32_t> &result, std::vector<TextPlace> *places) const;
  Status apartFromComma(const Piece &piece, std::vector<Piece> &parts) const;
  TextPlace placeOf(std::string_view text, const std::vector<Piece> &pieces, size_t at) const;
};

/// Behind the pieces, from the last one down (transformers, T5Tokenizer: <extra_id_0> is the last symbol).
Status SentencePieces::Model::addSentinels(int64_t count) {
  constexpr const char *kBegin = "<extra_id_";
  const auto has = std::find_if(file.pieces.begin(), file.pieces.end(),
                                [&](const std::string &piece) { return piece.find(kBegin) != std::string::npos; });
  if (count > 0 && has != file.pieces.end())
    return inputError("it has the piece ", *has, " itself; leave out sentinels = ", count);
  for (int64_t number = count; number-- > 0;) {
    file.pieces.push_back(runtime::concat(kBegin, number, ">"));
    file.kinds.push_back(Kind::Sentinel);
  }
  sentinels = count;
  return {};
}

void SentencePieces::Model::index() {
  bool capitals = false;
  for (size_t i = 0; i < file.pieces.size(); ++i) {
    const std::string &spelling = file.pieces[i];
    const auto id = static_cast<int32_t>(i);
    const bool isControl = file.kinds[i] == Kind::Control || file.kinds[i] == Kind::Unknown || file.kinds[i] == Kind::Sentinel;
    ids.emplace(spelling, id);
    if (isControl && isMark(spelling))
      marks.emplace_back(spelling, id);
    if (file.kinds[i] == Kind::Unknown)
      unknown = id;
    capitals |= file.kinds[i] == Kind::Normal && hasCapital(spelling);
    texts.push_back(file.kinds[i] == Kind::Byte && spelling.size() == 6
                        ? std::string(1, static_cast<char>(std::strtol(spelling.substr(3, 2).c_str(), nullptr, 16)))
                        : withBlanks(spelling));
  }
  std::sort(marks.begin(), marks.end(), [](const auto &a, const auto &b) { return a.first.size() > b.first.size(); });
  auto hasMark = [&](std::string_view name) {
    return std::any_of(marks.begin(), marks.end(), [&](const auto &mark) { return mark.first == name; });
  };
  isBare = hasMark("<cls>") || hasMark("[CLS]");
  lower = hasMark("[CLS]") && !capitals;
}

Status SentencePieces::make(std::string file, int64_t sentinels, SentencePieces &result) {
  auto model = std::make_shared<Model>();
  Status status = PieceFile::parse(file, model->file);
  if (status.ok())
    status = model->addSentinels(sentinels);
  if (status.failed())
    return status;
  if (Status status = PieceLibrary::find(model->library); status.failed())
    return status;
  std::string failure;
  model->segmenter = model->library->open(file, failure);
  if (!model->segmenter)
    return inputError("libsentencepiece does not read it: ", failure);
  model->bytes = std::move(file);
  model->index();
  result.model = std::move(model);
  return {};
}

Status SentencePieces::Model::segment(std::string_view text, std::vector<Piece> &pieces) const {
  pieces.clear();
  if (text.size() > kLongestText)
    return inputError("a text of ", text.size(), " bytes in one line is more than sentencepiece takes; break it into lines");
  std::string failure;
  return text.empty() || library->encode(segmenter, text, pieces, failure) ? Status() : inputError("libsentencepiece: ", failure);
}

/// Without the blanks around it; the bytes of a character that is no piece belong together, and the library gives its last one
/// the place of all.
TextPlace SentencePieces::Model::placeOf(std::string_view text, const std::vector<Piece> &pieces, size_t at) const {
  auto isByte = [&](size_t i) { return file.kinds[static_cast<size_t>(pieces[i].id)] == Kind::Byte; };
  while (pieces[at].begin == pieces[at].end && isByte(at) && at + 1 < pieces.size() && isByte(at + 1))
    ++at;
  TextPlace place = {pieces[at].begin, pieces[at].end};
  for (size_t next = place.begin; next < place.end && isWhiteSpace(decodeCodePoint(text, next));)
    place.begin = next < place.end ? next : place.begin; // all of a blank for itself
  return place;
}

Status SentencePieces::Model::encodePlain(std::string_view text, size_t begin, std::vector<int32_t> &result,
                                          std::vector<TextPlace> *places) const {
  std::vector<Piece> pieces;
  if (Status status = segment(text, pieces); status.failed())
    return status;
  for (size_t i = 0; i < pieces.size(); ++i) {
    result.push_back(pieces[i].id);
    if (places) {
      const TextPlace place = placeOf(text, pieces, i);
      places->push_back({begin + place.begin, begin + place.end});
    }
  }
  return {};
}

/// "50," as 50 and a comma (zihangdai/xlnet, prepro_utils.py: encode_pieces); `parts` is `piece` alone where it is none such.
Status SentencePieces::Model::apartFromComma(const Piece &piece, std::vector<Piece> &parts) const {
  parts = {piece};
  std::string_view digits = piece.spelling;
  if (!digits.ends_with(','))
    return {};
  digits.remove_suffix(1);
  size_t last = digits.size();
  while (last > 0 && (static_cast<unsigned char>(digits[--last]) & 0xC0) == 0x80)
    ;
  size_t offset = last;
  if (digits.empty() || !isDecimal(decodeCodePoint(digits, offset)))
    return {};
  const bool begins = digits.starts_with(kBlank);
  std::string alone;
  for (size_t at = 0; at < digits.size(); ++at)
    if (digits.substr(at).starts_with(kBlank))
      at += kBlank.size() - 1;
    else
      alone += digits[at];
  if (Status status = segment(alone, parts); status.failed())
    return status;
  if (!begins && !parts.empty() && parts[0].spelling.starts_with(kBlank))
    parts[0].spelling.erase(0, kBlank.size());
  if (!parts.empty() && parts[0].spelling.empty())
    parts.erase(parts.begin());
  // Where the piece stands: its bytes are those of the text but for a blank in front.
  const uint32_t before = piece.end - std::min<uint32_t>(piece.end, static_cast<uint32_t>(alone.size()) + 1);
  for (Piece &part : parts) {
    part.begin = std::clamp(before + part.begin, piece.begin, piece.end);
    part.end = std::clamp(before + part.end, piece.begin, piece.end);
  }
  parts.push_back({0, piece.end - std::min(piece.end, 1u), piece.end, ","});
  for (Piece &part : parts) {
    const auto found = ids.find(part.spelling);
    part.id = found == ids.end() ? unknown : found->second;
  }
  return {};
}

Status SentencePieces::Model::encodeBare(std::string_view text, size_t begin, std::vector<int32_t> &result,
                                         std::vector<TextPlace> *places) const {
  const BareText bare = bareText(text, lower);
  std::vector<Piece> pieces, parts, all;
  if (Status status = segment(bare.text, pieces); status.failed())
    return status;
  for (const Piece &piece : pieces) {
    if (Status status = apartFromComma(piece, parts); status.failed())
      return status;
    all.insert(all.end(), parts.begin(), parts.end());
  }
  for (size_t i = 0; i < all.size(); ++i) {
    result.push_back(all[i].id);
    if (!places)
      continue;
    const TextPlace place = placeOf(bare.text, all, i);
    const size_t first = place.begin < bare.bytes.size() ? bare.bytes[place.begin].begin : text.size();
    places->push_back({begin + first, begin + (place.end > place.begin ? bare.bytes[place.end - 1].end : first)});
  }
  return {};
}

Status SentencePieces::encode(std::string_view text, std::vector<int32_t> &result, std::vector<TextPlace> *places) const {
  auto plain = [&](size_t begin, size_t end) {
    const std::string_view part = text.substr(begin, end - begin);
    return model->isBare ? model->encodeBare(part, begin, result, places) : model->encodePlain(part, begin, result, places);
  };
  size_t begin = 0; // of what is not encoded yet
  for (size_t at = text.find_first_of("<["); at != std::string_view::npos; at = text.find_first_of("<[", at)) {
    const auto mark = std::find_if(model->marks.begin(), model->marks.end(),
                                   [&](const auto &each) { return text.substr(at).starts_with(each.first); });
    if (mark == model->marks.end()) {
      ++at;
      continue;
    }
    if (Status status = plain(begin, at); status.failed())
      return status;
    result.push_back(mark->second);
    if (places)
      places->push_back({at, at + mark->first.size()});
    begin = at += mark->first.size();
  }
  return plain(begin, text.size());
}

Status SentencePieces::encodeUnchanged(std::string_view text, std::vector<int32_t> &result) const {
  return model->encodePlain(text, 0, result, nullptr);
}

std::string SentencePieces::text(int32_t id, int32_t previous) const {
  const auto at = static_cast<size_t>(id);
  if (model->file.kinds[at] == Kind::Unknown)
    return " \u2047 "; // the library's unk_surface
  auto isSentinel = [&](int32_t symbol) {
    return symbol >= 0 && model->file.kinds[static_cast<size_t>(symbol)] == Kind::Sentinel;
  };
  if (isSpecial(id) && !isSentinel(id))
    return {};
  const std::string &own = model->texts[at];
  if (isSentinel(previous) && !own.starts_with(' '))
    return ' ' + own; // blanks stand around a sentinel
  if (model->file.kinds[at] == Kind::Byte)
    return own;
  bool isFirst = previous < 0;
  for (const char *mark : {"<pad>", "<s>", "<cls>", "[CLS]"}) // what stands in front of a text that is made
    isFirst |= previous >= 0 && model->file.pieces[static_cast<size_t>(previous)] == mark;
  if (isSentinel(id))
    return (isFirst ? "" : " ") + own;
  const bool hasBlank = own.starts_with(' ') && (model->file.addsBlank || model->file.joinsBlanks);
  return isFirst && hasBlank ? own.substr(1) : own;
}

bool SentencePieces::isSpecial(int32_t id) const {
  const auto at = static_cast<size_t>(id);
  const Kind kind = model->file.kinds[at];
  return kind == Kind::Control || kind == Kind::Unknown || kind == Kind::Sentinel ||
         (kind == Kind::UserDefined && isMark(model->file.pieces[at]));
}

bool SentencePieces::continuesWord(int32_t previous, int32_t id) const {
  constexpr std::string_view kAlone = "!\"#$%&()*+,-./:;<?@[\\]^_`{|}~";
  if (previous < 0 || isSpecial(previous) || isSpecial(id))
    return false;
  const std::string &spelling = model->file.pieces[static_cast<size_t>(id)];
  const std::string &before = model->file.pieces[static_cast<size_t>(previous)];
  if (model->file.blanksAreEnds)
    return !before.ends_with(kBlank);
  return !spelling.starts_with(kBlank) && (spelling.size() > 1 || kAlone.find(spelling[0]) == std::string_view::npos);
}

bool SentencePieces::addsBlank() const { return model->file.addsBlank; }
const std::vector<std::string> &SentencePieces::pieces() const { return model->file.pieces; }
const std::string &SentencePieces::file() const { return model->bytes; }
int64_t SentencePieces::sentinels() const { return model->sentinels; }

} // namespace tenon::data
