#include "lowering/cpu/CpuTarget.h"
#include "dialect/Refusal.h"
#include "lowering/artifact/Abi.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/Generators.h"
#include "lowering/cpu/HostPlatform.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/KernelDialects.h"
#include "lowering/cpu/TierChoice.h"
#include "lowering/cpu/TileKernel.h"
#include "lowering/target/Choice.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tenon::cpu {

void CpuTarget::registerDialects(DialectRegistry &registry) const {
  registry.insert<TenonDialect>();
  registerKernelDialects(registry);
  registerKernelGenerators(registry);
}

std::optional<std::string> CpuTarget::refuses(KernelOpInterface kernel) const {
  if (!isa<CpuKernelOpInterface>(kernel.getOperation()))
    return "the CPU has no kernel for " + kernel->getName().getStringRef().str();
  const bool widens = cast<CpuKernelOpInterface>(kernel.getOperation()).readsShortReals();
  auto known = [&](Type element) { return isComputed(widens ? elementModel(element).compute : element); };
  for (Value tensor : kernel.tensorsRead())
    if (Type element = cast<RankedTensorType>(tensor.getType()).getElementType(); isa<FloatType>(element) && !known(element))
      return "the CPU's " + kernel->getName().stripDialect().str() + " has no kernel for " + elementModel(element).name().str();
  return std::nullopt;
}

/// Whether it reads numbers whose pairs tiers multiply, or makes them of what it reads.
static bool readsPairs(KernelOpInterface kernel) {
  auto hasPairs = [](Value value) { return multipliesPairs(Tier::Avx512Bf16, getElementTypeOrSelf(value.getType())); };
  auto makesPairs = [&](Operation *op) {
    return llvm::any_of(op->getResults(), hasPairs) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return llvm::any_of(kernel.tensorsRead(), hasPairs) ||
         llvm::any_of(kernel->getRegions(), [&](Region &region) { return region.walk(makesPairs).wasInterrupted(); });
}

/// Those whose code of the kernel is not that of x86-64-v4.
static SmallVector<Tier> tiersOf(KernelOpInterface kernel) {
  SmallVector<Tier> tiers(std::begin(kTiers), std::end(kTiers));
  llvm::erase_if(tiers, [&](Tier tier) { return isOnlyForBf16(tier) && !readsPairs(kernel); });
  return tiers;
}

DictionaryAttr CpuTarget::choose(KernelOpInterface kernel) const {
  auto generated = dyn_cast<CpuKernelOpInterface>(kernel.getOperation());
  if (!generated || refuses(kernel))
    return {};
  NamedAttrList chosen;
  for (Tier tier : tiersOf(kernel))
    if (DictionaryAttr choice = generated.choose(tier))
      chosen.set(tierPublicName(tier), withCalls(choice, kernel, tier));
  return chosen.empty() ? DictionaryAttr() : chosen.getDictionary(kernel.getContext());
}

SmallVector<Value> CpuTarget::overwritable(KernelOpInterface kernel, unsigned result) const {
  auto generated = dyn_cast<CpuKernelOpInterface>(kernel.getOperation());
  return generated ? generated.overwritable(result) : kernel.overwritable(result);
}

/// Kernels read their indices behind the context of the call.
std::optional<int64_t> CpuTarget::mostLoops() const { return abi::maxDepths; }

FailureOr<KernelNeeds> CpuTarget::needsOf(KernelOpInterface kernel) const {
  if (!isa<CpuKernelOpInterface>(kernel.getOperation()))
    return notSupported(kernel) << kernel->getName() << " in the kernel form";
  if (std::optional<std::string> reason = refuses(kernel))
    return notSupported(kernel) << *reason;
  KernelNeeds all;
  for (Tier tier : tiersOf(kernel)) {
    KernelNeeds needs;
    KernelSequence sequence(kernel->getParentOfType<func::FuncOp>(), tier, needs);
    if (failed(sequence.generate(kernel)))
      return failure();
    if (tier != Tier::Portable && needs.temporaries != all.temporaries)
      return kernel->emitOpError("expects in ")
             << kChosen << " temporaries of one size in all variants, got others for " << tierPublicName(tier); // S15
    all = {needs.launches, needs.temporaries, std::max(all.scratchBytes, needs.scratchBytes)};
  }
  return all;
}

/// With more rows packing a panel, once for all strips of rows, takes no more than what panels cost the optimizer and the
/// direction that turns them (docs/measurements.md, "Weights in panels").
constexpr int64_t kMostRows = 64;

std::optional<PanelForm> CpuTarget::panelsOf(Type element) const {
  if (isOfPairs(element))
    return PanelForm{kPanelWidth, 2, kTileSteps, kMostRows};
  if (isComputed(element))
    return PanelForm{kPanelWidth, 1, 1, kMostRows};
  return std::nullopt;
}

std::string CpuTarget::sharesChoiceOf(StringRef variant) const {
  for (Tier tier : kTiers)
    if (tierPublicName(tier) == variant)
      return tierPublicName(sharedChoice(tier)).str();
  return variant.str();
}

std::vector<std::string> CpuTarget::variants() const {
  std::vector<std::string> names;
  for (Tier tier : kTiers)
    names.push_back(tierPublicName(tier).str());
  return names;
}

std::vector<std::string> CpuTarget::variantsOf(ModuleOp module) const {
  WalkResult found = module.walk(
      [](CpuKernelOpInterface kernel) { return kernel.multipliesPairs() ? WalkResult::interrupt() : WalkResult::advance(); });
  std::vector<std::string> names;
  for (Tier tier : kTiers)
    if (found.wasInterrupted() || !isOnlyForBf16(tier))
      names.push_back(tierPublicName(tier).str());
  return names;
}

const HostPlatform &CpuTarget::host() const { return hostPlatform(); }
llvm::StringRef CpuTarget::triple() const { return host().triple; }

const CpuTarget &cpuTarget() {
  static const CpuTarget target;
  return target;
}

} // namespace tenon::cpu
