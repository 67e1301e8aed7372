// What generated code reads of the context that its entry was called with: fields, dims, indices of loops, addresses.
#pragma once
#include "lowering/artifact/Scalars.h"
#include "lowering/schedule/MemoryPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/include/tenon/artifact.h"

namespace tenon {

/// An index of the schedule form as i64: a constant, sums and products (a depth counted through nested loops), a dim or the index
/// of a loop, which `ofArgument` knows. Null for anything else.
mlir::Value indexCode(mlir::ImplicitLocOpBuilder &builder, mlir::Value index,
                      llvm::function_ref<mlir::Value(mlir::BlockArgument)> ofArgument);

/// Of a function that has the address of a TnContext. All integers are i64, addresses !llvm.ptr.
class ContextCode {
public:
  /// Reads the dims of `entry` at once, where they dominate every use.
  ContextCode(mlir::func::FuncOp entry, mlir::ImplicitLocOpBuilder &builder, mlir::Value context);
  virtual ~ContextCode() = default;

  mlir::ImplicitLocOpBuilder &builder;
  mlir::Value context; // const TnContext *

  /// A size, from the dims of the entry.
  mlir::Value size(mlir::AffineExpr expression) { return evaluateSize(builder, expression, dims); }
  /// indexCode of a dim or the index of a loop.
  mlir::Value scalar(mlir::Value index);
  mlir::Value address(const Buffer &buffer);
  /// The base of an arena.
  mlir::Value arena(TnArena number);
  /// An i64 field of the context, or of what the target puts behind it (lowering/artifact/Abi.h).
  mlir::Value field(int64_t offset);
  mlir::Value pointerField(int64_t offset);

protected:
  /// Of the loop whose body has this argument; null: none that this code knows.
  virtual mlir::Value loopIndex(mlir::BlockArgument argument) = 0;
  mlir::func::FuncOp entry;
  llvm::SmallVector<mlir::Value> dims;
};

} // namespace tenon
