// Runs one kernel of a module for NVPTX on the host, and compares what comes out; or asks of each synchronising call of the
// kernel whether a run without it fails.
#include "LaunchFile.h"
#include "Memory.h"
#include "Program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <chrono>
#include <cmath>

using namespace llvm;
using namespace tenon::emu;

namespace {

cl::opt<std::string> moduleFile(cl::Positional, cl::Required, cl::desc("MODULE.ll"));
cl::opt<std::string> launchFile(cl::Positional, cl::desc("LAUNCH.json"));
cl::opt<std::string> modeText("mode", cl::desc("as TENON_GPU_EMU has it: checked|fast,order=..,copies=.."));
cl::opt<unsigned> schedules("schedules", cl::init(1),
                            cl::desc("runs: the mode's, then reverse order, early copies, then random orders"));
cl::opt<bool> mutants("mutants", cl::desc("delete each synchronising call in turn; each must be found"));
cl::opt<std::string> saved("save-gpu-ir",
                           cl::desc("folder: write the module there as the compiler does, print the line for its PTX"));
cl::opt<std::string> host("host", cl::desc("processor that code is made for, as clang's -march; default: the one there is"));
cl::opt<bool> timing("time", cl::desc("print times"));

struct Verdict {
  bool right = true;
  std::string text;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The buffers' values against what is expected.
void compare(const LaunchFile &file, const std::vector<uint64_t> &slots, Verdict &verdict) {
  for (size_t i = 0; i < file.arguments.size(); ++i) {
    const LaunchArgument &argument = file.arguments[i];
    if (argument.expected.empty())
      continue;
    const auto got = loadValues(argument.type, reinterpret_cast<const void *>(slots[i]), argument.expected.size());
    double worst = 0;
    size_t at = 0;
    for (size_t k = 0; k < got.size(); ++k) {
      double error = std::fabs(got[k] - argument.expected[k]) / (1 + std::fabs(argument.expected[k]));
      if (std::isnan(error))
        error = INFINITY;
      if (error > worst) {
        worst = error;
        at = k;
      }
    }
    raw_string_ostream stream(verdict.text);
    stream << argument.name << ": largest error " << format("%.2e", worst);
    if (worst > argument.tolerance) {
      verdict.right = false;
      stream << " of " << format("%.1e", argument.tolerance) << " allowed, at " << at << ": " << got[at] << ", not "
             << argument.expected[at];
    }
    stream << "\n";
  }
}

Expected<std::unique_ptr<Program>> load(MemoryBufferRef module, const Mode &mode) {
  const double start = now();
  auto program = Program::load(module, mode);
  if (timing)
    errs() << format("load %.1f ms\n", 1e3 * (now() - start));
  return program;
}

Expected<Verdict> runOnce(const Program &program, const LaunchFile &file, const Mode &mode) {
  machine.mode = mode;
  const Kernel *kernel = program.find(file.kernel);
  if (!kernel)
    return createStringError("there is no kernel " + file.kernel + " in " + moduleFile);
  if (kernel->argumentBytes.size() != file.arguments.size())
    return createStringError("kernel " + file.kernel + " has " + Twine(kernel->argumentBytes.size()) + " arguments, the launch " +
                             Twine(file.arguments.size()));
  if (file.block.count() > kernel->mostThreads)
    return createStringError("a block of " + Twine(file.block.count()) + " threads is more than kernel " + file.kernel +
                             " takes");
  OpenMemory open;
  std::vector<uint64_t> slots;
  for (const LaunchArgument &argument : file.arguments) {
    slots.push_back(argument.bits);
    if (!argument.buffer)
      continue;
    slots.back() = allocateBuffer(argument.count * bytesOf(argument.type), mode.memory);
    if (!slots.back())
      return createStringError("the buffers take more than the " + Twine(mode.memory) + " bytes of the device");
    storeValues(argument.type, argument.values, reinterpret_cast<void *>(slots.back()));
  }
  const double launched = now();
  const Outcome outcome = launch(*kernel, file.grid, file.block, file.dynamicShared, slots.data());
  Verdict verdict = {outcome.ok(), describe(file.kernel, outcome)};
  if (timing)
    errs() << format("run %.1f ms\n", 1e3 * (now() - launched));
  compare(file, slots, verdict);
  for (size_t i = 0; i < slots.size(); ++i)
    if (file.arguments[i].buffer)
      freeBuffer(slots[i]);
  return verdict;
}

/// The mode of run `i`.
Mode scheduled(Mode mode, unsigned i) {
  if (i == 1)
    mode.order = Order::Reverse;
  if (i == 2)
    mode.late = !mode.late;
  if (i > 2) {
    mode.order = Order::Random;
    mode.seed = mode.seed + i;
  }
  return mode;
}

std::string nameOfSchedule(const Mode &mode) {
  return std::string(mode.checked ? "checked" : "fast") +
         (mode.order == Order::InOrder   ? ", in order"
          : mode.order == Order::Reverse ? ", reverse"
                                         : ", random:" + std::to_string(mode.seed)) +
         (mode.late ? ", late copies" : ", early copies");
}

Expected<bool> runAll(const Program &program, const LaunchFile &file, const Mode &mode, std::string *text) {
  bool right = true;
  for (unsigned i = 0; i < schedules; ++i) {
    const Mode one = scheduled(mode, i);
    auto verdict = runOnce(program, file, one);
    if (!verdict)
      return verdict.takeError();
    right &= verdict->right;
    if (text)
      *text += nameOfSchedule(one) + ": " + (verdict->right ? "right" : "WRONG") + "\n" + verdict->text;
    if (!right && !text)
      break;
  }
  return right;
}

/// Exit code 1 if a mutant survives.
Expected<int> score(MemoryBufferRef module, const LaunchFile &file, Mode mode) {
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> parsed = parseIR(module, diagnostic, context);
  if (!parsed)
    return createStringError("no LLVM IR: " + diagnostic.getMessage());
  const std::vector<std::string> calls = listMutants(*parsed, file.kernel);
  unsigned found = 0;
  mode.mutant = file.kernel;
  mode.faults = {};
  auto program = load(module, mode);
  if (!program)
    return program.takeError();
  for (unsigned i = 0; i < calls.size(); ++i) {
    mode.faults = {i};
    auto right = runAll(**program, file, mode, nullptr);
    if (!right)
      return right.takeError();
    found += !*right;
    if (*right)
      outs() << "survives: without call " << i << ", `" << calls[i] << "`\n";
  }
  outs() << file.kernel << ": " << found << " of " << calls.size() << " mutants found\n";
  return found == calls.size() ? 0 : 1;
}

/// As `tenon compile --save-gpu-ir`.
Expected<int> save(MemoryBufferRef file) {
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIR(file, diagnostic, context);
  if (!module)
    return createStringError("no LLVM IR: " + diagnostic.getMessage());
  SmallString<0> bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(*module, stream);
  const XXH128_hash_t hash = xxh3_128bits(arrayRefFromStringRef(bitcode));
  const std::string name = formatv("{0:x-16}{1:x-16}", hash.high64, hash.low64);
  std::error_code error;
  raw_fd_ostream to(saved + "/" + name + ".bc", error);
  if (error)
    return createStringError(saved + "/" + name + ".bc: " + error.message());
  to << bitcode;
  outs() << "// tenon-ir: " << name << "\n";
  return 0;
}

Expected<int> run() {
  auto mode = parseMode(modeText);
  if (!mode)
    return mode.takeError();
  mode->host = host;
  auto module = MemoryBuffer::getFile(moduleFile);
  if (!module)
    return createStringError(moduleFile + ": " + module.getError().message());
  if (!saved.empty())
    return save(**module);
  if (launchFile.empty())
    return createStringError("say which launch to run: MODULE.ll LAUNCH.json");
  auto file = readLaunchFile(launchFile);
  if (!file)
    return file.takeError();
  if (mutants)
    return score(**module, *file, *mode);
  std::string text;
  auto program = load(**module, *mode);
  if (!program)
    return program.takeError();
  auto right = runAll(**program, *file, *mode, &text);
  if (!right)
    return right.takeError();
  outs() << text;
  return *right ? 0 : 1;
}

} // namespace

int main(int count, char **arguments) {
  InitLLVM init(count, arguments);
  cl::ParseCommandLineOptions(count, arguments, "Runs a kernel for NVPTX on the host.\n");
  auto code = run();
  if (code)
    return *code;
  errs() << "error: " << toString(code.takeError()) << "\n";
  return 2;
}
