#include "lowering/cpu/OneLaneStores.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <optional>
#include <utility>

namespace tenon {

/// The only lane of a constant mask that is true.
static std::optional<unsigned> singleLane(llvm::Value *mask) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (!constant)
    return std::nullopt;
  std::optional<unsigned> found;
  for (unsigned lane = 0, count = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements(); lane < count; ++lane) {
    llvm::Constant *element = constant->getAggregateElement(lane);
    if (!element || !(element->isNullValue() || element->isOneValue()))
      return std::nullopt; // not known
    if (element->isOneValue() && std::exchange(found, lane))
      return std::nullopt;
  }
  return found;
}

void storeSingleLanes(llvm::Module &module) {
  llvm::SmallVector<llvm::IntrinsicInst *> stores;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          call && call->getIntrinsicID() == llvm::Intrinsic::masked_store && singleLane(call->getArgOperand(2)))
        stores.push_back(call);
  for (llvm::IntrinsicInst *store : stores) {
    llvm::Value *vector = store->getArgOperand(0), *pointer = store->getArgOperand(1);
    const unsigned lane = *singleLane(store->getArgOperand(2));
    llvm::IRBuilder<> builder(store);
    llvm::Value *element = builder.CreateExtractElement(vector, builder.getInt64(lane));
    llvm::Value *address = builder.CreateConstInBoundsGEP1_64(element->getType(), pointer, lane);
    builder.CreateAlignedStore(element, address, llvm::Align(module.getDataLayout().getTypeStoreSize(element->getType())));
    store->eraseFromParent();
  }
}

} // namespace tenon
