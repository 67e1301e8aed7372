// Mutates good files and feeds the readers of untrusted data: fuzz-readers KIND COUNT SEED FOLDER, KIND = safetensors | npy | manifest.
// Built with AddressSanitizer and UBSan; a finding ends the program. Prints how many inputs were accepted and refused: both must occur, or
// the mutations test nothing. Mutations know the tokens of the formats, so that many inputs get past the first check.
#include "runtime/Manifest.h"
#include "runtime/Npy.h"
#include "runtime/Safetensors.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tenon::runtime;

namespace {

/// splitmix64: a fixed sequence for a seed, whatever the library.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t limit) { return limit ? next() % limit : 0; }
};

const char *const tokens[] = {"{", "}", "[", "]", ":", ",", "\"", "'", "(", ")", "0", "1", "-1", "255", "65535", "4294967295", "4294967296",
                              "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e400", "0.5",
                              "null", "true", "False", "True", "\"dtype\"", "\"shape\"", "\"data_offsets\"", "\"F32\"", "\"F64\"", "\"BOOL\"",
                              "\"__metadata__\"", "'descr'", "'<f4'", "'|O'", "'shape'", "'fortran_order'", "\"const\"", "\"terms\"",
                              "\"stack\"", "\"panel16\"", "\"row\"", "\"offset\"", "\"stride\"", "\"param_bytes\"", "*", "\\u0000", "\\ud800",
                              "\xff", "\xc3\xa9", " ", "\n", "#"};

void mutate(std::string &text, Random &random) {
  uint64_t changes = 1 + random.below(4);
  for (uint64_t i = 0; i < changes; ++i) {
    size_t at = random.below(text.size() + 1), length = std::min<size_t>(random.below(12), text.size() - at);
    const char *token = tokens[random.below(sizeof tokens / sizeof *tokens)];
    switch (random.below(8)) {
    case 0:
      if (at < text.size())
        text[at] = static_cast<char>(text[at] ^ 1 << random.below(8));
      break;
    case 1:
      text.insert(at, token);
      break;
    case 2:
      text.replace(at, length, token);
      break;
    case 3:
      text.erase(at, length);
      break;
    case 4: // a piece of the text again, elsewhere
      text.insert(at, text.substr(random.below(text.size() + 1), random.below(200)));
      break;
    case 5: // the whole of a number becomes another: sizes that do not fit are the interesting mistakes
    case 6: {
      size_t digit = text.find_first_of("0123456789", at);
      if (digit == std::string::npos)
        break;
      size_t end = text.find_first_not_of("0123456789", digit);
      uint64_t value = std::strtoull(text.c_str() + digit, nullptr, 10);
      uint64_t choices[] = {value + 1, value - 1, value * 2, value << 32, random.next(), random.below(100), 0};
      text.replace(digit, end == std::string::npos ? end : end - digit, std::to_string(choices[random.below(7)]));
      break;
    }
    default:
      text.resize(at);
    }
    if (text.size() > 100'000)
      text.resize(100'000);
  }
}

const std::string seedsOfSafetensors[] = {
    "{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
    "\"b\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[24,32]}}",
    "{\"x.0.w\":{\"data_offsets\":[0,8],\"shape\":[],\"dtype\":\"F64\"},\"x.1.w\":{\"dtype\":\"BOOL\",\"shape\":[1,1,3],\"data_offsets\":[8,11]}}",
    "{}"};
const std::string seedsOfNpy[] = {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }                \n",
                                  "{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }\n",
                                  "{'shape': (), 'descr': '|b1', 'fortran_order': False}\n"};
const std::string seedOfManifest =
    "{\"format\": 1, \"abi\": 3, \"tool\": \"t\", \"name\": \"n\", \"model\": \"M\", \"build_id\": \"b\", \"spec_sha256\": \"0\","
    "\"target\": {\"triple\": \"x\", \"tiers\": [\"portable\"]}, \"dtype\": \"f32\", \"param_bytes\": 4096,"
    "\"params\": [{\"name\": \"a.*.w\", \"stack\": [2], \"axes\": [\"O\", \"I\"], \"shape\": [20, 3], \"offset\": 0, \"stride\": 384,"
    "\"layout\": \"panel16\", \"panel\": {\"split\": 1, \"output\": \"first\"}, \"init\": {\"kind\": \"normal\", \"a\": 0.02},"
    "\"names\": {\"hf\": [{\"name\": \"p\", \"transform\": \"part\", \"part\": 0, \"parts\": 2}, {\"name\": \"q.#\", \"transform\": \"stacked\"}]}}],"
    "\"optimizer\": {\"kind\": \"adamw\", \"moments\": 2}, \"entries\": [{\"name\": \"infer\", \"kind\": \"out\","
    "\"dims\": [{\"name\": \"B\", \"max\": -1}, {\"name\": \"T\", \"max\": 64}],"
    "\"inputs\": [{\"name\": \"ids\", \"dtype\": \"i32\", \"axes\": [\"B\", \"T\"], \"shape\": [{\"const\": 0, \"terms\": {\"B\": 1}},"
    "{\"const\": -1, \"terms\": {\"T\": 2}}], \"bound\": 50}], \"outputs\": [{\"name\": \"y\", \"dtype\": \"f32\", \"axes\": [], \"shape\": []}],"
    "\"states\": [{\"name\": \"m\", \"stack\": [], \"dtype\": \"f32\", \"axes\": [\"D\"], \"shape\": [8], \"initial\": 0, \"of_model\": true}],"
    "\"memory\": {\"workspace\": \"max(64*ceil(4*B*T / 64), 512*(T - 1))\", \"saved\": \"0\", \"states\": \"64\", \"inputs\": \"4*B\", \"outputs\": \"mod(T, 3)\","
    "\"scratch_per_worker\": 64}, \"kernels\": [{\"name\": \"a\", \"kind\": \"gemm\", \"place\": \"s.tn:1:2\", \"calls\": 2, \"flops\": \"2*B*T\", \"bytes\": \"4*T\"}]}]}";

void writeAll(const std::string &path, const std::string &bytes) {
  std::remove(path.c_str()); // ext4 waits for the disk when a file is truncated and written again
  auto file = File::create(path);
  if (!file.ok() || file->write(bytes.data(), bytes.size()).failed()) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(2);
  }
}

bool trySafetensors(Random &random, const std::string &path) {
  std::string header = seedsOfSafetensors[random.below(3)];
  size_t good = header.size();
  mutate(header, random);
  uint64_t length = random.below(16) == 0 ? random.next() >> random.below(64) : header.size();
  uint64_t data = good > 140 ? 32 : good > 10 ? 11 : 0;
  if (random.below(8) == 0)
    data = random.below(64);
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  writeAll(path, bytes + header + std::string(data, '\1'));
  auto file = SafetensorsFile::open(path);
  if (!file.ok())
    return false;
  for (const SafetensorsEntry &entry : file->entries()) {
    std::vector<char> raw(entry.end - entry.begin);
    std::vector<double> reals(entry.elements());
    if (file->read(entry, raw.data()).failed() || file->find(entry.name) == nullptr)
      std::abort();
    (void)file->readReals(entry, 0, entry.elements(), DataType::F64, reals.data()).ok();
  }
  return true;
}

bool tryNpy(Random &random, const std::string &path) {
  size_t which = random.below(3);
  std::string header = seedsOfNpy[which], bytes("\x93NUMPY\x01\x00", 8);
  mutate(header, random);
  uint64_t length = random.below(16) == 0 ? random.below(65536) : header.size();
  bytes += static_cast<char>(length & 255);
  bytes += static_cast<char>(length >> 8 & 255);
  bytes += header + std::string(which == 2 ? 1 : 32, '\1');
  if (random.below(10) == 0)
    mutate(bytes, random);
  writeAll(path, bytes);
  auto array = readNpy(path);
  if (!array.ok())
    return false;
  std::vector<int64_t> shape(array->shape.begin(), array->shape.end());
  std::vector<char> target(array->elements() * 8);
  (void)npyToInput(*array, "x", DataType::I32, shape, target.data()).ok();
  (void)npyToInput(*array, "x", DataType::F64, shape, target.data()).ok();
  return true;
}

bool tryManifest(Random &random) {
  std::string text = seedOfManifest;
  mutate(text, random);
  auto manifest = parseManifest(text);
  if (!manifest.ok())
    return false;
  int64_t dims[16];
  for (int64_t &dim : dims)
    dim = static_cast<int64_t>(random.next() >> 1);
  for (const ParameterInfo &info : manifest->parameters)
    if (info.stackElements > 0)
      (void)info.elementName(info.stackElements - 1);
  for (const EntryInfo &entry : manifest->entries)
    for (const TensorInfo &tensor : entry.inputs)
      for (const SizeForm &size : tensor.shape)
        if (entry.dims.size() <= 16)
          (void)size.evaluate(dims);
  return true;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: fuzz-readers safetensors|npy|manifest COUNT SEED FOLDER\n");
    return 2;
  }
  std::string kind = argv[1], path = std::string(argv[4]) + "/input";
  long count = std::atol(argv[2]), accepted = 0;
  double slowest = 0;
  Random random{std::strtoull(argv[3], nullptr, 10)};
  for (long i = 0; i < count; ++i) {
    auto start = std::chrono::steady_clock::now();
    accepted += kind == "npy" ? tryNpy(random, path) : kind == "manifest" ? tryManifest(random) : trySafetensors(random, path);
    slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("%s: %ld inputs, accepted %ld, refused %ld, slowest %.0f ms\n", kind.c_str(), count, accepted, count - accepted, slowest * 1000);
  bool meaningful = accepted * 100 >= count && (count - accepted) * 10 >= count;
  std::printf(meaningful ? "mutations reach both sides\n" : "mutations are too weak or too strong\n");
  return meaningful ? 0 : 1;
}
