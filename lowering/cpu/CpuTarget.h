// The CPU, as a target. Its variants are the tiers (Tier.h).
#pragma once
#include "lowering/target/Target.h"

namespace tenon::cpu {

class CpuTarget : public Target {
public:
  llvm::StringRef name() const override { return "cpu"; }
  llvm::StringRef machines() const override { return "this kind of processor"; }
  void registerDialects(mlir::DialectRegistry &registry) const override;
  void registerPasses() const override; // CpuPasses.cpp
  std::optional<std::string> refuses(KernelOpInterface kernel) const override;
  /// Its caches keep what the next pass over a row reads.
  bool waitsForMemory() const override { return false; }
  mlir::DictionaryAttr choose(KernelOpInterface kernel) const override;
  std::string sharesChoiceOf(llvm::StringRef variant) const override;
  std::optional<int64_t> mostLoops() const override;
  llvm::SmallVector<mlir::Value> overwritable(KernelOpInterface kernel, unsigned result) const override;
  /// Of all tiers: they have the same temporaries, and the scratch is the largest of theirs.
  mlir::FailureOr<KernelNeeds> needsOf(KernelOpInterface kernel) const override;
  /// Those of the widest register tile; of bf16 pairs of lines, as many as tiles of AMX read at once. Of f16, which is widened
  /// whenever it is packed, there are none.
  std::optional<PanelForm> panelsOf(mlir::Type element) const override;
  std::vector<std::string> variants() const override;
  /// Code for pairs of bf16 only where something is contracted in bf16.
  std::vector<std::string> variantsOf(mlir::ModuleOp module) const override;
  mlir::LogicalResult emit(mlir::ModuleOp module, llvm::ArrayRef<ScheduledEntry> entries, const CodeOptions &options,
                           ArtifactParts &parts) const override; // EmitTiers.cpp
  const HostPlatform &host() const override;
  llvm::StringRef triple() const override;
  llvm::StringRef device() const override { return "host"; }
  Roofline roofline() const override { return {"one core with AVX2", 100'000'000'000, 20'000'000'000}; }
};

const CpuTarget &cpuTarget();

} // namespace tenon::cpu
