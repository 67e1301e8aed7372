#include "runtime/data/Classes.h"
#include "runtime/base/Json.h"
#include "runtime/base/Nearest.h"
#include <algorithm>
#include <tuple>

namespace tenon::data {

using runtime::concat;

namespace {

/// An index with more values is an id of something, not a class.
constexpr int64_t kMostClasses = 1 << 16;
/// Of lists in messages.
constexpr size_t kShown = 10;

std::string named(size_t number, const std::vector<std::string> *names) {
  return names && number < names->size() ? concat(number, " ", (*names)[number]) : concat(number);
}

} // namespace

void ClassNames::add(const std::string &name, uint64_t row) {
  Seen &seen = all.try_emplace(name, Seen{0, row}).first->second;
  ++seen.rows;
}

std::vector<std::string> ClassNames::sorted() const {
  std::vector<std::string> names;
  for (const auto &[name, seen] : all)
    names.push_back(name);
  return names;
}

std::string ClassNames::rarestFirst(size_t surplus, const std::function<std::string(uint64_t)> &placeOf) const {
  std::vector<std::pair<std::string, Seen>> order(all.begin(), all.end());
  std::sort(order.begin(), order.end(), [](const auto &one, const auto &other) {
    return std::tie(one.second.rows, one.first) < std::tie(other.second.rows, other.first);
  });
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), kShown); ++i) {
    const auto &[name, seen] = order[i];
    text += concat(i ? ", " : "", runtime::quoteJson(name), " ", seen.rows);
    if (i >= surplus)
      continue;
    std::vector<std::string> frequent;
    for (size_t j = i + 1; j < order.size(); ++j)
      if (order[j].second.rows > seen.rows)
        frequent.push_back(order[j].first);
    const std::string meant = nearestOf(name, frequent);
    text +=
        concat(" (", placeOf(seen.first), meant.empty() ? "" : concat(", did you mean ", runtime::quoteJson(meant), "?"), ")");
  }
  return order.size() > kShown ? text + ", .." : text;
}

std::vector<ClassCounts> ClassCounts::of(const std::vector<InputTensor> &inputs) {
  std::vector<ClassCounts> counts;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputTensor &input = inputs[i];
    const bool isLength = input.ofSizes || input.name == "len" || input.name.ends_with("_len");
    if (input.type == DataType::I32 && input.shape.size() == 1 && input.bound > 0 && input.bound <= kMostClasses && !isLength)
      counts.push_back({input.name, i, std::vector<uint64_t>(static_cast<size_t>(input.bound))});
  }
  return counts;
}

std::string ClassCounts::text(const std::vector<std::string> *names) const {
  std::string text = concat("classes of ", input, ": ");
  if (rows.size() <= kShown) {
    for (size_t i = 0; i < rows.size(); ++i)
      text += concat(i ? ", " : "", named(i, names), ": ", rows[i]);
    return text;
  }
  size_t fewest = rows.size(), most = 0, some = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    some += rows[i] > 0;
    most = rows[i] > rows[most] ? i : most;
    if (rows[i] > 0 && (fewest == rows.size() || rows[i] < rows[fewest]))
      fewest = i;
  }
  return fewest == rows.size() ? text + "none has a row"
                               : concat(text, some, " of ", rows.size(), " have rows, the fewest ", named(fewest, names), ": ",
                                        rows[fewest], ", the most ", named(most, names), ": ", rows[most]);
}

std::string ClassCounts::lackingText(const std::vector<std::string> *names) const {
  std::string list;
  size_t lacking = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i] == 0 && ++lacking <= kShown)
      list += concat(lacking > 1 ? ", " : "", named(i, names));
  if (lacking == 0)
    return {};
  return concat("warning: no row for training has the ", lacking == 1 ? "class " : "classes ", list,
                lacking > kShown ? concat(" and ", lacking - kShown, " more") : "", " of '", input, "', which takes ",
                rows.size(), ": nothing can be learned of ", lacking == 1 ? "it" : "them");
}

} // namespace tenon::data
