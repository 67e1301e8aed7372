// The function that evaluates the sizes of an entry: TnBind of runtime/include/tenon/artifact.h. It is code of the host, whatever
// the target.
#pragma once
#include "lowering/schedule/ScheduledEntry.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tenon {

std::string bindSymbol(llvm::StringRef entry);
/// Adds it to the module, in the dialects llvm and arith.
void emitBind(mlir::ModuleOp module, const ScheduledEntry &entry);

} // namespace tenon
