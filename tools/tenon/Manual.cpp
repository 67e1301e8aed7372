// The manual page, in the macros of man(7).
#include "runtime/base/Status.h"
#include "tools/tenon/CommandTables.h"

namespace tenon::driver {

using runtime::concat;

namespace {

/// Text that roff prints as it is; a line that would be a request gets a character of no width in front.
std::string plain(const std::string &text) {
  std::string result;
  bool atStart = true;
  for (char character : text) {
    if (atStart && (character == '.' || character == '\''))
      result += "\\&";
    if (character == '\\')
      result += "\\e";
    else if (character == '-')
      result += "\\-";
    else
      result += character;
    atStart = character == '\n';
  }
  return result;
}

std::string optionText(const OptionTable &option) {
  std::string names;
  for (const std::string &name : option.names)
    names += (names.empty() ? "\\fB" : ", \\fB") + plain(name) + "\\fR";
  if (option.value == OptionTable::Value::Words) {
    std::string words;
    for (const std::string &word : option.words)
      words += (words.empty() ? "" : "|") + plain(word);
    names += " " + words;
  } else if (option.value != OptionTable::Value::Nothing) {
    names += concat(" \\fI", plain(option.type.empty() ? "VALUE" : option.type), "\\fR");
  }
  return concat(".TP\n", names, "\n", plain(option.description), "\n");
}

std::string commandText(const CommandTable &command) {
  std::string text = ".SS tenon " + plain(command.name);
  for (const OptionTable &argument : command.arguments)
    text += " " + plain(argument.type.empty() || argument.type == "TEXT" ? argument.names.front() : argument.type) +
            (argument.repeats ? ".." : "");
  text += "\n" + plain(command.description) + ".\n";
  for (const OptionTable &argument : command.arguments)
    text += optionText(argument);
  for (const OptionTable &option : command.options)
    if (option.names.back() != "--help")
      text += optionText(option);
  if (!command.footer.empty())
    text += concat(".PP\n.nf\n", plain(command.footer), "\n.fi\n");
  return text;
}

std::string meaningText(const Meanings &meanings) {
  std::string text;
  for (const auto &[name, meaning] : meanings)
    text += concat(".TP\n\\fB", plain(name), "\\fR\n", plain(meaning), "\n");
  return text;
}

} // namespace

std::string manualPage(const std::vector<CommandTable> &commands, const std::string &description) {
  std::string text = concat(".TH TENON 1 \"\" \"tenon " TENON_VERSION
                            "\" \"User Commands\"\n.SH NAME\ntenon \\- compile, train, evaluate and run models\n",
                            ".SH SYNOPSIS\n\\fBtenon\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]..\n.br\n\\fBtenon\\fR \\fICOMMAND\\fR "
                            "\\fB\\-\\-help\\fR\n.SH DESCRIPTION\n",
                            plain(description), "\n.SH COMMANDS\n");
  for (const CommandTable &command : commands)
    text += commandText(command);
  return concat(text, ".SH EXIT STATUS\n", meaningText(exitCodes()), ".SH ENVIRONMENT\n", meaningText(environmentVariables()));
}

} // namespace tenon::driver
