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

bool isWhole(const std::string &name) {
  const size_t sign = name.starts_with('-');
  return name.size() > sign &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(sign), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "0 negative, 1 positive, .."
std::string listed(const std::vector<std::string> &names) {
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
    list += concat(i ? ", " : "", i, " ", names[i]);
  return names.size() > kShown ? list + ", .." : list;
}

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

std::string ClassNames::mixedText(const std::function<std::string(uint64_t)> &placeOf) const {
  struct Kind {
    uint64_t labels = 0, first = ~uint64_t{0};
    const std::string *name = nullptr;
  } whole, other;
  for (const auto &[name, seen] : all) {
    Kind &kind = isWhole(name) ? whole : other;
    kind.labels += seen.rows;
    if (seen.first < kind.first)
      kind = {kind.labels, seen.first, &name};
  }
  if (!whole.name || !other.name)
    return {};
  auto text = [&](const Kind &kind) {
    return concat(kind.labels, kind.labels == 1 ? " in " : ", the first in ", placeOf(kind.first), ", ",
                  runtime::quoteJson(*kind.name));
  };
  return concat("warning: whole numbers beside names of classes: ", text(whole), ", beside names: ", text(other),
                "; all are taken as names, which are numbered in order; a line of headings has no place there");
}

std::string ClassNames::headingText(const std::function<std::string(uint64_t)> &placeOf) const {
  const std::string *heading = nullptr;
  for (const auto &[name, seen] : all) {
    if (seen.rows == 1 && seen.first == 0)
      heading = &name;
    else if (seen.rows == 1)
      return {};
  }
  if (!heading || all.size() < 3)
    return {};
  return concat("warning: ", placeOf(0), ": the class ", runtime::quoteJson(*heading),
                " is that of the first row alone; a line of headings has no place there");
}

ClassNumbers::ClassNumbers(const std::vector<std::string> &names) {
  for (size_t i = 0; i < names.size(); ++i)
    numbers.emplace(names[i], static_cast<int32_t>(i));
}

std::optional<int32_t> ClassNumbers::find(const std::string &name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> numberedAs(const std::vector<std::string> &ofWeights, const std::string &file,
                                    const std::vector<std::string> &found, const std::string &input, int64_t bound,
                                    std::string &said) {
  const ClassNumbers known(ofWeights), seen(found);
  std::vector<std::string> fresh;
  std::copy_if(found.begin(), found.end(), std::back_inserter(fresh), [&](const std::string &name) { return !known.find(name); });
  const size_t room = bound < 0 ? ~size_t{0} : static_cast<size_t>(bound);
  if (found.size() > room) // an error elsewhere
    return found;
  if (fresh.size() == found.size() || ofWeights.size() > room) {
    said = concat("the classes of '", input, "' are numbered in order: ", listed(found), "; ", file,
                  fresh.size() == found.size() ? " names others, so they are another task's: "
                                               : concat(" has more than the ", room, " that the input takes: "),
                  listed(ofWeights));
    return found;
  }
  std::vector<std::string> names = ofWeights;
  std::string taken;
  size_t place = 0;
  for (const std::string &name : fresh) {
    if (names.size() < room) {
      names.push_back(name);
      continue;
    }
    while (seen.find(names[place]))
      ++place;
    taken += concat(taken.empty() ? "" : ", ", name, " that of ", names[place]);
    names[place++] = name;
  }
  if (!taken.empty() || names != found || names.size() > ofWeights.size())
    said = concat(taken.empty() ? "" : "warning: ", "the classes of '", input, "' have the numbers that ", file,
                  " gives them: ", listed(names),
                  names.size() > ofWeights.size() ? concat("; new behind them: ", names.size() - ofWeights.size()) : "",
                  taken.empty() ? ""
                                : concat("; the input takes no more than ", room,
                                         ", so new ones take numbers of those without rows: ", taken));
  return names;
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
