// The dialect, its interfaces and ops.
#pragma once
#include "dialect/Panels.h"
#include "dialect/TensorSizes.h"
#include "dialect/Traits.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tenon {
/// Attribute of a train entry (E6 of the dialect).
inline constexpr llvm::StringLiteral kSlices = "tenon.slices";

/// Under which condition an operand is read: truth values, and which dimension of the operand each of their dimensions is.
struct Reading {
  mlir::Value where;
  llvm::SmallVector<int64_t> dims;
  bool isZeroElse = true; ///< elements that are not read count as 0
  bool operator==(const Reading &other) const { return where == other.where && dims == other.dims; }
};
using MaybeReading = std::optional<Reading>; ///< nothing: in any case
/// Of an operand with labels `own`, where the condition has `labels`; nothing if it lacks one.
MaybeReading throughLabels(mlir::Value where, llvm::ArrayRef<int64_t> labels, llvm::ArrayRef<int64_t> own);

/// Gives the scalar value of one element of a tensor: a load, or the inlined code of its producer.
using ElementReader = llvm::function_ref<mlir::Value(mlir::Value tensor, mlir::ValueRange indices)>;

mlir::LogicalResult verifySizesOfEntry(mlir::Operation *op);
/// The trait of every op of the dialect: the dims of its results' sizes exist.
template <typename OpTy> struct SizesOfEntry : mlir::OpTrait::TraitBase<OpTy, SizesOfEntry> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifySizesOfEntry(op); }
};
} // namespace tenon

#include "dialect/TenonDialect.h.inc"
#include "dialect/TenonEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/TenonAttributes.h.inc"

#include "dialect/Buffer.h" // of a Memory

#include "dialect/TenonInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialect/TenonOps.h.inc"
