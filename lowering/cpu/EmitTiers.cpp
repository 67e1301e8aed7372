// The code of all tiers of a program: CpuTarget::emit.
#include "lowering/artifact/Abi.h"
#include "lowering/artifact/HostCode.h"
#include "lowering/cpu/CpuTarget.h"
#include "lowering/cpu/EmitTier.h"
#include "lowering/cpu/HostPlatform.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/SharedTiers.h"
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

std::string runSymbol(llvm::StringRef entry, Tier tier) { return ("tn_run_" + entry + "_" + tierName(tier)).str(); }

namespace {

HostMachine machineOf(Tier tier) { return {hostPlatform(), tierCpu(tier).str(), tierFeatures(tier).str(), tierVectorBits(tier)}; }

ArtifactParts::Variant variantOf(Tier tier, ArrayRef<ScheduledEntry> entries) {
  ArtifactParts::Variant variant{tierPublicName(tier).str(), {}};
  for (const ScheduledEntry &entry : entries)
    variant.runs.push_back(runSymbol(func::FuncOp(entry.function).getName(), tier));
  return variant;
}

} // namespace

LogicalResult CpuTarget::emit(ModuleOp module, ArrayRef<ScheduledEntry> entries, const CodeOptions &options,
                              ArtifactParts &parts) const {
  llvm::StringSet<> shared;
  auto isVisible = [&](llvm::StringRef name) { return name.starts_with("tn_run_") || shared.contains(name); };
  auto finish = [&](ModuleOp functions, Tier tier, CodePart &part) {
    std::shared_ptr<HostModule> code = translateForHost(functions, part.name, options.flags, isVisible);
    if (!code)
      return failure();
    if (options.edit)
      options.edit(*code->code, tierPublicName(tier));
    part.make = [code, tier](CodeForm form) { return compileForHost(*code, machineOf(tier), form); };
    return success();
  };
  OwningOpRef<ModuleOp> base; // of x86-64-v4, which waits for the tiers that use its kernels
  size_t basePart = 0;
  for (const std::string &name : options.variants) {
    const Tier tier = *tierOfPublicName(name);
    parts.variants.push_back(variantOf(tier, entries));
    parts.code.push_back({tierName(tier).str(), nullptr});
    OwningOpRef<ModuleOp> functions = ModuleOp::create(module.getLoc());
    if (failed(emitTier(*functions, entries, module, tier)))
      return failure();
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
  return base ? finish(*base, Tier::Avx512, parts.code[basePart]) : success();
}

} // namespace tenon::cpu
