#include "runtime/files/Checkpoint.h"
#include "runtime/base/Hash.h"
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::runtime {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t chunkBytes = 4 << 20;
constexpr int64_t formatVersion = 1;
const char *const manifestName = "manifest.json";
// The manifest is {"hash": "<32 digits>",\n"body": BODY}\n, so that a flipped bit in it is seen too.
const std::string frameStart = "{\"hash\": \"", frameMiddle = "\",\n\"body\": ", frameEnd = "}\n";

/// Writes to a file and hashes each 4 MiB on the way.
class HashingSink : public ByteSink {
public:
  explicit HashingSink(File &file) : file(file) {}

  Status write(const void *data, size_t bytes) override {
    const char *source = static_cast<const char *>(data);
    total += bytes;
    for (size_t left = bytes; left > 0;) {
      size_t now = std::min<size_t>(left, chunkBytes - filled);
      hash.add(source, now);
      source += now;
      left -= now;
      filled += now;
      if (filled == chunkBytes)
        flushHash();
    }
    return file.write(data, bytes);
  }
  std::vector<std::string> finish() {
    if (filled > 0)
      flushHash();
    return std::move(chunks);
  }
  uint64_t bytes() const { return total; }

private:
  void flushHash() {
    chunks.push_back(hash.take());
    filled = 0;
  }
  File &file;
  Hash128 hash;
  uint64_t filled = 0, total = 0;
  std::vector<std::string> chunks;
};

std::string stepName(uint64_t step) { return concat("step-", step); }

/// N of "step-N" without leading zeros.
std::optional<uint64_t> stepOf(const std::string &name) {
  if (name.rfind("step-", 0) != 0)
    return std::nullopt;
  uint64_t step = 0;
  auto result = std::from_chars(name.data() + 5, name.data() + name.size(), step);
  bool whole = result.ec == std::errc() && result.ptr == name.data() + name.size();
  return whole && stepName(step) == name ? std::optional<uint64_t>(step) : std::nullopt;
}

bool isPlainName(const std::string &name) {
  return !name.empty() && name != "." && name != ".." && name != manifestName && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

/// Steps present under a directory, newest first; `leftovers` gets what crashes left.
Status listSteps(const std::string &directory, std::vector<uint64_t> &steps, std::vector<std::string> *leftovers) {
  std::error_code error;
  fs::directory_iterator folder(directory, error), end;
  for (; !error && folder != end; folder.increment(error)) {
    std::string name = folder->path().filename().string();
    if (auto step = stepOf(name))
      steps.push_back(*step);
    else if (leftovers && name.rfind("step-", 0) == 0 && (name.ends_with(".tmp") || name.ends_with(".old")))
      leftovers->push_back(name);
  }
  if (error)
    return fileError("list", directory, error.value());
  std::sort(steps.rbegin(), steps.rend());
  return {};
}

struct ManifestFile {
  std::string name;
  uint64_t bytes = 0;
  std::vector<std::string> chunks;
};

Expected<LoadedCheckpoint> readManifest(const std::string &path, std::vector<ManifestFile> &files) {
  std::string where = path + "/" + manifestName;
  auto text = readWholeFile(where, 256 << 20);
  if (!text.ok())
    return text.status();
  size_t head = frameStart.size() + 32 + frameMiddle.size();
  if (text->size() < head + frameEnd.size() || !text->starts_with(frameStart) || !text->ends_with(frameEnd) ||
      text->substr(frameStart.size() + 32, frameMiddle.size()) != frameMiddle)
    return inputError("'", where, "' is damaged");
  std::string_view body(text->data() + head, text->size() - head - frameEnd.size());
  if (hash128(body) != text->substr(frameStart.size(), 32))
    return inputError("'", where, "' is damaged: its hash does not fit");
  JsonLimits limits;
  limits.bytes = 256 << 20;
  auto json = parseJson(body, limits);
  if (!json.ok())
    return json.status().in(where);
  const JsonValue *format = json->find("format"), *step = json->find("step"), *metadata = json->find("metadata");
  const JsonValue *list = json->find("files");
  if (!format || !format->isInteger() || format->integer != formatVersion)
    return inputError("'", where, "' is not a checkpoint of format ", formatVersion);
  if (!step || !step->isInteger() || step->integer < 0 || !metadata || !metadata->isObject() || !list || !list->isArray())
    return inputError("'", where, "' lacks step, metadata or files");
  LoadedCheckpoint loaded;
  loaded.path = path;
  loaded.step = static_cast<uint64_t>(step->integer);
  loaded.metadata = *metadata;
  for (const JsonValue &item : list->elements) {
    const JsonValue *name = item.find("name"), *bytes = item.find("bytes"), *chunks = item.find("chunks");
    bool good = name && name->isString() && isPlainName(name->text) && bytes && bytes->isInteger() && bytes->integer >= 0 &&
                chunks && chunks->isArray();
    if (!good)
      return inputError("'", where, "' has a damaged list of files");
    ManifestFile file{name->text, static_cast<uint64_t>(bytes->integer), {}};
    for (const JsonValue &chunk : chunks->elements)
      file.chunks.push_back(chunk.text);
    if (file.chunks.size() != file.bytes / chunkBytes + (file.bytes % chunkBytes != 0))
      return inputError("'", where, "' has a damaged list of hashes");
    loaded.files.push_back(file.name);
    files.push_back(std::move(file));
  }
  return loaded;
}

Status verifyFile(const std::string &path, const ManifestFile &expected, bool hashes) {
  uint64_t size = 0;
  auto file = File::openForReading(path, size);
  if (!file.ok())
    return file.status();
  if (size != expected.bytes)
    return inputError("'", path, "' has ", size, " bytes, expected ", expected.bytes);
  std::vector<char> buffer(hashes ? std::min(chunkBytes, expected.bytes) : 0);
  for (uint64_t i = 0; hashes && i < expected.chunks.size(); ++i) {
    uint64_t begin = i * chunkBytes, bytes = std::min(chunkBytes, expected.bytes - begin);
    if (Status status = file->readAt(begin, buffer.data(), bytes); status.failed())
      return status;
    if (hash128({buffer.data(), bytes}) != expected.chunks[i])
      return inputError("'", path, "' is damaged between bytes ", begin, " and ", begin + bytes);
  }
  return {};
}

Expected<LoadedCheckpoint> verify(const std::string &path, bool hashes) {
  std::vector<ManifestFile> files;
  auto loaded = readManifest(path, files);
  if (!loaded.ok())
    return loaded;
  if (stepOf(fs::path(path).filename().string()).value_or(loaded->step) != loaded->step)
    return inputError("'", path, "' holds step ", loaded->step, ": the directory was renamed");
  for (const ManifestFile &file : files)
    if (Status status = verifyFile(loaded->filePath(file.name), file, hashes); status.failed())
      return status;
  return loaded;
}

/// Fills `folder` with the files, then the manifest.
Status fill(const std::string &folder, const CheckpointContents &contents) {
  std::vector<File> files;
  for (const CheckpointFile &item : contents.files) {
    if (!isPlainName(item.name))
      return bugError("'", item.name, "' cannot be a file of a checkpoint");
    auto file = File::create(folder + "/" + item.name);
    if (!file.ok())
      return file.status();
    files.push_back(file.take());
    // All space before the first byte: a full disk costs nothing but the attempt.
    if (Status status = files.back().reserve(item.bytes); status.failed())
      return status;
  }
  std::string body = concat("{\"format\": ", formatVersion, ", \"step\": ", contents.step, ", \"metadata\": ", contents.metadata,
                            ",\n\"files\": [");
  for (size_t i = 0; i < files.size(); ++i) {
    const CheckpointFile &item = contents.files[i];
    HashingSink sink(files[i]);
    Status status = item.write(sink);
    if (status.ok() && sink.bytes() != item.bytes)
      status = bugError("'", item.name, "' got ", sink.bytes(), " bytes, ", item.bytes, " were announced");
    if (status.ok())
      status = files[i].sync();
    if (status.ok())
      status = files[i].closeChecked();
    if (status.failed())
      return status;
    body += concat(i ? ",\n" : "\n", "{\"name\": ", quoteJson(item.name), ", \"bytes\": ", item.bytes, ", \"chunks\": [");
    const char *separator = "";
    for (const std::string &chunk : sink.finish()) {
      body += concat(separator, quoteJson(chunk));
      separator = ", ";
    }
    body += "]}";
  }
  body += "]}";
  auto directory = File::openDirectory(folder);
  Status status = directory.ok() ? directory->sync() : directory.status();
  if (status.failed())
    return status;
  auto manifest = File::create(folder + "/" + manifestName);
  if (!manifest.ok())
    return manifest.status();
  std::string text = frameStart + hash128(body) + frameMiddle + body + frameEnd;
  status = manifest->write(text.data(), text.size());
  if (status.ok())
    status = manifest->sync();
  if (status.ok())
    status = manifest->closeChecked();
  return status.ok() ? directory->sync() : status;
}

/// One rename, or an exchange if the name is taken; the old content then lies under the temporary name.
Status publish(const std::string &temporary, const std::string &target) {
  int result = ::renameat(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str());
  if (result != 0 && (errno == ENOTEMPTY || errno == EEXIST))
    result = ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE);
  return result == 0 ? Status() : fileError("rename to", target, errno);
}

/// Gives it another name first: half of it must never be met under its own.
void removeCheckpoint(const std::string &path) {
  std::error_code ignored;
  if (::renameat(AT_FDCWD, path.c_str(), AT_FDCWD, (path + ".old").c_str()) == 0)
    fs::remove_all(path + ".old", ignored);
}

/// Deletes what is not needed any more.
void prune(const std::string &directory, uint64_t newest, int keep, const std::set<uint64_t> &needed) {
  std::vector<uint64_t> steps;
  std::vector<std::string> leftovers;
  if (listSteps(directory, steps, &leftovers).failed())
    return;
  std::error_code ignored;
  for (const std::string &name : leftovers)
    fs::remove_all(directory + "/" + name, ignored);
  int valid = 1; // the one just written
  for (uint64_t step : steps) {
    std::string path = directory + "/" + stepName(step);
    if (step >= newest || needed.count(step) || !verify(path, false).ok())
      continue;
    if (++valid <= keep)
      continue;
    removeCheckpoint(path);
  }
}

} // namespace

std::vector<uint64_t> listCheckpoints(const std::string &directory) {
  std::vector<uint64_t> steps;
  return listSteps(directory, steps, nullptr).ok() ? steps : std::vector<uint64_t>();
}

Status removeCheckpointsAfter(const std::string &directory, uint64_t step) {
  std::vector<uint64_t> steps;
  Status status = listSteps(directory, steps, nullptr);
  for (uint64_t each : steps)
    if (each > step)
      removeCheckpoint(directory + "/" + stepName(each));
  return status;
}

Status saveCheckpoint(const std::string &directory, const CheckpointContents &contents, int keep) {
  auto metadata = parseJson(contents.metadata);
  if (!metadata.ok() || !metadata->isObject())
    return bugError("the metadata of a checkpoint must be a JSON object");
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return fileError("create directory", directory, error.value());
  std::string target = directory + "/" + stepName(contents.step), temporary = target + ".tmp";
  fs::remove_all(temporary, error);
  if (::mkdir(temporary.c_str(), 0777) != 0)
    return fileError("create directory", temporary, errno);
  Status status = fill(temporary, contents);
  if (status.ok())
    status = publish(temporary, target);
  if (status.failed()) {
    fs::remove_all(temporary, error);
    return status.in(concat("checkpoint of step ", contents.step, " not saved"));
  }
  auto parent = File::openDirectory(directory);
  status = parent.ok() ? parent->sync() : parent.status();
  if (status.failed())
    return status; // written, but perhaps not there after a power loss: older ones stay
  prune(directory, contents.step, std::max(keep, 1), contents.needed);
  return {};
}

Expected<LoadedCheckpoint> loadCheckpoint(const std::string &path) {
  std::string plain = path;
  while (plain.size() > 1 && plain.back() == '/')
    plain.pop_back();
  return verify(plain, true);
}

std::optional<uint64_t> newestCheckpointStep(const std::string &directory) {
  std::vector<uint64_t> steps;
  return listSteps(directory, steps, nullptr).ok() && !steps.empty() ? std::optional<uint64_t>(steps[0]) : std::nullopt;
}

Expected<LoadedCheckpoint> loadNewestCheckpoint(const std::string &directory, std::vector<std::string> &skipped) {
  std::vector<uint64_t> steps;
  if (Status status = listSteps(directory, steps, nullptr); status.failed())
    return status;
  for (uint64_t step : steps) {
    auto loaded = verify(directory + "/" + stepName(step), true);
    if (loaded.ok())
      return loaded;
    skipped.push_back(concat("skipped checkpoint of step ", step, ": ", loaded.status().message()));
  }
  return inputError("no valid checkpoint in '", directory, "'", skipped.empty() ? "" : concat(": ", skipped.front()));
}

} // namespace tenon::runtime
