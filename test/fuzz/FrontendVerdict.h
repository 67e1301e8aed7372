// What an input of frontend-fuzz has to do: what `tenon check`, `tenon compile` and `tenon fmt` say about it, and that they
// agree.
#pragma once
#include <string>
#include <vector>

namespace tenon::fuzz {

/// Ends the program with the input and how to repeat it.
[[noreturn]] void fail(const char *reason);

struct Verdict {
  bool isRight = false;              // tenon check
  bool generates = false;            // a module that verifies
  std::vector<std::string> mistakes; // and warnings, of tenon check
};

class Judge {
public:
  std::vector<std::string> roots; // of imports
  std::string path;               // where inputs are written
  std::string plant;              // a fault that has to be seen
  /// Fails on a finding.
  Verdict compile(const std::string &text) const;
  /// The formatted text is the same again when it is formatted, and means the same to the checker. Texts that do not parse are
  /// none of the formatter's.
  void format(const std::string &text, const Verdict &verdict) const;
};

} // namespace tenon::fuzz
