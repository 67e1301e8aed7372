// Structured loops over i64 in generated code.
#pragma once
#include "lowering/artifact/Scalars.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tenon::cpu {

/// for (index = low; index < high; index += step) carried = body(index, carried). Returns the last carried values.
inline llvm::SmallVector<mlir::Value>
forLoop(mlir::ImplicitLocOpBuilder &builder, mlir::Value low, mlir::Value high, mlir::Value step, mlir::ValueRange carried,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body) {
  auto loop = mlir::scf::ForOp::create(builder, low, high, step, carried);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  llvm::SmallVector<mlir::Value> results = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    mlir::scf::YieldOp::create(builder, results);
  return llvm::SmallVector<mlir::Value>(loop.getResults());
}
inline void forLoop(mlir::ImplicitLocOpBuilder &builder, mlir::Value low, mlir::Value high,
                    llvm::function_ref<void(mlir::Value)> body) {
  forLoop(builder, low, high, constant(builder, 1), {},
          [&](mlir::Value index, mlir::ValueRange) -> llvm::SmallVector<mlir::Value> {
            body(index);
            return {};
          });
}
/// condition ? then() : otherwise.
inline llvm::SmallVector<mlir::Value> ifThen(mlir::ImplicitLocOpBuilder &builder, mlir::Value condition,
                                             mlir::ValueRange otherwise,
                                             llvm::function_ref<llvm::SmallVector<mlir::Value>()> then) {
  auto branch = mlir::scf::IfOp::create(builder, mlir::TypeRange(otherwise), condition, !otherwise.empty());
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  llvm::SmallVector<mlir::Value> results = then();
  if (!otherwise.empty()) {
    mlir::scf::YieldOp::create(builder, results);
    builder.setInsertionPointToStart(branch.elseBlock());
    mlir::scf::YieldOp::create(builder, otherwise);
  }
  return llvm::SmallVector<mlir::Value>(branch.getResults());
}
/// condition ? then() : otherwise(), both of as many values of `types`.
inline llvm::SmallVector<mlir::Value> ifElse(mlir::ImplicitLocOpBuilder &builder, mlir::Value condition, mlir::TypeRange types,
                                             llvm::function_ref<llvm::SmallVector<mlir::Value>()> then,
                                             llvm::function_ref<llvm::SmallVector<mlir::Value>()> otherwise) {
  auto branch = mlir::scf::IfOp::create(builder, types, condition, /*withElseRegion=*/true);
  mlir::OpBuilder::InsertionGuard guard(builder);
  for (auto [block, body] : {std::pair(branch.thenBlock(), then), std::pair(branch.elseBlock(), otherwise)}) {
    builder.setInsertionPointToStart(block);
    llvm::SmallVector<mlir::Value> results = body();
    if (!types.empty())
      mlir::scf::YieldOp::create(builder, results);
  }
  return llvm::SmallVector<mlir::Value>(branch.getResults());
}

} // namespace tenon::cpu
