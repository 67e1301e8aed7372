// What kernels give and loops carry, put in order around the selection.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// A result that fusion left without readers is not stored.
void dropUnusedResults(mlir::func::FuncOp function);

/// A body that yields one carry as another one reads a place that the copies at its end overwrite: the value gets a place of its
/// own first.
void copyExchangedCarries(mlir::func::FuncOp function);

/// What gets a carry as it is, a state say, gets it in front of the body, so that the next carry can be made in this one's place.
/// `byNests`: by an elementwise kernel, which others that read the carry there can be one with; else by a copy.
void deliverCarriesFirst(mlir::func::FuncOp function, bool byNests);

} // namespace tenon
