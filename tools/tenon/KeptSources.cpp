#include "tools/tenon/KeptSources.h"
#include "runtime/base/Json.h"
#include "tools/compiler/CommandLine.h"
#include <algorithm>
#include <filesystem>

namespace tenon::driver {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kLargestSource = uint64_t(1) << 26;
constexpr const char *kCommandName = "command", *kEnd = "end", *kFilesName = "files";
constexpr const char *kBuildName = "build"; // no option: the build_id of the artifact that the sources stand beside

/// Where a file of this absolute path is kept, below the folder of the sources.
std::string placeOf(const std::string &path) { return kFilesName + fs::path(path).lexically_normal().string(); }

std::string absolute(const std::string &path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).string();
}

/// Fields that end with a zero byte, which no argument contains: the source, then options with their values.
class Command {
public:
  explicit Command(const std::string &source) { add(source); }
  void option(const char *name, const std::string &value) {
    add(name);
    add(value);
  }
  const std::string &finish() {
    add(kEnd);
    return text;
  }

private:
  void add(const std::string &field) { text.append(field).push_back('\0'); }
  std::string text;
};

std::vector<std::string> fieldsOf(std::string_view text) {
  std::vector<std::string> fields;
  for (size_t begin = 0, end; (end = text.find('\0', begin)) != std::string_view::npos; begin = end + 1)
    fields.emplace_back(text.substr(begin, end - begin));
  return fields;
}

/// Where the value of an option of the command goes; null for other options.
std::vector<std::string> *listOf(const std::string &option, ModelOptions &options) {
  return option == "--set"           ? &options.set
         : option == "--bind"        ? &options.bind
         : option == "--bind-recipe" ? &options.recipeBind
         : option == "--entry"       ? &options.entries
         : option == "--model-root"  ? &options.roots
                                     : nullptr;
}
std::string *textOf(const std::string &option, ModelOptions &options) {
  return option == "--model"      ? &options.model
         : option == "--recipe"   ? &options.recipe
         : option == "--target"   ? &options.target
         : option == "--numerics" ? &options.numerics
         : option == "--name"     ? &options.name
                                  : nullptr;
}
bool *flagOf(const std::string &option, ModelOptions &options) {
  return option == "--f64"              ? &options.doublePrecision
         : option == "--grad"           ? &options.gradient
         : option == "--decomposed"     ? &options.decomposed
         : option == "--simple-kernels" ? &options.simpleKernels
         : option == "--attention-maps" ? &options.attentionMaps
                                        : nullptr;
}

/// What was asked of the compiler. `source`: absolute; `build`: empty in a run, whose model is never replaced without its
/// sources.
std::string commandOf(const std::string &source, const ModelOptions &options, const std::string &recipe,
                      const std::vector<std::string> &roots, const std::string &build) {
  Command command(placeOf(source));
  for (const std::string &root : roots)
    command.option("--model-root", placeOf(root));
  for (const auto &[option, value] :
       {std::pair("--model", &options.model), std::pair("--recipe", &recipe), std::pair("--target", &options.target),
        std::pair("--numerics", &options.numerics), std::pair("--name", &options.name), std::pair(kBuildName, &build)})
    if (!value->empty())
      command.option(option, *value);
  for (const auto &[option, values] :
       {std::pair("--set", &options.set), std::pair(options.bindRecipe ? "--bind-recipe" : "--bind", &options.bind),
        std::pair("--bind-recipe", &options.recipeBind), std::pair("--entry", &options.entries)})
    for (const std::string &value : *values)
      command.option(option, value);
  for (const auto &[option, isGiven] :
       {std::pair("--f64", options.doublePrecision), std::pair("--grad", options.gradient),
        std::pair("--decomposed", options.decomposed), std::pair("--simple-kernels", options.simpleKernels),
        std::pair("--attention-maps", options.attentionMaps)})
    if (isGiven)
      command.option(option, "");
  return command.finish();
}

/// The command comes last: without it, what a killed process has left counts for nothing.
Status writeSources(const std::string &folder, const std::vector<KeptText> &texts, const std::string &command) {
  for (const KeptText &source : texts) {
    const fs::path place = fs::path(folder) / placeOf(source.path);
    std::error_code failed;
    fs::create_directories(place.parent_path(), failed);
    if (failed)
      return runtime::fileError("create", place.parent_path().string(), failed.value());
    if (Status status = runtime::replaceFile(place.string(), source.text); status.failed())
      return status;
  }
  return runtime::replaceFile(concat(folder, "/", kCommandName), command);
}

Expected<std::vector<std::string>> readCommand(const std::string &folder) {
  const std::string path = concat(folder, "/", kCommandName);
  auto text = runtime::readWholeFile(path, kLargestSource);
  if (!text.ok())
    return text.status();
  std::vector<std::string> fields = fieldsOf(*text);
  if (fields.size() < 2 || fields.size() % 2 != 0 || fields.back() != kEnd)
    return inputError(path, " is damaged");
  fields.pop_back();
  return fields;
}

/// The line of `tenon compile` as options of the model; what says how code is made, and for which tiers, is no part of them.
ModelOptions optionsOf(const compiler::CommandLine &line) {
  ModelOptions options;
  options.source = line.check.path;
  options.model = line.check.model;
  options.target = line.isForHost() ? "" : line.target;
  options.numerics = line.numerics;
  options.name = line.name;
  for (const auto &[name, value] : line.check.set)
    options.set.push_back(concat(name, "=", value));
  for (const auto &[name, size] : line.check.bind)
    options.bind.push_back(concat(name, "=", size));
  for (const auto &[name, size] : line.check.recipeBind)
    options.recipeBind.push_back(concat(name, "=", size));
  options.entries = line.check.entries;
  options.doublePrecision = line.doublePrecision;
  options.gradient = line.gradient;
  options.decomposed = line.decomposed;
  options.simpleKernels = line.simpleKernels;
  options.attentionMaps = line.check.attentionMaps;
  return options;
}

/// The text of a member of an object; empty where there is none.
std::string textOf(const runtime::JsonValue *object, const char *name) {
  const runtime::JsonValue *member = object ? object->find(name) : nullptr;
  return member && member->isString() ? member->text : std::string();
}

/// Removes the sources of an earlier artifact, and nothing else.
Status removeSources(const std::string &folder) {
  std::error_code failed;
  for (fs::directory_iterator file(folder, failed), end; !failed && file != end; file.increment(failed))
    if (const std::string name = file->path().filename().string(); name != kFilesName && !name.starts_with(kCommandName))
      return inputError(folder, " is where the specification is kept beside the artifact, and holds something else: ", name);
  if (!failed)
    fs::remove_all(folder, failed);
  return failed ? runtime::fileError("replace", folder, failed.value()) : Status();
}

} // namespace

Status keepSources(const Model &model, const ModelOptions &options, const std::string &recipe, const std::string &directory) {
  auto text = runtime::readWholeFile(concat(model.artifact->directory(), "/", kRecordName), kLargestSource);
  if (!text.ok())
    return text.status();
  auto record = parseRecord(*text);
  if (!record.ok())
    return record.status();
  // What was compiled from kept sources has the paths that these had.
  const std::string earlier = model.sources.empty() ? "" : concat(absolute(model.sources), "/", kFilesName);
  auto original = [&](const std::string &path) {
    const std::string place = absolute(path);
    return !earlier.empty() && place.starts_with(earlier + "/") ? place.substr(earlier.size()) : place;
  };
  std::vector<KeptText> texts;
  for (const CacheRecord::File &file : record->read) {
    auto source = runtime::readWholeFile(file.path, kLargestSource);
    if (!source.ok())
      return source.status();
    if (hashOf(*source) != file.hash)
      return inputError(file.path, " has changed while its model was compiled; start the command again");
    texts.push_back({original(file.path), source.take()});
  }
  std::vector<std::string> roots;
  for (const std::string &root : record->roots)
    roots.push_back(original(root));
  return writeSources(concat(directory, "/", kSourcesName), texts,
                      commandOf(original(options.source), options, recipe, roots, ""));
}

Status keepCompiled(const std::vector<std::string> &arguments, const std::vector<KeptText> &read,
                    const std::vector<std::string> &roots) {
  compiler::CommandLine line;
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  int exitCode = 0; // the compiler has read the same line
  if (!compiler::parseCommandLine(static_cast<int>(pointers.size()), pointers.data(), "", line, exitCode) || !line.emit.empty())
    return {};
  const std::string artifact = concat(line.output, "/", compiler::artifactName(line)),
                    folder = concat(artifact, ".", kSourcesName);
  std::error_code ignored;
  if (fs::symlink_status(folder, ignored).type() != fs::file_type::not_found)
    if (Status status = removeSources(folder); status.failed())
      return status;
  if (line.withoutSources)
    return {};
  auto text = runtime::readWholeFile(artifact + ".json", kLargestSource);
  auto manifest = text.ok() ? runtime::parseJson(*text) : text.status();
  if (!manifest.ok())
    return manifest.status();
  const std::string chosen = textOf(manifest->find("recipe"), "name"); // the only one, where the line names none
  return writeSources(folder, read,
                      commandOf(absolute(line.check.path), optionsOf(line),
                                line.check.recipe.empty() ? chosen : line.check.recipe, roots, textOf(&*manifest, "build_id")));
}

std::string sourcesOf(const runtime::Artifact &artifact) {
  const std::string library = fs::path(artifact.path()).stem().string(),
                    name = library.starts_with("lib") ? library.substr(3) : library;
  for (const std::string &folder :
       {concat(artifact.directory(), "/", name, ".", kSourcesName), concat(artifact.directory(), "/", kSourcesName)}) {
    auto command = readCommand(folder);
    if (!command.ok())
      continue;
    for (size_t i = 1; i + 1 < command->size(); i += 2)
      if ((*command)[i] == kBuildName && (*command)[i + 1] != artifact.manifest().buildId)
        return {};
    return folder;
  }
  return {};
}

std::vector<std::string> pathsOf(const std::string &sources) {
  auto command = readCommand(sources);
  const fs::path files = fs::path(sources) / kFilesName;
  std::vector<std::string> paths;
  std::error_code failed;
  for (fs::recursive_directory_iterator file(files, failed), end; !failed && file != end; file.increment(failed))
    if (file->is_regular_file(failed))
      paths.push_back("/" + file->path().lexically_relative(files).string());
  auto order = [&](const std::string &path) { return std::pair(!command.ok() || placeOf(path) != (*command)[0], path); };
  std::sort(paths.begin(), paths.end(), [&](const std::string &a, const std::string &b) { return order(a) < order(b); });
  return paths;
}

Expected<std::string> sourcesOf(const train::RunDirectory &run) {
  const std::string folder = concat(run.model(), "/", kSourcesName);
  std::error_code ignored;
  return fs::exists(concat(folder, "/", kCommandName), ignored)
             ? Expected<std::string>(folder)
             : inputError(run.path, " keeps no specification to compile again: it was trained from a compiled model without its "
                                    "sources, or before runs kept theirs");
}

Expected<ModelOptions> readSources(const std::string &sources) {
  const std::string folder = absolute(sources);
  auto fields = readCommand(folder);
  if (!fields.ok())
    return fields.status();
  ModelOptions options;
  options.source = concat(folder, "/", (*fields)[0]);
  for (size_t i = 1; i + 1 < fields->size(); i += 2) {
    const std::string &option = (*fields)[i], &value = (*fields)[i + 1];
    if (std::vector<std::string> *list = listOf(option, options))
      list->push_back(list == &options.roots ? concat(folder, "/", value) : value);
    else if (std::string *single = textOf(option, options))
      *single = value;
    else if (bool *flag = flagOf(option, options))
      *flag = true;
    else if (option != kBuildName)
      return inputError(concat(folder, "/", kCommandName), " is damaged: there is no option ", option);
  }
  return options;
}

} // namespace tenon::driver
