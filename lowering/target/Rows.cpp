#include "lowering/target/Rows.h"
#include "dialect/ElementModel.h"
#include "dialect/Packs.h"
#include "dialect/TensorSizes.h"

using namespace mlir;

namespace tenon {

int64_t rowStepOf(Value tensor) {
  auto result = dyn_cast<OpResult>(tensor);
  auto steps = result && isa<KernelOpInterface>(result.getOwner())
                   ? result.getOwner()->getAttrOfType<DenseI64ArrayAttr>(kRowSteps)
                   : DenseI64ArrayAttr();
  return steps && result.getResultNumber() < steps.size() ? steps[result.getResultNumber()] : 0;
}

RankedTensorType storedType(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (std::optional<Panels> panels = packedPanels(tensor))
    return RankedTensorType::get({roomForColumns(*panels, type.getShape()), roomForLines(*panels, type.getShape())},
                                 type.getElementType());
  const int64_t step = rowStepOf(tensor);
  if (step == 0)
    return type;
  SmallVector<AffineExpr> sizes = sizesOf(type);
  sizes.back() = getAffineConstantExpr(step, type.getContext());
  return tensorType(sizes, type.getElementType(), dimCountOf(type));
}

/// The kernel op of the tensor's block that a use belongs to; null: it is read elsewhere, or by what is no kernel.
static KernelOpInterface readerOf(Value tensor, Operation *user) {
  return dyn_cast_or_null<KernelOpInterface>(tensor.getParentBlock()->findAncestorOpInBlock(*user));
}

/// What a sum is added onto lies where that is to be.
bool mayBeApart(OpResult tensor, TakesRows takes) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  auto kernel = cast<KernelOpInterface>(tensor.getOwner());
  if (!type || type.getRank() < 2 || type.isDynamicDim(unsigned(type.getRank() - 1)) || !takes(kernel) ||
      kernel.startsFrom(tensor.getResultNumber()))
    return false;
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    KernelOpInterface reader = readerOf(tensor, user);
    return reader && takes(reader) &&
           llvm::none_of(reader->getResults(), [&](OpResult sum) { return reader.startsFrom(sum.getResultNumber()) == tensor; });
  });
}

SmallVector<OpResult> successorsOf(OpResult tensor) {
  SmallVector<OpResult> found;
  for (Operation *user : tensor.getUsers())
    if (KernelOpInterface reader = readerOf(tensor, user))
      for (OpResult result : reader->getResults())
        if (result.getType() == tensor.getType() &&
            llvm::is_contained(reader.overwritable(result.getResultNumber()), Value(tensor)))
          found.push_back(result);
  return found;
}

LogicalResult verifyRowSteps(ModuleOp module, StringRef target, TakesRows takes) {
  WalkResult result = module.walk([&](KernelOpInterface kernel) {
    if (!kernel->hasAttr(kRowSteps))
      return WalkResult::advance();
    auto steps = kernel->getAttrOfType<DenseI64ArrayAttr>(kRowSteps);
    bool good = steps && steps.size() == int64_t(kernel->getNumResults());
    for (OpResult tensor : kernel->getResults()) {
      if (!good || rowStepOf(tensor) == 0)
        continue;
      auto type = cast<RankedTensorType>(tensor.getType());
      good = mayBeApart(tensor, takes) && rowStepOf(tensor) >= type.getShape().back() &&
             rowStepOf(tensor) * elementBytes(type.getElementType()) % kRowBytes == 0;
    }
    if (good)
      return WalkResult::advance();
    kernel->emitOpError("expects as ") << kRowSteps << " for each result 0 or, where kernels of " << target // S16
                                       << " in the same block alone read it, at least the innermost size and a multiple of "
                                       << kRowBytes << " bytes, got " << kernel->getAttr(kRowSteps);
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

} // namespace tenon
