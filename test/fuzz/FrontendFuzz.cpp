// Fuzzing of the whole front under ASan and UBSan: text to checked program to verified MLIR, as `tenon check` and `tenon compile`
// do it, and to formatted text. Most inputs are specifications with changes that know types (TypedSpec.h), the others with
// changes of any kind (SpecMutator.h).
//   frontend-fuzz [--runs N] [--seconds S] [--seed S|random] [--only I] [--floor PERCENT] [--root DIR] [--print] [--plant FAULT]
//   SPEC...
// With --seconds no input begins after so many seconds of processor time.
// The exit code is 0 only if every input was through within kSeconds of processor time and kMegabytes, every mistake has a page
// and a place, what the checker finds right becomes a module that verifies, formatting changes no meaning, and FLOOR percent of
// the inputs (a third where nothing is said) reached a module. `--print` writes the input of --only. `--plant` proves that this
// is seen: overflow (a read behind a buffer), slow, memory, crash, page (a mistake without a page), refuse (of generation),
// recipe (a mistake of `tenon compile` alone), verifier, format (another text when formatted twice), token, meaning.
#include "test/fuzz/FrontendVerdict.h"
#include "test/fuzz/TypedSpec.h"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <sanitizer/asan_interface.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

// Of LLVM's sanitizer/allocator_interface.h, which g++ does not install: calls these for whatever is allocated and freed.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
                                                         void (*freed)(const volatile void *));
extern "C" size_t __sanitizer_get_allocated_size(const volatile void *);

/// Which memory is whose is known to sanitized code alone, and LLVM's libraries are not: nothing may be poisoned by hand. The
/// memory of the process itself is bounded only so that a machine survives what malloc does not see. Freed memory is kept for a
/// while to find its readers. Two frames of an allocation cost a third less time than thirty; ASAN_OPTIONS=malloc_context_size=30
/// shows more of a finding.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0:handle_abort=1:quarantine_size_mb=64:malloc_context_"
         "size=2:hard_rss_limit_mb=3000";
}

using namespace tenon;

namespace {

using fuzz::fail;

constexpr int kSeconds = 2;              // of processor time for one input, under the sanitizers
constexpr int64_t kMegabytes = 1024;     // in use at once for one input
constexpr unsigned kSecondsOfHang = 120; // by the clock: ends a process that waits for what never comes
constexpr unsigned kTypedPercent = 65;   // of the inputs have typed changes; the others are mostly wrong

std::string folder, current;
fuzz::Judge judge;
size_t seed = 1, position = 0;
std::atomic<int64_t> bytesInUse{0}, mostBytes{0}, bytesAtStart{0}; // of the input

} // namespace

void tenon::fuzz::fail(const char *reason) {
  static std::atomic<bool> failing{false};
  if (failing.exchange(true)) // by a thread beside this one, or in what is called below
    std::_Exit(1);
  alarm(20); // the stack may not be found where a signal came amid malloc
  std::signal(SIGALRM, SIG_DFL);
  std::fprintf(stderr, "frontend-fuzz: %s at --seed %zu --only %zu; the input is:\n%.*s\n", reason, seed, position,
               static_cast<int>(std::min<size_t>(current.size(), 20'000)), current.data());
  __sanitizer_print_stack_trace();
  std::_Exit(1);
}

namespace {

void allocated(const volatile void *, size_t bytes) {
  const int64_t now = bytesInUse += int64_t(bytes);
  if (now > mostBytes)
    mostBytes = now;
  if (now - bytesAtStart > kMegabytes << 20)
    fail("an input takes too much memory");
}

void freed(const volatile void *pointer) {
  if (pointer)
    bytesInUse -= int64_t(__sanitizer_get_allocated_size(pointer));
}

/// From now on the process has kSeconds of processor time and kMegabytes.
void startWatch() {
  bytesAtStart = mostBytes = bytesInUse.load();
  alarm(kSecondsOfHang);
  const itimerval timer{{0, 0}, {kSeconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void watch() {
  std::signal(SIGALRM, [](int) { fail("it hangs"); });
  std::signal(SIGPROF, [](int) { fail("an input takes too long"); });
  __sanitizer_install_malloc_and_free_hooks(allocated, freed);
  __asan_set_death_callback([] { fail("the sanitizer stopped the compiler"); });
}

double processorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

void plantFault() {
  const std::string &plant = judge.plant;
  if (plant == "overflow") {
    std::vector<char> copy(current.begin(), current.end());
    volatile char *behind = copy.data() + copy.size();
    volatile char read = *behind;
    (void)read;
  }
  if (plant == "slow")
    for (volatile bool goesOn = true; goesOn;) {
    }
  if (plant == "crash")
    std::abort();
  if (plant == "memory")
    for (std::vector<std::unique_ptr<char[]>> much;;)
      much.emplace_back(new char[16 << 20]); // untouched: filling a gigabyte takes too long, which is another finding
}

struct Job {
  size_t runs = 20000, only = ~size_t{0}, floor = 34;
  double seconds = 1e9;
  bool prints = false;
  std::vector<std::string> texts;
};

/// False after a message.
bool readArguments(int argc, char **argv, Job &job) {
  for (int i = 1; i < argc; ++i) {
    auto option = [&](const char *name) { return !std::strcmp(argv[i], name) && i + 1 < argc; };
    auto number = [&] { return size_t(std::strtoull(argv[++i], nullptr, 10)); };
    if (option("--runs")) {
      job.runs = number();
    } else if (option("--seed")) {
      const std::string word = argv[++i];
      seed = word == "random" ? std::random_device()() : std::strtoull(word.c_str(), nullptr, 10);
    } else if (option("--seconds")) {
      job.seconds = std::strtod(argv[++i], nullptr);
    } else if (option("--only")) {
      job.only = number();
    } else if (option("--floor")) {
      job.floor = number();
    } else if (option("--root")) {
      judge.roots.push_back(argv[++i]);
    } else if (option("--plant")) {
      judge.plant = argv[++i];
    } else if (!std::strcmp(argv[i], "--print")) {
      job.prints = true;
    } else {
      std::ifstream stream(argv[i], std::ios::binary);
      if (!stream) {
        std::fprintf(stderr, "frontend-fuzz: cannot read %s\n", argv[i]);
        return false;
      }
      job.texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    }
  }
  if (job.texts.empty())
    std::fprintf(stderr, "frontend-fuzz: no seeds\n");
  return !job.texts.empty();
}

/// Makes the inputs.
class Source {
public:
  explicit Source(const std::vector<std::string> &texts) {
    CheckOptions options;
    options.path = judge.path;
    options.modelRoots = judge.roots;
    lent = {
        {"LayerNorm", "[@]", "", {}}, {"RMSNorm", "[@]", "", {}}, {"Linear", "[@ -> @]", "", {}}, {"Conv1D", "[@ -> @]", "", {}}};
    for (const std::string &text : texts) {
      mutator.addWhole(text);
      if (auto spec = fuzz::TypedSpec::read(text, options)) {
        spec->lend(lent);
        typed.push_back(std::move(*spec));
      }
    }
  }
  std::string make(size_t index) const {
    fuzz::Random random(seed * 1000003 + index);
    if (!typed.empty() && random.chance(kTypedPercent))
      return typed[random.below(typed.size())].change(random, lent);
    bool wrecked = false;
    return mutator.make(random, wrecked);
  }
  size_t seeds() const { return mutator.seeds(); }
  size_t rightSeeds() const { return typed.size(); }

private:
  fuzz::SpecMutator mutator;
  std::vector<fuzz::TypedSpec> typed;
  std::vector<fuzz::LentLayer> lent;
};

/// What took the most, and which input it was.
struct Most {
  double value = 0;
  size_t position = 0;
  void see(double now) {
    if (now > value)
      *this = {now, ::position};
  }
};

int run(const Source &source, const Job &job) {
  const bool isOne = job.only != ~size_t{0};
  const size_t begin = isOne ? job.only : 0, end = isOne ? job.only + 1 : job.runs;
  size_t right = 0, generated = 0, bytes = 0;
  Most slowest, largest;
  for (position = begin; position < end && processorSeconds() < job.seconds; ++position) {
    current = source.make(position);
    if (job.prints)
      std::printf("%s\n", current.c_str()), std::fflush(stdout);
    bytes += current.size();
    startWatch();
    const double start = processorSeconds();
    plantFault();
    const fuzz::Verdict verdict = judge.compile(current);
    slowest.see(processorSeconds() - start);
    largest.see(double(mostBytes - bytesAtStart) / 1048576);
    startWatch(); // formatting is a command of its own
    judge.format(current, verdict);
    right += verdict.isRight;
    generated += verdict.generates;
  }
  const size_t count = position - begin;
  auto percent = [&](size_t some) { return 100.0 * double(some) / double(std::max<size_t>(count, 1)); };
  std::printf("inputs %zu, right %zu (%.1f %%), mean %zu bytes, slowest %.0f ms (--only %zu), largest %.1f MB (--only %zu), "
              "seeds %zu, right ones %zu\n",
              count, right, percent(right), bytes / std::max<size_t>(count, 1), slowest.value * 1e3, slowest.position,
              largest.value, largest.position, source.seeds(), source.rightSeeds());
  const bool enough = 100 * generated >= job.floor * count || isOne;
  std::printf("reached a module: %zu of %zu inputs (%.1f %%), asked for are %zu %%: %s\n", generated, count, percent(generated),
              job.floor, enough ? "enough" : "too little behind the checker was tried");
  return enough ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Job job;
  if (!readArguments(argc, argv, job))
    return 2;
  char name[] = "/tmp/frontend-fuzz-XXXXXX";
  if (!mkdtemp(name)) {
    std::fprintf(stderr, "frontend-fuzz: cannot make a folder in /tmp\n");
    return 2;
  }
  folder = name;
  judge.path = folder + "/input.tn";
  std::printf("seed %zu\n", seed);
  std::fflush(stdout);
  const Source source(job.texts);
  watch();
  const int code = run(source, job);
  std::filesystem::remove_all(folder);
  return code;
}
