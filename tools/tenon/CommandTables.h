// The commands and their options as tables, read from the parser that obeys them: for completion and the manual page.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tenon::driver {

struct OptionTable {
  /// What stands behind the option; Nothing: it is a flag.
  enum class Value { Nothing, Text, Words, File, Specification, Folder } value = Value::Text;
  std::vector<std::string> names; // "-o", "--output"; of a positional argument one, without a dash
  std::vector<std::string> words; // Words
  std::string type, description;  // type: NAME=VALUE and the like
  bool repeats = false;
};

struct CommandTable {
  std::string name, description, footer;
  std::vector<OptionTable> options, arguments;
};

/// In the order of their declaration; without what belongs to no group, which is for tests.
std::vector<CommandTable> commandTables(const CLI::App &app);

/// The script that completes command lines in "bash", "zsh" or "fish".
std::string completionScript(const std::vector<CommandTable> &commands, const std::string &shell);
/// The manual page, for man(1).
std::string manualPage(const std::vector<CommandTable> &commands, const std::string &description);

/// Exit codes and environment variables with their meaning, for help and manual.
using Meanings = std::vector<std::pair<std::string, std::string>>;
const Meanings &exitCodes();
const Meanings &environmentVariables();

} // namespace tenon::driver
