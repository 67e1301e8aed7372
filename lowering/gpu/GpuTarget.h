// NVIDIA GPUs, as targets: one per generation of chips that kernels are made for, by the name that NVIDIA's compilers give it.
// Its code is PTX, which the driver of the machine compiles for the chip that is there, or (but for sm_90a) a later one.
#pragma once
#include "lowering/cpu/HostPlatform.h"
#include "lowering/gpu/Chip.h"

namespace tenon::gpu {

class GpuTarget : public Target {
public:
  explicit GpuTarget(Chip chip) : chip(chip) {}
  llvm::StringRef name() const override { return chip.name; }
  llvm::StringRef machines() const override { return chip.machines; }
  void registerDialects(mlir::DialectRegistry &registry) const override;
  void registerPasses() const override;
  std::optional<std::string> refuses(KernelOpInterface kernel) const override;
  /// Elements that are computed come one by one into the shared memory of every block that reads them; those in memory by 16
  /// bytes.
  unsigned mostCostOfOperand() const override { return 0; }
  bool leavesProductsOut() const override { return false; }
  bool waitsForMemory() const override { return true; }
  mlir::DictionaryAttr choose(KernelOpInterface kernel) const override;
  bool roundsFactors() const override { return true; }
  mlir::FailureOr<KernelNeeds> needsOf(KernelOpInterface kernel) const override;
  std::vector<std::string> variants() const override { return {chip.name.str()}; }
  std::vector<std::string> variantsOf(mlir::ModuleOp) const override { return variants(); }
  mlir::LogicalResult emit(mlir::ModuleOp module, llvm::ArrayRef<ScheduledEntry> entries, const CodeOptions &options,
                           ArtifactParts &parts) const override; // EmitPtx.cpp
  const HostPlatform &host() const override { return cpu::hostPlatform(); }
  llvm::StringRef triple() const override { return "nvptx64-nvidia-cuda"; }
  llvm::StringRef device() const override { return "cuda"; }
  Roofline roofline() const override { return chip.roofline; }

  const Chip &itsChip() const { return chip; }

private:
  const Chip chip;
};

llvm::ArrayRef<const Target *> gpuTargets(); // the first one's kernels run on all chips
void registerGpuPasses();                    // GpuPasses.cpp

} // namespace tenon::gpu
