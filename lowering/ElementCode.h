// Scalar code of tensor-form values: every op that has no memory of its own is inlined where its elements are read.
#pragma once
#include "dialect/TenonDialect.h"
#include <functional>

namespace tenon {

/// Emits elements of tensor values at an insertion point. Values for which `memory` gives a tensor are loaded from it by `tenon.at`; others are inlined through
/// ElementOpInterface. Equal elements in one scope are emitted once.
class ElementCode {
public:
  using Memory = std::function<mlir::Value(mlir::Value)>;
  ElementCode(mlir::OpBuilder &builder, Memory memory) : builder(builder), memory(std::move(memory)) {}
  /// The scalar `value[indices]`.
  mlir::Value element(mlir::Value value, mlir::ValueRange indices);
  /// From now on `value[indices]` is this scalar (the sum of a contraction, a value put before).
  void define(mlir::Value value, mlir::ValueRange indices, mlir::Value scalar);

private:
  using Key = std::pair<mlir::Value, llvm::SmallVector<mlir::Value>>;
  mlir::Value lookup(const Key &key);
  mlir::OpBuilder &builder;
  Memory memory;
  // Per block: an element is known in its own block and in blocks nested in it.
  std::vector<std::tuple<mlir::Block *, Key, mlir::Value>> known;
};

/// Moves pure ops that do not depend on the indices of an inner `each` or `fold` in front of it, innermost first: what a row needs once is computed once.
void hoistInvariants(mlir::Block &body);

} // namespace tenon
