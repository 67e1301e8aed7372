// Fuzzing of the whole front under ASan and UBSan: text to checked program to verified MLIR, as `tenon check` and `tenon compile` do it. Inputs are
// specifications with a few changes; most of them still parse, many are still right.
//   frontend-fuzz [--runs N] [--seed S|random] [--only I] [--root DIR] [--print] [--plant FAULT] SPEC...
// The exit code is 0 only if every input was through within kSeconds of processor time and kMegabytes, every mistake has a page and a place, a program
// and a module that verifies came out wherever there was no mistake, and at least one in fifty of the inputs had none. `--print` writes the input of --only.
// `--plant` proves that this is seen: overflow (a read behind a buffer), slow, memory, crash, page (a mistake without a page).
#include "SpecMutator.h"
#include "frontend/MlirGen.h"
#include "frontend/Sema.h"
#include "frontend/syntax/Parse.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sanitizer/asan_interface.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

// Of LLVM's sanitizer/allocator_interface.h, which g++ does not install: calls these for whatever is allocated and freed.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t), void (*freed)(const volatile void *));
extern "C" size_t __sanitizer_get_allocated_size(const volatile void *);

/// Which memory is whose is known to sanitized code alone, and LLVM's libraries are not: nothing may be poisoned by hand. The memory of the process
/// itself is bounded only so that a machine survives what malloc does not see. Freed memory is kept for a while to find its readers.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0:handle_abort=1:quarantine_size_mb=64:hard_rss_limit_mb=3000";
}

using namespace tenon;

namespace {

constexpr int kSeconds = 2;          // of processor time for one input, under the sanitizers
constexpr int64_t kMegabytes = 1024; // in use at once for one input
constexpr unsigned kSecondsOfHang = 120; // by the clock: ends a process that waits for what never comes

std::string plant, folder, current;
std::vector<std::string> roots;
size_t seed = 1, position = 0;
std::atomic<int64_t> bytesInUse{0}, mostBytes{0}, bytesAtStart{0}; // of the input

[[noreturn]] void fail(const char *reason) {
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

void examine(const SourceFiles &sources, const Diagnostics &diagnostics) {
  if (diagnostics.all().size() > Diagnostics::kMostMistakes + 60) // and warnings
    fail("more mistakes than a reader wants");
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    if (explanation(diagnostic.code).empty() || plant == "page")
      fail("a mistake without a page");
    if (diagnostic.message.empty() || diagnostic.range.file >= sources.files.size() || diagnostic.range.begin > diagnostic.range.end ||
        diagnostic.range.end > sources.files[diagnostic.range.file].text.size())
      fail("a mistake without a place");
  }
  if (diagnostics.hasErrors() && (renderText(sources, diagnostics, true).empty() || renderJson(sources, diagnostics).empty()))
    fail("a mistake without a text");
}

/// The recipe that `tenon compile` would take: the last train block of the last model.
std::string recipeOf(const std::string &text) {
  SourceFiles sources;
  sources.files.push_back({"input.tn", text});
  Diagnostics diagnostics;
  std::string name;
  for (const ast::Item &item : parse(sources, 0, diagnostics).items)
    if (item.recipe && item.recipe->kind == ast::Recipe::Kind::Train)
      name = item.recipe->name.text;
  return name;
}

void generate(const Program &program, const SourceFiles &sources) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string words;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) { words += diagnostic.str(); });
  Diagnostics diagnostics;
  auto module = generateModule(program, sources, mlir::Float32Type::get(&context), diagnostics);
  examine(sources, diagnostics);
  if (!module && !diagnostics.hasErrors())
    fail("no module and no mistake");
  if (module && mlir::failed(mlir::verify(*module)))
    fail(("the module does not verify: " + words).c_str());
}

/// Whether the specification is right.
bool check(const std::string &text) {
  const std::string path = folder + "/input.tn";
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  CheckOptions options;
  options.path = path;
  options.modelRoots = roots;
  SourceFiles sources;
  Diagnostics diagnostics;
  const bool right = checkFile(options, sources, diagnostics);
  examine(sources, diagnostics);
  if (right == diagnostics.hasErrors())
    fail("the verdict is not that of the mistakes");
  options.recipe = recipeOf(text);
  SourceFiles again;
  Diagnostics mistakes;
  std::optional<Program> program = check(options, again, mistakes);
  examine(again, mistakes);
  if (program.has_value() == mistakes.hasErrors())
    fail("a program is missing without a mistake, or there is one with a mistake");
  if (program)
    for (const Entry &entry : program->entries)
      if (print(*program, entry).empty())
        fail("an entry without a text");
  if (program)
    generate(*program, again);
  return right;
}

void plantFault() {
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
    for (std::vector<std::string> much;;)
      much.emplace_back(1 << 20, 'x');
}

/// False after a message.
bool readArguments(int argc, char **argv, fuzz::SpecMutator &mutator, size_t &runs, size_t &only, bool &prints) {
  for (int i = 1; i < argc; ++i) {
    auto option = [&](const char *name) { return !std::strcmp(argv[i], name) && i + 1 < argc; };
    if (option("--runs")) {
      runs = std::strtoull(argv[++i], nullptr, 10);
    } else if (option("--seed")) {
      const std::string word = argv[++i];
      seed = word == "random" ? std::random_device()() : std::strtoull(word.c_str(), nullptr, 10);
    } else if (option("--only")) {
      only = std::strtoull(argv[++i], nullptr, 10);
    } else if (option("--root")) {
      roots.push_back(argv[++i]);
    } else if (option("--plant")) {
      plant = argv[++i];
    } else if (!std::strcmp(argv[i], "--print")) {
      prints = true;
    } else {
      std::ifstream stream(argv[i], std::ios::binary);
      if (!stream) {
        std::fprintf(stderr, "frontend-fuzz: cannot read %s\n", argv[i]);
        return false;
      }
      mutator.addWhole(std::string(std::istreambuf_iterator<char>(stream), {}));
    }
  }
  if (mutator.seeds() == 0)
    std::fprintf(stderr, "frontend-fuzz: no seeds\n");
  return mutator.seeds() > 0;
}

int run(const fuzz::SpecMutator &mutator, size_t runs, size_t only, bool prints) {
  const bool isOne = only != ~size_t{0};
  size_t right = 0, bytes = 0, slowestPosition = 0, largestPosition = 0, begin = isOne ? only : 0, end = isOne ? only + 1 : runs;
  double slowest = 0;
  int64_t largest = 0;
  for (position = begin; position < end; ++position) {
    fuzz::Random random(seed * 1000003 + position);
    bool wrecked = false;
    current = mutator.make(random, wrecked);
    if (prints)
      std::printf("%s\n", current.c_str()), std::fflush(stdout);
    bytes += current.size();
    startWatch();
    const double start = processorSeconds();
    plantFault();
    right += check(current);
    if (const double seconds = processorSeconds() - start; seconds > slowest) {
      slowest = seconds;
      slowestPosition = position;
    }
    if (const int64_t most = mostBytes - bytesAtStart; most > largest) {
      largest = most;
      largestPosition = position;
    }
  }
  const size_t count = end - begin;
  std::printf("inputs %zu, right %zu (%.1f %%), mean %zu bytes, slowest %.0f ms (--only %zu), largest %.1f MB (--only %zu), seeds %zu\n", count, right,
              100.0 * double(right) / double(count), bytes / count, slowest * 1e3, slowestPosition, double(largest) / 1048576, largestPosition,
              mutator.seeds());
  if (50 * right < count && !isOne) {
    std::fprintf(stderr, "frontend-fuzz: fewer than one in fifty of the inputs are right, so little behind the mistakes was reached\n");
    return 1;
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  size_t runs = 20000, only = ~size_t{0};
  bool prints = false;
  fuzz::SpecMutator mutator;
  if (!readArguments(argc, argv, mutator, runs, only, prints))
    return 2;
  char name[] = "/tmp/frontend-fuzz-XXXXXX";
  if (!mkdtemp(name)) {
    std::fprintf(stderr, "frontend-fuzz: cannot make a folder in /tmp\n");
    return 2;
  }
  folder = name;
  std::printf("seed %zu\n", seed);
  std::fflush(stdout);
  watch();
  const int code = run(mutator, runs, only, prints);
  std::filesystem::remove_all(folder);
  return code;
}
