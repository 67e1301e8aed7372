// How the commands print their help and check numbers: examples come first.
#pragma once
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace tenon {

/// Puts the footer in front where it holds examples.
class HelpFormatter : public CLI::Formatter {
public:
  std::string make_help(const CLI::App *app, std::string name, CLI::AppFormatMode mode) const override {
    return (leads(app) ? app->get_footer() + "\n\n" : "") + CLI::Formatter::make_help(app, name, mode);
  }
  std::string make_footer(const CLI::App *app) const override { return leads(app) ? "" : CLI::Formatter::make_footer(app); }

private:
  static bool leads(const CLI::App *app) { return app->get_footer().rfind("Example", 0) == 0; }
};

/// What is wrong with a command line, in words.
inline std::string textOf(const CLI::ParseError &error) {
  std::string text = error.what();
  size_t twice = text.find(": At Most 1 required but received ");
  return twice == std::string::npos ? text : text.substr(0, twice) + " is given several times; once is enough";
}

/// The whole text as a number; nullopt for anything else, and for what T cannot hold.
template <typename T = int64_t> std::optional<T> wholeNumber(std::string_view text) {
  T value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional<T>(value) : std::nullopt;
}

/// For Option::transform, because CLI11 takes 010 for eight and cuts what is too large.
template <typename T = int64_t> CLI::Validator whole(std::type_identity_t<T> least = 0, std::type_identity_t<T> most = std::numeric_limits<T>::max()) {
  return CLI::Validator(
      [least, most](std::string &text) -> std::string {
        std::optional<T> value = wholeNumber<T>(text);
        if (!value || *value < least || *value > most)
          return "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", not '" + text + "'";
        text = std::to_string(*value);
        return {};
      },
      "", "");
}

/// A number of at least `least`, or more than it.
inline CLI::Validator atLeast(double least, bool more = false) {
  return CLI::Validator(
      [least, more](std::string &text) -> std::string {
        char *end = nullptr;
        double value = strtod(text.c_str(), &end);
        if (end != text.c_str() && !*end && std::isfinite(value) && (more ? value > least : value >= least))
          return {};
        std::string bound = std::to_string(least);
        bound.erase(bound.find_last_not_of('0') + 1);
        if (bound.back() == '.')
          bound.pop_back();
        return "must be a number " + std::string(more ? "above " : "of at least ") + bound + ", not '" + text + "'";
      },
      "", "");
}

} // namespace tenon
