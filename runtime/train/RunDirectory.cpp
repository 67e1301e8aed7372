#include "runtime/train/RunDirectory.h"
#include "runtime/File.h"
#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace tenon::train {

namespace fs = std::filesystem;
using runtime::concat;
using runtime::JsonValue;
using runtime::quoteJson;

namespace {

constexpr uint64_t kSettingsLimit = 1 << 20;

bool exists(const std::string &path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

std::string absolute(const std::string &path) {
  std::error_code failed;
  fs::path result = path.empty() ? fs::path() : fs::absolute(path, failed);
  return failed ? path : result.string();
}

void takeText(const JsonValue &object, const char *key, std::string &result) {
  if (const JsonValue *value = object.find(key); value && value->isString())
    result = value->text;
}

} // namespace

Expected<RunSettings> readRunSettings(const RunDirectory &run) {
  RunSettings settings;
  if (!exists(run.settingsFile()))
    return settings;
  auto text = runtime::readWholeFile(run.settingsFile(), kSettingsLimit);
  if (!text.ok())
    return text.status();
  auto json = runtime::parseJson(*text);
  if (!json.ok())
    return json.status().in(run.settingsFile());
  takeText(*json, "text", settings.data.text);
  takeText(*json, "vocabulary", settings.data.vocabulary);
  takeText(*json, "valid_text", settings.data.validText);
  takeText(*json, "data_folder", settings.data.folder);
  if (const JsonValue *files = json->find("data_files"); files && files->isObject())
    for (const auto &[input, file] : files->members)
      settings.data.files[input] = file.text;
  if (const JsonValue *value = json->find("unit"); value && value->isString())
    settings.data.unit = value->text;
  if (const JsonValue *value = json->find("held_out"); value && value->isNumber())
    settings.data.heldOut = value->real;
  if (const JsonValue *value = json->find("valid_every"); value && value->isInteger())
    settings.data.validEvery = value->integer;
  if (const JsonValue *value = json->find("seed"); value && value->isString())
    settings.seed = strtoull(value->text.c_str(), nullptr, 10);
  if (const JsonValue *value = json->find("bind"); value && value->isObject())
    for (const auto &[name, size] : value->members)
      if (size.isInteger())
        settings.bind[name] = size.integer;
  return settings;
}

Status writeRunSettings(const RunDirectory &run, const RunSettings &settings) {
  std::string text = "{\"format\": 1";
  auto add = [&](const char *key, const std::string &value) {
    if (!value.empty())
      text += concat(", ", quoteJson(key), ": ", value);
  };
  auto quoted = [](const std::string &value) { return value.empty() ? value : quoteJson(value); };
  add("text", quoted(settings.data.text));
  add("vocabulary", quoted(settings.data.vocabulary));
  add("valid_text", quoted(settings.data.validText));
  add("data_folder", quoted(settings.data.folder));
  std::string files;
  for (const auto &[input, file] : settings.data.files)
    files += concat(files.empty() ? "" : ", ", quoteJson(input), ": ", quoteJson(file));
  add("data_files", files.empty() ? "" : "{" + files + "}");
  add("unit", settings.data.unit ? quoteJson(*settings.data.unit) : "");
  add("held_out", settings.data.heldOut ? std::to_string(*settings.data.heldOut) : "");
  add("valid_every", settings.data.validEvery ? std::to_string(*settings.data.validEvery) : "");
  add("seed", settings.seed ? quoteJson(std::to_string(*settings.seed)) : "");
  std::string bind;
  for (const auto &[name, size] : settings.bind)
    bind += concat(bind.empty() ? "" : ", ", quoteJson(name), ": ", size);
  return runtime::replaceFile(run.settingsFile(), text + ", \"bind\": {" + bind + "}}\n");
}

RunSettings mergeSettings(const RunSettings &saved, RunSettings given) {
  given.data.text = absolute(given.data.text);
  given.data.vocabulary = absolute(given.data.vocabulary);
  given.data.validText = absolute(given.data.validText);
  given.data.folder = absolute(given.data.folder);
  RunSettings result = saved;
  auto take = [](auto &to, const auto &from) {
    if (from != std::decay_t<decltype(from)>())
      to = from;
  };
  take(result.data.text, given.data.text);
  take(result.data.vocabulary, given.data.vocabulary);
  take(result.data.validText, given.data.validText);
  take(result.data.folder, given.data.folder);
  for (const auto &[input, file] : given.data.files)
    result.data.files[input] = absolute(file);
  take(result.data.unit, given.data.unit);
  take(result.data.heldOut, given.data.heldOut);
  take(result.data.validEvery, given.data.validEvery);
  take(result.seed, given.seed);
  for (const auto &[name, size] : given.bind)
    result.bind[name] = size;
  return result;
}

Expected<std::optional<data::Vocabulary>> readVocabulary(const RunDirectory &run) {
  if (!exists(run.vocabularyFile()))
    return std::optional<data::Vocabulary>();
  auto text = runtime::readWholeFile(run.vocabularyFile(), 1ull << 30);
  if (!text.ok())
    return text.status();
  data::Vocabulary vocabulary;
  if (Status status = data::Vocabulary::restore(*text, vocabulary); status.failed())
    return status.in(run.vocabularyFile());
  return std::optional<data::Vocabulary>(std::move(vocabulary));
}

Status setAside(const std::string &path, std::vector<std::string> &notes) {
  if (!exists(path))
    return {};
  int number = 1;
  while (exists(path + "." + std::to_string(number)))
    ++number;
  std::string to = path + "." + std::to_string(number);
  if (rename(path.c_str(), to.c_str()) != 0)
    return runtime::fileError("rename", path, errno);
  notes.push_back(concat("kept the earlier ", path, " as ", to));
  return {};
}

} // namespace tenon::train
