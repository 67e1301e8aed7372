// Kernels that were compiled when the compiler was built: they depend on no program, so programs declare those that they call and
// the linker adds them.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace tenon {

class KernelLibrary {
public:
  /// An object file whose functions have a section each, for --gc-sections. What it points at outlives the library.
  struct Part {
    llvm::StringRef name;
    llvm::StringRef object;
    llvm::StringRef functions; ///< their names, one per line
  };
  explicit KernelLibrary(llvm::ArrayRef<Part> parts);

  /// Null: it has no such function.
  const Part *find(llvm::StringRef function) const { return owners.lookup(function); }

  /// The names of all functions, for the attribute kLibraryKernels of a module whose code is being emitted.
  mlir::DictionaryAttr names(mlir::MLIRContext *context) const;

private:
  llvm::SmallVector<Part> parts;
  llvm::StringMap<const Part *> owners;
};

/// Of a module: what is called by these names is declared there, not made.
constexpr llvm::StringLiteral kLibraryKernels = "tenon.library_kernels";

} // namespace tenon
