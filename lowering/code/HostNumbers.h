// What the code of a step's scalars asks of those who emit it: they are few, so that libm may be called.
#pragma once
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include <functional>

namespace tenon {

/// The call of a function of libm, f64 to f64, by its name.
using LibraryCall = std::function<mlir::Value(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands)>;

} // namespace tenon
