// tenon: compiles, trains and runs models. Links the runtime only; the compiler is a library that is opened when it is needed.
#include "runtime/base/Printable.h"
#include "tools/compiler/CommandLine.h"
#include "tools/tenon/Command.h"
#include "tools/tenon/CommandTables.h"
#include "tools/tenon/ForeignOptions.h"
#include <cstdio>

namespace tenon::driver {

int report(const Status &status) {
  if (status.ok())
    return 0;
  bool stopped = status.kind() == runtime::ErrorKind::Resumable;
  if (!status.message().empty()) // else all is said
    fprintf(stderr, "tenon: %s%s\n", stopped ? "" : "error: ", runtime::printable(status.message()).c_str());
  return status.exitCode();
}

Status finishOutput() {
  // ferror remembers what an earlier flush has said.
  if (fflush(stdout) == 0 && !ferror(stdout))
    return {};
  return runtime::resourceError("cannot write to the standard output");
}

void onRun(CLI::App &command, int &exitCode, Action action) {
  command.callback([&exitCode, action = std::move(action)] { exitCode = report(action()); });
}

} // namespace tenon::driver

namespace {

using tenon::driver::concat;

constexpr const char *kExamples = R"(Examples:
  tenon check model.tn                                    shapes, index ranges, names
  tenon train model.tn --recipe small --text book.txt --out run
  tenon eval run                                          held-out text
  tenon generate run --prompt "In the beginning"
  tenon run model.tn --weights w.safetensors --input ids=@ids.npy --output logits=@out.npy
  tenon inspect run                                       parameters, memory, kernels
  tenon explain T0207                                     the page of an error
)";

std::vector<std::string> namesOf(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

tenon::runtime::Status noCommand(const CLI::App &app, const std::string &word) {
  std::string nearest = tenon::nearestOf(word, namesOf(app));
  return tenon::driver::usageError("there is no command '", word, "'; there are: ", joined(namesOf(app)),
                                   nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

/// Output that is lost is an error of its own, whatever the command has said about the rest; once it is said it is enough.
int finish(int exitCode) {
  tenon::runtime::Status status = tenon::driver::finishOutput();
  return status.ok() || exitCode == status.exitCode() ? exitCode : tenon::driver::report(status);
}

constexpr const char *kDescription = "Tenon compiles models written in the Tenon language and trains, evaluates and runs them.";

std::string footer() {
  std::string codes;
  for (const auto &[code, meaning] : tenon::driver::exitCodes())
    codes += (codes.empty() ? "" : ", ") + code + " " + meaning;
  return concat(kExamples,
                "\nWhat a command compiles stays in ~/.cache/tenon (TENON_CACHE: elsewhere), the 200 models used last and at "
                "most 1 GiB of them.\n",
                "Exit codes: ", codes, ".");
}

void addCompletion(CLI::App &app) {
  auto shell = std::make_shared<std::string>();
  CLI::App *command = app.add_subcommand("completion", "print a script by which a shell completes command lines");
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n  source <(tenon completion bash)\n  tenon completion fish > ~/.config/fish/completions/tenon.fish");
  command->callback([&app, shell] { fputs(completionScript(tenon::driver::commandTables(app), *shell).c_str(), stdout); });
}

void addManual(CLI::App &app) {
  CLI::App *command = app.add_subcommand("man", "print the manual page");
  command->footer("Example: tenon man | man -l -");
  command->callback([&app] { fputs(manualPage(tenon::driver::commandTables(app), kDescription).c_str(), stdout); });
}

void addCommands(CLI::App &app, int &exitCode) {
  using namespace tenon::driver;
  tenon::compiler::declareCommands(app);
  addInit(app, exitCode);
  addTrain(app, exitCode);
  addEval(app, exitCode);
  addRun(app, exitCode);
  addGrad(app, exitCode);
  addGenerate(app, exitCode);
  addInspect(app, exitCode);
  addExport(app, exitCode);
  addRuns(app, exitCode);
  addScore(app, exitCode);
  addPlot(app, exitCode);
  addTestGrad(app, exitCode);
  addCompletion(app);
  addManual(app);
  tenon::takeOneValueEach(app);
}

} // namespace

int main(int argc, char **argv) {
  using namespace tenon::driver;
  std::string command = argc > 1 ? argv[1] : "";
  if (command == "check" || command == "compile" || command == "explain" || command == "fmt")
    return finish(runCompiler(std::vector<std::string>(argv, argv + argc), true));

  CLI::App app(kDescription, "tenon");
  app.formatter(std::make_shared<tenon::HelpFormatter>());
  app.footer(footer());
  app.set_version_flag("--version", "tenon " TENON_VERSION);
  int exitCode = 0;
  addCommands(app, exitCode);
  app.require_subcommand(1);
  if (!command.empty() && command[0] != '-' &&
      app.get_subcommands([&](CLI::App *one) { return one->check_name(command); }).empty())
    return report(noCommand(app, command));
  if (argc == 1) {
    fprintf(stderr, "%s", app.help().c_str());
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &help) {
    exitCode = app.exit(help);
  } catch (const CLI::CallForVersion &version) {
    exitCode = app.exit(version);
  } catch (const CLI::ParseError &error) {
    fprintf(stderr, "tenon: error: %s; see tenon %s--help\n",
            tenon::runtime::printable(tenon::textOf(app, error, adviceFor)).c_str(),
            app.get_subcommands().empty() ? "" : (app.get_subcommands()[0]->get_name() + " ").c_str());
    return 2;
  } catch (const std::bad_alloc &) {
    fprintf(stderr, "tenon: error: out of memory\n");
    return 5;
  } catch (const std::exception &exception) { // of the standard library: nothing here throws
    return report(tenon::runtime::bugError("an unexpected exception: ", exception.what()));
  }
  return finish(exitCode);
}
