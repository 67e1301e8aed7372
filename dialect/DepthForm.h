// A depth as a sum over the loops around: where in a stacked parameter or state an op reads and writes.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <optional>

namespace tenon {

/// constant + the sum of factor * argument, where the arguments are the depths of stacks, or the indices of the loops that
/// stacks become. The plain depth of a stack is that argument; in rounds of several layers it is the round times their
/// number plus the place in the round.
struct DepthForm {
  struct Term {
    mlir::BlockArgument argument;
    int64_t factor;
    bool operator==(const Term &) const = default;
  };
  llvm::SmallVector<Term, 2> terms;
  int64_t constant = 0;
  bool operator==(const DepthForm &) const = default;
};

/// nullopt: `depth` is made of something else.
std::optional<DepthForm> depthFormOf(mlir::Value depth);
/// The depth as a value; `argumentOf` gives what stands for the argument of a term.
mlir::Value buildDepth(mlir::OpBuilder &builder, mlir::Location location, const DepthForm &form,
                       llvm::function_ref<mlir::Value(mlir::BlockArgument)> argumentOf);

} // namespace tenon
