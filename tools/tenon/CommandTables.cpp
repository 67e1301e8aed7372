#include "tools/tenon/CommandTables.h"
#include "runtime/device/Cpu.h"

namespace tenon::driver {

namespace {

/// CLI11 says choices as "TEXT:{a,b}".
std::vector<std::string> wordsOf(const std::string &type) {
  std::vector<std::string> words;
  size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos)
    return words;
  for (size_t at = open + 1; at < close;) {
    size_t end = std::min(type.find(',', at), close);
    words.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

OptionTable tableOf(const CLI::Option &option) {
  OptionTable table;
  for (const std::string &name : option.get_snames())
    table.names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    table.names.push_back("--" + name);
  if (option.get_positional())
    table.names = {option.get_name(true)};
  table.description = option.get_description();
  table.repeats = option.get_items_expected_max() > 1;
  const std::string type = option.get_type_name();
  table.words = wordsOf(type);
  table.type = type.substr(0, type.find(':'));
  if (option.get_items_expected_max() == 0)
    table.value = OptionTable::Value::Nothing;
  else if (!table.words.empty())
    table.value = OptionTable::Value::Words;
  else if (table.description.find("(.tn)") != std::string::npos)
    table.value = OptionTable::Value::Specification;
  else if (table.type == "DIR")
    table.value = OptionTable::Value::Folder;
  else if (table.type.find("FILE") != std::string::npos)
    table.value = OptionTable::Value::File;
  return table;
}

} // namespace

std::vector<CommandTable> commandTables(const CLI::App &app) {
  std::vector<CommandTable> tables;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; })) {
    CommandTable table{command->get_name(), command->get_description(), command->get_footer(), {}, {}};
    for (const CLI::Option *option : command->get_options())
      if (!option->get_group().empty())
        (option->get_positional() ? table.arguments : table.options).push_back(tableOf(*option));
    tables.push_back(std::move(table));
  }
  return tables;
}

const Meanings &exitCodes() {
  static const Meanings codes = {{"0", "ok"},
                                 {"1", "mistake in a specification"},
                                 {"2", "usage"},
                                 {"3", "input or data"},
                                 {"4", "numeric failure"},
                                 {"5", "out of memory or disk, or no linker"},
                                 {"70", "bug in the compiler"},
                                 {"75", "stopped but resumable"}};
  return codes;
}

const Meanings &environmentVariables() {
  static const Meanings variables = {
      {"TENON_CACHE", "directory of what commands compile; the user's own, and not writable by others, for it holds code. "
                      "Without it: XDG_CACHE_HOME/tenon, "
                      "or ~/.cache/tenon"},
      {"TENON_MODELS", "directory in which imports and std.tn are looked up first"},
      {"TENON_TIER", "code tier: " + runtime::listOfTierChoices() + "; as --tier"},
      {"TENON_QUICK", "if it is set, what commands compile for themselves is compiled as with compile --quick"},
      {"TENON_COMPILER", "the compiler library, instead of the installed one"},
      {"NO_COLOR", "if it is set, messages have no colours"}};
  return variables;
}

} // namespace tenon::driver
