// tenon-kernel-test FILE.mlir --dims=T,B [--dims=...]: compiles every function of the file (kernel form) with a trivial memory
// plan, runs it on every tier this machine has, with tiles in two orders, and compares with the reference and the tiers with each
// other.
#include "lowering/cpu/Kernel.h"
#include "dialect/TensorSizes.h"
#include "lowering/Emit.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/include/tenon/artifact.h"
#include "test/lowering/cpu/Reference.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <dlfcn.h>
#include <pmmintrin.h>

using namespace mlir;
using namespace tenon;
using test::Numbers;
namespace cl = llvm::cl;

static cl::opt<std::string> inputFile(cl::Positional, cl::desc("FILE.mlir"));
static cl::list<std::string> dimLists("dims",
                                      cl::desc("values of the symbolic dims, in order, comma separated; one run per option"));
static cl::opt<double> tolerance("tolerance", cl::init(2e-6), cl::desc("largest error relative to max(1, |x|)"));
static cl::opt<std::string> emitText("emit", cl::desc("llvm or asm: print the code of --tier instead of running it"));
static cl::opt<std::string> tierName("tier", cl::desc("only this tier: portable, avx2, avx512"));
static cl::opt<uint64_t> seed("seed", cl::init(0x123456789abcdefull)), stepNumber("step", cl::init(3));
static cl::opt<double> corrupt("corrupt", cl::desc("negative control: adds this to element 0 of every reference result"),
                               cl::init(0));
static cl::opt<bool> gradientsOnly("gradients-only", cl::desc("flag 1 of the context: parameters must not change"));
static cl::opt<double> inputScale("scale", cl::desc("inputs are in [-2, 2) times this"), cl::init(1));
static cl::opt<double> ulps("ulps", cl::desc("compare f32 by units in the last place instead"), cl::init(0));
static cl::opt<unsigned> timing("time", cl::desc("also run this many times and print the best time, microseconds"));

/// Every value has a slot of its own, nothing is reused.
static MemoryPlan trivialPlan(func::FuncOp function) {
  MemoryPlan plan;
  function.walk([&](ReadStateOp read) { plan.stateCount = std::max<unsigned>(plan.stateCount, read.getIndex() + 1); });
  function.walk([&](WriteStateOp write) { plan.stateCount = std::max<unsigned>(plan.stateCount, write.getIndex() + 1); });
  plan.stateBytes.assign(plan.stateCount, getAffineConstantExpr(0, function.getContext()));
  SmallVector<Attribute> states(plan.stateCount);
  auto stateSize = [&](int64_t index, ValueRange depths, Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<AffineExpr> sizes = sizesOf(type);
    for (Value depth : llvm::reverse(depths))
      sizes.insert(sizes.begin(), getAffineConstantExpr(test::depthCount(depth), type.getContext()));
    plan.stateBytes[index] = cpu::tensorBytes(type) * test::copies(depths);
    states[index] = TypeAttr::get(tensorType(sizes, type.getElementType(), 0));
  };
  auto place = [&](Value value) {
    unsigned slot = plan.slots.size();
    plan.slots.push_back({cpu::tensorBytes(cast<RankedTensorType>(value.getType())), {}});
    if (slot > 0)
      plan.slots.back().after.push_back(slot - 1);
    plan.buffers[value] = {Buffer::Base::Workspace, int64_t(plan.stateCount + slot), {}};
  };
  function.walk([&](Operation *op) {
    if (auto read = dyn_cast<ReadStateOp>(op))
      stateSize(read.getIndex(), read.getDepths(), read.getValue());
    if (auto write = dyn_cast<WriteStateOp>(op))
      stateSize(write.getIndex(), write.getDepths(), write.getValue());
    if (isa<ReadStateOp, ReadParameterOp, AtDepthOp>(op))
      return;
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        place(result);
    if (auto stack = dyn_cast<StackOp>(op))
      for (BlockArgument argument : stack.getBody().getArguments())
        if (isa<RankedTensorType>(argument.getType()))
          place(argument);
  });
  function->setAttr("tenon.states", ArrayAttr::get(function.getContext(), states));
  return plan;
}

/// Aligned memory with guard bytes behind it that must stay as they are.
class Memory {
public:
  explicit Memory(int64_t bytes = 0) : size((bytes + 63) / 64 * 64), data(static_cast<char *>(aligned_alloc(64, size + 64))) {
    memset(data, 0xa5, size + 64);
  }
  ~Memory() { free(data); }
  Memory(Memory &&other) : size(other.size), data(std::exchange(other.data, nullptr)) {}
  bool guarded() const {
    return std::all_of(data + size, data + size + 64, [](char c) { return c == char(0xa5); });
  }
  int64_t size;
  char *data;
};

static void store(Type element, char *memory, const Numbers &values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (element.isF32())
      reinterpret_cast<float *>(memory)[i] = float(values[i]);
    else if (element.isF64())
      reinterpret_cast<double *>(memory)[i] = values[i];
    else if (element.isInteger(32))
      reinterpret_cast<int32_t *>(memory)[i] = int32_t(values[i]);
    else if (element.isInteger(64))
      reinterpret_cast<int64_t *>(memory)[i] = int64_t(values[i]);
    else
      memory[i] = char(values[i]);
  }
}
static Numbers load(Type element, const char *memory, size_t count) {
  Numbers values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = element.isF32()         ? reinterpret_cast<const float *>(memory)[i]
                : element.isF64()       ? reinterpret_cast<const double *>(memory)[i]
                : element.isInteger(32) ? double(reinterpret_cast<const int32_t *>(memory)[i])
                : element.isInteger(64) ? double(reinterpret_cast<const int64_t *>(memory)[i])
                                        : double(memory[i]);
  return values;
}

/// Values that f32 holds exactly, in [-2, 2); integers in [0, bound).
static Numbers randomNumbers(Type element, int64_t count, uint64_t &state, int64_t bound) {
  Numbers values;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t bits = state >> 40;
    if (isa<FloatType>(element))
      values.push_back((double(bits) - 8388608.0) / 4194304.0);
    else
      values.push_back(element.isInteger(1) ? double(bits & 1) : double(bits % bound));
  }
  return values;
}

static bool reverseTiles = false;
static int64_t largestTiles = 0;
static void parallelFor(const TnContext *context, TnTile tile, int64_t tiles) {
  largestTiles = std::max(largestTiles, tiles);
  for (int64_t i = 0; i < tiles; ++i)
    tile(context, reverseTiles ? tiles - 1 - i : i, 0);
}

struct Results {
  std::map<std::string, std::pair<Type, std::vector<char>>> named;
};

class Run {
public:
  Run(func::FuncOp function, const TnEntry &entry, std::vector<int64_t> dims)
      : function(function), entry(entry), dims(dims) {
    machine.dims = dims;
    machine.seed = seed;
    machine.step = stepNumber;
    uint64_t state = 12345;
    for (BlockArgument argument : function.getArguments())
      if (auto type = dyn_cast<RankedTensorType>(argument.getType())) {
        auto bound = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "test.bound");
        machine.inputs.push_back(
            randomNumbers(type.getElementType(), test::elementCount(type, dims), state, bound ? bound.getInt() : 5));
        if (isa<FloatType>(type.getElementType()))
          for (double &value : machine.inputs.back())
            value = float(value * inputScale);
      }
    function.walk([&](Operation *op) {
      if (auto read = dyn_cast<ReadStateOp>(op))
        stateTypes[read.getIndex()] = {cast<RankedTensorType>(read.getValue().getType()), test::copies(read.getDepths())};
      if (auto write = dyn_cast<WriteStateOp>(op))
        stateTypes[write.getIndex()] = {cast<RankedTensorType>(write.getValue().getType()), test::copies(write.getDepths())};
    });
    for (auto &[index, type] : stateTypes)
      machine.states.push_back(
          randomNumbers(type.first.getElementType(), type.second * test::elementCount(type.first, dims), state, 5));
    machine.nextStates = machine.states;
    for (ParameterOp parameter : function->getParentOfType<ModuleOp>().getOps<ParameterOp>()) {
      auto type = cast<RankedTensorType>(parameter.getType());
      std::string name = parameter.getSymName().str();
      for (auto *arena : {&machine.parameters, &machine.gradients, &machine.firstMoments, &machine.secondMoments})
        (*arena)[name] = randomNumbers(type.getElementType(), type.getNumElements(), state, 5);
      for (double &value : machine.secondMoments[name])
        value = std::fabs(value);
      const int64_t count = parameter.getStacked() ? type.getDimSize(0) : 1;
      arenaBytes = std::max<int64_t>(
          arenaBytes, parameter.getOffset() + (count > 1 ? parameter.getStride() * count
                                                         : type.getNumElements() * cpu::elementBytes(type.getElementType())));
    }
    start = machine;
  }

  Results reference() {
    test::evaluate(function, machine);
    Results results;
    collect(results, [&](const std::string &name, Type element, const Numbers &values) {
      Numbers shifted = values;
      if (corrupt != 0)
        shifted[0] += corrupt;
      std::vector<char> bytes(shifted.size() * 8);
      store(Float64Type::get(element.getContext()), bytes.data(), shifted);
      results.named[name] = {element, bytes};
    });
    return results;
  }

  Results execute(int tier) {
    std::vector<int64_t> offsets(entry.offset_count);
    int64_t sizes[4];
    entry.bind(dims.data(), offsets.data(), sizes);
    std::vector<Memory> inputs, outputs;
    std::vector<void *> inputPointers, outputPointers;
    unsigned input = 0;
    for (BlockArgument argument : function.getArguments())
      if (auto type = dyn_cast<RankedTensorType>(argument.getType())) {
        const Numbers &values = start.inputs[input++];
        inputs.emplace_back(values.size() * cpu::elementBytes(type.getElementType()));
        store(type.getElementType(), inputs.back().data, values);
        inputPointers.push_back(inputs.back().data);
      }
    std::map<int64_t, OutputOp> outputOps;
    function.walk([&](OutputOp output) { outputOps[output.getIndex()] = output; });
    for (auto &[index, output] : outputOps) {
      auto type = cast<RankedTensorType>(output.getValue().getType());
      outputs.emplace_back(test::elementCount(type, dims) * cpu::elementBytes(type.getElementType()));
      outputPointers.push_back(outputs.back().data);
    }
    std::vector<Memory> arenas;
    for (int64_t bytes : {arenaBytes, arenaBytes, arenaBytes, arenaBytes, sizes[0], sizes[0], sizes[1]})
      arenas.emplace_back(bytes);
    Memory scratch(sizes[2]);
    char *arenaPointers[TN_ARENA_COUNT] = {};
    for (size_t i = 0; i < arenas.size(); ++i)
      arenaPointers[i] = arenas[i].data;
    std::map<std::string, Numbers> *tables[] = {&start.parameters, &start.gradients, &start.firstMoments, &start.secondMoments};
    for (int arena = 0; arena < 4; ++arena)
      forParameters([&](ParameterOp parameter, Type element, int64_t copy, int64_t count) {
        const Numbers &all = (*tables[arena])[parameter.getSymName().str()];
        store(element, arenas[arena].data + parameter.getOffset() + copy * parameter.getStride(),
              Numbers(all.begin() + copy * count, all.begin() + (copy + 1) * count));
      });
    for (auto &[index, type] : stateTypes)
      store(type.first.getElementType(), arenas[TN_ARENA_STATES].data + offsets[index], start.states[index]);
    TnContext context = {dims.data(),
                         arenaPointers,
                         inputPointers.data(),
                         outputPointers.data(),
                         offsets.data(),
                         parallelFor,
                         scratch.data,
                         sizes[2],
                         seed,
                         stepNumber,
                         nullptr,
                         uint64_t(gradientsOnly),
                         0};
    if (entry.run[tier](&context) != 0)
      die("the entry failed");
    Results results;
    auto keep = [&](const std::string &name, Type element, const char *data, int64_t count) {
      auto &place = results.named[name];
      place.first = element;
      place.second.insert(place.second.end(), data, data + count * cpu::elementBytes(element));
    };
    for (auto &[index, output] : outputOps) {
      auto type = cast<RankedTensorType>(output.getValue().getType());
      keep("output " + std::to_string(index), type.getElementType(),
           outputs[std::distance(outputOps.begin(), outputOps.find(index))].data, test::elementCount(type, dims));
    }
    for (auto &[index, type] : stateTypes)
      keep("state " + std::to_string(index), type.first.getElementType(), arenas[TN_ARENA_NEXT_STATES].data + offsets[index],
           type.second * test::elementCount(type.first, dims));
    const char *arenaNames[] = {"parameter ", "gradient ", "moment1 ", "moment2 "};
    for (int arena = 0; arena < 4; ++arena)
      forParameters([&](ParameterOp parameter, Type element, int64_t copy, int64_t count) {
        keep(arenaNames[arena] + parameter.getSymName().str(), element,
             arenas[arena].data + parameter.getOffset() + copy * parameter.getStride(), count);
      });
    for (const auto *group : {&inputs, &outputs, &arenas})
      for (const Memory &memory : *group)
        if (!memory.guarded())
          die("memory behind a buffer was written");
    if (!scratch.guarded())
      die("memory behind the scratch was written");
    if (timing > 0)
      measure(context, tier);
    return results;
  }

  [[noreturn]] void die(const std::string &what) {
    llvm::errs() << function.getName() << ": " << what << "\n";
    exit(1);
  }

private:
  void measure(const TnContext &context, int tier) {
    double best = INFINITY;
    for (unsigned i = 0; i < timing; ++i) {
      timespec from, to;
      clock_gettime(CLOCK_MONOTONIC, &from);
      entry.run[tier](&context);
      clock_gettime(CLOCK_MONOTONIC, &to);
      best = std::min(best, (to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) * 1e-3);
    }
    llvm::outs() << function.getName() << " tier " << tier << ": " << llvm::format("%.1f", best) << " us, at most "
                 << largestTiles << " tiles\n";
  }
  void forParameters(llvm::function_ref<void(ParameterOp, Type, int64_t, int64_t)> body) {
    for (ParameterOp parameter : function->getParentOfType<ModuleOp>().getOps<ParameterOp>()) {
      auto type = cast<RankedTensorType>(parameter.getType());
      const int64_t count = parameter.getStacked() ? type.getDimSize(0) : 1;
      for (int64_t copy = 0; copy < count; ++copy)
        body(parameter, type.getElementType(), copy, type.getNumElements() / count);
    }
  }
  void collect(Results &results, llvm::function_ref<void(const std::string &, Type, const Numbers &)> add) {
    (void)results;
    function.walk([&](OutputOp output) {
      add("output " + std::to_string(output.getIndex()), cast<RankedTensorType>(output.getValue().getType()).getElementType(),
          machine.outputs.at(output.getIndex()));
    });
    for (auto &[index, type] : stateTypes)
      add("state " + std::to_string(index), type.first.getElementType(), machine.nextStates[index]);
    const bool moves = !gradientsOnly;
    for (ParameterOp parameter : function->getParentOfType<ModuleOp>().getOps<ParameterOp>()) {
      Type element = cast<RankedTensorType>(parameter.getType()).getElementType();
      std::string name = parameter.getSymName().str();
      add("parameter " + name, element, (moves ? machine : start).parameters[name]);
      add("gradient " + name, element, machine.gradients[name]);
      add("moment1 " + name, element, (moves ? machine : start).firstMoments[name]);
      add("moment2 " + name, element, (moves ? machine : start).secondMoments[name]);
    }
  }

  func::FuncOp function;
  const TnEntry &entry;
  std::vector<int64_t> dims;
  test::Machine machine, start;
  std::map<int64_t, std::pair<RankedTensorType, int64_t>> stateTypes;
  int64_t arenaBytes = 0;
};

/// Units in the last place of f32; results below the normal range are flushed to 0.
static double errorInUlps(double got, double wanted) {
  if (std::fabs(wanted) > 3.4028235e38)
    wanted = std::copysign(INFINITY, wanted);
  if (got == wanted || std::fabs(wanted) < 1.17549435e-38)
    return std::fabs(got) <= 1.1754944e-38 || got == wanted ? 0 : INFINITY;
  int exponent;
  std::frexp(wanted, &exponent);
  return std::fabs(got - wanted) / std::ldexp(1.0, exponent - 24);
}

/// True when they agree; prints the largest error.
static bool compare(const std::string &what, const Results &got, const Results &expected) {
  bool good = true;
  for (auto &[name, value] : expected.named) {
    auto &[element, bytes] = value;
    const size_t count = bytes.size() / 8;
    Numbers wanted = load(Float64Type::get(element.getContext()), bytes.data(), count);
    Numbers found = load(element, got.named.at(name).second.data(), count);
    double largest = 0;
    size_t where = 0;
    for (size_t i = 0; i < count; ++i) {
      double error = std::isnan(wanted[i]) && std::isnan(found[i]) ? 0
                     : wanted[i] == found[i] ? 0
                                             : std::fabs(wanted[i] - found[i]) / std::max(1.0, std::fabs(wanted[i]));
      if (ulps > 0 && !(std::isnan(wanted[i]) && std::isnan(found[i])))
        error = errorInUlps(found[i], wanted[i]);
      if (!(error <= largest))
        largest = std::isnan(error) ? INFINITY : error, where = i;
    }
    if (ulps > 0)
      llvm::outs() << what << ": largest error of " << name << " " << llvm::format("%.3f", largest) << " ulp\n";
    if (largest > (ulps > 0 ? ulps : tolerance)) {
      llvm::outs() << what << ": " << name << "[" << where << "] is " << found[where] << ", expected " << wanted[where] << "\n";
      good = false;
    }
  }
  return good;
}

static bool sameBits(const std::string &what, const Results &a, const Results &b) {
  bool good = true;
  for (auto &[name, value] : a.named)
    if (value.second != b.named.at(name).second) {
      llvm::outs() << what << ": " << name << " has other bits\n";
      good = false;
    }
  return good;
}

static bool hasTier(int tier) {
  if (tier == 0)
    return true;
  return tier == 1 ? __builtin_cpu_supports("x86-64-v3") : __builtin_cpu_supports("x86-64-v4");
}

static bool runAll(std::vector<EntryToEmit> &entries, const TnArtifact &artifact) {
  bool good = artifact.abi == TN_ABI_VERSION && artifact.entry_count == int(entries.size());
  unsigned runs = 0;
  std::string unavailable;
  for (size_t e = 0; e < entries.size(); ++e)
    for (const std::string &list : dimLists) {
      std::vector<int64_t> dims;
      for (llvm::StringRef part : llvm::split(list, ','))
        dims.push_back(std::stoll(part.str()));
      if (int(dims.size()) < artifact.entries[e].dim_count)
        continue;
      dims.resize(artifact.entries[e].dim_count);
      Run run(entries[e].function, artifact.entries[e], dims);
      const Results expected = run.reference();
      std::optional<Results> first;
      for (int tier = 0; tier < 3; ++tier) {
        if (!artifact.entries[e].run[tier])
          continue;
        if (!hasTier(tier)) {
          unavailable = " (no x86-64-v4 on this machine)";
          continue;
        }
        std::string what = entries[e].function.getName().str() + " dims " + list + " tier " + std::to_string(tier);
        reverseTiles = false;
        Results forward = run.execute(tier);
        reverseTiles = true;
        good &= sameBits(what + " with tiles reversed", forward, run.execute(tier));
        good &= compare(what, forward, expected);
        if (first)
          good &= sameBits(what + " against another tier", forward, *first);
        first = forward;
        ++runs;
      }
    }
  llvm::outs() << (good && runs > 0 ? "ok: " : "FAILED: ") << runs << " runs" << unavailable << "\n";
  return good && runs > 0;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "tests of the CPU kernels\n");
  DialectRegistry registry;
  registerEmitDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(inputFile, &context);
  if (!module)
    return 1;
  std::vector<EntryToEmit> entries;
  for (func::FuncOp function : module->getOps<func::FuncOp>()) {
    EntryToEmit entry{function, trivialPlan(function)};
    entry.inputs = llvm::count_if(function.getArgumentTypes(), [](Type type) { return isa<RankedTensorType>(type); });
    function.walk([&](OutputOp) { ++entry.outputs; });
    entries.push_back(entry);
  }
  EmitOptions options;
  options.name = "kernel";
  options.manifest = [](ArrayRef<EntryTable>) { return std::string("{}"); };
  options.buildId = "0";
  if (!tierName.empty())
    options.tiers = {tierName == "portable" ? cpu::Tier::Portable : tierName == "avx2" ? cpu::Tier::Avx2 : cpu::Tier::Avx512};
  if (!emitText.empty()) {
    options.kind = emitText == "asm" ? EmitOptions::Kind::Assembly : EmitOptions::Kind::Llvm;
    return failed(emitEntries(*module, entries, options, llvm::outs()));
  }
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("tenon-kernel-test", folder))
    return 1;
  options.directory = folder.str().str();
  if (failed(emitEntries(*module, entries, options, llvm::outs())))
    return 1;
  void *library = dlopen((options.directory + "/libkernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove_directories(folder);
  if (!library) {
    llvm::errs() << dlerror() << "\n";
    return 1;
  }
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  auto table = reinterpret_cast<const TnArtifact *(*)()>(dlsym(library, "tn_artifact"));
  if (!table)
    return 1;
  if (dimLists.empty())
    dimLists.push_back("");
  return runAll(entries, *table()) ? 0 : 1;
}
