#include "lowering/cpu/CpuTarget.h"
#include "dialect/Refusal.h"
#include "lowering/cpu/Generators.h"
#include "lowering/cpu/Kernel.h"

using namespace mlir;

namespace tenon::cpu {

FailureOr<KernelNeeds> CpuTarget::needsOf(KernelOpInterface kernel) const {
  auto generated = dyn_cast<CpuKernelOpInterface>(kernel.getOperation());
  if (!generated)
    return notSupported(kernel) << kernel->getName() << " in the kernel form of the CPU";
  KernelNeeds all;
  for (Tier tier : {Tier::Portable, Tier::Avx2, Tier::Avx512}) {
    KernelNeeds needs;
    KernelSequence sequence(kernel->getParentOfType<func::FuncOp>(), tier, needs);
    if (failed(generated.generate(sequence)))
      return failure();
    assert((tier == Tier::Portable || needs.temporaries == all.temporaries) && "the plan is that of all tiers");
    all = {needs.launches, needs.temporaries, std::max(all.scratchBytes, needs.scratchBytes)};
  }
  return all;
}

const CpuTarget &cpuTarget() {
  static const CpuTarget target;
  return target;
}

} // namespace tenon::cpu
