// Rows of tensors that kernels of one block alone see: a target may have them begin further apart than they are long, where that
// serves the kernels. It says so for the results of a kernel op together with what it chooses for it (Target::choose).
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tenon {

/// Of a kernel op, for each result: the elements from the beginning of a row (of the innermost dimension) to that of the next
/// one, or 0 where rows lie behind each other. In what Target::choose returns: an entry of this name beside those of the
/// variants.
inline constexpr llvm::StringLiteral kRowSteps = "tenon.row_steps";
/// Rows that are apart begin at multiples of so many bytes.
inline constexpr int64_t kRowBytes = 16;

/// That of a tensor, which kernels read: 0 where its rows lie behind each other.
int64_t rowStepOf(mlir::Value tensor);
/// The tensor's type as it lies in memory, with what stands between its rows.
mlir::RankedTensorType storedType(mlir::Value tensor);

/// Whether the kernels of an op read and write such rows.
using TakesRows = llvm::function_ref<bool(KernelOpInterface)>;
/// Whether nothing but kernels of its block, which take such rows, sees where the elements of a result lie.
bool mayBeApart(mlir::OpResult tensor, TakesRows takes);
/// The results of kernels of the block that may be written over the tensor, and lie as it does then.
llvm::SmallVector<mlir::OpResult> successorsOf(mlir::OpResult tensor);
/// Whether the rows of a module, which may be written by hand, are such; reported at the first kernel with others. Emission asks.
mlir::LogicalResult verifyRowSteps(mlir::ModuleOp module, llvm::StringRef target, TakesRows takes);

} // namespace tenon
