// What the kernels of one op need besides its operands and results.
#pragma once
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <string>

namespace tenon {

struct KernelNeeds {
  llvm::SmallVector<std::string> launches; // what is called, in order: the schedule names them where there is more than one
  llvm::SmallVector<mlir::AffineExpr>
      temporaries;          // bytes of memory that lives from one of its launches to another, or in one of them
  int64_t scratchBytes = 0; // per worker, contents undefined before and after each launch
};

} // namespace tenon
