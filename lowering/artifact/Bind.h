// The function that evaluates the sizes of an entry: TnBind of runtime/include/tenon/artifact.h. It is code of the host, whatever
// the target.
#pragma once
#include "lowering/schedule/ScheduledEntry.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <string>

namespace tenon {

/// The sizes of the leading arguments of an entry: of a table of those that a caller says, in their order, and products of them.
llvm::SmallVector<mlir::Value> loadDims(mlir::ImplicitLocOpBuilder &builder, mlir::func::FuncOp entry, mlir::Value table);
/// How many of them a caller says.
int32_t givenDims(mlir::func::FuncOp entry);
std::string bindSymbol(llvm::StringRef entry);
/// Adds it to the module, in the dialects llvm and arith.
void emitBind(mlir::ModuleOp module, const ScheduledEntry &entry);

} // namespace tenon
