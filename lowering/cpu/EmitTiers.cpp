// The code of all tiers of a program: CpuTarget::emit.
#include "lowering/artifact/Abi.h"
#include "lowering/artifact/HostCode.h"
#include "lowering/cpu/CpuTarget.h"
#include "lowering/cpu/EmitTier.h"
#include "lowering/cpu/HostPlatform.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/SharedTiers.h"
#include "lowering/target/KernelLibrary.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace tenon::cpu {

/// CpuTarget::mostLoops, of what was written by hand.
static LogicalResult checkLoops(const ScheduledEntry &entry) {
  WalkResult result = func::FuncOp(entry.function).walk([](LoopOp loop) {
    int64_t loops = 0;
    for (Operation *around = loop; around; around = around->getParentOp())
      loops += isa<LoopOp>(around);
    if (loops <= abi::maxDepths)
      return WalkResult::advance();
    loop.emitOpError("expects at most ") << abi::maxDepths << " loops in each other, got " << loops; // S19
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult emitTier(ModuleOp target, ArrayRef<ScheduledEntry> entries, ModuleOp module, Tier tier) {
  const ParameterTable parameters = parametersOf(module);
  SharedBodies bodies;
  for (const ScheduledEntry &entry : entries) {
    KernelSequence sequence(target, entry, parameters, tier, bodies);
    if (failed(checkLoops(entry)) || failed(sequence.emit(runSymbol(func::FuncOp(entry.function).getName(), tier))))
      return failure();
  }
  return success();
}

HostMachine machineOf(Tier tier) { return {hostPlatform(), tierCpu(tier).str(), tierFeatures(tier).str(), tierVectorBits(tier)}; }

std::string runSymbol(llvm::StringRef entry, Tier tier) { return ("tn_run_" + entry + "_" + tierName(tier)).str(); }

namespace {

ArtifactParts::Variant variantOf(Tier tier, ArrayRef<ScheduledEntry> entries) {
  ArtifactParts::Variant variant{tierPublicName(tier).str(), {}};
  for (const ScheduledEntry &entry : entries)
    variant.runs.push_back(runSymbol(func::FuncOp(entry.function).getName(), tier));
  return variant;
}

/// What modules call of a library.
class LibraryCalls {
public:
  explicit LibraryCalls(const KernelLibrary *library) : library(library) {}

  /// Before functions are emitted into it, and when they are.
  void offerTo(ModuleOp module) const {
    if (library)
      module->setAttr(kLibraryKernels, library->names(module.getContext()));
  }
  void take(ModuleOp module) {
    module->removeAttr(kLibraryKernels);
    if (!library)
      return;
    for (auto function : module.getOps<func::FuncOp>())
      if (const KernelLibrary::Part *part = function.isDeclaration() ? library->find(function.getName()) : nullptr) {
        parts.insert(part);
        functions.insert(function.getName());
      }
  }

  bool contains(llvm::StringRef function) const { return functions.contains(function); }
  void addTo(ArtifactParts &artifact) const {
    for (const KernelLibrary::Part *part : parts)
      artifact.code.push_back({part->name.str(), [part](CodeForm form) {
                                 assert(form == CodeForm::Object && "text has all that it calls");
                                 return CodeResult{part->object.str(), {}};
                               }});
  }

private:
  const KernelLibrary *library;
  llvm::SetVector<const KernelLibrary::Part *> parts;
  llvm::StringSet<> functions;
};

} // namespace

LogicalResult CpuTarget::emit(ModuleOp module, ArrayRef<ScheduledEntry> entries, const CodeOptions &options,
                              ArtifactParts &parts) const {
  llvm::StringSet<> shared;
  LibraryCalls calls(options.library);
  auto isVisible = [&](llvm::StringRef name) {
    return name.starts_with("tn_run_") || shared.contains(name) || calls.contains(name);
  };
  auto finish = [&](ModuleOp functions, Tier tier, CodePart &part) {
    std::shared_ptr<HostModule> code = translateForHost(functions, part.name, options.flags, isVisible);
    if (!code)
      return failure();
    code->quick |= options.quick && options.quick(tierPublicName(tier));
    if (options.edit)
      options.edit(*code->code, tierPublicName(tier));
    const Tier machine = options.machine ? *tierOfPublicName(options.machine(tierPublicName(tier))) : tier;
    part.make = [code, machine](CodeForm form) { return compileForHost(*code, machineOf(machine), form); };
    return success();
  };
  OwningOpRef<ModuleOp> base; // of x86-64-v4, which waits for the tiers that use its kernels
  size_t basePart = 0;
  for (const std::string &name : options.variants) {
    const Tier tier = *tierOfPublicName(name);
    parts.variants.push_back(variantOf(tier, entries));
    parts.code.push_back({tierName(tier).str(), nullptr});
    OwningOpRef<ModuleOp> functions = ModuleOp::create(module.getLoc());
    calls.offerTo(*functions);
    if (failed(emitTier(*functions, entries, module, tier)))
      return failure();
    calls.take(*functions);
    if (tier == Tier::Avx512) {
      base = std::move(functions);
      basePart = parts.code.size() - 1;
      continue;
    }
    if (base && isOnlyForBf16(tier))
      shareCode(*functions, *base, shared);
    if (failed(finish(*functions, tier, parts.code.back())))
      return failure();
  }
  if (base && failed(finish(*base, Tier::Avx512, parts.code[basePart])))
    return failure();
  calls.addTo(parts);
  return success();
}

} // namespace tenon::cpu
