// tenon: compiles, trains and runs models. Links the runtime only; the compiler is a library that is opened when it is needed.
#include "tools/tenon/Command.h"
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

namespace tenon::driver {

int report(const Status &status) {
  if (status.ok())
    return 0;
  bool stopped = status.kind() == runtime::ErrorKind::Resumable;
  if (!status.message().empty()) // else all is said
    fprintf(stderr, "tenon: %s%s\n", stopped ? "" : "error: ", status.message().c_str());
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

constexpr const char *kExamples = R"(Examples:
  tenon check model.tn                                    shapes, index ranges, names
  tenon train model.tn --recipe small --text book.txt --out run
  tenon eval run                                          held-out text
  tenon generate run --prompt "In the beginning"
  tenon run model.tn --weights w.safetensors --input ids=@ids.npy --output logits=@out.npy
  tenon inspect run                                       parameters, memory, kernels
  tenon explain T0207                                     the page of an error
)";

/// Edits that make one word of the other: a letter more, less, or another.
size_t distance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t corner = row[0]++;
    for (size_t j = 0; j < to.size(); ++j)
      corner = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, corner + (from[i] != to[j])}));
  }
  return row.back();
}

/// "; did you mean check?", or nothing where no command is near.
std::string suggestion(const CLI::App &app, const std::string &word) {
  std::string nearest;
  size_t least = std::min<size_t>(3, word.size()); // as many edits as letters make anything
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    if (size_t edits = distance(word, command->get_name()); edits < least) {
      least = edits;
      nearest = command->get_name();
    }
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

std::string namesOf(const CLI::App &app) {
  std::string names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names += (names.empty() ? "" : ", ") + command->get_name();
  return names;
}

/// Output that is lost is an error of its own, whatever the command has said about the rest; once it is said it is enough.
int finish(int exitCode) {
  tenon::runtime::Status status = tenon::driver::finishOutput();
  return status.ok() || exitCode == status.exitCode() ? exitCode : tenon::driver::report(status);
}

constexpr const char *kFooter = R"(What a command compiles stays in ~/.cache/tenon (TENON_CACHE: elsewhere), the 200 models used last and at most 1 GiB of them.
Exit codes: 0 ok, 1 mistake in a specification, 2 usage, 3 input or data, 4 numeric failure, 5 out of memory or disk,
70 bug in the compiler, 75 stopped but resumable.)";

} // namespace

int main(int argc, char **argv) {
  using namespace tenon::driver;
  std::string command = argc > 1 ? argv[1] : "";
  if (command == "check" || command == "compile" || command == "explain")
    return finish(runCompiler(std::vector<std::string>(argv, argv + argc), true));

  CLI::App app("Tenon compiles models written in the Tenon language and trains, evaluates and runs them.", "tenon");
  app.formatter(std::make_shared<tenon::HelpFormatter>());
  app.footer(std::string(kExamples) + "\n" + kFooter);
  app.set_version_flag("--version", "tenon " TENON_VERSION);
  app.require_subcommand(1);
  int exitCode = 0;
  app.add_subcommand("check", "check a specification; all its mistakes are listed");
  app.add_subcommand("compile", "compile a specification to an artifact, or print one stage (--emit)");
  addInit(app, exitCode);
  addTrain(app, exitCode);
  addEval(app, exitCode);
  addRun(app, exitCode);
  addGrad(app, exitCode);
  addGenerate(app, exitCode);
  addInspect(app, exitCode);
  addExport(app, exitCode);
  addRuns(app, exitCode);
  addPlot(app, exitCode);
  app.add_subcommand("explain", "print the page of an error code");
  addTestGrad(app, exitCode);
  if (!command.empty() && command[0] != '-' && app.get_subcommands([&](CLI::App *one) { return one->check_name(command); }).empty())
    return report(usageError("there is no command '", command, "'; there are: ", namesOf(app), suggestion(app, command)));
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
    fprintf(stderr, "tenon: error: %s; see tenon %s--help\n", tenon::textOf(error).c_str(),
            app.get_subcommands().empty() ? "" : (app.get_subcommands()[0]->get_name() + " ").c_str());
    return 2;
  } catch (const std::bad_alloc &) {
    fprintf(stderr, "tenon: error: out of memory\n");
    return 5;
  }
  return finish(exitCode);
}
