// How the commands print their help and check numbers: examples come first.
#pragma once
#include "runtime/base/Nearest.h"
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

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

/// What to write in place of an option (the second) that a command (the first) does not have; empty if nothing is known of it.
using OptionAdvice = std::string (*)(const std::string &, const std::string &);

/// "unknown option --thread (did you mean --threads?)" for all that the command does not have, in the order in which they stand;
/// empty if there are none.
inline std::string unknownOptions(const CLI::App &app, OptionAdvice advice) {
  std::vector<std::string> known;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      known.push_back("--" + name);
  std::string text;
  size_t count = 0;
  for (const std::string &argument : app.remaining(true))
    if (argument.size() > 1 && argument[0] == '-') {
      std::string name = argument.substr(0, argument.find('=')), nearest = nearestOf(name, known),
                  instead = advice ? advice(app.get_name(), name) : "";
      text += (count++ ? ", " : "") + name +
              (!instead.empty()  ? " (" + instead + ")"
               : nearest.empty() ? ""
                                 : " (did you mean " + nearest + "?)");
    }
  return count ? (count == 1 ? "unknown option " : "unknown options ") + text : "";
}

/// What is wrong with a command line, in words.
inline std::string textOf(const CLI::App &app, const CLI::ParseError &error, OptionAdvice advice = nullptr) {
  const CLI::App &command = app.get_subcommands().empty() ? app : *app.get_subcommands().front();
  bool mayBeUnknown = dynamic_cast<const CLI::ExtrasError *>(&error) || dynamic_cast<const CLI::RequiredError *>(&error);
  if (std::string unknown = mayBeUnknown ? unknownOptions(command, advice) : ""; !unknown.empty())
    return unknown;
  if (dynamic_cast<const CLI::ExtrasError *>(&error)) {
    std::string text;
    for (const std::string &argument : command.remaining(true))
      text += (text.empty() ? "" : ", ") + ("'" + argument + "'");
    return "too many arguments: " + text;
  }
  std::string text = error.what();
  size_t twice = text.find(": At Most 1 required but received ");
  return twice == std::string::npos ? text : text.substr(0, twice) + " is given several times; once is enough";
}

/// An option that may be given again takes one value each time: CLI11 would give it all that follows, also the file of the
/// command.
inline void takeOneValueEach(CLI::App &app) {
  for (CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    for (CLI::Option *option : command->get_options())
      if (!option->get_positional() && option->get_items_expected_max() > 1)
        option->allow_extra_args(false);
}

/// The whole text as a number; nullopt for anything else, and for what T cannot hold.
template <typename T = int64_t> std::optional<T> wholeNumber(std::string_view text) {
  T value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional<T>(value) : std::nullopt;
}

/// For Option::transform, because CLI11 takes 010 for eight and cuts what is too large.
template <typename T = int64_t>
CLI::Validator whole(std::type_identity_t<T> least = 0, std::type_identity_t<T> most = std::numeric_limits<T>::max()) {
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

/// A finite number above `least`.
inline CLI::Validator above(double least) {
  return CLI::Validator(
      [least](std::string &text) -> std::string {
        char *end = nullptr;
        double value = strtod(text.c_str(), &end);
        if (end != text.c_str() && !*end && std::isfinite(value) && value > least)
          return {};
        std::string bound = std::to_string(least);
        bound.erase(bound.find_last_not_of('0') + 1);
        if (bound.back() == '.')
          bound.pop_back();
        return "must be a number above " + bound + ", not '" + text + "'";
      },
      "", "");
}

} // namespace tenon
