#include "tools/compiler/CommandLine.h"
#include "runtime/device/Cpu.h"
#include "tools/Help.h"
#include "tools/NumericsOption.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

namespace tenon::compiler {

namespace {

constexpr const char *kStages = "ast|checked|graph|tenon|fused|grad|kernel|schedule|llvm|asm|obj|lib";

struct Texts {
  std::vector<std::string> set, bind, recipeBind;
  std::string diagnostics = "text";
};

void addModelOptions(CLI::App &command, CommandLine &line, Texts &texts) {
  command.add_option("file", line.check.path, "specification (.tn)")->required()->type_name("FILE");
  command.add_option("--model", line.check.model, "model (default: the last of the file)");
  command.add_option("--set", texts.set, "config of the model, such as --set D=256")->type_name("NAME=VALUE");
  command.add_option("--bind", texts.bind, "size of a symbolic dim, such as --bind B=8")->type_name("NAME=SIZE");
  command
      .add_option("--bind-recipe", texts.recipeBind, "size of a dim in the entries eval and train alone, instead of the recipe's")
      ->type_name("NAME=SIZE");
  command.add_option("--entry", line.check.entries, "only this entry; may be given again");
  command
      .add_option("--model-root", line.check.modelRoots,
                  "folder of std.tn and of imports, instead of TENON_MODELS and of the installed one; may be given again")
      ->type_name("DIR");
  command.add_option("--diagnostics", texts.diagnostics, "text to stderr, or json to stdout")
      ->check(CLI::IsMember({"text", "json"}));
}

/// As the library says those of IsMember, for help and completion.
std::string choicesOf(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ",") + name;
  return "{" + text + "}";
}

void addTargetOptions(CLI::App &compile, CommandLine &line, const std::string &targets) {
  compile.add_option("--target", line.target, "machine that the code is for: " + targets + " (default: cpu)");
  compile
      .add_option("--tier", line.tiers,
                  "code for this tier only, best: the one that this machine takes; may be given again (default: all that the "
                  "model has code of its own for)")
      ->type_name("TEXT:" + choicesOf(runtime::tierChoices())); // checked by the target
  compile
      .add_option("--save-gpu-ir", line.kernelDirectory,
                  "existing folder where the code of a GPU's kernels is kept before it becomes PTX, for tests without a GPU")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
}

void addCommands(CLI::App &app, CommandLine &line, Texts &texts, const std::string &targets) {
  CLI::App *check = app.add_subcommand("check", "shapes, index ranges, names and recipes of every model of a file");
  addModelOptions(*check, line, texts);
  check->add_option("--recipe", line.check.recipe, "a train recipe that has to be there");
  check->footer("Examples:\n  tenon check model.tn\n  tenon check model.tn --set D=512 --diagnostics=json");

  CLI::App *compile = app.add_subcommand("compile", "an artifact: library, header and manifest");
  addModelOptions(*compile, line, texts);
  CLI::Option *recipe = compile->add_option("--recipe", line.check.recipe,
                                            "train recipe whose step the artifact has (default: the only one of the model)");
  compile->add_flag("--no-recipe", line.noRecipe, "no training step, also where the model has one recipe only")->excludes(recipe);
  compile->add_option("-o,--output", line.output, "directory of the artifact")->type_name("DIR");
  compile->add_option("--name", line.name, "name of the artifact (default: of the file)");
  addTargetOptions(*compile, line, targets);
  compile->add_option("--emit", line.emit, std::string("print a stage instead: ") + kStages)
      ->check(CLI::IsMember(
          {"ast", "checked", "graph", "tenon", "fused", "grad", "kernel", "schedule", "llvm", "asm", "obj", "lib"}));
  CLI::Option *wide = compile->add_flag("--f64", line.doublePrecision, "double precision");
  addNumericsOption(*compile, line.numerics, "of the recipe's policy, else f32", wide);
  compile->add_flag("--grad", line.gradient, "the entry `grad`, losses and gradients, instead of the others");
  compile->add_flag("--decomposed", line.decomposed, "without fused ops, for comparison");
  compile->add_flag("--simple-kernels", line.simpleKernels, "fused ops are taken apart behind differentiation, for comparison");
  compile->add_flag("--quick", line.quick, "compile in less time to slower code with the same bits");
  compile
      ->add_flag("--attention-maps", line.check.attentionMaps,
                 "outs and eval also keep what each attend sees, as states `attention[T, S] PATH`")
      ->excludes("--grad");
  compile->add_flag("--without-sources", line.withoutSources,
                    "do not keep the specification in NAME.sources beside the artifact, which then has its own numerics only");
  compile->add_flag("--json", line.json, "memory and kernels of the artifact as one JSON object");
  compile
      ->add_flag("--default-recipe", line.defaultRecipe,
                 "as --recipe with the only recipe of the model, for stages, too; it is an error to have several")
      ->excludes("--no-recipe");
  compile->footer("Examples:\n  tenon compile model.tn --recipe small -o model\n  tenon compile model.tn --emit=kernel\n"
                  "MLIR's own flags work too: --mlir-print-ir-after-all, --mlir-timing.");

  CLI::App *explain = app.add_subcommand("explain", "the page of an error code");
  explain->add_option("code", line.code, "such as T0207")->required();
  explain->footer("Example: tenon explain T0207");

  CLI::App *format = app.add_subcommand(
      "fmt", "give specifications their one look: tokens and comments stay, blanks and line breaks may change");
  format->add_option("files", line.files, "specifications (.tn), or - for standard input to standard output")
      ->required()
      ->type_name("FILE");
  format->add_flag("--check", line.checkOnly, "change nothing: list the files that would change; exit code 1 if there are any");
  format->footer("Examples:\n  tenon fmt model.tn\n  tenon fmt --check models/*.tn\n  tenon fmt - < model.tn\n"
                 "A file with mistakes is left as it is. --diagnostics of check tells of them to tools.");
  takeOneValueEach(app);
  app.require_subcommand(1);
}

/// NAME=VALUE; false after a message.
bool split(const std::string &option, const std::string &text, std::string &name, std::string &value) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    complain(option + " takes NAME=VALUE, not '" + text + "'");
    return false;
  }
  name = text.substr(0, equals);
  value = text.substr(equals + 1);
  return true;
}

bool readSizes(const std::string &option, const std::vector<std::string> &texts,
               std::vector<std::pair<std::string, int64_t>> &sizes) {
  std::string name, value;
  for (const std::string &text : texts) {
    if (!split(option, text, name, value))
      return false;
    std::optional<int64_t> size = wholeNumber(value);
    if (!size || *size < 1) {
      complain(option + " takes a size of at least 1, not '" + text + "'");
      return false;
    }
    sizes.emplace_back(name, *size);
  }
  return true;
}

bool readPairs(const Texts &texts, CheckOptions &check) {
  std::string name, value;
  for (const std::string &text : texts.set) {
    if (!split("--set", text, name, value))
      return false;
    check.set.emplace_back(name, value);
  }
  return readSizes("--bind", texts.bind, check.bind) && readSizes("--bind-recipe", texts.recipeBind, check.recipeBind);
}

CommandLine::Command commandOf(const CLI::App &app) {
  std::string name = app.get_subcommands()[0]->get_name();
  return name == "check"     ? CommandLine::Command::Check
         : name == "compile" ? CommandLine::Command::Compile
         : name == "fmt"     ? CommandLine::Command::Format
                             : CommandLine::Command::Explain;
}

bool isName(const std::string &name) {
  constexpr const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  return name.empty() ||
         (strchr(letters, name[0]) && name.find_first_not_of(std::string(letters) + "0123456789-.") == std::string::npos);
}

/// An option that the stage does not depend on would be ignored. False after a message.
bool checkUnread(const CLI::App &compile, const CommandLine &line) {
  const std::string stage = line.emit.empty() ? "lib" : line.emit.front();
  std::set<std::string> unread; // by the stages before the code of a tier stands
  if (stage != "lib" && stage != "obj" && stage != "llvm" && stage != "asm")
    unread = {"--tier", "--save-gpu-ir"};
  if (stage != "lib" && stage != "obj")
    unread.insert("--name");
  if (!line.emit.empty())
    unread.insert("--without-sources");
  if (std::set<std::string>{"ast", "checked", "graph", "tenon", "fused", "grad"}.count(stage))
    unread.insert("--simple-kernels");
  if (stage == "llvm" || line.isForHost())
    unread.insert("--save-gpu-ir");
  if (stage != "lib" && stage != "obj" && stage != "asm")
    unread.insert("--quick");
  if (stage == "ast" || stage == "checked" || stage == "graph")
    unread.insert({"--f64", "--numerics", "--grad", "--decomposed", "--target"});
  if (stage == "ast")
    unread.insert({"--model", "--set", "--bind", "--bind-recipe", "--recipe", "--no-recipe", "--default-recipe", "--entry",
                   "--model-root", "--attention-maps"});
  for (const CLI::Option *option : compile.get_options())
    if (option->count() > 0 && unread.count(option->get_name())) {
      const bool isOfTarget = line.isForHost() && option->get_name() == "--save-gpu-ir";
      complain(option->get_name() + " has no effect on " + (isOfTarget ? "the target " + line.target : "--emit=" + stage));
      return false;
    }
  return true;
}

/// Text goes to standard output, files into the directory of -o. False after a message.
bool checkOutput(const CommandLine &line) {
  if (line.command != CommandLine::Command::Compile) {
    if (!line.mlirFlags.empty())
      complain(line.mlirFlags[0] + " belongs to tenon compile");
    return line.mlirFlags.empty();
  }
  bool files = line.emit.empty() || line.emit == std::vector<std::string>{"lib"} || line.emit == std::vector<std::string>{"obj"};
  const char *mistake = nullptr;
  if (files && line.output.empty())
    mistake = line.emit.empty() ? "compile needs the directory of the artifact, -o DIR, or --emit=STAGE"
                                : "files need a directory, -o DIR";
  else if (line.emit.size() > 1)
    mistake = "one --emit at a time";
  else if (!files && !line.output.empty())
    mistake = "this stage is text for standard output; -o is for files";
  else if (!files && line.json)
    mistake = "--json describes an artifact; a stage is text";
  else if (line.name.find('/') != std::string::npos)
    mistake = "--name is a part of file names and cannot have a /; the directory is that of -o";
  else if (!isName(line.name))
    mistake = "--name becomes libNAME.so and the names in NAME.h: letters, digits, '_', '-' and '.', a letter or '_' first";
  else if (line.gradient && std::any_of(line.check.entries.begin(), line.check.entries.end(),
                                        [](const std::string &name) { return name != "grad"; }))
    mistake = "--grad makes the entry grad and no other; leave --entry out";
  if (mistake)
    complain(mistake);
  return !mistake;
}

} // namespace

void declareCommands(CLI::App &app) {
  static CommandLine line; // options hold references
  static Texts texts;
  addCommands(app, line, texts, "tenon compile --help names them");
}

std::string artifactName(const CommandLine &line) {
  return line.name.empty() ? std::filesystem::path(line.check.path).stem().string() : line.name;
}

bool parseCommandLine(int argc, const char **argv, const std::string &targets, CommandLine &line, int &exitCode) {
  CLI::App app("The Tenon compiler.", "tenon");
  app.formatter(std::make_shared<HelpFormatter>());
  Texts texts;
  addCommands(app, line, texts, targets);
  std::vector<std::string> arguments; // CLI11 takes them from the back
  for (int i = argc - 1; i > 0; --i)
    if (std::string argument = argv[i]; argument.starts_with("--mlir-"))
      line.mlirFlags.insert(line.mlirFlags.begin(), argument);
    else
      arguments.push_back(argument);
  exitCode = 2;
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp &help) {
    exitCode = app.exit(help);
    return false;
  } catch (const CLI::ParseError &error) {
    bool known = !app.get_subcommands().empty();
    complain(textOf(app, error) + "; see tenon " + (known ? app.get_subcommands()[0]->get_name() + " " : "") + "--help");
    return false;
  }
  line.command = commandOf(app);
  line.jsonDiagnostics = texts.diagnostics == "json";
  if (line.command == CommandLine::Command::Compile && !checkUnread(*app.get_subcommands()[0], line))
    return false;
  if (!checkOutput(line) || !readPairs(texts, line.check))
    return false;
  if (line.gradient) // made from the entry of the losses; all that is left of --entry is `grad`
    line.check.entries.clear();
  return true;
}

} // namespace tenon::compiler
