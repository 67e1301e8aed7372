// Classes of an input index(C)[B]: the names that a file has for them, and how many rows for training each has.
#pragma once
#include "runtime/data/Task.h"
#include <functional>

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

private:
  struct Seen {
    uint64_t rows = 0, first = 0;
  };
  std::map<std::string, Seen> all;
};

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
