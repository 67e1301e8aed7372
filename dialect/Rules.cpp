#include "dialect/Rules.h"
#include "dialect/Build.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallSet.h"
#include <map>

using namespace mlir;

namespace tenon {

/// How many symbolic dims the entry around `op` has; nothing where no entry says so.
static std::optional<unsigned> dimsOfEntry(Operation *op) {
  while (op && !isa<FunctionOpInterface>(op))
    op = op->getParentOp();
  auto dims = op ? op->getAttrOfType<ArrayAttr>("tenon.dims") : ArrayAttr();
  return dims ? std::optional<unsigned>(dims.size()) : std::nullopt;
}

SmallVector<SmallVector<unsigned>> factorsOfDims(Operation *op) {
  while (op && !isa<FunctionOpInterface>(op))
    op = op->getParentOp();
  auto dims = op ? op->getAttrOfType<ArrayAttr>("tenon.dims") : ArrayAttr();
  SmallVector<StringRef> names;
  SmallVector<SmallVector<unsigned>> result;
  for (Attribute dim : dims ? dims.getValue() : ArrayRef<Attribute>()) {
    names.push_back(cast<StringAttr>(dim).getValue());
    SmallVector<StringRef> factors;
    names.back().split(factors, '*');
    result.emplace_back();
    for (StringRef factor : factors)
      result.back().push_back(llvm::find(names, factor) - names.begin());
  }
  return result;
}

bool fitsEntry(Operation *op, unsigned dimCount) {
  if (dimCount == 0)
    return true;
  std::optional<unsigned> dims = dimsOfEntry(op);
  return !dims || *dims == dimCount;
}

LogicalResult verifySizesOfEntry(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.hasStaticShape())
      continue;
    if (!fitsEntry(op, dimCountOf(tensor)))
      return op->emitOpError("expects sizes over the dims of its entry, got ") << tensor; // C0 of every op
  }
  return success();
}

/// Linear forms over the dims of the entry around `op`: no symbols, and as many dims as it has.
LogicalResult verifyForms(Operation *op, AffineMap forms) {
  if (forms.getNumSymbols() != 0 || !fitsEntry(op, forms.getNumDims()))
    return op->emitOpError("expects forms over the dims of its entry, got ") << AffineMapAttr::get(forms); // as the caller says
  return success();
}

LogicalResult verifyForm(Operation *op, AffineMap form) {
  if (form.getNumResults() != 1)
    return op->emitOpError("expects one form, got ") << form.getNumResults(); // as the caller says
  return verifyForms(op, form);
}

LogicalResult verifyLoop(Operation *op, AffineMap sizes, Block &block) {
  if (failed(verifyForms(op, sizes)))
    return failure();
  for (AffineExpr size : sizes.getResults())
    if (auto number = dyn_cast<AffineConstantExpr>(size); number && number.getValue() < 0)
      return op->emitOpError("expects sizes from 0 on, got ") << number.getValue(); // C1 of nest, C2 of each and fold
  return verifyArguments(op, block, sizes.getNumResults(), {});
}

LogicalResult verifyArguments(Operation *op, Block &block, unsigned indices, TypeRange further) {
  SmallVector<Type> wanted(indices, IndexType::get(op->getContext()));
  llvm::append_range(wanted, further);
  if (block.getArgumentTypes() != TypeRange(wanted))
    return op->emitOpError("expects block arguments (")
           << TypeRange(wanted) << "), got (" << block.getArgumentTypes() << ")"; // as the caller says
  return success();
}

Operation *findNoScalarCode(Block &block) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  for (Operation &inner : block.without_terminator())
    if (inner.getNumRegions() > 0 || !isMemoryEffectFree(&inner) || !llvm::all_of(inner.getOperandTypes(), isScalar) ||
        !llvm::all_of(inner.getResultTypes(), isScalar))
      return &inner;
  return nullptr;
}

FailureOr<SmallVector<AffineExpr>> verifyLabels(Operation *op, RankedTensorType a, RankedTensorType b, ArrayRef<int64_t> aLabels,
                                                ArrayRef<int64_t> bLabels, int64_t rank) {
  std::map<int64_t, AffineExpr> sizes; // a dense map has no place for the largest numbers
  if (a.getElementType() != b.getElementType())
    return op->emitOpError("expects one element type, got ")
           << a.getElementType() << " and " << b.getElementType(); // C5 of dot, C3 of gemm
  for (auto [type, labels] : {std::pair(a, aLabels), std::pair(b, bLabels)}) {
    llvm::SmallSet<int64_t, 8> own(labels.begin(), labels.end());
    if (int64_t(labels.size()) != type.getRank() || int64_t(own.size()) != type.getRank())
      return op->emitOpError("expects one label per dimension, all different, got ")
             << labels.size() << " for rank " << type.getRank(); // C1 of dot and gemm
    for (auto [label, size] : llvm::zip(labels, sizesOf(type))) {
      if (label < 0)
        return op->emitOpError("expects labels from 0 on, got ") << label; // C1 of dot and gemm
      auto [place, isNew] = sizes.try_emplace(label, size);
      if (!isNew && place->second != size)
        return op->emitOpError("expects label ")
               << label << " to have one size, got " << textOf(place->second) << " and " << textOf(size); // C2 of dot and gemm
      if (label >= rank && !(llvm::is_contained(aLabels, label) && llvm::is_contained(bLabels, label)))
        return op->emitOpError("expects the summed label ") << label << " in both operands"; // C4 of dot, C2 of gemm
    }
  }
  SmallVector<AffineExpr> result;
  for (int64_t label = 0; label < rank; ++label) {
    auto found = sizes.find(label);
    if (found == sizes.end())
      return op->emitOpError("expects result dimension ") << label << " in an operand"; // C3 of dot, C2 of gemm
    result.push_back(found->second);
  }
  return result;
}

} // namespace tenon
