// tenon-kernel-test FILE.mlir --dims=T,B [--dims=...]: compiles every function of the file (kernel form) with a trivial memory
// plan, runs it on every tier this machine has, with tiles in two orders, and compares with the reference and the tiers with each
// other. Where it has AVX-512 the tiers of bf16 run in any case: if need be by the definition of their instructions.
#include "lowering/cpu/Kernel.h"
#include "dialect/TensorSizes.h"
#include "lowering/PassFlags.h"
#include "lowering/artifact/Emit.h"
#include "lowering/cpu/CpuTarget.h"
#include "lowering/cpu/Tier.h"
#include "lowering/cpu/library/Library.h"
#include "lowering/target/Choice.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/bench/gemm/ReplaceInstructions.h"
#include "test/bench/gemm/Tiles.h"
#include "test/lowering/cpu/ShortStorage.h"
#include "test/lowering/cpu/TrivialPlan.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <dlfcn.h>
#include <pmmintrin.h>
#include <set>

using namespace mlir;
using namespace tenon;
using namespace tenon::test;
namespace cl = llvm::cl;

static cl::opt<std::string> inputFile(cl::Positional, cl::desc("FILE.mlir"));
static cl::list<std::string> dimLists("dims",
                                      cl::desc("values of the symbolic dims, in order, comma separated; one run per option"));
static cl::opt<double> tolerance("tolerance", cl::init(2e-6), cl::desc("largest error relative to max(1, |x|)"));
static cl::opt<std::string> emitText("emit", cl::desc("llvm or asm: print the code of --tier instead of running it"));
static cl::opt<std::string> tierName("tier", cl::desc("only this tier: portable, avx2, avx512, avx512bf16, amx"));
static cl::opt<bool> withoutPairs("without-bf16", cl::desc("as on a machine without AVX512_BF16"));
static cl::opt<uint64_t> seed("seed", cl::init(0x123456789abcdefull)), stepNumber("step", cl::init(3));
static cl::opt<double> corrupt("corrupt", cl::desc("negative control: adds this to element 0 of every reference result"),
                               cl::init(0));
static cl::opt<bool> halves("halves", cl::desc("gradients and update one after the other: the first must not change parameters"));
static cl::opt<double> inputScale("scale", cl::desc("inputs are in [-2, 2) times this"), cl::init(1));
static cl::opt<double> ulps("ulps", cl::desc("compare f32 by units in the last place instead"), cl::init(0));
static cl::opt<std::string>
    storage("storage", cl::desc("bf16 or f16: what attention stores, in a file of f32, whose code it is compared with as well"));
static cl::opt<unsigned> timing("time", cl::desc("also run this many times and print the best time, microseconds"));

static bool sameBits(const std::string &what, const Results &a, const Results &b) {
  bool good = true;
  for (auto &[name, value] : a.named)
    if (value.second != b.named.at(name).second) {
      llvm::outs() << what << ": " << name << " has other bits\n";
      good = false;
    }
  return good;
}

static cpu::Tier tierOf(const TnVariant &variant) { return *cpu::tierOfPublicName(variant.name); }

static bool hasPairs() { return !withoutPairs && __builtin_cpu_supports("avx512bf16"); }

/// Whether its code runs here, by definition of instructions that the machine lacks, or is asked to do without.
static bool runsHere(cpu::Tier tier) {
  switch (tier) {
  case cpu::Tier::Portable:
    return true;
  case cpu::Tier::Avx2:
    return __builtin_cpu_supports("x86-64-v3");
  case cpu::Tier::Avx512:
  case cpu::Tier::Avx512Bf16:
  case cpu::Tier::Amx:
    return __builtin_cpu_supports("x86-64-v4");
  }
  return false;
}

/// For whose machine LLVM makes the code of a tier: it may use no instruction of its own choice that is not here.
static llvm::StringRef machineOf(llvm::StringRef variant) {
  if (!cpu::isOnlyForBf16(*cpu::tierOfPublicName(variant)))
    return variant;
  if (hasPairs() && hasTiles())
    return variant;
  return cpu::tierPublicName(hasPairs() ? cpu::Tier::Avx512Bf16 : cpu::Tier::Avx512);
}

/// Puts definitions in the place of instructions that are not here; false: all are.
static bool defineInstructions(CodeOptions &code) {
  auto isAsked = [&](cpu::Tier tier) { return llvm::is_contained(code.variants, cpu::tierPublicName(tier)); };
  const bool definesPairs = !hasPairs() && (isAsked(cpu::Tier::Avx512Bf16) || isAsked(cpu::Tier::Amx));
  if (!definesPairs && (hasTiles() || !isAsked(cpu::Tier::Amx)))
    return false;
  code.edit = [definesPairs](llvm::Module &module, llvm::StringRef) {
    definesPairs ? replaceInstructions(module) : replaceTiles(module);
  };
  code.machine = machineOf;
  return true;
}

/// A module in the kernel form, which the reference reads, and its code.
struct Compiled {
  OwningOpRef<ModuleOp> kernelForm;
  const TnArtifact *artifact = nullptr;
  SmallVector<func::FuncOp> functions() { return SmallVector<func::FuncOp>(kernelForm->getOps<func::FuncOp>()); }
};

/// `wide`: the same in f32, with equal results before they are rounded; null: nothing is stored short.
static bool runAll(Compiled &compiled, Compiled *wide) {
  const TnArtifact &artifact = *compiled.artifact;
  const SmallVector<func::FuncOp> entries = compiled.functions();
  bool good = artifact.abi == TN_ABI_VERSION && artifact.entry_count == int(entries.size());
  unsigned runs = 0;
  std::set<std::string> unavailable;
  for (size_t e = 0; e < entries.size(); ++e)
    for (const std::string &list : dimLists) {
      std::vector<int64_t> dims;
      for (llvm::StringRef part : llvm::split(list, ','))
        dims.push_back(std::stoll(part.str()));
      if (int(dims.size()) < artifact.entries[e].dim_count)
        continue;
      dims.resize(artifact.entries[e].dim_count);
      Run run(entries[e], artifact.entries[e], dims, {seed, stepNumber, inputScale, halves, timing});
      const Results expected = run.reference(corrupt);
      std::optional<Results> first;
      for (int32_t v = 0; v < artifact.entries[e].variant_count; ++v) {
        const TnVariant &variant = artifact.entries[e].variants[v];
        if (!runsHere(tierOf(variant))) {
          unavailable.insert(variant.name);
          continue;
        }
        std::string what = func::FuncOp(entries[e]).getName().str() + " dims " + list + " tier " + variant.name;
        Results forward = run.execute(variant, false);
        good &= sameBits(what + " with tiles reversed", forward, run.execute(variant, true));
        good &= compare(what, forward, expected, {tolerance, ulps});
        if (first && tierOf(variant) != cpu::Tier::Amx) // which adds in an order of its own
          good &= sameBits(what + " against another tier", forward, *first);
        if (wide) {
          const TnEntry &wideEntry = wide->artifact->entries[e];
          Run wideRun(wide->functions()[e], wideEntry, dims, {seed, stepNumber, inputScale, halves, timing});
          wideRun.useInputs(inputsWithY(entries[e], run.inputs(), forward));
          good &= sameWhenRounded(what, forward, wideRun.execute(wideEntry.variants[v], false), corrupt);
        }
        if (!tilesOfThread().areReleased()) {
          llvm::outs() << what << ": tiles are left configured\n";
          good = false;
        }
        first = forward;
        ++runs;
      }
    }
  llvm::outs() << (good && runs > 0 ? "ok: " : "FAILED: ") << runs << " runs";
  if (!unavailable.empty())
    llvm::outs() << " (no " << llvm::join(unavailable, ", ") << " on this machine)";
  llvm::outs() << "\n";
  return good && runs > 0;
}

static std::optional<std::vector<ScheduledEntry>> scheduled(ModuleOp module) {
  std::vector<ScheduledEntry> entries;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    chooseKernels(function, cpu::cpuTarget());
    schedule(function, trivialPlan(function, cpu::cpuTarget()));
    if (failed(verify(module)))
      return std::nullopt;
    FailureOr<ScheduledEntry> entry = ScheduledEntry::of(function);
    if (failed(entry))
      return std::nullopt;
    entries.push_back(std::move(*entry));
  }
  return entries;
}

/// Emits and loads the code; null: an error was reported.
static const TnArtifact *load(ModuleOp module, EmitOptions options) {
  std::optional<std::vector<ScheduledEntry>> entries = scheduled(module);
  llvm::SmallString<128> folder;
  if (!entries || llvm::sys::fs::createUniqueDirectory("tenon-kernel-test", folder))
    return nullptr;
  options.directory = folder.str().str();
  if (failed(emitEntries(module, *entries, cpu::cpuTarget(), options, llvm::outs())))
    return nullptr;
  void *library = dlopen((options.directory + "/libkernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove_directories(folder);
  if (!library) {
    llvm::errs() << dlerror() << "\n";
    return nullptr;
  }
  auto table = reinterpret_cast<const TnArtifact *(*)()>(dlsym(library, "tn_artifact"));
  return table ? table() : nullptr;
}

/// Those to make code for: of --tier, or what runs here. To print, all.
static std::vector<std::string> variantsOf(ModuleOp module) {
  std::vector<std::string> variants = cpu::cpuTarget().variantsOf(module);
  std::erase_if(variants, [](const std::string &variant) {
    const cpu::Tier tier = *cpu::tierOfPublicName(variant);
    return tierName.empty() ? emitText.empty() && !runsHere(tier) : cpu::tierName(tier) != tierName.getValue();
  });
  return variants;
}

int main(int argc, char **argv) {
  std::string mistake;
  std::unique_ptr<PassFlags> flags = PassFlags::parse({}, mistake); // first, since it parses options, too
  cl::ParseCommandLineOptions(argc, argv, "tests of the CPU kernels\n");
  DialectRegistry registry;
  cpu::cpuTarget().registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(inputFile, &context);
  if (!module)
    return 1;
  OwningOpRef<ModuleOp> wideModule;
  if (!storage.empty()) {
    wideModule = module->clone();
    takeYAsInput(*wideModule);
    storeShort(*module, storage == "f16" ? Type(Float16Type::get(&context)) : BFloat16Type::get(&context));
    if (failed(verify(*module)) || failed(verify(*wideModule)))
      return 1;
  }
  EmitOptions options;
  options.name = "kernel";
  options.manifest = [](ArrayRef<ScheduledEntry>) { return std::string("{}"); };
  options.buildId = "0";
  options.code.variants = variantsOf(*module);
  if (!emitText.empty() || !defineInstructions(options.code))
    options.code.library = &cpu::kernelLibrary();
  if (!emitText.empty()) {
    options.kind = emitText == "asm" ? EmitOptions::Kind::Assembly : EmitOptions::Kind::Llvm;
    std::optional<std::vector<ScheduledEntry>> entries = scheduled(*module);
    return !entries || failed(emitEntries(*module, *entries, cpu::cpuTarget(), options, llvm::outs()));
  }
  // The same bits sooner, where the code itself is not what is looked at: references, and results that are spoilt.
  options.code.flags = flags.get();
  flags->quick = corrupt != 0;
  const bool isOneOfSeveral = options.code.variants.size() > 1; // whose bits are those of the others
  options.code.quick = [isOneOfSeveral](llvm::StringRef variant) {
    return isOneOfSeveral && *cpu::tierOfPublicName(variant) == cpu::Tier::Portable;
  };
  Compiled compiled{module->clone()}, wide;
  compiled.artifact = load(*module, options);
  if (wideModule) {
    flags->quick = true;
    wide.kernelForm = wideModule->clone();
    wide.artifact = load(*wideModule, options);
  }
  if (!compiled.artifact || (wideModule && !wide.artifact))
    return 1;
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  if (dimLists.empty())
    dimLists.push_back("");
  return runAll(compiled, wideModule ? &wide : nullptr) ? 0 : 1;
}
