// Mutates good files and feeds the readers of untrusted data: fuzz-readers KIND COUNT SEED FOLDER; the seed `new` is another one
// each time, and is printed. Built with AddressSanitizer and UBSan; a finding ends the program, and an input that takes more than
// 2 s or 1 GB is one. Prints how many inputs were accepted and refused: both must occur, or the mutations test nothing.
#include "runtime/artifact/Manifest.h"
#include "runtime/files/Npy.h"
#include "runtime/files/Safetensors.h"
#include "test/runtime/Fuzz.h"
#include "test/runtime/abi_text.h"
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <sys/time.h>
#include <unistd.h>

using namespace tenon::runtime;
using namespace tenon::fuzz;

// Of the sanitizers' run-time library; GCC has no header for them.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*onMalloc)(const volatile void *, size_t),
                                                         void (*onFree)(const volatile void *));
extern "C" size_t __sanitizer_get_allocated_size(const volatile void *memory);

namespace {

const std::string seedsOfSafetensors[] = {
    "{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
    "\"b\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[24,32]}}",
    "{\"x.0.w\":{\"data_offsets\":[0,8],\"shape\":[],\"dtype\":\"F64\"},\"x.1.w\":{\"dtype\":\"BOOL\",\"shape\":[1,1,3],\"data_"
    "offsets\":[8,11]}}",
    "{}"};
const std::string seedsOfNpy[] = {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }                \n",
                                  "{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }\n",
                                  "{'shape': (), 'descr': '|b1', 'fortran_order': False}\n"};
const std::string seedOfManifest =
    "{\"format\": 1, \"abi\": " ABI_TEXT ", \"tool\": \"t\", \"name\": \"n\", \"model\": \"M\", \"build_id\": \"b\","
    "\"spec_sha256\": \"0\", \"target\": {\"device\": \"host\", \"triple\": \"x\", \"tiers\": [\"portable\"], "
    "\"roofline\": {\"machine\": \"m\", \"flops_per_second\": 9, \"bytes_per_second\": 4}}, \"dtype\": "
    "\"f32\", \"param_bytes\": 4096,"
    "\"params\": [{\"name\": \"a.*.w\", \"stack\": [2], \"axes\": [\"O\", \"I\"], \"shape\": [20, 3], \"offset\": 0, \"stride\": "
    "384,"
    "\"init\": {\"kind\": \"normal\", \"a\": 0.02},"
    "\"names\": {\"hf\": [{\"name\": \"p\", \"transform\": \"part\", \"part\": 0, \"parts\": 2}, {\"name\": \"q.#\", "
    "\"transform\": \"stacked\"}]}}],"
    "\"optimizer\": {\"kind\": \"adamw\", \"moments\": 2}, \"entries\": [{\"name\": \"infer\", \"kind\": \"out\","
    "\"dims\": [{\"name\": \"B\", \"max\": -1}, {\"name\": \"T\", \"max\": 64}],"
    "\"inputs\": [{\"name\": \"ids\", \"dtype\": \"i32\", \"axes\": [\"B\", \"T\"], \"shape\": [{\"const\": 0, \"terms\": "
    "{\"B\": 1}},"
    "{\"const\": -1, \"terms\": {\"T\": 2}}], \"bound\": 50}], \"outputs\": [{\"name\": \"y\", \"dtype\": \"f32\", \"axes\": [], "
    "\"shape\": [],"
    "\"average\": {\"sum_along\": [{\"rename\": [{\"select\": [{\"less\": [0, {\"sum\": \"p\", \"axes\": [\"C\"]}]}, "
    "{\"expand\": [2], \"axes\": [\"C\"], \"sizes\": [3]},"
    "{\"slice\": [{\"greatest\": \"p\", \"axes\": [\"C\"]}], \"axes\": [\"C\"], \"to\": [\"C\"], \"sizes\": [0, 3]}]}], "
    "\"axes\": [\"C\"], \"to\": [\"K\"]}], \"axes\": [\"K\"]}},"
    "{\"name\": \"p\", \"dtype\": \"f32\", \"axes\": [\"B\", \"C\"], \"shape\": [2, 3], \"rows\": 0}],"
    "\"states\": [{\"name\": \"m\", \"stack\": [], \"dtype\": \"f32\", \"axes\": [\"D\"], \"shape\": [8], \"initial\": 0, "
    "\"of_model\": true}, {\"name\": \"s.*\", \"stack\": [2], \"dtype\": \"f32\", \"axes\": [\"K\"], \"shape\": [2], "
    "\"initial\": {\"kind\": \"table\", \"values\": [0, 1], \"along\": [true], \"as\": \"p.*\"}, \"of_model\": true}],"
    "\"memory\": {\"workspace\": \"max(64*ceil(4*B*T / 64), 512*(T - 1))\", \"saved\": \"0\", \"states\": \"64\", \"inputs\": "
    "\"4*B\", \"outputs\": \"mod(T, 3)\","
    "\"scratch_per_worker\": 64}, \"kernels\": [{\"name\": \"a\", \"kind\": \"gemm\", \"place\": \"s.tn:1:2\", \"calls\": 2, "
    "\"flops\": \"2*B*T\", \"bytes\": \"4*T\"}]}]}";

bool trySafetensors(Random &random, const std::string &folder) {
  const std::string path = folder + "/input";
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

bool tryNpy(Random &random, const std::string &folder) {
  const std::string path = folder + "/input";
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

bool tryManifest(Random &random, const std::string &) {
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

// ---- limits of one input: part of the verdict

constexpr int kSeconds = 2; // of CPU time, which other processes do not change
constexpr size_t kBytes = size_t{1} << 30;
std::atomic<size_t> liveBytes, allowedBytes{SIZE_MAX};
long currentInput = -1;

[[noreturn]] void endWith(const char *finding) {
  char text[120];
  int length = snprintf(text, sizeof text, "FINDING: input %ld takes more than %s\n", currentInput, finding);
  (void)!write(STDERR_FILENO, text, static_cast<size_t>(length));
  _exit(1);
}

void onTime(int) { endWith("2 s"); }
void onAllocate(const volatile void *, size_t bytes) {
  if ((liveBytes += bytes) > allowedBytes)
    endWith("1 GB");
}
void onFree(const volatile void *memory) { liveBytes -= __sanitizer_get_allocated_size(memory); }

void beginInput(long number) {
  currentInput = number;
  allowedBytes = liveBytes + kBytes;
  struct itimerval timer{};
  timer.it_value.tv_sec = kSeconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

using Try = bool (*)(Random &, const std::string &folder);

// Negative controls of the limits.
bool trySlow(Random &random, const std::string &) {
  for (volatile uint64_t last = 0;;) // volatile: a loop without effects may be taken to end
    last = random.next();
}
bool tryHungry(Random &, const std::string &) {
  std::vector<std::unique_ptr<char[]>> pieces; // not written to: pages of 1 GB can take the system 2 s
  for (;;)
    pieces.emplace_back(new char[1 << 20]);
}

const std::pair<const char *, Try> kinds[] = {{"safetensors", trySafetensors},
                                              {"npy", tryNpy},
                                              {"manifest", tryManifest},
                                              {"checkpoint", tryCheckpoint},
                                              {"settings", trySettings},
                                              {"metrics", tryMetrics},
                                              {"vocabulary", tryVocabulary},
                                              {"text", tryText},
                                              {"arrays", tryArrays},
                                              {"jsonl", tryJsonl},
                                              {"rows", tryRows},
                                              {"pictures", tryPictures},
                                              {"slow", trySlow},
                                              {"hungry", tryHungry}};

} // namespace

/// One allocation that is larger than an input may use is a finding too.
extern "C" const char *__asan_default_options() { return "max_allocation_size_mb=1024:allocator_may_return_null=0"; }

int main(int argc, char **argv) {
  Try attempt = nullptr;
  for (const auto &[name, function] : kinds)
    if (argc == 5 && std::string_view(name) == argv[1])
      attempt = function;
  if (!attempt) {
    std::fprintf(stderr, "usage: fuzz-readers KIND COUNT SEED|new FOLDER\n");
    return 2;
  }
  std::string folder = argv[4], memory = "/dev/shm/tenon-fuzz-XXXXXX"; // syncs cost nothing there
  const bool inMemory = mkdtemp(memory.data()) != nullptr;
  if (inMemory)
    folder = memory;
  const uint64_t seed = std::string_view(argv[3]) == "new" ? std::random_device()() : std::strtoull(argv[3], nullptr, 10);
  std::printf("%s: seed %llu\n", argv[1], static_cast<unsigned long long>(seed));
  std::fflush(stdout); // before a finding
  __sanitizer_install_malloc_and_free_hooks(onAllocate, onFree);
  std::signal(SIGPROF, onTime);
  long count = std::atol(argv[2]), accepted = 0;
  Random random{seed};
  for (long i = 0; i < count; ++i) {
    beginInput(i);
    accepted += attempt(random, folder);
  }
  if (inMemory)
    std::filesystem::remove_all(folder);
  std::printf("%ld inputs, accepted %ld, refused %ld\n", count, accepted, count - accepted);
  bool meaningful = accepted * 100 >= count && (count - accepted) * 10 >= count;
  std::printf(meaningful ? "mutations reach both sides\n" : "mutations are too weak or too strong\n");
  return meaningful ? 0 : 1;
}
