#include "frontend/sema/builtins/Distributions.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>

namespace tenon::sema {

namespace {

std::string numberText(double number, const char *format = "%.6g") {
  char text[32];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

Value then(const Distribution &before, const std::string &step) {
  auto after = std::make_shared<Distribution>(before);
  after->kind += " " + step;
  Value value;
  value.kind = Value::Kind::Distribution;
  value.distribution = std::move(after);
  return value;
}

std::vector<std::string> stepsOf(const std::string &kind) {
  std::istringstream words(kind);
  return {std::istream_iterator<std::string>(words), {}};
}

/// The widest draws: 64 random bits bring no normal number beyond nine deviations.
std::pair<double, double> rangeOf(const Initializer &init) {
  double a = std::fabs(init.a);
  for (double each : init.perElement)
    a = std::fmax(a, std::fabs(each));
  const std::string kind = stepsOf(init.kind).front();
  const double widest = kind == "normal" || kind == "kaiming_normal" ? 9 * a : kind == "trunc_normal" ? 2 * a : a;
  return {-widest, widest};
}

} // namespace

std::optional<Value> withDistribution(const std::string &op, const Value &left, const Value &right) {
  const bool first = left.kind == Value::Kind::Distribution;
  if (first == (right.kind == Value::Kind::Distribution))
    return std::nullopt;
  const Distribution &draws = *(first ? left : right).distribution;
  const std::optional<double> number = (first ? right : left).asReal();
  if (!number)
    return std::nullopt;
  auto add = [](double by) { return "add " + numberText(by, "%.17g"); };
  auto times = [](double by) { return "times " + numberText(by, "%.17g"); };
  if (op == "+")
    return then(draws, add(*number));
  if (op == "*")
    return then(draws, times(*number));
  if (op == "-")
    return then(draws, first ? add(-*number) : times(-1) + " " + add(*number));
  if (op == "/" && first && *number != 0)
    return then(draws, times(1 / *number));
  return std::nullopt;
}

std::optional<Value> ofDistribution(const std::string &function, const Value &argument) {
  if (argument.kind != Value::Kind::Distribution || (function != "exp" && function != "log"))
    return std::nullopt;
  return then(*argument.distribution, function);
}

std::string mistakeOfDraws(const Initializer &init) {
  auto [low, high] = rangeOf(init);
  const std::vector<std::string> words = stepsOf(init.kind);
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string &what = words[i];
    const double before = low;
    if (what == "add" || what == "times") {
      const double number = std::strtod(words[++i].c_str(), nullptr);
      low = what == "add" ? low + number : low * number;
      high = what == "add" ? high + number : high * number;
      if (low > high)
        std::swap(low, high);
    } else {
      low = what == "exp" ? std::exp(low) : low > 0 ? std::log(low) : -INFINITY;
      high = what == "exp" ? std::exp(high) : std::log(high);
    }
    if (!std::isfinite(low) || !std::isfinite(high))
      return "a draw may be " + numberText(what == "log" ? before : high) + ", whose " + what + " is not finite";
  }
  return "";
}

} // namespace tenon::sema
