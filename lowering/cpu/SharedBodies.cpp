#include "lowering/cpu/SharedBodies.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;

namespace tenon::cpu {

/// Of the operations in their order: equal for equal code; operands are left to the comparison.
static size_t hashOf(LLVM::LLVMFuncOp body) {
  llvm::hash_code hash = llvm::hash_value(body.getFunctionType().getAsOpaquePointer());
  body.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName().getAsOpaquePointer(), op->hashProperties(),
                              op->getDiscardableAttrDictionary().getAsOpaquePointer(), op->getNumOperands(), op->getNumRegions());
    for (Type type : op->getResultTypes())
      hash = llvm::hash_combine(hash, type.getAsOpaquePointer());
  });
  return size_t(hash) >> 1; // the two largest values are the map's own
}

LLVM::LLVMFuncOp SharedBodies::findOrKeep(LLVM::LLVMFuncOp body) {
  auto &candidates = known[hashOf(body)];
  for (LLVM::LLVMFuncOp candidate : candidates)
    if (candidate.getFunctionType() == body.getFunctionType() && candidate.getArgAttrsAttr() == body.getArgAttrsAttr() &&
        OperationEquivalence::isRegionEquivalentTo(&candidate.getBody(), &body.getBody(), OperationEquivalence::IgnoreLocations))
      return candidate;
  candidates.push_back(body);
  return {};
}

} // namespace tenon::cpu
