#include "tools/tenon/KeptSources.h"
#include <filesystem>

namespace tenon::driver {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kLargestSource = uint64_t(1) << 26;
constexpr const char *kCommandName = "command", *kEnd = "end";

/// Where a file of this absolute path is kept, below the folder of the sources.
std::string placeOf(const std::string &path) { return "files" + fs::path(path).lexically_normal().string(); }

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
         : option == "--bind-recipe" ? &options.bind
         : option == "--model-root"  ? &options.roots
                                     : nullptr;
}
std::string *textOf(const std::string &option, ModelOptions &options) {
  return option == "--model"      ? &options.model
         : option == "--recipe"   ? &options.recipe
         : option == "--target"   ? &options.target
         : option == "--numerics" ? &options.numerics
                                  : nullptr;
}

} // namespace

Status keepSources(const ModelOptions &options, const std::string &recipe, const std::string &artifact,
                   const std::string &model) {
  auto text = runtime::readWholeFile(concat(artifact, "/", kRecordName), kLargestSource);
  if (!text.ok())
    return text.status();
  auto record = parseRecord(*text);
  if (!record.ok())
    return record.status();
  const std::string folder = concat(model, "/", kSourcesName);
  for (const CacheRecord::File &file : record->read) {
    auto source = runtime::readWholeFile(file.path, kLargestSource);
    if (!source.ok())
      return source.status();
    if (hashOf(*source) != file.hash)
      return inputError(file.path, " has changed while its model was compiled; start the command again");
    const fs::path place = fs::path(folder) / placeOf(file.path);
    std::error_code failed;
    fs::create_directories(place.parent_path(), failed);
    if (failed)
      return runtime::fileError("create", place.parent_path().string(), failed.value());
    if (Status status = runtime::replaceFile(place.string(), *source); status.failed())
      return status;
  }
  Command command(placeOf(absolute(options.source)));
  for (const std::string &root : record->roots)
    command.option("--model-root", placeOf(root));
  for (const auto &[option, value] : {std::pair("--model", &options.model), std::pair("--recipe", &recipe),
                                      std::pair("--target", &options.target), std::pair("--numerics", &options.numerics)})
    if (!value->empty())
      command.option(option, *value);
  for (const auto &[option, values] : {std::pair("--set", &options.set), std::pair("--bind-recipe", &options.bind)})
    for (const std::string &value : *values)
      command.option(option, value);
  if (options.doublePrecision)
    command.option("--f64", "");
  return runtime::replaceFile(concat(folder, "/", kCommandName), command.finish());
}

Expected<ModelOptions> keptSources(const train::RunDirectory &run) {
  const std::string folder = absolute(concat(run.model(), "/", kSourcesName)), path = concat(folder, "/", kCommandName);
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    return inputError(
        run.path, " keeps no specification to compile again: it was trained from a compiled model, or before runs kept theirs");
  auto text = runtime::readWholeFile(path, kLargestSource);
  if (!text.ok())
    return text.status();
  const std::vector<std::string> fields = fieldsOf(*text);
  if (fields.size() < 2 || fields.size() % 2 != 0 || fields.back() != kEnd)
    return inputError(path, " is damaged");
  ModelOptions options;
  options.bindRecipe = true;
  options.source = concat(folder, "/", fields[0]);
  for (size_t i = 1; i + 2 < fields.size(); i += 2) {
    const std::string &option = fields[i], &value = fields[i + 1];
    if (std::vector<std::string> *list = listOf(option, options))
      list->push_back(list == &options.roots ? concat(folder, "/", value) : value);
    else if (std::string *single = textOf(option, options))
      *single = value;
    else if (option == "--f64")
      options.doublePrecision = true;
    else
      return inputError(path, " is damaged: there is no option ", option);
  }
  return options;
}

} // namespace tenon::driver
