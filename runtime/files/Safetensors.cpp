#include "runtime/files/Safetensors.h"
#include "runtime/base/Checked.h"
#include "runtime/base/Convert.h"
#include "runtime/base/Json.h"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace tenon::runtime {

namespace {

constexpr uint64_t largestHeader = 100'000'000; // of the reference implementation

constexpr const char *kConversion =
    "safetensors.torch.save_file({name: each.clone() for name, each in torch.load(FILE, weights_only=True).items()}, OTHER)";

} // namespace

Status SafetensorsFile::add(const std::string &path) {
  uint64_t size = 0;
  auto file = File::openForReading(path, size);
  if (!file.ok())
    return file.status();
  if (size < 8)
    return inputError("'", path, "' is not a safetensors file: only ", size, " bytes");
  unsigned char prefix[8];
  if (Status status = file->readAt(0, prefix, 8); status.failed())
    return status;
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | prefix[i];
  if (length > largestHeader || length > size - 8) {
    const std::string_view begin(reinterpret_cast<const char *>(prefix), sizeof prefix);
    const bool ofTorch = begin.starts_with("PK\3\4") || begin.starts_with("\x80\2\x8a"); // of before version 1.6
    return ofTorch ? inputError("'", path,
                                "' is of torch.save (pickle, a program), and weights are read from safetensors files: "
                                "in Python ",
                                kConversion)
                   : inputError("'", path, "' is not a safetensors file, or truncated: its header would have ", length, " of ",
                                size, " bytes");
  }
  std::string header(length, '\0');
  if (Status status = file->readAt(8, header.data(), length); status.failed())
    return status;
  std::vector<SafetensorsEntry> found;
  std::map<std::string, std::string> own;
  if (Status status = parseSafetensorsHeader(header, size - 8 - length, found, own); status.failed())
    return status.in(concat("'", path, "'"));
  notes.merge(own);
  for (SafetensorsEntry &entry : found) {
    entry.file = shards.size();
    if (!index.emplace(entry.name, tensors.size()).second)
      return inputError("'", path, "' has the tensor ", quoteJson(entry.name), ", which another file of the model has too");
    tensors.push_back(std::move(entry));
  }
  shards.push_back({file.take(), 8 + length});
  return {};
}

/// Files of an index, each once, and which of them is to have which tensor.
static Status readIndex(const std::string &path, std::map<std::string, std::vector<std::string>> &tensorsOf) {
  auto text = readWholeFile(path, largestHeader);
  if (!text.ok())
    return text.status();
  auto parsed = parseJson(*text);
  if (!parsed.ok())
    return parsed.status().in(concat("'", path, "'"));
  const JsonValue *map = parsed->find("weight_map");
  if (!map || !map->isObject())
    return inputError("'", path, "' is no index of weights: it has no \"weight_map\"");
  for (const JsonValue::Member &member : map->members) {
    const std::string &name = member.value.text;
    if (!member.value.isString() || name.empty() || name[0] == '.' || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos)
      return inputError("'", path, "': the file of ", quoteJson(member.key), " has to be a file beside the index, not ",
                        member.value.print());
    tensorsOf[name].push_back(member.key);
  }
  return {};
}

Expected<SafetensorsFile> SafetensorsFile::openIndex(const std::string &path) {
  std::map<std::string, std::vector<std::string>> tensorsOf;
  if (Status status = readIndex(path, tensorsOf); status.failed())
    return status;
  const std::string folder = path.substr(0, path.find_last_of('/') + 1);
  SafetensorsFile result;
  for (const auto &[name, tensors] : tensorsOf) {
    if (Status status = result.add(folder + name); status.failed())
      return status;
    for (const std::string &tensor : tensors)
      if (const SafetensorsEntry *entry = result.find(tensor); !entry || entry->file + 1 != result.shards.size())
        return inputError("'", path, "' says that ", name, " has the tensor ", quoteJson(tensor), ", which it has not");
  }
  return result;
}

/// The file to open in a folder.
static Expected<std::string> weightsIn(const std::string &folder) {
  std::error_code error;
  std::vector<std::string> found;
  for (const char *name : {"model.safetensors.index.json", "model.safetensors", "parameters.safetensors", // the last: checkpoints
                           "pytorch_model.bin"}) // says what to do with it
    if (std::filesystem::exists(folder + "/" + name, error))
      return folder + "/" + name;
  for (const std::filesystem::directory_entry &entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".safetensors")
      found.push_back(entry.path().string());
  if (found.size() == 1)
    return found[0];
  return inputError("the folder '", folder, "' has ", found.empty() ? "no weights" : "several weights files and no index",
                    ": model.safetensors.index.json, model.safetensors or parameters.safetensors was looked for");
}

Expected<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  std::error_code ignored;
  std::string file = path;
  if (std::filesystem::is_directory(path, ignored)) {
    auto inside = weightsIn(path);
    if (!inside.ok())
      return inside.status();
    file = *inside;
  }
  constexpr std::string_view suffix = ".index.json";
  SafetensorsFile result;
  if (file.size() > suffix.size() && std::string_view(file).substr(file.size() - suffix.size()) == suffix) {
    auto opened = openIndex(file);
    if (!opened.ok())
      return opened;
    result = opened.take();
  } else if (Status status = result.add(file); status.failed()) {
    return status;
  }
  result.shown = path;
  return result;
}

const SafetensorsEntry *SafetensorsFile::find(const std::string &name) const {
  auto found = index.find(name);
  return found == index.end() ? nullptr : &tensors[found->second];
}

Status SafetensorsFile::read(const SafetensorsEntry &entry, void *data) const {
  return readPart(entry, 0, data, entry.end - entry.begin);
}

Status SafetensorsFile::readPart(const SafetensorsEntry &entry, uint64_t firstByte, void *data, uint64_t bytes) const {
  uint64_t length = entry.end - entry.begin;
  if (firstByte > length || bytes > length - firstByte)
    return bugError("read beyond tensor ", quoteJson(entry.name));
  const Shard &shard = shards[entry.file];
  return shard.file.readAt(shard.dataStart + entry.begin + firstByte, data, bytes);
}

Status SafetensorsFile::readReals(const SafetensorsEntry &entry, uint64_t first, uint64_t count, DataType to, void *data) const {
  if (!isReal(entry.type))
    return inputError("'", path(), "': tensor ", quoteJson(entry.name), " has type ", nameOf(entry.type),
                      ", expected real numbers");
  uint64_t size = byteSize(entry.type);
  if (entry.type == to)
    return readPart(entry, first * size, data, count * size);
  constexpr uint64_t chunk = 1 << 18;
  std::vector<char> buffer(std::min(chunk, count) * size);
  for (uint64_t done = 0; done < count; done += chunk) {
    uint64_t now = std::min(chunk, count - done);
    if (Status status = readPart(entry, (first + done) * size, buffer.data(), now * size); status.failed())
      return status;
    convertReals(entry.type, buffer.data(), now, to, static_cast<char *>(data) + done * byteSize(to));
  }
  return {};
}

void SafetensorsWriter::declare(std::string name, DataType type, std::vector<uint64_t> shape) {
  // Sizes of what is written come from tensors in memory: their product cannot overflow.
  uint64_t bytes = byteSize(type);
  for (uint64_t size : shape)
    bytes *= size;
  tensors.push_back({std::move(name), type, std::move(shape), dataBytes, dataBytes + bytes});
  dataBytes += bytes;
}

std::string SafetensorsWriter::header() const {
  std::string text = "{";
  const char *separator = "";
  if (!notes.empty()) {
    text += "\"__metadata__\":{";
    for (const auto &[key, value] : notes) {
      text += concat(separator, quoteJson(key), ":", quoteJson(value));
      separator = ",";
    }
    text += "}";
  }
  for (const SafetensorsEntry &tensor : tensors) {
    text += concat(separator, quoteJson(tensor.name), ":{\"dtype\":\"", safetensorsNameOf(tensor.type), "\",\"shape\":[");
    const char *comma = "";
    for (uint64_t size : tensor.shape) {
      text += concat(comma, size);
      comma = ",";
    }
    text += concat("],\"data_offsets\":[", tensor.begin, ",", tensor.end, "]}");
    separator = ",";
  }
  text += "}";
  while (text.size() % 8 != 0) // data on an 8-byte border
    text += ' ';
  return text;
}

uint64_t SafetensorsWriter::fileBytes() const { return 8 + header().size() + dataBytes; }

Status SafetensorsWriter::begin(ByteSink &sink) {
  std::unordered_map<std::string, char> names;
  for (const SafetensorsEntry &tensor : tensors)
    if (!names.emplace(tensor.name, 0).second || tensor.name == "__metadata__")
      return bugError("two tensors called ", quoteJson(tensor.name), " for one file");
  std::string text = header();
  if (text.size() > largestHeader)
    return inputError("too many tensors for one safetensors file");
  char prefix[8];
  for (int i = 0; i < 8; ++i)
    prefix[i] = static_cast<char>(text.size() >> 8 * i & 255);
  target = &sink;
  written = 0;
  Status status = sink.write(prefix, 8);
  return status.ok() ? sink.write(text.data(), text.size()) : status;
}

Status SafetensorsWriter::write(const void *data, size_t bytes) {
  written += bytes;
  return target->write(data, bytes);
}

Status SafetensorsWriter::finish() {
  if (written != dataBytes)
    return bugError("a safetensors file got ", written, " bytes of ", dataBytes);
  return {};
}

} // namespace tenon::runtime
