// Checked program to tensor form: axes become dimensions, sizes become affine maps, every entry becomes a function.
#pragma once
#include "dialect/ElementModel.h"
#include "frontend/Diagnostics.h"
#include "frontend/Program.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon {

/// What reals are, and what contractions multiply.
struct ModuleTypes {
  mlir::Type real;            // f32 or f64
  mlir::Type compute = {};    // bf16 or f16: a module in mixed precision; else as `real`
  mlir::Type reduce = {};     // f64: of sums in a module of f32; else as `real`
  bool exceptions = true;     // those of the recipe (Program::computeOf) hold
  mlir::Type parameters = {}; // bf16 or f16: in memory, in a module of f32; f64: they are; else as `real`
  bool remainders = false;    // beside them lies what makes them f32
  /// Types that the text writes hold where reals are f32; where everything is f64 they do not.
  bool obeysWritten() const { return !isWideReal(real); }
};

/// Where it stands; unknown for what stands in no text.
mlir::Location locationOf(const ast::Range &range, const SourceFiles &sources, mlir::MLIRContext *context);

/// One module: `tenon.parameter` symbols and one func.func per entry. The function's leading arguments are the symbolic dims
/// (index), then the inputs; attributes: tenon.dims (names), tenon.kind (out, eval, train), tenon.states (count). A `train`
/// function puts out the weighted loss and each loss; differentiation and the optimizer step are added by passes. Types that the
/// text gives to values hold in a module of f32, not where everything is f64. What has no lowering yet is reported as T0901 "not
/// supported yet" at its place; null then.
mlir::OwningOpRef<mlir::ModuleOp> generateModule(const Program &program, const SourceFiles &sources, const ModuleTypes &types,
                                                 Diagnostics &diagnostics);

} // namespace tenon
