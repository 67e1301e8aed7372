// What is chosen for a kernel in the code of a tier.
#pragma once
#include "lowering/cpu/FunctionCalls.h"
#include "lowering/target/Choice.h"

namespace tenon::cpu {

/// Whose choice the code of a tier follows where a kernel says none for it: kernels without bf16 are those of x86-64-v4.
inline Tier sharedChoice(Tier tier) { return isOnlyForBf16(tier) ? Tier::Avx512 : tier; }

/// The variant whose choice it is.
inline llvm::StringRef choosingTier(mlir::Operation *op, Tier tier) {
  auto chosen = op->getAttrOfType<mlir::DictionaryAttr>(kChosen);
  const bool isShared = chosen && !chosen.contains(tierPublicName(tier));
  return tierPublicName(isShared ? sharedChoice(tier) : tier);
}

/// `tenon.chosen` for a tier: one of the forms, with their numbers and those of functions that are called.
inline mlir::FailureOr<Choice> choiceForTier(mlir::Operation *op, Tier tier, llvm::ArrayRef<ChoiceForm> forms) {
  llvm::SmallVector<ChoiceForm> all(forms);
  for (ChoiceForm &form : all)
    form.numbers.append(callNumbers(op, tier));
  return choiceFor(op, choosingTier(op, tier), all);
}

/// Whether the choice for the kernel around a function says that it is called.
inline bool isCalled(mlir::Operation &function, Tier tier) {
  auto kernel = function.getParentOfType<KernelOpInterface>();
  auto chosen = kernel ? kernel->getAttrOfType<mlir::DictionaryAttr>(kChosen) : mlir::DictionaryAttr();
  auto choice = chosen ? chosen.getAs<mlir::DictionaryAttr>(choosingTier(kernel, tier)) : mlir::DictionaryAttr();
  auto number = choice ? choice.getAs<mlir::IntegerAttr>(callsNumber(function)) : mlir::IntegerAttr();
  return number && number.getInt() != 0;
}

} // namespace tenon::cpu
