// Classes of an input index(C)[B]: the names that a file has for them, and how many rows for training each has.
#pragma once
#include "runtime/data/Task.h"
#include <functional>
#include <unordered_map>

namespace tenon::data {

/// Names that stand where a file has classes.
class ClassNames {
public:
  void add(const std::string &name, uint64_t row);
  bool empty() const { return all.empty(); }
  /// Ascending, as Vocabulary::classes has them.
  std::vector<std::string> sorted() const;
  /// Names with the number of their rows, the rarest first; of the first `surplus` ones also where they stand and which frequent
  /// name may be meant: "positve" 1 (a.jsonl:57, did you mean "positive"?), "negative" 59, "positive" 60. A long list ends early.
  std::string rarestFirst(size_t surplus, const std::function<std::string(uint64_t)> &placeOf) const;
  /// A warning where some are whole numbers and some are not: a line of headings, or numbers that are no names. Else empty.
  std::string mixedText(const std::function<std::string(uint64_t)> &placeOf) const;

  /// A warning where the first row alone has its class, and every other class has several: a line of headings. Else empty.
  std::string headingText(const std::function<std::string(uint64_t)> &placeOf) const;

private:
  struct Seen {
    uint64_t rows = 0, first = 0;
  };
  std::map<std::string, Seen> all;
};

/// Numbers of names: their places.
class ClassNumbers {
public:
  ClassNumbers() = default;
  explicit ClassNumbers(const std::vector<std::string> &names);
  std::optional<int32_t> find(const std::string &name) const;

private:
  std::unordered_map<std::string, int32_t> numbers;
};

/// The classes of `input`, which takes `bound` (-1: any): those that data have, `found`, as weights from `file` number them,
/// others behind. Where there is no room for all of them, others take the numbers of those that the data do not have; where the
/// weights know none of them, or have more than the input takes, they are another task's. `said`: what a person should know, or
/// empty.
std::vector<std::string> numberedAs(const std::vector<std::string> &ofWeights, const std::string &file,
                                    const std::vector<std::string> &found, const std::string &input, int64_t bound,
                                    std::string &said);

/// How many rows for training have each class.
struct ClassCounts {
  std::string input;
  size_t position;            // of the input
  std::vector<uint64_t> rows; // by class, as many as the input takes

  /// The inputs of one index per row whose values are few enough to be classes; lengths are none.
  static std::vector<ClassCounts> of(const std::vector<InputTensor> &inputs);
  /// "classes of label: 0 negative: 120, 1 positive: 80"; of many their number, the fewest and the most. `names` may be null or
  /// too short.
  std::string text(const std::vector<std::string> *names) const;
  /// A warning of the classes that no row has; empty where there are none.
  std::string lackingText(const std::vector<std::string> *names) const;
};

} // namespace tenon::data
