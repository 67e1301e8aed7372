// tenon-emit-gpu, for tenon-opt: the schedule form to the functions of entries and kernels.
#include "lowering/gpu/Generators.h"
#include "lowering/gpu/GpuTarget.h"
#include "lowering/gpu/Launch.h"
#include "lowering/target/Rows.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

/// Every entry becomes `tn_run_ENTRY`, code of the host, and its kernels functions behind it, in the dialects llvm, arith, math
/// and scf. Refuses ops that have no kernel, at the op; functions without a schedule.
struct EmitGpu : PassWrapper<EmitGpu, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitGpu)
  StringRef getArgument() const override { return "tenon-emit-gpu"; }
  StringRef getDescription() const override { return "schedule form to the functions of a GPU's entries and kernels"; }
  void getDependentDialects(DialectRegistry &registry) const override { gpuTargets().front()->registerDialects(registry); }

  LogicalResult emit(ModuleOp module, ModuleOp host, ModuleOp device) {
    if (failed(gpuTargets().front()->verifyPanels(module)) ||
        failed(verifyRowSteps(module, gpuTargets().front()->name(), takesRowSteps)))
      return failure();
    const ParameterTable parameters = parametersOf(module);
    std::vector<KernelName> kernels;
    for (auto function : module.getOps<func::FuncOp>()) {
      FailureOr<ScheduledEntry> entry = ScheduledEntry::of(function);
      if (failed(entry))
        return failure();
      LaunchSequence sequence(host, device, kernels, *entry, parameters,
                              static_cast<const GpuTarget *>(gpuTargets().front())->itsChip());
      if (failed(sequence.emit(("tn_run_" + function.getName()).str())))
        return failure();
    }
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OwningOpRef<ModuleOp> host = ModuleOp::create(module.getLoc()), device = ModuleOp::create(module.getLoc());
    if (failed(emit(module, *host, *device)))
      return signalPassFailure();
    module.getBody()->clear();
    for (ModuleOp part : {*host, *device})
      module.getBody()->getOperations().splice(module.getBody()->end(), part.getBody()->getOperations());
  }
};

} // namespace

void registerGpuPasses() {
  static const PassRegistration<EmitGpu> registration; // once, for all chips
}

} // namespace tenon::gpu
