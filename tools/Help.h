// How the commands print their help and check numbers: examples come first.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

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

/// A number of at least `least`, or more than it.
inline CLI::Validator atLeast(double least, bool more = false) {
  return CLI::Validator(
      [least, more](std::string &text) -> std::string {
        char *end = nullptr;
        double value = strtod(text.c_str(), &end);
        if (end != text.c_str() && !*end && (more ? value > least : value >= least))
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
