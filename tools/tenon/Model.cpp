// Opening a model: SPEC-or-DIR to an artifact, and its parameters.
#include "runtime/data/VocabularyNote.h"
#include "runtime/device/Cpu.h"
#include "runtime/train/RunState.h"
#include "tools/NumericsOption.h"
#include "tools/tenon/Command.h"
#include "tools/tenon/CompiledAgain.h"
#include "tools/tenon/KeptSources.h"
#include "tools/tenon/Say.h"
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

namespace tenon::driver {

namespace fs = std::filesystem;

void addModelOptions(CLI::App &command, ModelOptions &options, ModelUse use) {
  options.runsCode = use != ModelUse::Look && use != ModelUse::Weights;
  command.add_option("source", options.source, "specification (.tn), artifact directory, or run directory")
      ->required()
      ->type_name("SPEC|DIR");
  command.add_option("--model", options.model, "model of the specification (default: its last)");
  command.add_option("--set", options.set, "config of the model, such as --set D=256")->type_name("NAME=VALUE");
  command.add_option("--bind", options.bind, "size of a symbolic dim, such as --bind B=8")->type_name("NAME=SIZE");
  command.add_option("--recipe", options.recipe,
                     "train recipe of the specification (default: the only one of the model, where the command trains)");
  command.add_option("--target", options.target, "target of the compiler (default: what the model was compiled for, else cpu)");
  if (use != ModelUse::Weights)
    command.add_option("--tier", options.tier,
                       "code tier: " + runtime::listOfTierChoices() +
                           " (default: best); a specification is compiled for it alone, by default for training for all");
  if (use == ModelUse::Compute || use == ModelUse::Doubles)
    command.add_option("--threads", options.threads, "threads (default: all CPUs)")->transform(whole(1, runtime::kMostThreads));
  CLI::Option *wide = command.add_flag("--f64", options.doublePrecision, "double precision");
  if (use == ModelUse::Compute || use == ModelUse::Look)
    addNumericsOption(command, options.numerics, "as it was compiled, or of the recipe's policy, else f32", wide);
}

CLI::Option *addDataFiles(CLI::App &command, train::DataOverrides &data) {
  auto take = [&data](const std::string &text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      data.folder = text;
    else if (equals == 0 || equals + 1 == text.size())
      throw CLI::ValidationError("--data", "takes DIR or INPUT=FILE, not '" + text + "'");
    else
      data.files[text.substr(0, equals)] = text.substr(equals + 1);
  };
  return command
      .add_option_function<std::vector<std::string>>(
          "--data",
          [take](const std::vector<std::string> &texts) {
            for (const std::string &text : texts)
              take(text);
          },
          "folder of the recipe's files, or another file for one input: --data ids=FILE.npy")
      ->type_name("DIR|INPUT=FILE");
}

Expected<std::map<std::string, int64_t>> parseBindings(const std::vector<std::string> &texts) {
  std::map<std::string, int64_t> result;
  for (const std::string &text : texts) {
    size_t equals = text.find('=');
    std::optional<int64_t> value =
        equals == std::string::npos ? std::nullopt : wholeNumber(std::string_view(text).substr(equals + 1));
    if (!value || equals == 0 || *value < 1)
      return usageError("--bind takes NAME=SIZE with a size of at least 1, not '", text, "'");
    if (!result.emplace(text.substr(0, equals), *value).second)
      return usageError("--bind gives ", text.substr(0, equals), " twice; once is enough");
  }
  return result;
}

Expected<std::vector<std::pair<std::string, std::string>>> parseFiles(const std::string &option,
                                                                      const std::vector<std::string> &texts) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const std::string &text : texts) {
    size_t equals = text.find("=@");
    if (equals == std::string::npos || equals == 0 || equals + 2 == text.size())
      return usageError(option, " takes NAME=@FILE.npy, not '", text, "'");
    std::string name = text.substr(0, equals);
    if (std::any_of(result.begin(), result.end(), [&](const auto &earlier) { return earlier.first == name; }))
      return usageError(option, " names ", name, " twice; once is enough");
    result.emplace_back(std::move(name), text.substr(equals + 2));
  }
  return result;
}

bool isSpecification(const std::string &path) { return path.size() > 3 && path.compare(path.size() - 3, 3, ".tn") == 0; }

namespace {

/// `directory`: where the artifact lies, which stays as long as the model.
Status compile(const ModelOptions &options, Model &model, std::string &directory) {
  auto compiled = compileIntoCache(options);
  if (!compiled.ok())
    return compiled.status();
  directory = compiled->directory;
  model.cacheLock = std::move(compiled->lock);
  return {};
}

bool hasArtifact(const std::string &folder) {
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".so")
      return true;
  return false;
}

/// A folder that only holds runs is none itself.
Status checkOneRun(const std::string &path) {
  auto runs = runsIn(path);
  if (!runs.ok() || runs->empty())
    return {};
  constexpr size_t kShown = 10;
  std::string list;
  for (size_t i = 0; i < std::min(kShown, runs->size()); ++i)
    list += concat(i ? ", " : "", (*runs)[i]);
  return inputError(path, " is no run itself, it holds ", runtime::counted(runs->size(), "run"), ": ", list,
                    runs->size() > kShown ? ", .." : "", "; this command takes one of them (tenon runs ", path,
                    " lists them with their figures)");
}

/// Every dim that --bind names has to be one of an entry.
Status checkDims(const runtime::Manifest &manifest, const std::map<std::string, int64_t> &bind) {
  std::set<std::string> known;
  for (const runtime::EntryInfo &entry : manifest.entries)
    for (const runtime::DimInfo &dim : entry.dims)
      known.insert(dim.name);
  std::string names;
  for (const std::string &name : known)
    names += (names.empty() ? "" : ", ") + name;
  for (const auto &[name, size] : bind)
    if (!known.count(name))
      return usageError("the artifact leaves no dim '", name, "' open; open are: ", names.empty() ? "none" : names);
  return {};
}

} // namespace

Status checkUnbound(const Model &model, const ModelOptions &options) {
  return options.bind.empty() || model.compiledNow
             ? Status()
             : usageError("--bind ", options.bind.front(),
                          ": parameters do not depend on sizes of a call; this option is for a specification (.tn)");
}

Status checkOpen(const Model &model, const ModelOptions &options, const std::string &entryName) {
  const runtime::EntryInfo *entry = model.artifact->manifest().findEntry(entryName);
  if (!entry)
    return {};
  for (const auto &[name, size] : model.call) // what is compiled now took the sizes
    if (std::none_of(entry->dims.begin(), entry->dims.end(),
                     [&, wanted = name](const runtime::DimInfo &dim) { return dim.name == wanted; }))
      return usageError("--bind ", name, "=", size, ": the entry ", entryName, " was compiled for one size of ", name,
                        "; another one needs the specification");
  return {};
}

Expected<Model> openModel(const ModelOptions &options) {
  Model model;
  auto bind = parseBindings(options.bind);
  if (!bind.ok())
    return bind.status();
  std::string directory = options.source;
  std::error_code ignored;
  if (isSpecification(options.source)) {
    if (Status status = compile(options, model, directory); status.failed())
      return status;
  } else if (!fs::exists(options.source, ignored)) {
    return inputError(options.source, " does not exist");
  } else {
    const bool isRun = fs::is_directory(options.source + "/model", ignored);
    if (isRun) {
      model.run = train::RunDirectory{options.source};
      directory = model.run->model();
    } else if (Status status = fs::is_directory(options.source, ignored) && !hasArtifact(options.source)
                                   ? checkOneRun(options.source)
                                   : Status();
               status.failed()) {
      return status;
    }
    if (const std::string option = asksForAnother(options, directory); !option.empty()) {
      auto again = compiledAgain(model, options, option);
      if (!again.ok())
        return again.status();
      if (Status status = compile(*again, model, directory); status.failed())
        return status;
      model.compiledAgain = again.take();
    }
  }
  auto artifact =
      options.runsCode ? runtime::Artifact::open(directory, options.tier) : runtime::Artifact::describe(directory, options.tier);
  if (!artifact.ok())
    return artifact.status();
  model.artifact = artifact.take();
  model.bind = *bind;
  model.compiledNow = isSpecification(options.source);
  if (!model.compiledNow && !model.compiledAgain)
    model.sources = sourcesOf(*model.artifact);
  if (!model.compiledNow)
    model.call = *bind;
  for (const std::string &taken : model.compiledAgain ? model.compiledAgain->recipeBind : std::vector<std::string>())
    model.call.erase(taken.substr(0, taken.find('=')));
  if (Status status = model.compiledNow ? Status() : checkDims(model.artifact->manifest(), model.call); status.failed())
    return status;
  if (model.run) {
    auto settings = train::readRunSettings(*model.run);
    if (!settings.ok())
      return settings.status();
    model.bind.insert(settings->bind.begin(), settings->bind.end());
  }
  return model;
}

void addWeightOptions(CLI::App &command, WeightOptions &options, WeightUse use) {
  const bool trained = use == WeightUse::Trained;
  command
      .add_option("--weights", options.file,
                  "parameters: a safetensors file, or a folder with model.safetensors or shards and their index")
      ->type_name("FILE|DIR");
  options.namesOption = trained ? "--weight-names" : "--names";
  command.add_option(options.namesOption, options.names,
                     "whose names the weights file has: a `names` table of the specification, such as hf");
  command.add_option("--checkpoint", options.step, "of a run: the number of its step, or best (default: the newest)")
      ->type_name("N|best");
  if (trained)
    return;
  command.add_flag("--init", options.init, "parameters from their initializers; with --weights only those that the file lacks");
  command.add_flag("--partial", options.partial,
                   "take from --weights what fits; what it lacks or has in another shape stays initial and is listed");
  options.seedOption = command.add_option("--seed", options.seed, "seed of initializers and random choices (default 0)")
                           ->transform(whole<uint64_t>());
}

/// What a weights file did not say, on stderr: every name where a part was asked for, else how many and the first.
static void sayReport(const runtime::LoadReport &loaded, const WeightOptions &options) {
  auto say = [](const std::vector<std::string> &names, const std::string &which, const std::string &what) {
    if (!names.empty())
      note(concat(runtime::counted(names.size(), which), " ", what, names.size() == 1 ? ": " : ", the first is ", names[0]));
  };
  if (options.partial) {
    for (const runtime::LoadReport::Stayed &one : loaded.stayed)
      note(concat(one.name, " stays initial: ", one.reason));
    note(concat(runtime::counted(loaded.loaded.size(), "parameter"), " from ", options.file));
  } else {
    say(loaded.missing, "initial value", "for what " + options.file + " lacks");
  }
  say(loaded.extra, "unused tensor", "in " + options.file);
}

Expected<std::shared_ptr<runtime::Parameters>> loadParameters(const Model &model, const WeightOptions &options) {
  const runtime::Manifest &manifest = model.artifact->manifest();
  bool hasWeights = !manifest.parameters.empty();
  for (const runtime::EntryInfo &entry : manifest.entries)
    for (const runtime::StateInfo &state : entry.states)
      hasWeights |= state.ofModel;
  if (options.file.empty() && !options.init && !model.run && hasWeights)
    return usageError("there are no weights: pass --weights FILE, a run directory, or --init for initial values");
  if (!options.step.empty() && (!model.run || !options.file.empty() || options.init))
    return usageError("--checkpoint chooses one of a run, ",
                      !model.run ? "and this is none" : "and --weights or --init give other values");
  if (options.file.empty() && !options.names.empty())
    return usageError(options.namesOption, " says whose names a weights file has; it needs --weights");
  if (options.partial && (options.file.empty() || options.init))
    return usageError(options.init ? "--partial gives initial values already; leave out --init"
                                   : "--partial takes a part of a weights file; it needs --weights");
  auto parameters = runtime::Parameters::create(model.artifact);
  if (!parameters.ok())
    return parameters;
  if (options.init || !options.file.empty())
    if (Status status = (*parameters)->initialize(options.seed); status.failed())
      return status;
  if (!options.file.empty()) {
    auto loaded = (*parameters)
                      ->load(options.file, {.scheme = options.names,
                                            .allowMissing = options.init || options.partial,
                                            .allowExtra = true,
                                            .allowOther = options.partial,
                                            .remedyMissing = "--init gives initial values to what the file lacks"});
    if (!loaded.ok())
      return loaded.status();
    if (options.partial && loaded->loaded.empty()) {
      if (loaded->missing.size() < loaded->stayed.size()) { // names that the file has, in other shapes
        auto other = std::find_if(loaded->stayed.begin(), loaded->stayed.end(),
                                  [](const auto &each) { return each.reason.rfind("in ", 0) == 0; });
        return inputError("no parameter of the model has its shape in ", options.file, "; ", other->name, ": ", other->reason,
                          "; --set gives a model the sizes of its weights");
      }
      return inputError("nothing in ", options.file, " is a parameter of the model; --names says whose names it has");
    }
    sayReport(*loaded, options);
  } else if (!options.init && model.run) {
    std::vector<std::string> notes;
    uint64_t step = 0;
    Status status = train::loadWeights(model.run->checkpoints(), options.step, **parameters, step, notes);
    for (const std::string &text : notes)
      note(text);
    if (status.failed())
      return status;
    auto best = runtime::newestCheckpointStep(train::bestDirectory(model.run->checkpoints()));
    if (options.step.empty() && best && *best != step)
      note(concat("note: this is step ", step, ", the newest; the best evaluation was that of step ", *best,
                  " (--checkpoint best)"));
  }
  return parameters;
}

Expected<std::optional<data::Vocabulary>> vocabularyOf(const Model &model, const WeightOptions &options,
                                                       const runtime::Parameters &parameters) {
  auto found = parameters.notes.find(runtime::kVocabularyNote);
  const std::string said = found == parameters.notes.end() ? "" : found->second;
  if (!model.run)
    return data::Vocabulary::ofNote(said);
  auto saved = train::readVocabulary(*model.run);
  if (!saved.ok() || !*saved || options.file.empty() || said.empty())
    return saved;
  auto note = data::VocabularyNote::parse(said);
  if (!note.ok())
    return note.status().in(options.file);
  if (!note->hasSymbolsOf(**saved) || !note->hasClassesOf(**saved))
    return inputError(options.file, " was trained with other symbols or classes than the run in ", model.run->path,
                      "; evaluate it with its specification");
  return saved;
}

} // namespace tenon::driver
