#include "runtime/train/RunDirectory.h"
#include "runtime/base/File.h"
#include "runtime/data/Utf8.h"
#include "runtime/files/Checkpoint.h"
#include "runtime/files/Safetensors.h"
#include "runtime/parameters/Parameters.h"
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <utility>

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

const char *kDigits = "0123456789abcdef";

/// A path may be any bytes, JSON only UTF-8: others are {"hex": "DIGITS"}.
std::string quotePath(const std::string &path) {
  if (!data::malformedAt(path))
    return quoteJson(path);
  std::string digits;
  for (unsigned char byte : path) {
    digits += kDigits[byte >> 4];
    digits += kDigits[byte & 15];
  }
  return "{\"hex\": \"" + digits + "\"}";
}

std::optional<std::string> bytesOfHex(std::string_view digits) {
  std::string bytes;
  const std::string_view known = kDigits;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    size_t high = known.find(digits[i]), low = known.find(digits[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos || high + low == 0)
      return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return digits.size() % 2 == 0 && !bytes.empty() ? std::optional<std::string>(bytes) : std::nullopt;
}

/// Takes the members of one object. A member of another kind than expected is an error: what cannot be read must not count as not
/// given.
class Reader {
public:
  explicit Reader(const JsonValue &object) : object(object) {}
  const JsonValue *find(const char *key, bool (*fits)(const JsonValue &), const char *what) {
    const JsonValue *value = object.find(key);
    if (value && fits(*value))
      return value;
    if (value && status.ok())
      status = inputError(quoteJson(key), " must be ", what);
    return nullptr;
  }
  void path(const char *key, std::string &result) {
    auto fits = [](const JsonValue &value) {
      const JsonValue *hex = value.find("hex");
      return value.isString() || (hex && hex->isString() && bytesOfHex(hex->text));
    };
    if (const JsonValue *value = find(key, fits, "a path"))
      result = value->isString() ? value->text : *bytesOfHex(value->find("hex")->text);
  }
  std::optional<int64_t> whole(const char *key, const char *what) {
    auto fits = [](const JsonValue &value) { return value.isInteger() && value.integer >= 0; };
    const JsonValue *value = find(key, fits, what);
    return value ? std::optional<int64_t>(value->integer) : std::nullopt;
  }
  std::optional<std::string> text(const char *key, bool (*fits)(const JsonValue &), const char *what) {
    const JsonValue *value = find(key, fits, what);
    return value ? std::optional<std::string>(value->text) : std::nullopt;
  }
  Status status;

private:
  const JsonValue &object;
};

bool isUnit(const JsonValue &value) { return value.isString() && (value.text == "bytes" || value.text == "characters"); }
bool isSeed(const JsonValue &value) {
  uint64_t seed = 0;
  const char *end = value.text.data() + value.text.size();
  auto parsed = std::from_chars(value.text.data(), end, seed);
  return value.isString() && parsed.ec == std::errc() && parsed.ptr == end;
}
bool isShare(const JsonValue &value) { return value.isNumber() && value.real >= 0 && value.real < 1; }
bool isHash(const JsonValue &value) { return value.isString() && value.text.size() == 32; }

Status readFiles(const JsonValue &list, std::vector<data::FileFingerprint> &files) {
  for (const JsonValue &item : list.elements) {
    data::FileFingerprint file;
    Reader reader(item);
    reader.path("path", file.path);
    auto bytes = reader.whole("bytes", "a number of bytes");
    auto hash = reader.text("xxh3", isHash, "a hash of 32 digits");
    if (reader.status.failed())
      return reader.status;
    if (file.path.empty() || !bytes || !hash)
      return inputError("\"files\" needs path, bytes and xxh3 of each file");
    file.bytes = static_cast<uint64_t>(*bytes);
    file.hash = *hash;
    files.push_back(std::move(file));
  }
  return {};
}

Status readBind(const JsonValue &bind, std::map<std::string, int64_t> &sizes) {
  for (const auto &[name, size] : bind.members) {
    if (!size.isInteger() || size.integer < 1)
      return inputError("\"bind\" must give ", quoteJson(name), " a size of at least 1");
    sizes[name] = size.integer;
  }
  return {};
}

Status readDataFiles(const JsonValue &given, std::map<std::string, std::string> &files) {
  Reader reader(given);
  for (const JsonValue::Member &member : given.members)
    reader.path(member.key.c_str(), files[member.key]);
  return reader.status;
}

Status parseSettings(const std::string &text, RunSettings &settings) {
  auto json = runtime::parseJson(text);
  if (!json.ok())
    return json.status();
  const JsonValue *format = json->find("format");
  if (!format || !format->isInteger() || format->integer != 1)
    return inputError("it is not of format 1");
  Reader reader(*json);
  reader.path("text", settings.data.text);
  reader.path("vocabulary", settings.data.vocabulary);
  reader.path("valid_text", settings.data.validText);
  reader.path("data_folder", settings.data.folder);
  settings.data.unit = reader.text("unit", isUnit, "bytes or characters");
  if (const JsonValue *value = reader.find("held_out", isShare, "a number from 0 to below 1"))
    settings.data.heldOut = value->real;
  settings.data.validEvery = reader.whole("valid_every", "a whole number");
  if (auto seed = reader.text("seed", isSeed, "a whole number as a text"))
    settings.seed = strtoull(seed->c_str(), nullptr, 10);
  auto isObject = [](const JsonValue &value) { return value.isObject(); };
  auto isArray = [](const JsonValue &value) { return value.isArray(); };
  const JsonValue *bind = reader.find("bind", isObject, "an object"), *files = reader.find("files", isArray, "a list");
  Status status = reader.status;
  if (const JsonValue *given = reader.find("data_files", isObject, "an object"); given && status.ok())
    status = readDataFiles(*given, settings.data.files);
  if (status.ok() && bind)
    status = readBind(*bind, settings.bind);
  if (status.ok() && files)
    status = readFiles(*files, settings.files);
  return status;
}

} // namespace

Expected<RunSettings> readRunSettings(const RunDirectory &run) {
  RunSettings settings;
  if (!exists(run.settingsFile()))
    return settings;
  auto text = runtime::readWholeFile(run.settingsFile(), kSettingsLimit);
  if (!text.ok())
    return text.status();
  if (Status status = parseSettings(*text, settings); status.failed())
    return inputError("'", run.settingsFile(), "' is damaged: ", status.message(),
                      "; it holds what the command line said of text, sizes and seed, and without it these must be given again");
  return settings;
}

Status writeRunSettings(const RunDirectory &run, const RunSettings &settings) {
  std::string text = "{\"format\": 1";
  auto add = [&](const char *key, const std::string &value) {
    if (!value.empty())
      text += concat(", ", quoteJson(key), ": ", value);
  };
  auto quoted = [](const std::string &value) { return value.empty() ? value : quotePath(value); };
  add("text", quoted(settings.data.text));
  add("vocabulary", quoted(settings.data.vocabulary));
  add("valid_text", quoted(settings.data.validText));
  add("data_folder", quoted(settings.data.folder));
  std::string given;
  for (const auto &[input, file] : settings.data.files)
    given += concat(given.empty() ? "" : ", ", quoteJson(input), ": ", quotePath(file));
  add("data_files", given.empty() ? "" : "{" + given + "}");
  add("unit", settings.data.unit ? quoteJson(*settings.data.unit) : "");
  add("held_out", settings.data.heldOut ? concat(*settings.data.heldOut) : ""); // all digits: the split must be the same one
  add("valid_every", settings.data.validEvery ? std::to_string(*settings.data.validEvery) : "");
  add("seed", settings.seed ? quoteJson(std::to_string(*settings.seed)) : "");
  std::string bind, files;
  for (const auto &[name, size] : settings.bind)
    bind += concat(bind.empty() ? "" : ", ", quoteJson(name), ": ", size);
  for (const data::FileFingerprint &file : settings.files)
    files += concat(files.empty() ? "" : ", ", "{\"path\": ", quotePath(file.path), ", \"bytes\": ", file.bytes,
                    ", \"xxh3\": ", quoteJson(file.hash), "}");
  return runtime::replaceFile(run.settingsFile(), text + ", \"bind\": {" + bind + "}, \"files\": [" + files + "]}\n");
}

Expected<std::vector<data::FileFingerprint>> fingerprintsOf(const Recipe &recipe) {
  std::vector<data::FileFingerprint> prints;
  const std::vector<TaskRecipe> tasks = recipe.allTasks();
  std::vector<const data::TaskSettings *> read;
  for (const TaskRecipe &task : tasks) {
    read.push_back(&task.data);
    read.push_back(task.valid ? &*task.valid : nullptr);
  }
  for (const data::TaskSettings *task : read) {
    std::vector<std::string> paths;
    for (const std::string &pattern : task ? filesOf(*task) : std::vector<std::string>())
      if (Status status = data::listFiles(
              pattern.substr(0, pattern.find(".safetensors:") == std::string::npos ? std::string::npos : pattern.rfind(':')),
              paths);
          status.failed())
        return status;
    if (Status status = data::fingerprintFiles(paths, prints); status.failed())
      return status;
  }
  return prints;
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

/// What the newest checkpoint notes of its symbols; nothing without checkpoints, and of those that noted nothing.
static Expected<std::optional<data::Vocabulary>> notedVocabulary(const RunDirectory &run) {
  for (uint64_t step : runtime::listCheckpoints(run.checkpoints())) {
    auto file = runtime::SafetensorsFile::open(concat(run.checkpoints(), "/step-", step, "/parameters.safetensors"));
    if (!file.ok()) // an older one may be whole
      continue;
    auto note = file->metadata().find(runtime::kVocabularyNote);
    if (note == file->metadata().end())
      break;
    auto vocabulary = data::Vocabulary::ofNote(note->second);
    if (vocabulary.ok() && !*vocabulary && !note->second.empty())
      return inputError("the run in ", run.path,
                        " has lost its vocabulary.json, and its checkpoints hold no more than a hash of ",
                        "its words; put that file back, or begin anew with --fresh");
    return vocabulary;
  }
  return std::optional<data::Vocabulary>();
}

Expected<std::optional<data::Vocabulary>> readVocabulary(const RunDirectory &run) {
  if (!exists(run.vocabularyFile()))
    return notedVocabulary(run);
  auto text = runtime::readWholeFile(run.vocabularyFile(), 1ull << 30);
  if (!text.ok())
    return text.status();
  data::Vocabulary vocabulary;
  if (Status status = data::Vocabulary::restore(*text, vocabulary); status.failed())
    return status.in(run.vocabularyFile());
  return std::optional<data::Vocabulary>(std::move(vocabulary));
}

/// The first of path.1, path.2, .. that is free.
static std::string freeName(const std::string &path) {
  int number = 1;
  while (exists(path + "." + std::to_string(number)))
    ++number;
  return path + "." + std::to_string(number);
}

Status setAside(const std::string &path, std::vector<std::string> &notes) {
  if (!exists(path))
    return {};
  const std::string to = freeName(path);
  if (rename(path.c_str(), to.c_str()) != 0)
    return runtime::fileError("rename", path, errno);
  notes.push_back(concat("kept the earlier ", path, " as ", to));
  return {};
}

Status takePlace(const std::string &made, const std::string &path, std::vector<std::string> &notes) {
  // What is exchanged is under its new name at once: between two renames a kill would leave it where the next attempt is made.
  std::string to = freeName(path);
  if (rename(made.c_str(), to.c_str()) != 0)
    return runtime::fileError("rename", made, errno);
  if (renameat2(AT_FDCWD, to.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0) { // not all file systems can
    const std::string whole = std::exchange(to, freeName(path));
    if (rename(path.c_str(), to.c_str()) != 0)
      return runtime::fileError("rename", path, errno);
    if (rename(whole.c_str(), path.c_str()) != 0)
      return runtime::fileError("rename", whole, errno);
  }
  notes.push_back(concat("kept the earlier ", path, " as ", to));
  return {};
}

Status keepCopy(const std::string &path, std::vector<std::string> &notes) {
  const std::string to = freeName(path);
  std::error_code failed;
  fs::copy_file(path, to, failed); // no hard link: the file may be cut where it is
  if (failed)
    return runtime::fileError("copy", path, failed.value());
  notes.push_back(concat("kept the earlier ", path, " as ", to));
  return {};
}

} // namespace tenon::train
