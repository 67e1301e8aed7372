#include "lowering/Targets.h"
#include "lowering/cpu/CpuTarget.h"
#include "lowering/cpu/library/Library.h"
#include "lowering/gpu/GpuTarget.h"

namespace tenon {

void registerTargets(mlir::DialectRegistry &registry) {
  registerTarget(cpu::cpuTarget());
  for (const Target *target : gpu::gpuTargets())
    registerTarget(*target);
  for (const Target *target : knownTargets())
    target->registerDialects(registry);
}

void registerTargetPasses() {
  for (const Target *target : knownTargets())
    target->registerPasses();
}

const KernelLibrary *kernelLibraryOf(const Target &target) {
  return &target == &cpu::cpuTarget() ? &cpu::kernelLibrary() : nullptr;
}

} // namespace tenon
