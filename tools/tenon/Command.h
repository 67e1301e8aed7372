// What the subcommands share: options that choose and open a model, and how each registers itself.
#pragma once
#include "runtime/artifact/Artifact.h"
#include "runtime/base/File.h"
#include "runtime/device/Threads.h"
#include "runtime/parameters/Parameters.h"
#include "runtime/train/RunDirectory.h"
#include "tools/Help.h"
#include "tools/tenon/Cache.h"
#include <CLI/CLI.hpp>
#include <optional>

namespace tenon::driver {

using runtime::concat;
using runtime::Expected;
using runtime::inputError;
using runtime::Status;
using runtime::usageError;

/// SPEC-or-DIR and what goes with it.
struct ModelOptions {
  std::string source;                                      // a .tn file, an artifact directory or library, or a run directory
  std::string model, recipe, target, tier, numerics, name; // name: of the artifact; empty: of the file
  bool everyTier = false;                                  // a specification is compiled for all tiers, for any machine
  std::vector<std::string> set, bind, entries, roots;      // roots: folders of std.tn and imports; empty: those of the compiler
  std::vector<std::string> recipeBind;                     // sizes in the recipe's entries, train and eval, alone
  bool doublePrecision = false, gradient = false, decomposed = false, simpleKernels = false, attentionMaps = false,
       defaultRecipe = false;
  bool runsCode = true;    // false: of a model for another device than the host manifest and parameters will do
  bool bindRecipe = false; // `bind` is as `recipeBind`
  int threads = 0;
};
bool isSpecification(const std::string &path);
/// Runs that `path` is or has, in order of their names. Input error if there is no such path.
Expected<std::vector<std::string>> runsIn(const std::string &path);
enum class ModelUse {
  Compute,
  Doubles,
  Look,
  Weights
}; // Doubles: Compute in f64, without --numerics; Look: without --threads; Weights: also without --tier, for it runs no code of
   // the model
/// Adds SOURCE, --model, --set, --bind, --recipe, --target, --tier, --f64, --numerics and --threads.
void addModelOptions(CLI::App &command, ModelOptions &options, ModelUse use = ModelUse::Compute);

/// A model that is ready to make contexts.
struct Model {
  std::shared_ptr<const runtime::Artifact> artifact;
  std::optional<train::RunDirectory> run; // the source was a run directory
  std::map<std::string, int64_t> bind;    // of --bind, then of the run
  std::map<std::string, int64_t>
      call; // of --bind, for the dims of one call; none where the compiler took them, as it does for a specification
  bool compiledNow = false;                  // the source was a specification
  std::optional<ModelOptions> compiledAgain; // the source keeps its specification, which was compiled with other numerics, or for
                                             // another target
  std::string sources;                       // the folder of those that the source, no specification itself, keeps; empty: none
  runtime::File cacheLock;                   // a specification was compiled: its folder in the cache stays as long as this
};
/// Compiles a specification into the cache first. Usage error for options that only a specification can take, and for sizes of
/// unknown dims.
Expected<Model> openModel(const ModelOptions &options);
/// --bind changes nothing about the parameters of a compiled model.
Status checkUnbound(const Model &model, const ModelOptions &options);
/// --bind can only give sizes that the entry leaves open; the others were chosen when the artifact was compiled.
Status checkOpen(const Model &model, const ModelOptions &options, const std::string &entry);

/// Where parameters come from: --weights FILE [--names SCHEME], a checkpoint of a run directory (--step), or --init
/// (initializers, --seed).
struct WeightOptions {
  std::string file, names, step;      // step: of the run, as loadWeights has it
  std::string namesOption;            // what gives `names` is called so
  bool init = false, partial = false; // partial: what the file lacks or has in another shape stays initial, and is listed
  uint64_t seed = 0;
  const CLI::Option *seedOption = nullptr;
  bool seedGiven() const { return seedOption && seedOption->count() > 0; }
};
enum class WeightUse {
  Initial,
  Trained
}; // Trained: no initial values; --names is free for another use, the file's are --weight-names
void addWeightOptions(CLI::App &command, WeightOptions &options, WeightUse use = WeightUse::Initial);
/// Parameters with values; says on stderr what was skipped.
Expected<std::shared_ptr<runtime::Parameters>> loadParameters(const Model &model, const WeightOptions &options);

/// What the ids of symbols and classes mean: as the run has it, else as the weights file says; nullopt where neither does. An
/// input error where --weights are for another numbering than the run's.
Expected<std::optional<data::Vocabulary>> vocabularyOf(const Model &model, const WeightOptions &options,
                                                       const runtime::Parameters &parameters);

/// Adds --data DIR or --data INPUT=FILE, several times.
CLI::Option *addDataFiles(CLI::App &command, train::DataOverrides &data);

/// "NAME=NUMBER" of --bind.
Expected<std::map<std::string, int64_t>> parseBindings(const std::vector<std::string> &texts);
/// "NAME=@FILE" of --input and --output: name and file.
Expected<std::vector<std::pair<std::string, std::string>>> parseFiles(const std::string &option,
                                                                      const std::vector<std::string> &texts);

/// check, compile, explain, fmt and --emit live in the compiler library, which is opened when it is needed. Arguments as for
/// main. `forUser`: prints what a new artifact needs, and keeps the sources beside it.
int runCompiler(const std::vector<std::string> &arguments, bool forUser);
/// The artifact directory of a specification, compiled if the cache does not have it.
Expected<CachedModel> compileIntoCache(const ModelOptions &options);

/// Copies an artifact's files, and the sources that are kept with them, into DIRECTORY, the folder of a run's model, which is
/// replaced as a whole. `more` adds to the folder before it takes its place.
Status copyArtifact(const runtime::Artifact &artifact, const std::string &directory,
                    const std::function<Status(const std::string &)> &more = {});

/// What was printed has reached the standard output; a resource error if it cannot. Before files are replaced: a command does all
/// or nothing.
Status finishOutput();

/// Prints the one sentence of an error and gives the exit code.
int report(const Status &status);

/// Each adds its subcommand; `exitCode` is set when it has run.
using Action = std::function<Status()>;
void onRun(CLI::App &command, int &exitCode, Action action);
void addInit(CLI::App &app, int &exitCode);
void addTrain(CLI::App &app, int &exitCode);
void addEval(CLI::App &app, int &exitCode);
void addRun(CLI::App &app, int &exitCode);
void addGrad(CLI::App &app, int &exitCode);
void addGenerate(CLI::App &app, int &exitCode);
void addInspect(CLI::App &app, int &exitCode);
void addExport(CLI::App &app, int &exitCode);
void addRuns(CLI::App &app, int &exitCode);
void addScore(CLI::App &app, int &exitCode);
void addPlot(CLI::App &app, int &exitCode);
void addTestGrad(CLI::App &app, int &exitCode);

} // namespace tenon::driver
