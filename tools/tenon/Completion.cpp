// Completion of command lines: scripts that know all commands and options, so that a shell need not ask.
#include "runtime/base/Status.h"
#include "tools/tenon/CommandTables.h"

namespace tenon::driver {

using runtime::concat;
using Value = OptionTable::Value;

namespace {

std::string joined(const std::vector<std::string> &words, const char *between = " ") {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : between) + word;
  return text;
}

std::string namesOf(const std::vector<CommandTable> &commands) {
  std::vector<std::string> names;
  for (const CommandTable &command : commands)
    names.push_back(command.name);
  return joined(names);
}

std::string optionsOf(const CommandTable &command) {
  std::string text;
  for (const OptionTable &option : command.options)
    text += (text.empty() ? "" : " ") + joined(option.names);
  return text;
}

/// The text with a backslash in front of each of these characters.
std::string escaped(const std::string &text, std::string_view characters) {
  std::string result;
  for (char character : text) {
    if (characters.find(character) != std::string_view::npos)
      result += '\\';
    result += character;
  }
  return result;
}

/// 'text', for zsh and fish.
std::string quoted(const std::string &text, const char *quoteInside) {
  std::string result = "'";
  for (char character : text)
    result += character == '\'' ? quoteInside : std::string(1, character);
  return result + "'";
}

std::string bashValue(const OptionTable &option) {
  switch (option.value) {
  case Value::Words:
    return concat("_tenon_words '", joined(option.words), "'");
  case Value::File:
    return "_tenon_files";
  case Value::Specification:
    return "_tenon_specifications";
  case Value::Folder:
    return "_tenon_folders";
  default:
    return ":"; // a text of the user's
  }
}

constexpr const char *kBashHead = R"(# bash completion for tenon, made by `tenon completion bash`
_tenon_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word"); }
_tenon_paths() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY; }
_tenon_files() { _tenon_paths < <(compgen -f -- "$word"); }
_tenon_folders() { _tenon_paths < <(compgen -d -- "$word"); }
_tenon_specifications() { _tenon_paths < <(compgen -d -- "$word"; compgen -f -X '!*.tn' -- "$word"); }
_tenon() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= i
  COMPREPLY=()
  # bash cuts --option=word into three
  if [[ $word == = ]]; then word=
  elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} != -* ]]; then command=${COMP_WORDS[i]}; break; fi
  done
  case "$command $before" in
)";

std::string bashScript(const std::vector<CommandTable> &commands) {
  std::string text = kBashHead;
  for (const CommandTable &command : commands)
    for (const OptionTable &option : command.options)
      for (const std::string &name : option.names)
        if (option.value != Value::Nothing)
          text += concat("    '", command.name, " ", name, "') ", bashValue(option), "; return ;;\n");
  text += "  esac\n  case $command in\n";
  text += concat("    '') _tenon_words '", namesOf(commands), " --help --version' ;;\n");
  for (const CommandTable &command : commands) {
    text += concat("    ", command.name, ") if [[ $word == -* ]]; then _tenon_words '", optionsOf(command), "'");
    if (!command.arguments.empty())
      text += concat("; else ", bashValue(command.arguments.front()));
    text += "; fi ;;\n";
  }
  return text + "  esac\n}\ncomplete -F _tenon tenon\n";
}

std::string zshValue(const OptionTable &option) {
  const std::string type = ":" + escaped(option.type.empty() ? "value" : option.type, ":[]\\");
  switch (option.value) {
  case Value::Nothing:
    return "";
  case Value::Words:
    return concat(type, ":(", joined(option.words), ")");
  case Value::File:
    return type + ":_files";
  case Value::Specification:
    return type + ":_files -g \"*.tn(-.) *(-/)\"";
  case Value::Folder:
    return type + ":_files -/";
  case Value::Text:
    break;
  }
  return type + ": ";
}

std::string zshScript(const std::vector<CommandTable> &commands) {
  auto quote = [](const std::string &value) { return quoted(value, "'\\''"); };
  std::string text = "#compdef tenon\n# zsh completion for tenon, made by `tenon completion zsh`\n_tenon() {\n  local context "
                     "state state_descr line\n"
                     "  typeset -A opt_args\n  local -a commands=(\n";
  for (const CommandTable &command : commands)
    text += concat("    ", quote(command.name + ":" + escaped(command.description, ":\\")), "\n");
  text += "  )\n  _arguments -C '(- *)--help[help]' '(- *)--version[version]' '1:command:->command' '*::argument:->argument'\n"
          "  case $state in\n  command) _describe command commands ;;\n  argument)\n    case $words[1] in\n";
  for (const CommandTable &command : commands) {
    text += concat("    ", command.name, ") _arguments");
    for (const OptionTable &option : command.options)
      for (const std::string &name : option.names) {
        bool isLong = name.starts_with("--");
        text += " \\\n      " + quote(concat(option.repeats ? "*" : "", name,
                                             option.value == Value::Nothing ? ""
                                             : isLong                       ? "="
                                                                            : "+",
                                             "[", escaped(option.description, "[]\\"), "]", zshValue(option)));
      }
    for (size_t i = 0; i < command.arguments.size(); ++i)
      text += " \\\n      " +
              quote(concat(command.arguments[i].repeats ? "*" : std::to_string(i + 1), zshValue(command.arguments[i])));
    text += " ;;\n";
  }
  return text + "    esac ;;\n  esac\n}\nif [ \"$funcstack[1]\" = _tenon ]; then _tenon \"$@\"; else compdef _tenon tenon; fi\n";
}

std::string fishValue(const OptionTable &option) {
  switch (option.value) {
  case Value::Nothing:
    return "";
  case Value::Words:
    return concat(" -x -a '", joined(option.words), "'");
  case Value::File:
    return " -r -F";
  case Value::Specification:
    return " -x -a '(__fish_complete_suffix .tn)'";
  case Value::Folder:
    return " -x -a '(__fish_complete_directories)'";
  case Value::Text:
    break;
  }
  return " -x";
}

std::string fishScript(const std::vector<CommandTable> &commands) {
  auto quote = [](const std::string &value) { return quoted(escaped(value, "\\"), "\\'"); };
  std::string text = "# fish completion for tenon, made by `tenon completion fish`\ncomplete -c tenon -f\n"
                     "complete -c tenon -n __fish_use_subcommand -l help -d help\ncomplete -c tenon -n __fish_use_subcommand -l "
                     "version -d version\n";
  for (const CommandTable &command : commands)
    text += concat("complete -c tenon -n __fish_use_subcommand -a ", command.name, " -d ", quote(command.description), "\n");
  for (const CommandTable &command : commands) {
    const std::string line = concat("complete -c tenon -n '__fish_seen_subcommand_from ", command.name, "'");
    for (const OptionTable &option : command.options) {
      std::string names;
      for (const std::string &name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      text += concat(line, names, fishValue(option), " -d ", quote(option.description), "\n");
    }
    if (!command.arguments.empty() && command.arguments.front().value != Value::Text)
      text += concat(line, fishValue(command.arguments.front()), "\n");
  }
  return text;
}

} // namespace

std::string completionScript(const std::vector<CommandTable> &commands, const std::string &shell) {
  return shell == "bash" ? bashScript(commands) : shell == "zsh" ? zshScript(commands) : fishScript(commands);
}

} // namespace tenon::driver
