// safetensors files: the reader checks every rule of the format before a tensor is touched (limits and audit findings:
// github.com/huggingface/safetensors, README "Format"); reading is by copy, since a mapped file can change under us.
#pragma once
#include "runtime/base/DataType.h"
#include "runtime/base/File.h"
#include <map>
#include <unordered_map>
#include <vector>

namespace tenon::runtime {

struct SafetensorsEntry {
  std::string name;
  DataType type;
  std::vector<uint64_t> shape;
  uint64_t begin = 0, end = 0; // bytes from the start of the data of its file
  size_t file = 0;             // of several: which
  uint64_t elements() const { return (end - begin) / byteSize(type); }
};

/// The checked headers of one file, or of a model that is cut into several. Thread-safe once open.
class SafetensorsFile {
public:
  /// `path`: a file; an index of shards (NAME.index.json, as Hugging Face writes it: {"weight_map": {TENSOR: FILE}}), whose files
  /// lie beside it; or a folder with model.safetensors.index.json, model.safetensors, or one file of another name.
  static Expected<SafetensorsFile> open(const std::string &path);
  const std::vector<SafetensorsEntry> &entries() const { return tensors; } // in order of their data
  const std::map<std::string, std::string> &metadata() const { return notes; }
  const SafetensorsEntry *find(const std::string &name) const;
  /// Raw bytes of a tensor, or of a piece of it.
  Status read(const SafetensorsEntry &entry, void *data) const;
  Status readPart(const SafetensorsEntry &entry, uint64_t firstByte, void *data, uint64_t bytes) const;
  /// Elements converted to a real type from F64, F32, F16 or BF16. `first` and `count` in elements.
  Status readReals(const SafetensorsEntry &entry, uint64_t first, uint64_t count, DataType to, void *data) const;
  const std::string &path() const { return shown; }
  /// Where the data of the entry's file begin, in bytes from the start of that file.
  uint64_t dataStart(const SafetensorsEntry &entry) const { return shards[entry.file].dataStart; }

private:
  struct Shard {
    File file;
    uint64_t dataStart = 0;
  };
  static Expected<SafetensorsFile> openIndex(const std::string &path);
  Status add(const std::string &path);
  std::string shown; // what open was given
  std::vector<Shard> shards;
  std::vector<SafetensorsEntry> tensors;
  std::unordered_map<std::string, size_t> index;
  std::map<std::string, std::string> notes;
};

/// Checks a header (the JSON alone) against the number of data bytes behind it. For the reader and its fuzzer.
Status parseSafetensorsHeader(std::string_view header, uint64_t dataBytes, std::vector<SafetensorsEntry> &tensors,
                              std::map<std::string, std::string> &metadata);

/// Streams a file: declare all tensors, then write their bytes in the same order.
class SafetensorsWriter {
public:
  /// Offsets follow from type and shape. Duplicate names are an error of begin().
  void declare(std::string name, DataType type, std::vector<uint64_t> shape);
  void note(std::string key, std::string value) { notes[std::move(key)] = std::move(value); }
  /// Size of the whole file.
  uint64_t fileBytes() const;
  Status begin(ByteSink &sink);
  Status write(const void *data, size_t bytes);
  /// Error unless exactly the declared bytes came.
  Status finish();

private:
  std::string header() const;
  std::vector<SafetensorsEntry> tensors;
  std::map<std::string, std::string> notes;
  uint64_t dataBytes = 0, written = 0;
  ByteSink *target = nullptr;
};

} // namespace tenon::runtime
