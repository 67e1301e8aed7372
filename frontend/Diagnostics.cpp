// Collects diagnostics; places in a text; the nearest word.
#include "frontend/Diagnostics.h"
#include <algorithm>
#include <tuple>

namespace tenon {

using Severity = Diagnostic::Severity;

/// The position of byte `end` of `text`, if that of byte `begin` is `from`.
static SourceFiles::Position advance(SourceFiles::Position from, std::string_view text, size_t begin, size_t end) {
  if (begin == 0 && text.starts_with("\xEF\xBB\xBF")) // a byte order mark has no column
    begin = 3;
  for (size_t i = begin; i < end; ++i) {
    if (text[i] == '\n') {
      ++from.line;
      from.column = 1;
    } else if ((static_cast<uint8_t>(text[i]) & 0xC0) != 0x80) {
      ++from.column;
    }
  }
  return from;
}

SourceFiles::Source::Source(std::string path, std::string given) : path(std::move(path)), text(std::move(given)), marks(1) {
  for (size_t end = kMarkBytes; end <= text.size(); end += kMarkBytes)
    marks.push_back(advance(marks.back(), text, end - kMarkBytes, end));
}

SourceFiles::Position SourceFiles::position(uint32_t file, uint32_t offset) const {
  if (file >= files.size())
    return {};
  const Source &source = files[file];
  const size_t end = std::min<size_t>(offset, source.text.size()), mark = end / kMarkBytes;
  return advance(source.marks[mark], source.text, mark * kMarkBytes, end);
}

void Diagnostics::report(Diagnostic diagnostic) { add(std::move(diagnostic)); }

Diagnostic &Diagnostics::add(Diagnostic diagnostic) {
  const bool isError = diagnostic.severity == Severity::Error;
  if (full() || (isError && errors == kMostMistakes)) {
    if (!full())
      list.push_back({Severity::Error,
                      "T0199",
                      "more than " + std::to_string(kMostMistakes) + " mistakes; from here on nothing is looked at",
                      diagnostic.range,
                      {},
                      {},
                      {}});
    errors += isError;
    return dropped = std::move(diagnostic);
  }
  errors += isError;
  list.push_back(std::move(diagnostic));
  return list.back();
}

void Diagnostics::sort(uint32_t first) {
  auto place = [&](const Diagnostic &diagnostic) {
    const ast::Range &range = diagnostic.range;
    return std::tuple(range.file != first, range.file, range.begin);
  };
  std::stable_sort(list.begin(), list.end(), [&](const Diagnostic &a, const Diagnostic &b) { return place(a) < place(b); });
}

Diagnostic &Diagnostics::error(std::string code, ast::Range range, std::string message, std::string label) {
  return add({Severity::Error, std::move(code), std::move(message), range, std::move(label), {}, {}});
}

Diagnostic &Diagnostics::warning(std::string code, ast::Range range, std::string message, std::string label) {
  if (++warnings == kMostMistakes + 1)
    add({Severity::Warning,
         "T0199",
         "more than " + std::to_string(kMostMistakes) + " warnings; the others are not shown",
         range,
         {},
         {},
         {}});
  if (warnings > kMostMistakes)
    return dropped = {Severity::Warning, std::move(code), std::move(message), range, std::move(label), {}, {}};
  return add({Severity::Warning, std::move(code), std::move(message), range, std::move(label), {}, {}});
}

/// Insertions, deletions, changes and swaps of neighbours that make `b` of `a`, if they are at most `most`; else more than that.
/// Only places that far from the diagonal are looked at, so two texts of a line each cost a line, not its square.
static unsigned editDistance(const std::string &a, const std::string &b, unsigned most) {
  const size_t width = 2 * most + 1; // of row i: the columns i - most .. i + most
  const unsigned beyond = most + 1;
  std::vector<unsigned> row(width, beyond), before(width, beyond), twoBefore(width, beyond);
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t k = 0; k < width; ++k) {
      row[k] = beyond;
      if (i + k < most || i + k - most > b.size())
        continue;
      const size_t j = i + k - most;
      if (i == 0 || j == 0) {
        row[k] = std::min(beyond, static_cast<unsigned>(i + j));
        continue;
      }
      row[k] = before[k] + (a[i - 1] != b[j - 1]);
      if (k > 0)
        row[k] = std::min(row[k], row[k - 1] + 1);
      if (k + 1 < width)
        row[k] = std::min(row[k], before[k + 1] + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[k] = std::min(row[k], twoBefore[k] + 1);
      row[k] = std::min(row[k], beyond);
    }
    twoBefore.swap(before);
    before.swap(row);
  }
  return b.size() + most < a.size() || a.size() + most < b.size() ? beyond : before[b.size() + most - a.size()];
}

std::string nearest(const std::string &word, const std::vector<std::string> &candidates) {
  auto lower = [](std::string text) {
    for (char &c : text)
      c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    return text;
  };
  // Two edits of three letters, or one of one, lead to words that have nothing to do with them.
  std::string best;
  unsigned least = word.size() < 2 ? 1 : word.size() < 4 ? 2 : 3;
  const std::string sought = lower(word);
  for (const std::string &candidate : candidates) {
    if (candidate == word || candidate.size() > word.size() + 2 || word.size() > candidate.size() + 2)
      continue;
    unsigned distance = editDistance(sought, lower(candidate), 2);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace tenon
