// Nests whose elements are folds over terms that lie a row apart in memory, as the gradients of biases and gains: columns are few
// and rows many, so that the rows are shared out. Of each fold blocks make parts, one per slice of the terms, and a second kernel
// combines these in a fixed order. A thread has a vector of columns, as many as 16 bytes of the widest tensor.
#pragma once
#include "lowering/gpu/LaneCode.h"

namespace tenon::gpu {

class ColumnFolds {
public:
  static constexpr llvm::StringLiteral kForm = "columns";
  /// `flattened`: of the nest, whose dimensions are columns, too; null: there is none.
  ColumnFolds(NestOp nest, EachOp flattened);
  /// Whether all folds of the nest can be made so.
  bool fits() const { return !folds.empty(); }
  /// Null: another form is better.
  mlir::DictionaryAttr choose();
  /// Lists of it: of each fold its `pass` over the terms, and how many terms `apart` a thread reads before it adds them.
  ChoiceForm form() const;
  /// `launch`: of the nest, but for blocks and code.
  mlir::LogicalResult generate(LaunchSequence &sequence, const Choice &choice, Launch launch);

private:
  bool readsAcross(FoldOp fold) const;
  int64_t mostLanes() const;
  Value slicesOf(EntryCode &code) const;
  /// Calls `body` for the columns of a block, `lanes` to a thread, with the first of these and whether they exist.
  void overColumns(KernelCode &code, ScalarCode &scalars, Value block, Value blocks, int64_t lanes,
                   llvm::function_ref<void(Value, Value)> body) const;
  void emitParts(KernelCode &code) const;
  void emitResults(KernelCode &code) const;
  mlir::LogicalResult checkPasses() const;
  mlir::AffineExpr columns() const;
  mlir::AffineExpr termsOf(FoldOp fold) const;

  NestOp nest;
  mlir::MLIRContext *context;
  llvm::SmallVector<mlir::AffineExpr> sizes; // of the columns' dimensions
  llvm::SmallVector<Value> indices;
  llvm::SmallVector<mlir::Operation *> ops; // of an element, in their order
  llvm::SmallVector<FoldOp> folds;
  llvm::DenseSet<mlir::Operation *> behind; // what needs a fold's value
  int64_t mostSlices = 1, vector = 1;       // vector: columns beside each other that a thread has
  llvm::SmallVector<int64_t> pass, apart;   // of each fold
  int64_t termsOfSlice = 1;                 // at least
};

} // namespace tenon::gpu
