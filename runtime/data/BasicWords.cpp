#include "runtime/data/BasicWords.h"
#include "runtime/data/Unicode.h"
#include "runtime/data/Utf8.h"

namespace tenon::data {

static void append(BasicWord &word, char32_t c, TextPlace place) {
  appendCodePoint(word.text, c);
  word.bytes.resize(word.text.size(), place);
}

Status basicWords(std::string_view text, bool lower, const std::function<Status(const BasicWord &)> &take,
                  const std::function<void(size_t)> &lineEnd) {
  BasicWord word;
  std::vector<char32_t> bare;
  Status status;
  auto flush = [&] {
    if (status.ok() && !word.text.empty())
      status = take(word);
    word = {};
  };
  for (size_t offset = 0; offset < text.size() && status.ok();) {
    const size_t begin = offset;
    const char32_t c = decodeCodePoint(text, offset);
    const TextPlace place = {begin, offset};
    if (c == 0xFFFD || isControl(c))
      continue;
    if (isWhiteSpace(c)) {
      flush();
      if (c == '\n' && lineEnd)
        lineEnd(begin);
      continue;
    }
    bare.clear();
    if (lower)
      appendBare(c, bare);
    else
      bare.push_back(c);
    const bool apart = isIdeograph(c);
    if (apart)
      flush();
    for (char32_t part : bare) {
      const bool mark = isPunctuation(part);
      if (mark)
        flush();
      append(word, part, place);
      if (mark)
        flush();
    }
    if (apart)
      flush();
  }
  flush();
  return status;
}

} // namespace tenon::data
