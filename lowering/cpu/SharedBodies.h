// Kernels that do the same have one code.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace tenon::cpu {

/// The bodies of tiles of one tier's module, by what they do. Addresses come as arguments, so bodies are the same wherever the
/// same layer is made again: for runs of equal depths that an `if depth` parts and that make no rounds, and for the forward pass
/// of several entries.
class SharedBodies {
public:
  /// An earlier function with the same code, argument types and argument attributes, whatever its name and locations; null if
  /// there is none: then `body` is kept as one.
  mlir::LLVM::LLVMFuncOp findOrKeep(mlir::LLVM::LLVMFuncOp body);

private:
  llvm::DenseMap<size_t, llvm::SmallVector<mlir::LLVM::LLVMFuncOp, 1>> known; // by hashOf
};

} // namespace tenon::cpu
