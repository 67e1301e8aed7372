// The kernel form to functions of one CPU tier. See Passes.td.
#include "dialect/TenonDialect.h"
#include "lowering/Emit.h"
#include "lowering/Passes.h"
#include "lowering/cpu/CpuTarget.h"
#include "lowering/cpu/Kernel.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_EMITCPU
#include "lowering/Passes.h.inc"

LogicalResult emitTier(ModuleOp target, ArrayRef<PlannedEntry> entries, ModuleOp module, cpu::Tier tier) {
  const cpu::ParameterTable parameters = cpu::parametersOf(module);
  cpu::SharedBodies bodies;
  for (const PlannedEntry &entry : entries) {
    cpu::KernelSequence sequence(target, entry.function, entry.plan, parameters, tier, bodies);
    if (failed(sequence.emit(runSymbol(func::FuncOp(entry.function).getName(), tier))))
      return failure();
  }
  return success();
}

namespace {

struct EmitCpu : impl::EmitCpuBase<EmitCpu> {
  using EmitCpuBase::EmitCpuBase;
  void getDependentDialects(DialectRegistry &registry) const override { registerEmitDialects(registry); }

  LogicalResult emit(ModuleOp module, ModuleOp target) {
    std::optional<cpu::Tier> chosen;
    for (cpu::Tier each : {cpu::Tier::Portable, cpu::Tier::Avx2, cpu::Tier::Avx512})
      if (cpu::tierPublicName(each) == tier)
        chosen = each;
    if (!chosen)
      return module.emitError("expects the tier portable, x86-64-v3 or x86-64-v4, got ") << tier.getValue();
    std::vector<PlannedEntry> entries;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (failed(checkPlannable(function)))
        return failure();
      FailureOr<PlannedEntry> entry = planEntry(function, cpu::cpuTarget());
      if (failed(entry))
        return failure();
      entries.push_back(std::move(*entry));
    }
    if (failed(emitTier(target, entries, module, *chosen)))
      return failure();
    for (const PlannedEntry &entry : entries)
      if (bind)
        emitBind(target, entry);
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
