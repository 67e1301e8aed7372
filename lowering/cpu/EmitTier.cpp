// The schedule form to functions of one CPU tier. See Passes.td.
#include "lowering/cpu/EmitTier.h"
#include "lowering/Passes.h"
#include "lowering/cpu/CpuTarget.h"
#include "lowering/cpu/Generators.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/KernelDialects.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_EMITCPU
#include "lowering/Passes.h.inc"

namespace cpu {

void registerCpu(DialectRegistry &registry) {
  registry.insert<TenonDialect>();
  registerKernelDialects(registry);
  registerKernelGenerators(registry);
  registerTarget(cpuTarget());
}

std::string runSymbol(llvm::StringRef entry, Tier tier) { return ("tn_run_" + entry + "_" + tierName(tier)).str(); }
std::string bindSymbol(llvm::StringRef entry) { return ("tn_bind_" + entry).str(); }

std::vector<Tier> tiersOf(ModuleOp module) {
  std::vector<Tier> tiers(std::begin(kTiers), std::end(kTiers));
  WalkResult found = module.walk([](GemmOp op) {
    return multipliesPairs(Tier::Avx512Bf16, op.typeOfA().getElementType()) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    llvm::erase_if(tiers, isOnlyForBf16);
  return tiers;
}

LogicalResult emitTier(ModuleOp target, ArrayRef<ScheduledEntry> entries, ModuleOp module, Tier tier) {
  const ParameterTable parameters = parametersOf(module);
  SharedBodies bodies;
  for (const ScheduledEntry &entry : entries) {
    KernelSequence sequence(target, entry, parameters, tier, bodies);
    if (failed(sequence.emit(runSymbol(func::FuncOp(entry.function).getName(), tier))))
      return failure();
  }
  return success();
}

} // namespace cpu

namespace {

struct EmitCpu : impl::EmitCpuBase<EmitCpu> {
  using EmitCpuBase::EmitCpuBase;
  void getDependentDialects(DialectRegistry &registry) const override { cpu::registerCpu(registry); }

  LogicalResult emit(ModuleOp module, ModuleOp target) {
    std::optional<cpu::Tier> chosen;
    for (cpu::Tier each : cpu::kTiers)
      if (cpu::tierPublicName(each) == tier)
        chosen = each;
    if (!chosen)
      return module.emitError("expects the tier portable, x86-64-v3, x86-64-v4, x86-64-v4-bf16 or x86-64-v4-amx, got ")
             << tier.getValue();
    std::vector<ScheduledEntry> entries;
    for (auto function : module.getOps<func::FuncOp>()) {
      FailureOr<ScheduledEntry> entry = ScheduledEntry::of(function);
      if (failed(entry))
        return failure();
      entries.push_back(std::move(*entry));
    }
    if (failed(cpu::emitTier(target, entries, module, *chosen)))
      return failure();
    for (const ScheduledEntry &entry : entries)
      if (bind)
        cpu::emitBind(target, entry);
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OwningOpRef<ModuleOp> target = ModuleOp::create(module.getLoc());
    if (failed(emit(module, *target)))
      return signalPassFailure();
    module.getBody()->clear();
    module.getBody()->getOperations().splice(module.getBody()->end(), target->getBody()->getOperations());
  }
};

} // namespace
} // namespace tenon
