// The CPU, as a target of the stages before its code is emitted.
#pragma once
#include "lowering/schedule/Target.h"

namespace tenon::cpu {

class CpuTarget : public Target {
public:
  llvm::StringRef name() const override { return "cpu"; }
  std::optional<std::string> refuses(KernelOpInterface kernel) const override;
  /// Of all tiers: they have the same temporaries, and the scratch is the largest of theirs.
  mlir::FailureOr<KernelNeeds> needsOf(KernelOpInterface kernel) const override;
};

const CpuTarget &cpuTarget();

} // namespace tenon::cpu
