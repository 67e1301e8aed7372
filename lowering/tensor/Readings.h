// Under which condition the elements of a tensor are read.
#pragma once
#include "dialect/TenonDialect.h"

namespace tenon {

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
