#include "runtime/data/Measures.h"
#include "runtime/base/Json.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace tenon::data {

Status SpanCounts::make(const std::vector<std::string> &labels, SpanCounts &result) {
  result = SpanCounts();
  std::map<std::string, int> types;
  for (const std::string &label : labels) {
    Tag &tag = result.tags.emplace_back();
    if (label == "O")
      continue;
    if (label.size() < 3 || (!label.starts_with("B-") && !label.starts_with("I-")))
      return inputError("spans are marked by labels B-X, I-X and O, and ", runtime::quoteJson(label), " is none of these");
    tag.begins = label[0] == 'B';
    tag.type = types.emplace(label.substr(2), static_cast<int>(types.size())).first->second;
  }
  return {};
}

std::vector<SpanCounts::Span> SpanCounts::spansOf(const std::vector<int32_t> &numbers) const {
  std::vector<Span> spans;
  int before = -1; // the type of the tag before
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<size_t>(numbers[i]);
    const Tag tag = numbers[i] >= 0 && number < tags.size() ? tags[number] : Tag();
    if (tag.type >= 0 && (tag.begins || tag.type != before))
      spans.push_back({i, i, tag.type});
    else if (tag.type >= 0)
      spans.back().last = i;
    before = tag.type;
  }
  return spans;
}

void SpanCounts::add(const std::vector<int32_t> &rightTags, const std::vector<int32_t> &foundTags) {
  const std::vector<Span> all = spansOf(rightTags), own = spansOf(foundTags);
  right += all.size();
  found += own.size();
  correct += static_cast<uint64_t>(std::count_if(
      own.begin(), own.end(), [&](const Span &span) { return std::find(all.begin(), all.end(), span) != all.end(); }));
}

SpanCounts::Measures SpanCounts::measures() const {
  auto share = [&](uint64_t of) { return of == 0 ? 0 : 100. * static_cast<double>(correct) / static_cast<double>(of); };
  Measures result{share(found), share(right), 0};
  if (correct > 0)
    result.f1 = 2 * result.precision * result.recall / (result.precision + result.recall);
  return result;
}

void ClassCounts::add(size_t right, size_t found) {
  classes = std::max({classes, right + 1, found + 1});
  counts.resize(classes);
  for (std::vector<uint64_t> &row : counts)
    row.resize(classes);
  ++counts[right][found];
}

double ClassCounts::countOf(size_t right, size_t found) const {
  return right < classes && found < classes ? static_cast<double>(counts[right][found]) : 0;
}

double ClassCounts::matthews() const {
  double all = 0, correct = 0, products = 0, rightSquares = 0, foundSquares = 0;
  for (size_t k = 0; k < classes; ++k) {
    double right = 0, found = 0;
    for (size_t other = 0; other < classes; ++other) {
      right += countOf(k, other);
      found += countOf(other, k);
    }
    all += right;
    correct += countOf(k, k);
    products += right * found;
    rightSquares += right * right;
    foundSquares += found * found;
  }
  const double scale = (all * all - foundSquares) * (all * all - rightSquares);
  return scale > 0 ? (correct * all - products) / std::sqrt(scale) : 0;
}

double ClassCounts::f1() const {
  const double both = 2 * countOf(1, 1), all = both + countOf(0, 1) + countOf(1, 0);
  return all > 0 ? both / all : 0;
}

/// Numbers that differ; of equal ones the mean may be none of them by a rounding.
static bool vary(const std::vector<double> &values) {
  return std::any_of(values.begin(), values.end(), [&](double value) { return value != values[0]; }) &&
         std::none_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

double pearson(const std::vector<double> &x, const std::vector<double> &y) {
  if (!vary(x) || !vary(y))
    return std::nan("");
  const auto count = static_cast<double>(x.size());
  const double meanX = std::accumulate(x.begin(), x.end(), 0.) / count, meanY = std::accumulate(y.begin(), y.end(), 0.) / count;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double a = x[i] - meanX, b = y[i] - meanY;
    xy += a * b;
    xx += a * a;
    yy += b * b;
  }
  return std::clamp(xy / (std::sqrt(xx) * std::sqrt(yy)), -1., 1.);
}

static std::vector<double> ranksOf(const std::vector<double> &values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && values[order[end]] == values[order[first]])
      ++end;
    for (size_t i = first; i < end; ++i)
      ranks[order[i]] = static_cast<double>(first + end + 1) / 2;
  }
  return ranks;
}

double spearman(const std::vector<double> &x, const std::vector<double> &y) {
  return vary(x) && vary(y) ? pearson(ranksOf(x), ranksOf(y)) : std::nan("");
}

} // namespace tenon::data
