// What is chosen for a kernel in the code of a tier.
#pragma once
#include "lowering/cpu/Tier.h"
#include "lowering/target/Choice.h"

namespace tenon::cpu {

/// `tenon.chosen` for a tier; for one that is only for bf16, of a kernel that says nothing for it, that of x86-64-v4.
inline mlir::FailureOr<Choice> choiceForTier(mlir::Operation *op, Tier tier, llvm::ArrayRef<ChoiceForm> forms) {
  auto chosen = op->getAttrOfType<mlir::DictionaryAttr>(kChosen);
  const bool isShared = isOnlyForBf16(tier) && chosen && !chosen.contains(tierPublicName(tier));
  return choiceFor(op, tierPublicName(isShared ? Tier::Avx512 : tier), forms);
}

} // namespace tenon::cpu
