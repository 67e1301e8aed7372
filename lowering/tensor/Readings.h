// Under which condition the elements of a tensor are read.
#pragma once
#include "dialect/TenonDialect.h"
#include <optional>

namespace tenon {

/// A condition, and which dimension of what is read each dimension of the condition is.
struct Reading {
  mlir::Value where;
  llvm::SmallVector<int64_t> dims;
  bool operator==(const Reading &other) const { return where == other.where && dims == other.dims; }
};
using MaybeReading = std::optional<Reading>; ///< nothing: in any case

/// Of an operand with labels `own`, where the condition has `labels`; nothing if it lacks one.
MaybeReading throughLabels(mlir::Value where, llvm::ArrayRef<int64_t> labels, llvm::ArrayRef<int64_t> own);

/// What hands on how its result is read: element by element.
bool isPassed(mlir::Operation *op);
bool isZeros(mlir::Value value);

/// The one condition under which all readers of a value read it.
class Readings {
public:
  /// `anything`: what stands in elements that are not read may be anything, so what reads along whole rows, or keeps them for the
  /// way back, hands it on too, and what is chosen instead need not be 0.
  explicit Readings(bool anything) : anything(anything) {}

  MaybeReading of(mlir::Value value);
  void forget(mlir::Value value) { known.erase(value); }

private:
  MaybeReading ofUse(mlir::OpOperand &use);
  MaybeReading ofSaved(mlir::OpOperand &yielded);

  bool anything;
  llvm::DenseMap<mlir::Value, MaybeReading> known; ///< of values whose readers are settled
};

} // namespace tenon
