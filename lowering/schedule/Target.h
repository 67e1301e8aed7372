// What the stages before code is emitted ask of a target.
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// What the kernels of one op need besides its operands and results.
struct KernelNeeds {
  llvm::SmallVector<std::string> launches; // what is called, in order, for messages and reports
  llvm::SmallVector<mlir::AffineExpr>
      temporaries;          // bytes of memory that lives from one of its launches to another, or in one of them
  int64_t scratchBytes = 0; // per worker, contents undefined before and after each launch
};

class Target {
public:
  virtual ~Target() = default;
  virtual llvm::StringRef name() const = 0;
  /// Why it has no kernel for the op, or nothing. What it refuses is decomposed where that is possible.
  virtual std::optional<std::string> refuses(KernelOpInterface kernel) const = 0;
  /// Of a kernel op of an entry. Fails where the target has no kernel for it, with the reason reported at the op.
  virtual mlir::FailureOr<KernelNeeds> needsOf(KernelOpInterface kernel) const = 0;
};

/// The target of this name, or null. Targets are there for the whole run of the program.
const Target *findTarget(llvm::StringRef name);
void registerTarget(const Target &target);

} // namespace tenon
