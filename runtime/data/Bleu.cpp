#include "runtime/data/Bleu.h"
#include "runtime/data/Unicode.h"
#include "runtime/data/Utf8.h"
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace tenon::data {

namespace {

using Counts = std::unordered_map<std::string, uint64_t>; // of words in a row, with blanks between them

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kReplaced = {
    {{"<skipped>", ""}, {"-\n", ""}, {"\n", " "}, {"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}}};

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isStop(char c) { return c == '.' || c == ','; }
/// The first class of tokenizer_re.py: what is punctuation wherever it stands.
bool isMark(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}
/// White space of Python's str.split.
bool isBlank(char32_t c) { return isWhiteSpace(c) || (c >= 0x1C && c <= 0x1F); }

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t found = std::min(text.find(from, at), text.size());
    result.append(text.substr(at, found - at));
    if (found < text.size())
      result += to;
    at = found + (found < text.size() ? from.size() : 0);
  }
  return result;
}

/// What a rule of two characters puts in place of a pair that it fits. Pairs do not overlap, as those of Python's re.sub; a byte
/// of a longer character is no digit and no stop, so that bytes do what characters would.
template <typename Fits, typename Put> std::string eachPair(const std::string &text, Fits fits, Put put) {
  std::string result;
  for (size_t at = 0; at < text.size();)
    if (at + 1 < text.size() && fits(text[at], text[at + 1])) {
      put(result, text[at], text[at + 1]);
      at += 2;
    } else {
      result += text[at++];
    }
  return result;
}

Counts countsOf(const std::vector<std::string> &words, size_t order) {
  Counts counts;
  for (size_t first = 0; first + order <= words.size(); ++first) {
    std::string row = words[first];
    for (size_t i = 1; i < order; ++i)
      row += ' ' + words[first + i];
    ++counts[row];
  }
  return counts;
}

} // namespace

std::vector<std::string> wordsOf13a(std::string_view line) {
  std::string text(line);
  for (const auto &[from, to] : kReplaced)
    text = replaced(text, from, to);
  std::string marked = " ";
  for (char c : text + " ")
    marked += isMark(c) ? std::string{' ', c, ' '} : std::string{c};
  text = eachPair(
      marked, [](char a, char b) { return !isDigit(a) && isStop(b); },
      [](std::string &to, char a, char b) { to += {a, ' ', b, ' '}; });
  text = eachPair(
      text, [](char a, char b) { return isStop(a) && !isDigit(b); },
      [](std::string &to, char a, char b) { to += {' ', a, ' ', b}; });
  text = eachPair(
      text, [](char a, char b) { return isDigit(a) && b == '-'; },
      [](std::string &to, char a, char b) { to += {a, ' ', b, ' '}; });
  std::vector<std::string> words;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const bool blank = isBlank(decodeCodePoint(text, at));
    if (!blank && !inside)
      words.emplace_back();
    if (!blank)
      words.back().append(text, begin, at - begin);
    inside = !blank;
  }
  return words;
}

void BleuCounts::add(std::string_view text, const std::vector<std::string_view> &references) {
  const std::vector<std::string> words = wordsOf13a(text);
  std::vector<std::vector<std::string>> right;
  for (std::string_view reference : references)
    right.push_back(wordsOf13a(reference));
  length += words.size();
  // The length that is nearest, of two the shorter one.
  auto distance = [&](size_t other) { return other > words.size() ? other - words.size() : words.size() - other; };
  size_t nearest = right.at(0).size();
  for (const auto &each : right)
    if (distance(each.size()) < distance(nearest) || (distance(each.size()) == distance(nearest) && each.size() < nearest))
      nearest = each.size();
  referenceLength += nearest;
  for (size_t order = 1; order <= Bleu::kOrders; ++order) {
    Counts most; // how often a row of words stands in the reference that has it most often
    for (const auto &each : right)
      for (const auto &[row, count] : countsOf(each, order))
        most[row] = std::max(most[row], count);
    for (const auto &[row, count] : countsOf(words, order)) {
      total[order - 1] += count;
      const auto found = most.find(row);
      correct[order - 1] += found == most.end() ? 0 : std::min(count, found->second);
    }
  }
}

Bleu BleuCounts::result() const {
  Bleu bleu;
  bleu.length = length;
  bleu.referenceLength = referenceLength;
  const auto own = static_cast<double>(length), theirs = static_cast<double>(referenceLength);
  if (length < referenceLength)
    bleu.brevityPenalty = length > 0 ? std::exp(1 - theirs / own) : 0;
  if (std::all_of(correct.begin(), correct.end(), [](uint64_t count) { return count == 0; }))
    return bleu;
  double smoothing = 1, logarithms = 0;
  bool whole = true; // some row has as many words as each order
  for (size_t i = 0; i < Bleu::kOrders; ++i) {
    if (total[i] == 0) {
      whole = false;
      break;
    }
    const auto all = static_cast<double>(total[i]);
    bleu.precisions[i] = correct[i] > 0 ? 100. * static_cast<double>(correct[i]) / all : 100. / ((smoothing *= 2) * all);
    logarithms += std::log(bleu.precisions[i]);
  }
  bleu.score = whole ? bleu.brevityPenalty * std::exp(logarithms / Bleu::kOrders) : 0;
  return bleu;
}

} // namespace tenon::data
