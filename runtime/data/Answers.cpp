#include "runtime/data/Answers.h"
#include "runtime/base/Json.h"
#include "runtime/data/Unicode.h"
#include "runtime/data/Utf8.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <sstream>

namespace tenon::data {

namespace {

/// As Python's str.split has them.
bool isBlank(char32_t c) { return isWhiteSpace(c) || (c >= 0x1C && c <= 0x1F); }
bool isMark(char32_t c) { return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126); }
/// What an article may be part of.
bool isWord(char32_t c) { return c == '_' || isLetter(c) || isNumber(c); }

/// The number of letters of an article that stands alone at `at`.
size_t articleAt(const std::u32string &text, size_t at) {
  if (at > 0 && isWord(text[at - 1]))
    return 0;
  for (const std::u32string_view article : {U"a", U"an", U"the"})
    if (text.compare(at, article.size(), article) == 0 &&
        (at + article.size() == text.size() || !isWord(text[at + article.size()])))
      return article.size();
  return 0;
}

std::map<std::string, int64_t> wordsOf(const std::string &text, int64_t &count) {
  std::map<std::string, int64_t> words;
  std::istringstream stream(text);
  count = 0;
  for (std::string word; stream >> word; ++count)
    ++words[word];
  return words;
}

/// The places with the highest scores, the highest first, of equals the first place.
std::vector<AnswerPlaces::Place> highest(const std::vector<double> &scores, size_t count) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t x, size_t y) { return scores[x] > scores[y] || (scores[x] == scores[y] && x < y); });
  order.resize(std::min(order.size(), count));
  std::vector<AnswerPlaces::Place> places;
  for (size_t at : order)
    places.push_back({static_cast<int64_t>(at), scores[at]});
  return places;
}

} // namespace

std::string normalizedAnswer(std::string_view text) {
  std::u32string plain;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = decodeCodePoint(text, at);
    if (!isMark(c))
      plain += lowerCaseOf(c);
  }
  std::string result;
  bool open = false; // a blank is due in front of the next letter
  for (size_t at = 0; at < plain.size();) {
    const size_t article = articleAt(plain, at);
    if (article > 0 || isBlank(plain[at])) {
      open = !result.empty();
      at += std::max<size_t>(article, 1);
      continue;
    }
    result += open ? " " : "";
    open = false;
    appendCodePoint(result, plain[at++]);
  }
  return result;
}

bool isExactMatch(std::string_view answer, std::string_view right) { return normalizedAnswer(answer) == normalizedAnswer(right); }

double wordF1(std::string_view answer, std::string_view right) {
  int64_t found = 0, wanted = 0, common = 0;
  const std::map<std::string, int64_t> words = wordsOf(normalizedAnswer(answer), found);
  for (const auto &[word, count] : wordsOf(normalizedAnswer(right), wanted))
    if (auto same = words.find(word); same != words.end())
      common += std::min(count, same->second);
  if (found == 0 || wanted == 0)
    return found == wanted;
  if (common == 0)
    return 0;
  const double precision = static_cast<double>(common) / static_cast<double>(found),
               recall = static_cast<double>(common) / static_cast<double>(wanted);
  return 2 * precision * recall / (precision + recall);
}

AnswerPlaces AnswerPlaces::best(const std::vector<double> &first, const std::vector<double> &last, size_t count) {
  AnswerPlaces places{highest(first, count), {}};
  places.last.assign(places.first.size(), highest(last, count));
  return places;
}

AnswerSearch::AnswerSearch(const SpanTask &task) : task(task), best(task.questions().size()) {
  for (const Question &each : task.questions())
    hasUnanswered |= each.answers.empty();
}

void AnswerSearch::add(size_t window, const std::vector<double> &first, const std::vector<double> &last,
                       std::optional<double> none) {
  const auto cls = static_cast<size_t>(task.windows()[window].cls);
  add(window, AnswerPlaces::best(first, last, kMost), none.value_or(first[cls] + last[cls]), none.has_value());
}

void AnswerSearch::add(size_t window, const AnswerPlaces &places, double none, bool judged) {
  const SpanTask::Window &row = task.windows()[window];
  const int64_t shift = row.begin - row.before, end = row.before + row.length;
  Found &found = best[row.question];
  found.judged = judged;
  found.none = std::min(found.none, none);
  for (size_t i = 0; i < places.first.size(); ++i)
    for (const AnswerPlaces::Place &last : places.last[i]) {
      const AnswerPlaces::Place &first = places.first[i];
      if (first.at < row.before || last.at >= end || last.at < first.at || last.at - first.at >= task.longestAnswer() ||
          !task.hasMostContext(window, first.at + shift))
        continue;
      if (const double score = first.score + last.score; !found.any || score > found.score) {
        found.any = true;
        found.score = score;
        found.text = task.textOf(window, first.at + shift, last.at + shift);
      }
    }
}

std::string AnswerSearch::answerOf(size_t question, double threshold) const {
  return hasUnanswered && best[question].doubt() > threshold ? std::string() : best[question].text;
}

AnswerSearch::Measures AnswerSearch::measured(size_t question, const std::string &answer) const {
  std::vector<std::string> right = task.questions()[question].answers;
  if (hasUnanswered) // evaluate-v2.0.py takes what its comparison leaves nothing of for no answer
    std::erase_if(right, [](const std::string &each) { return normalizedAnswer(each).empty(); });
  if (right.empty())
    right.emplace_back();
  Measures most;
  for (const std::string &each : right) {
    most.exact = std::max(most.exact, isExactMatch(answer, each) ? 1.0 : 0.0);
    // evaluate-v1.1.py has no words in common where there are none, evaluate-v2.0.py takes both for no answer.
    const bool counts = hasUnanswered || !normalizedAnswer(each).empty();
    most.f1 = std::max(most.f1, counts ? wordF1(answer, each) : 0);
  }
  return most;
}

/// From a threshold below all doubts on, which answers nothing, questions are answered, the surest first and those of one doubt
/// together. A question is answered where its doubt is at most the threshold, so this is what a threshold gives, also where
/// normalization leaves nothing of an answer: evaluate-v2.0.py never counts that as right without an answer, result() does.
AnswerSearch::Best AnswerSearch::bestOf(double Measures::*measure) const {
  std::vector<size_t> order(best.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return best[x].doubt() < best[y].doubt(); });
  double sum = 0;
  for (size_t i = 0; i < best.size(); ++i)
    sum += measured(i, "").*measure;
  const double least = order.empty() ? 0 : best[order[0]].doubt();
  Best result = {sum, least > 0 ? 0 : std::min(least - 1, std::nextafter(least, -HUGE_VAL))};
  for (size_t at = 0; at < order.size(); ++at) {
    const size_t i = order[at];
    sum += measured(i, best[i].text).*measure - measured(i, "").*measure;
    const bool isLast = at + 1 == order.size() || best[order[at + 1]].doubt() > best[i].doubt();
    if (isLast && sum > result.value)
      result = {sum, best[i].doubt()};
  }
  result.value *= 100 / std::max<double>(1, static_cast<double>(best.size()));
  return result;
}

AnswerSearch::Result AnswerSearch::result(double threshold) const {
  Result result;
  result.hasUnanswered = hasUnanswered;
  double counts[2] = {0, 0};
  for (size_t i = 0; i < best.size(); ++i) {
    const bool answered = !task.questions()[i].answers.empty();
    const Measures found = measured(i, answerOf(i, threshold));
    for (Measures *sum : {&result.all, answered ? &result.answered : &result.unanswered}) {
      sum->exact += found.exact;
      sum->f1 += found.f1;
    }
    ++counts[answered];
  }
  for (auto [sum, count] :
       {std::pair(&result.all, counts[0] + counts[1]), {&result.answered, counts[1]}, {&result.unanswered, counts[0]}}) {
    sum->exact *= 100 / std::max(1.0, count);
    sum->f1 *= 100 / std::max(1.0, count);
  }
  if (result.hasUnanswered) {
    result.bestExact = bestOf(&Measures::exact);
    result.bestF1 = bestOf(&Measures::f1);
  }
  return result;
}

std::string AnswerSearch::predictions(double threshold) const {
  std::string text = "{";
  for (size_t i = 0; i < best.size(); ++i)
    text += runtime::concat(i ? ",\n " : "\n ", runtime::quoteJson(task.questions()[i].id), ": ",
                            runtime::quoteJson(answerOf(i, threshold)));
  return text + "\n}\n";
}

} // namespace tenon::data
