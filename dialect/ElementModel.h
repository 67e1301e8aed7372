// What is known of an element type, in one place: bytes, names, what is computed in. Nobody below asks for "f32 or f64".
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/DataType.h"
#include "llvm/ADT/StringRef.h"

namespace tenon {

struct ElementModel {
  runtime::DataType type; // its bytes and names are those of the runtime
  mlir::Type compute;     // of the registers that arithmetic is done in: f32 for bf16 and f16, else the type itself
  int64_t lanes; // virtual lanes of a row, equal in every tier: 64 bytes of reals that are computed in, 16 of anything else

  int64_t bytes() const { return int64_t(runtime::byteSize(type)); }
  llvm::StringRef name() const { return runtime::nameOf(type); }
};

/// Of a scalar type that tensors have: f64, f32, bf16, f16, i64, i32, i1.
ElementModel elementModel(mlir::Type element);
inline int64_t elementBytes(mlir::Type element) { return elementModel(element).bytes(); }
/// The type of 16 bits that a module in mixed precision multiplies in (`tenon.compute`), and its parameters of f32 have copies
/// in. Null: there is none.
mlir::Type copyType(mlir::ModuleOp module);
/// Bytes of a tensor over the dims.
mlir::AffineExpr tensorBytes(mlir::RankedTensorType type);
/// Whether the kernels of the CPU compute reals of this type.
inline bool hasRealKernels(mlir::Type element) { return element.isF32() || element.isF64(); }

} // namespace tenon
