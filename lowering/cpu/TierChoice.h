// What is chosen for a kernel in the code of a tier.
#pragma once
#include "lowering/cpu/Tier.h"
#include "lowering/target/Choice.h"

namespace tenon::cpu {

/// Whose choice the code of a tier follows where a kernel says none for it: kernels without bf16 are those of x86-64-v4.
inline Tier sharedChoice(Tier tier) { return isOnlyForBf16(tier) ? Tier::Avx512 : tier; }

/// `tenon.chosen` for a tier.
inline mlir::FailureOr<Choice> choiceForTier(mlir::Operation *op, Tier tier, llvm::ArrayRef<ChoiceForm> forms) {
  auto chosen = op->getAttrOfType<mlir::DictionaryAttr>(kChosen);
  const bool isShared = chosen && !chosen.contains(tierPublicName(tier));
  return choiceFor(op, tierPublicName(isShared ? sharedChoice(tier) : tier), forms);
}

} // namespace tenon::cpu
