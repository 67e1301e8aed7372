// Checked program to tensor form: axes become dimensions, sizes become affine maps, every entry becomes a function.
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/Program.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon {

/// One module: `tenon.parameter` symbols and one func.func per entry. The function's leading arguments are the symbolic dims
/// (index), then the inputs; attributes: tenon.dims (names), tenon.kind (out, eval, train), tenon.states (count). A `train`
/// function puts out the weighted loss and each loss; differentiation and the optimizer step are added by passes. `real` is f32
/// or f64. What has no lowering yet is reported as T0901 "not supported yet" at its place; null then.
mlir::OwningOpRef<mlir::ModuleOp> generateModule(const Program &program, const SourceFiles &sources, mlir::Type real,
                                                 Diagnostics &diagnostics);

} // namespace tenon
