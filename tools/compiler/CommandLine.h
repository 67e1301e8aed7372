// The command line of check, compile, explain and fmt.
#pragma once
#include "frontend/Sema.h"
#include <CLI/CLI.hpp>

namespace tenon::compiler {

/// The target whose code the processor of this machine runs: the default of --target. TENON_TIER is its own.
constexpr const char *kHostTarget = "cpu";

struct CommandLine {
  enum class Command { Check, Compile, Explain, Format, Help } command = Command::Help;
  CheckOptions check;                         // also `path`
  std::string output, name;                   // of the artifact
  std::string kernelDirectory;                // where LLVM's code of a GPU's kernels is kept
  std::string target = kHostTarget, numerics; // numerics: empty, or a word of schema::factorsOfF32
  bool doublePrecision = false, gradient = false, decomposed = false, simpleKernels = false, quick = false, defaultRecipe = false,
       noRecipe = false, jsonDiagnostics = false, json = false, withoutSources = false;
  std::vector<std::string> tiers;     // empty: all
  std::vector<std::string> emit;      // stages whose text is printed instead of an artifact
  std::vector<std::string> mlirFlags; // --mlir-..., as they are
  std::string code;                   // explain
  std::vector<std::string> files;     // fmt; "-": standard input
  bool checkOnly = false;             // fmt
  bool isForHost() const { return target == kHostTarget; }
};

/// "tenon: error: .." on stderr, whatever the text holds that came from outside. Each of the two that link this file has its own.
void complain(const std::string &message);

/// What was found, on stderr, in colours where it is a terminal that may have them.
void showText(const SourceFiles &sources, const Diagnostics &diagnostics);

/// NAME of libNAME.so, NAME.h and NAME.json.
std::string artifactName(const CommandLine &line);

/// Parses arguments as main gets them. Help, with what `targets` says of these, and mistakes are printed here; then the result is
/// false and `exitCode` is set.
bool parseCommandLine(int argc, const char **argv, const std::string &targets, CommandLine &line, int &exitCode);

/// The commands of the compiler with their options, for the help and the completion of `tenon`, which leaves their parsing to the
/// library.
void declareCommands(CLI::App &app);

} // namespace tenon::compiler
