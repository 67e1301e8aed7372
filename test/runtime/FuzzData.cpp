// Own data, for fuzz-readers: the files of arrays(..) and jsonl(..), damaged before they are opened or while they are read.
#include "test/runtime/FuzzEntry.h"
#include <cstring>
#include <fstream>

namespace tenon::fuzz {

using runtime::concat;
using runtime::DataType;

namespace {

constexpr int64_t kSymbols = 50, kClasses = 4;

/// Writes into the file that is there, which a task has open.
void overwrite(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

struct Array {
  std::string name, npyType, safetensorsType;
  std::vector<uint64_t> shape;
  std::string bytes;
};

template <typename T>
Array arrayOf(const char *name, const char *npyType, const char *safetensorsType, std::vector<uint64_t> shape,
              const std::vector<int64_t> &values) {
  Array array{name, npyType, safetensorsType, std::move(shape), {}};
  for (int64_t each : values) {
    const T value = static_cast<T>(each);
    array.bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  return array;
}

Array wholeNumbers(Random &random, const char *name, std::vector<uint64_t> shape, const std::vector<int64_t> &values) {
  switch (random.below(4)) {
  case 0:
    return arrayOf<int32_t>(name, "<i4", "I32", std::move(shape), values);
  case 1:
    return arrayOf<int8_t>(name, "|i1", "I8", std::move(shape), values);
  default:
    return arrayOf<int64_t>(name, "<i8", "I64", std::move(shape), values);
  }
}

std::string listOf(const std::vector<uint64_t> &numbers, const char *last) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i)
    text += concat(numbers[i], i + 1 < numbers.size() ? "," : last);
  return text;
}

/// A file of one array.
std::string npyOf(const Array &array, Random &random, bool isDamaged) {
  std::string header =
      concat("{'descr': '", array.npyType, "', 'fortran_order': False, 'shape': (", listOf(array.shape, ","), "), }");
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  if (isDamaged)
    mutate(header, random);
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8 & 255);
  return bytes + header + array.bytes;
}

/// A file of all of them.
std::string safetensorsOf(const std::vector<Array> &arrays, Random &random, bool isDamaged) {
  std::string header, data;
  for (const Array &array : arrays) {
    header += concat(header.empty() ? "{" : ",", "\"", array.name, "\":{\"dtype\":\"", array.safetensorsType, "\",\"shape\":[",
                     listOf(array.shape, ""), "],\"data_offsets\":[", data.size(), ",", data.size() + array.bytes.size(), "]}");
    data += array.bytes;
  }
  header += "}";
  if (isDamaged)
    mutate(header, random);
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

/// One of the numbers becomes another, of those that a program may write by mistake.
void misplace(std::vector<int64_t> &numbers, Random &random) {
  if (numbers.empty())
    return;
  int64_t &number = numbers[random.below(numbers.size())];
  const int64_t choices[] = {
      number + 1, number - 1, -1, 0, INT64_MAX, INT64_MIN, int64_t{1} << 32, -number, static_cast<int64_t>(random.below(100))};
  number = choices[random.below(9)];
}

/// Batches of a task that opened its files. Where nothing has changed since, each has to come, and twice the same.
void readBatches(const data::DataTask &task, Entry &entry, bool trains, bool isChanged, Random &random) {
  const uint64_t epoch = trains ? task.batchesPerEpoch() : task.evaluationBatches();
  require(epoch > 0, "a task has no batch");
  for (uint64_t index : {uint64_t{0}, epoch - 1, random.below((trains ? 10 : 1) * epoch)}) {
    auto fill = [&] { return trains ? task.fill(index, entry.tensors) : task.fillEvaluation(index, entry.tensors); };
    const runtime::Status status = fill();
    require(status.ok() || isChanged, "a batch is refused");
    if (status.failed())
      continue;
    requireBounds(entry, "own data", index);
    const std::vector<std::vector<char>> first = entry.memory;
    require(isChanged || (fill().ok() && entry.memory == first), "a batch is another one the second time");
  }
}

struct Files {
  std::vector<std::pair<std::string, std::string>> all; // path, contents
  void write() const {
    for (const auto &[path, bytes] : all)
      writeAll(path, bytes);
  }
  /// One of them becomes another, shorter or longer, while a task has it open.
  void damage(Random &random) {
    auto &[path, bytes] = all[random.below(all.size())];
    if (random.below(3) == 0)
      bytes.resize(random.below(bytes.size() + 1));
    else if (random.below(2) == 0)
      mutate(bytes, random);
    else // numbers at the end of the file, which is where offsets stand
      for (size_t i = 0, from = random.below(bytes.size()); i < 8 && from + i < bytes.size(); ++i)
        bytes[from + i] = static_cast<char>(random.next());
    overwrite(path, bytes);
  }
};

/// ids, offsets of ragged ones, labels and reals, in .npy files or one of safetensors.
struct Samples {
  uint64_t rows, places;
  bool ragged, inOne;
  std::vector<Array> arrays;

  Samples(Random &random, bool isDamaged)
      : rows(1 + random.below(6)), places(1 + random.below(8)), ragged(random.below(2)), inOne(random.below(3) == 0) {
    std::vector<int64_t> ids, offsets = {0}, labels, reals;
    for (uint64_t row = 0; row < rows; ++row) {
      offsets.push_back(offsets.back() + static_cast<int64_t>(random.below(2 * places)));
      labels.push_back(static_cast<int64_t>(random.below(kClasses)));
    }
    const uint64_t count = ragged ? static_cast<uint64_t>(offsets.back()) : rows * places;
    for (uint64_t i = 0; i < count; ++i)
      ids.push_back(static_cast<int64_t>(random.below(kSymbols)));
    reals.assign(rows * 3, 2);
    if (isDamaged && random.below(2) == 0)
      misplace(random.below(3) == 0 ? ids : random.below(2) ? offsets : labels, random);
    arrays.push_back(
        wholeNumbers(random, "ids", ragged ? std::vector<uint64_t>{count} : std::vector<uint64_t>{rows, places}, ids));
    arrays.push_back(wholeNumbers(random, "label", {rows}, labels));
    arrays.push_back(arrayOf<float>("x", "<f4", "F32", {rows, 3}, reals));
    if (ragged)
      arrays.push_back(wholeNumbers(random, "offsets", {rows + 1}, offsets));
  }
  std::string place(const std::string &name) const { return inOne ? "all.safetensors:" + name : name + ".npy"; }
};

} // namespace

bool tryArrays(Random &random, const std::string &folder) {
  const bool isDamaged = random.below(4) != 0, trains = random.below(2), changes = random.below(3) == 0;
  const Samples samples(random, isDamaged);
  Files files;
  const size_t damaged = isDamaged ? random.below(8) : 8; // of the headers
  if (samples.inOne)
    files.all.push_back({folder + "/all.safetensors", safetensorsOf(samples.arrays, random, damaged < 3)});
  for (size_t i = 0; !samples.inOne && i < samples.arrays.size(); ++i)
    files.all.push_back({folder + "/" + samples.arrays[i].name + ".npy", npyOf(samples.arrays[i], random, damaged == i)});
  files.write();
  data::TaskSettings settings;
  settings.name = "arrays";
  settings.folder = folder;
  settings.seed = random.next();
  settings.stream = !samples.ragged && random.below(4) == 0;
  settings.heldOut = random.below(3) == 0 ? static_cast<double>(random.below(100)) / 100 : 0;
  settings.sources = {{"ids", samples.place("ids"), samples.ragged ? samples.place("offsets") : ""},
                      {"label", samples.place("label")},
                      {"x", samples.place("x")}};
  std::unique_ptr<data::DataTask> task;
  if (data::makeTask(settings, trains ? data::Part::Training : data::Part::HeldOut, nullptr, task).failed())
    return false;
  const int64_t B = 1 + static_cast<int64_t>(random.below(3)), T = static_cast<int64_t>(samples.places);
  Entry entry;
  if (settings.stream) {
    entry.add("label", DataType::I32, {B, T}, kClasses);
  } else {
    entry.add("ids", DataType::I32, {B, T}, kSymbols);
    entry.add("label", DataType::I32, {B}, kClasses);
    entry.add("x", random.below(2) ? DataType::F32 : DataType::F64, {B, 3}, -1);
    if (samples.ragged)
      entry.add("ids_len", DataType::I32, {B}, T + 1);
  }
  if (task->bind(entry.tensors).failed())
    return false;
  if (changes)
    files.damage(random);
  readBatches(*task, entry, trains, changes, random);
  return true;
}

bool tryJsonl(Random &random, const std::string &folder) {
  const bool isDamaged = random.below(4) != 0, trains = random.below(2), changes = random.below(3) == 0, texts = random.below(2),
             names = random.below(2);
  std::string text;
  for (uint64_t row = 0, rows = 1 + random.below(8); row < rows; ++row) {
    static const char *const ids[] = {"[]", "[1]", "[3, 49, 0, 7, 7, 12]", "[1,2]"}, *const prose[] = {"\"\"", "\"!\"",
                                                                                                       "\"\\u0021\\n\\t\"",
                                                                                                       "\"\\\"#$%&'()*+\""};
    static const char *const labels[] = {"0", "3", "1", "2"}, *const classes[] = {"\"good\"", "\"bad\"", "\"\\u00e4\"", "\"\""};
    text +=
        concat("{\"ids\": ", (texts ? prose : ids)[random.below(4)], ", \"label\": ", (names ? classes : labels)[random.below(4)],
               ", \"x\": [1, -2.5e-3, 0], \"more\": {\"a\": [null, true]}}\n");
  }
  if (isDamaged)
    mutate(text, random);
  Files files;
  files.all.push_back({folder + "/rows.jsonl", text});
  files.write();
  data::TaskSettings settings;
  settings.name = "jsonl";
  settings.texts = {folder + "/rows.jsonl"};
  settings.seed = random.next();
  settings.heldOut = random.below(3) == 0 ? static_cast<double>(random.below(100)) / 100 : 0;
  settings.sources = {{"ids", "ids"}, {"label", "label"}, {"x", "x"}};
  std::unique_ptr<data::DataTask> task;
  if (data::makeTask(settings, trains ? data::Part::Training : data::Part::HeldOut, nullptr, task).failed())
    return false;
  const int64_t B = 1 + static_cast<int64_t>(random.below(3)), T = 1 + static_cast<int64_t>(random.below(8));
  Entry entry;
  entry.add("ids", DataType::I32, {B, T}, kSymbols);
  entry.add("label", DataType::I32, {B}, kClasses);
  entry.add("x", random.below(2) ? DataType::F32 : DataType::F64, {B, 3}, -1);
  entry.add("ids_len", DataType::I32, {B}, T + 1);
  if (task->bind(entry.tensors).failed())
    return false;
  if (changes)
    files.damage(random);
  readBatches(*task, entry, trains, changes, random);
  return true;
}

} // namespace tenon::fuzz
