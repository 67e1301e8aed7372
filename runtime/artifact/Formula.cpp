#include "runtime/artifact/Formula.h"
#include "runtime/base/Checked.h"
#include <algorithm>
#include <cctype>

namespace tenon::runtime {

namespace {

constexpr int kNesting = 64;

/// Evaluates while it reads. The first error is kept; from then on nothing more is read.
class Reader {
public:
  Reader(std::string_view text, const std::map<std::string, int64_t, std::less<>> &dims) : text(text), dims(dims) {}

  Expected<std::optional<int64_t>> read() {
    define();
    int64_t value = sum(0);
    skip();
    if (problem.empty() && at < text.size())
      fail("an operator is missing");
    if (!problem.empty())
      return inputError("'", text.substr(0, 60), "' is no formula: ", problem, " at ", at);
    return tooLarge ? std::optional<int64_t>() : std::optional<int64_t>(value);
  }

private:
  void fail(std::string_view what) {
    if (problem.empty())
      problem = what;
  }
  void skip() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  bool take(char wanted) {
    skip();
    if (!problem.empty() || at == text.size() || text[at] != wanted)
      return false;
    ++at;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted))
      fail(concat("expected ", wanted));
  }
  int64_t kept(std::optional<int64_t> value) {
    tooLarge |= !value;
    return value.value_or(0);
  }

  /// `%3 = max(T, 4); `, as often as there is one: %3 stands for the value behind it.
  void define() {
    while (problem.empty()) {
      const size_t start = at;
      if (!take('%'))
        return;
      const int64_t name = number();
      if (!take('=')) {
        at = start; // it is used
        return;
      }
      const int64_t value = sum(0);
      expect(';');
      if (problem.empty() && !defined.try_emplace(name, value).second)
        fail("it is defined twice");
    }
  }

  int64_t sum(int depth) {
    if (depth > kNesting)
      fail("too many brackets");
    bool negative = take('-');
    int64_t value = product(depth);
    if (negative)
      value = kept(checkedMultiply<int64_t>(value, -1));
    while (problem.empty()) {
      if (take('+'))
        value = kept(checkedAdd(value, product(depth)));
      else if (take('-'))
        value = kept(checkedAdd(value, kept(checkedMultiply<int64_t>(product(depth), -1))));
      else
        break;
    }
    return value;
  }

  int64_t product(int depth) {
    int64_t value = factor(depth);
    while (take('*'))
      value = kept(checkedMultiply(value, factor(depth)));
    return value;
  }

  int64_t number() {
    int64_t value = 0;
    if (at == text.size() || !isdigit(static_cast<unsigned char>(text[at])))
      fail("expected a number");
    for (; at < text.size() && isdigit(static_cast<unsigned char>(text[at])); ++at) {
      auto shifted = checkedMultiply<int64_t>(value, 10);
      value = kept(shifted ? checkedAdd<int64_t>(*shifted, text[at] - '0') : std::nullopt);
    }
    return value;
  }

  int64_t factor(int depth) {
    skip();
    if (!problem.empty() || at == text.size()) {
      fail("expected a number, a dim or a bracket");
      return 0;
    }
    if (isdigit(static_cast<unsigned char>(text[at])))
      return number();
    if (take('(')) {
      int64_t value = sum(depth + 1);
      expect(')');
      return value;
    }
    if (take('%')) {
      auto found = defined.find(number());
      if (found == defined.end())
        fail("it is not defined");
      return found == defined.end() ? 0 : found->second;
    }
    size_t start = at;
    while (at < text.size() && (isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
      ++at;
    std::string_view name = text.substr(start, at - start);
    if (name.empty()) {
      fail("expected a number, a dim or a bracket");
      return 0;
    }
    if (take('('))
      return call(name, depth + 1);
    auto found = dims.find(name);
    if (found == dims.end())
      fail(concat("there is no dim ", name));
    return found == dims.end() ? 0 : found->second;
  }

  int64_t call(std::string_view name, int depth) {
    int64_t value = sum(depth);
    if (name == "max") {
      while (take(','))
        value = std::max(value, sum(depth));
      expect(')');
      return value;
    }
    if (name != "ceil" && name != "floor" && name != "mod") {
      fail(concat("there is no function ", name));
      return 0;
    }
    expect(name == "mod" ? ',' : '/');
    skip();
    int64_t divisor = number();
    expect(')');
    if (problem.empty() && (divisor < 1 || value < 0))
      fail("a division needs a divisor above 0 and no negative dividend");
    if (!problem.empty() || divisor < 1 || tooLarge)
      return 0;
    return name == "mod" ? value % divisor : value / divisor + (name == "ceil" && value % divisor != 0 ? 1 : 0);
  }

  std::string_view text;
  const std::map<std::string, int64_t, std::less<>> &dims;
  std::map<int64_t, int64_t> defined;
  size_t at = 0;
  std::string problem;
  bool tooLarge = false;
};

} // namespace

Expected<std::optional<int64_t>> evaluateFormula(std::string_view text, const std::map<std::string, int64_t, std::less<>> &dims) {
  return Reader(text, dims).read();
}

} // namespace tenon::runtime
