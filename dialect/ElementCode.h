// Scalar code of tensor-form values: every op that has no memory of its own is inlined where its elements are read.
#pragma once
#include "dialect/TenonDialect.h"
#include <functional>

namespace tenon {

/// Emits elements of tensor values at an insertion point. Values for which `memory` gives a tensor are loaded from it by
/// `tenon.at`; others are inlined through ElementOpInterface. Equal elements in one scope are emitted once.
class ElementCode {
public:
  using Memory = std::function<mlir::Value(mlir::Value)>;
  ElementCode(mlir::OpBuilder &builder, Memory memory) : builder(builder), memory(std::move(memory)) {}
  /// The scalar `value[indices]`.
  mlir::Value element(mlir::Value value, mlir::ValueRange indices);
  /// From now on `value[indices]` is this scalar (the sum of a contraction, a value put before).
  void define(mlir::Value value, mlir::ValueRange indices, mlir::Value scalar);

private:
  /// An element is known in its own block and in blocks nested in it.
  struct Known {
    mlir::Block *block;
    llvm::SmallVector<mlir::Value, 4> indices;
    mlir::Value scalar;
  };
  mlir::Value lookup(mlir::Value value, mlir::ValueRange indices);
  mlir::OpBuilder &builder;
  Memory memory;
  llvm::DenseMap<mlir::Value, std::vector<Known>> known; // of each value, the latest last
};

/// Moves pure ops that do not depend on the indices of an inner `each` or `fold` in front of it, innermost first: what a row
/// needs once is computed once.
void hoistInvariants(mlir::Block &body);

} // namespace tenon
