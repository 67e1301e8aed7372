// tenon-emit-cpu and the pipeline that ends with it. See CpuPasses.td.
#include "lowering/Passes.h"
#include "lowering/artifact/Bind.h"
#include "lowering/artifact/HostCode.h"
#include "lowering/cpu/CpuTarget.h"
#include "lowering/cpu/EmitTier.h"
#include "lowering/target/Rows.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

using namespace mlir;

namespace tenon::cpu {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_EMITCPU
#define GEN_PASS_REGISTRATION
#include "lowering/cpu/CpuPasses.h.inc"

namespace {

struct EmitCpu : impl::EmitCpuBase<EmitCpu> {
  using EmitCpuBase::EmitCpuBase;
  void getDependentDialects(DialectRegistry &registry) const override { cpuTarget().registerDialects(registry); }

  LogicalResult emit(ModuleOp module, ModuleOp target) {
    std::optional<Tier> chosen = tierOfPublicName(tier);
    if (!chosen)
      return module.emitError("expects the tier ")
             << alternatives(cpuTarget().variants()) << ", got " << tier.getValue(); // an option
    if (failed(cpuTarget().verifyPanels(module)) ||
        failed(verifyRowSteps(module, cpuTarget().name(), [](KernelOpInterface) { return false; })))
      return failure();
    std::vector<ScheduledEntry> entries;
    for (auto function : module.getOps<func::FuncOp>()) {
      FailureOr<ScheduledEntry> entry = ScheduledEntry::of(function);
      if (failed(entry))
        return failure();
      entries.push_back(std::move(*entry));
    }
    if (failed(emitTier(target, entries, module, *chosen)))
      return failure();
    for (const ScheduledEntry &entry : entries)
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

struct CpuOptions : PassPipelineOptions<CpuOptions> {
  Option<std::string> tier{*this, "tier", llvm::cl::desc("as of tenon-emit-cpu"),
                           llvm::cl::init(tierPublicName(Tier::Portable).str())};
};

} // namespace

void CpuTarget::registerPasses() const {
  registerTenonCpuPasses();
  PassPipelineRegistration<CpuOptions>("tenon-cpu-pipeline", "kernel form to the LLVM dialect, for one tier",
                                       [](OpPassManager &module, const CpuOptions &options) {
                                         module.addNestedPass<func::FuncOp>(createSchedule());
                                         module.addPass(createEmitCpu({options.tier.getValue(), /*bind=*/false}));
                                         buildLlvmPipeline(module);
                                       });
}

} // namespace tenon::cpu
