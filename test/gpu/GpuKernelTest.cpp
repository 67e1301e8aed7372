// tenon-gpu-kernel-test FILE.mlir --dims=T,B [--dims=...]: compiles every function of the file (kernel form) for a GPU with a
// trivial memory plan, runs it on the emulator under several schedules, and compares with the reference, as tenon-kernel-test
// does on the CPU. With --faults each fault of KernelFaults.h in turn must be found.
#include "lowering/artifact/Emit.h"
#include "lowering/gpu/GpuTarget.h"
#include "lowering/target/Choice.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/include/tenon/tensor_map.h"
#include "test/gpu-emu/Memory.h"
#include "test/gpu-emu/Program.h"
#include "test/gpu-emu/Record.h"
#include "test/gpu-emu/Shadow.h"
#include "test/gpu-emu/Tensor.h"
#include "test/gpu/KernelFaults.h"
#include "test/lowering/cpu/KernelRun.h"
#include "test/lowering/cpu/ShortStorage.h"
#include "test/lowering/cpu/TrivialPlan.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include <dlfcn.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::test;
namespace cl = llvm::cl;

static cl::opt<std::string> inputFile(cl::Positional, cl::desc("FILE.mlir"));
static cl::list<std::string> dimLists("dims",
                                      cl::desc("values of the symbolic dims, in order, comma separated; one run per option"));
static cl::opt<double> tolerance("tolerance", cl::init(2e-6), cl::desc("largest error relative to max(1, |x|)"));
static cl::opt<double> corrupt("corrupt", cl::desc("negative control: adds this to element 0 of every reference result"),
                               cl::init(0));
static cl::opt<std::string> storage("storage", cl::desc("bf16 or f16: what attention stores, in a file of f32"));
static cl::opt<std::string> only("only", cl::desc("only the function of this name"));
static cl::opt<std::string> modeText("mode", cl::desc("as TENON_GPU_EMU has it: checked|fast,order=..,copies=.."));
static cl::opt<unsigned> schedules("schedules", cl::init(3),
                                   cl::desc("runs: the mode's, reverse order, early copies, random orders"));
static cl::opt<bool> faults("faults", cl::desc("kernels with a fault, one after the other; each must be found"));
static cl::opt<std::string> faultyKernels("kernels", cl::desc("of --faults: those whose name has this in it"));
static cl::opt<std::string> targetName("target", cl::init("sm_80"), cl::desc("sm_80 or sm_90a"));
static cl::opt<bool> readOnly("read-only", cl::desc("negative control: as if kernels said that they only read"));
static cl::opt<bool> counts("counts", cl::desc("prints of each launch how many products of matrices and barriers it had"));
static cl::opt<std::string> recorded("record", cl::desc("folder: the launches as files that test/gpu/hardware.py runs on a GPU"));
static cl::opt<std::string> printed("print", cl::desc("ptx or llvm: print the code instead"));

/// What runs at present; TnContext::launch has no room for it.
static const emu::Program *program = nullptr;
static const TnModule *kernels = nullptr;
static std::string found; // by the emulator
static std::unique_ptr<emu::Recorder> recorder;

/// As the runtime and the driver do; returns its address.
static uint64_t encode(const TnTensorMap &asked, emu::TensorMap &made) {
  made.magic = emu::TensorMap::kMagic;
  made.address = asked.address;
  std::copy(std::begin(asked.strides), std::end(asked.strides), made.strides);
  std::copy(std::begin(asked.box), std::end(asked.box), made.box);
  std::transform(std::begin(asked.sizes), std::end(asked.sizes), made.sizes,
                 [](uint64_t size) { return std::max<uint64_t>(size, 1); });
  made.rank = asked.rank;
  made.swizzle = 128;
  if (const std::string wrong = emu::wrongIn(made); !wrong.empty())
    found += "a map of a tensor: " + wrong + "\n";
  return reinterpret_cast<uint64_t>(&made);
}

/// So that nothing waits too little in a graph.
static void expectSpans(const int64_t *spans, const uint64_t *addresses) {
  std::vector<emu::Touched> touched;
  for (int64_t i = 0; spans && i < spans[0]; ++i)
    touched.push_back({{addresses[i], uint64_t(std::abs(spans[i + 1]))}, spans[i + 1] < 0 && !readOnly});
  emu::shadowExpect(std::move(touched));
}

static void launchKernel(const TnContext *, int32_t number, int64_t blocks, int32_t threads, int32_t shared,
                         void *const *arguments, int32_t count, const int64_t *spans) {
  const int32_t maps = count / TN_MAP_ARGUMENT;
  count %= TN_MAP_ARGUMENT;
  const emu::Kernel *kernel = program->find(kernels->kernels[number]);
  std::vector<uint64_t> slots(size_t(count), 0);
  std::vector<emu::TensorMap> made(static_cast<size_t>(maps));
  for (int32_t i = 0; i < count; ++i)
    if (i < maps)
      slots[size_t(i)] = encode(*static_cast<const TnTensorMap *>(arguments[i]), made[size_t(i)]);
    else
      memcpy(&slots[size_t(i)], arguments[i], kernel->argumentBytes[size_t(i)]);
  if (!found.empty()) // nothing behind a fault
    return;
  if (recorder)
    recorder->before();
  expectSpans(spans, slots.data() + maps);
  emu::machine.products = emu::machine.barriers = 0;
  const emu::Outcome outcome =
      emu::launch(*kernel, {unsigned(blocks), 1, 1}, {unsigned(threads), 1, 1}, uint32_t(shared), slots.data());
  found += emu::describe(kernel->name, outcome);
  if (counts)
    llvm::outs() << kernel->name << ": " << emu::machine.products << " products, " << emu::machine.barriers << " barriers\n";
  if (recorder)
    recorder->after(kernel->name, {unsigned(blocks), 1, 1}, {unsigned(threads), 1, 1}, uint32_t(shared), slots);
}
/// A tensor without elements has a first place that may be read: as in CudaDevice::allocate.
static void *allocate(int64_t bytes) {
  return reinterpret_cast<void *>(emu::allocateBuffer(std::max<uint64_t>(uint64_t(bytes), 16), emu::machine.mode.memory));
}
static void release(void *memory) { emu::freeBuffer(reinterpret_cast<uint64_t>(memory)); }
static const KernelDevice device = {allocate, release, launchKernel};

/// A function of the file at one list of dims.
struct Case {
  func::FuncOp function;
  const TnEntry *entry;
  std::vector<int64_t> dims;
  std::string name;
  Results expected;
};

/// The schedule of run `i`.
static emu::Mode scheduled(emu::Mode mode, unsigned i) {
  if (i == 1)
    mode.order = emu::Order::Reverse;
  if (i == 2)
    mode.late = !mode.late;
  if (i > 2) {
    mode.order = emu::Order::Random;
    mode.seed += i;
  }
  return mode;
}

static void load(llvm::MemoryBufferRef code, const emu::Mode &mode, std::unique_ptr<emu::Program> &loaded) {
  auto made = emu::Program::load(code, mode);
  if (!made) {
    llvm::errs() << toString(made.takeError()) << "\n";
    exit(1);
  }
  loaded = std::move(*made);
  program = loaded.get();
}

/// Whether all cases give what the reference does, and the emulator finds nothing.
static bool runAll(ArrayRef<Case> cases, const emu::Mode &mode, bool isQuiet) {
  bool good = true;
  for (unsigned i = 0; i < schedules && (good || !isQuiet); ++i) {
    emu::machine.mode = scheduled(mode, i);
    emu::OpenMemory open;
    for (const Case &one : cases) {
      RunOptions options;
      options.device = &device;
      Run run(one.function, *one.entry, one.dims, options);
      found.clear();
      const Results got = run.execute(one.entry->variants[0], false);
      if (!isQuiet)
        llvm::outs() << found;
      good &= found.empty();
      if (good || !isQuiet)
        good &=
            compare(one.name + (isQuiet ? " with a fault" : " schedule " + std::to_string(i)), got, one.expected, {tolerance, 0});
      if (!good && isQuiet)
        return false;
    }
  }
  return good;
}

/// Prints the faults that nobody notices and the score; true when there is none. All are in one module, which is compiled once.
static bool runFaults(ArrayRef<Case> cases, llvm::MemoryBufferRef code, emu::Mode mode) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const char *names[] = {"sizes off by one", "exchanged fragments", "deleted calls", "wrong barriers and descriptors",
                         "dropped parts"};
  unsigned all[5] = {}, seen[5] = {};
  std::unique_ptr<llvm::Module> module = llvm::parseIR(code, diagnostic, context);
  const std::vector<KernelFault> faults = faultsOf(*module, faultyKernels);
  if (faults.size() > emu::kMostFaults) {
    llvm::outs() << "FAILED: " << faults.size() << " faults are more than the " << emu::kMostFaults << " of a program\n";
    return false;
  }
  plant(*module, faults);
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(*module, stream);
  std::unique_ptr<emu::Program> loaded;
  load(llvm::MemoryBufferRef(bytes, "faults"), mode, loaded);
  if (!runAll(cases, mode, true)) {
    llvm::outs() << "FAILED: without a fault\n";
    return false;
  }
  for (unsigned i = 0; i < faults.size(); ++i) {
    const KernelFault &fault = faults[i];
    mode.faults = {i};
    const bool survives = runAll(cases, mode, true);
    ++all[int(fault.kind)];
    seen[int(fault.kind)] += !survives;
    if (survives)
      llvm::outs() << "survives: " << fault.kernel << ", " << names[int(fault.kind)] << ": " << fault.text << "\n";
  }
  for (int kind = 0; kind < 5; ++kind)
    llvm::outs() << names[kind] << ": " << seen[kind] << " of " << all[kind] << " found\n";
  return std::equal(all, all + 5, seen);
}

static std::vector<Case> casesOf(ModuleOp kernelForm, const TnArtifact &artifact) {
  std::vector<Case> cases;
  for (auto [e, function] : llvm::enumerate(kernelForm.getOps<func::FuncOp>()))
    for (const std::string &list : dimLists) {
      const TnEntry &entry = artifact.entries[e];
      std::vector<int64_t> dims;
      for (llvm::StringRef part : llvm::split(list, ','))
        dims.push_back(part.empty() ? 0 : std::stoll(part.str()));
      if (int(dims.size()) < entry.dim_count || (!only.empty() && function.getName() != only))
        continue;
      dims.resize(size_t(entry.dim_count));
      RunOptions options;
      options.device = &device;
      Run run(function, entry, dims, options);
      cases.push_back({function, &entry, dims, (function.getName() + " dims " + list).str(), run.reference(corrupt)});
    }
  return cases;
}

static const Target &chosenTarget() {
  for (const Target *target : gpu::gpuTargets())
    if (target->name() == targetName)
      return *target;
  llvm::errs() << targetName << " is no GPU target\n";
  exit(1);
}

/// Emits and loads the code, and leaves that of the kernels in the folder. Null: an error was reported.
static const TnArtifact *load(ModuleOp module, const std::string &folder) {
  const Target &target = chosenTarget();
  std::vector<ScheduledEntry> entries;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    chooseKernels(function, target);
    schedule(function, trivialPlan(function, target));
    FailureOr<ScheduledEntry> entry = ScheduledEntry::of(function);
    if (failed(verify(module)) || failed(entry))
      return nullptr;
    entries.push_back(std::move(*entry));
  }
  EmitOptions options;
  options.name = "kernel";
  options.directory = options.code.kernelDirectory = folder;
  options.manifest = [](ArrayRef<ScheduledEntry>) { return std::string("{}"); };
  options.buildId = "0";
  options.code.variants = target.variantsOf(module);
  if (failed(emitEntries(module, entries, target, options, llvm::outs())))
    return nullptr;
  void *library = dlopen((folder + "/libkernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    llvm::errs() << dlerror() << "\n";
    return nullptr;
  }
  auto table = reinterpret_cast<const TnArtifact *(*)()>(dlsym(library, "tn_artifact"));
  return table ? table() : nullptr;
}

/// Runs all cases once, and writes their launches.
static bool record(ArrayRef<Case> cases, llvm::MemoryBufferRef code, const emu::Mode &mode) {
  recorder = std::make_unique<emu::Recorder>(recorded, kernels->text, tolerance);
  schedules = 1;
  std::unique_ptr<emu::Program> loaded;
  load(code, mode, loaded);
  if (!runAll(cases, mode, false))
    return false;
  llvm::Error failed = recorder->write(code);
  if (failed)
    llvm::errs() << toString(std::move(failed)) << "\n";
  return !failed;
}

static std::unique_ptr<llvm::MemoryBuffer> codeIn(const std::string &folder) {
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(folder, error), end; file != end && !error; file.increment(error))
    if (llvm::StringRef(file->path()).ends_with(".bc"))
      if (auto code = llvm::MemoryBuffer::getFile(file->path(), false, false))
        return std::move(*code);
  return nullptr;
}

static int printText(const llvm::MemoryBuffer &code) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  if (printed == "llvm")
    llvm::parseIR(code, diagnostic, context)->print(llvm::outs(), nullptr);
  else
    llvm::outs() << kernels->text;
  return 0;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "tests of the GPU kernels\n");
  DialectRegistry registry;
  gpu::gpuTargets().front()->registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(inputFile, &context);
  auto mode = emu::parseMode(modeText);
  llvm::SmallString<128> folder;
  if (!module || !mode || llvm::sys::fs::createUniqueDirectory("tenon-gpu-kernel-test", folder))
    return 1;
  if (!storage.empty())
    storeShort(*module, storage == "f16" ? Type(Float16Type::get(&context)) : BFloat16Type::get(&context));
  OwningOpRef<ModuleOp> kernelForm = module->clone();
  const TnArtifact *artifact = load(*module, folder.str().str());
  const std::unique_ptr<llvm::MemoryBuffer> code = codeIn(folder.str().str());
  llvm::sys::fs::remove_directories(folder);
  if (!artifact || !code)
    return 1;
  kernels = artifact->modules[0];
  if (!printed.empty())
    return printText(*code);
  if (dimLists.empty())
    dimLists.push_back("");
  const std::vector<Case> cases = casesOf(*kernelForm, *artifact);
  if (cases.empty()) {
    llvm::outs() << "FAILED: nothing to run\n";
    return 1;
  }
  if (!recorded.empty())
    return record(cases, code->getMemBufferRef(), *mode) ? 0 : 1;
  if (faults)
    return runFaults(cases, code->getMemBufferRef(), *mode) ? 0 : 1;
  std::unique_ptr<emu::Program> loaded;
  load(code->getMemBufferRef(), *mode, loaded);
  const bool good = runAll(cases, *mode, false);
  llvm::outs() << (good ? "ok: " : "FAILED: ") << cases.size() * schedules << " runs\n";
  return good ? 0 : 1;
}
