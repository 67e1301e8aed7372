// Kernels that two tiers have alike are compiled once.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace tenon::cpu {

/// The functions that entries of `module`, the code of one tier, call for tiles become declarations where `base`, that of a tier
/// for fewer machines' features, has the same ones: with the same code, down to the last helper. What nothing reaches any more is
/// dropped. Adds their names to `shared`: the object of `base` has to show them to the others.
void shareCode(mlir::ModuleOp module, mlir::ModuleOp base, llvm::StringSet<> &shared);

} // namespace tenon::cpu
