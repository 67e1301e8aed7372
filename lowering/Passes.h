// Every pass with logic, by function; named pipelines are in Pipelines.h.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace tenon {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lowering/Passes.h.inc"

/// In warnings of tenon-decompose-for-target, behind the reason of the target.
inline constexpr llvm::StringLiteral kInSimplerOps = "; in simpler ops ";

/// Bytes of an arena, after tenon-place-parameters.
uint64_t parameterBytes(mlir::ModuleOp module);

} // namespace tenon
