// Integers of attention over (batch, query, key): masks and places in tables, read from tensor form into the algebra of
// dialect/AttentionMasks.h.
#pragma once
#include "dialect/AttentionMasks.h"
#include "lowering/tensor/AttentionSpace.h"

namespace tenon {

/// Labels of an operand of attend as it states them: scores, masks, the value, the factor.
Labels labelsAt(AttendOp attend, size_t number);
/// The dimensions of the result that those of the operand are, of a view that shows an element at some of its own indices (a
/// broadcast). Nothing: it is no such view.
std::optional<llvm::SmallVector<int64_t>> dimsShown(mlir::Operation *op);
/// What such a view shows; labels of repeated dimensions go.
std::optional<Labelled> sourceOf(const Labelled &tensor);
/// Without any such view around it.
Labelled withoutBroadcasts(Labelled tensor);
/// A gather whose result has these labels: its source, the gathered dimension as kPlace, and its index.
std::pair<Labelled, Labelled> partsOf(GatherOp gather, llvm::ArrayRef<int64_t> labels);
/// A gather whose source is split, where `value` splits the result of a gather along dimensions of its source; else `value`.
mlir::Value splitBeforeGather(mlir::OpBuilder &builder, mlir::Value value);
/// The number that a constant repeats, below broadcasts.
std::optional<double> constantOf(mlir::Value value);

/// Calls `visit` for every term of a sum of integers, with its factor; false as soon as `visit` is.
bool forEachTerm(Labelled sum, int64_t factor, llvm::function_ref<bool(const Labelled &, int64_t)> visit);

/// The row of a table for (batch, query, key): one form, or two and the truth value per row of the batch for which the second one
/// holds.
struct TablePlace {
  llvm::SmallVector<MaskForm, 2> forms;
  mlir::Value back;
};

/// Reads masks and places; run-time values in them become operands.
class IndexReader {
public:
  explicit IndexReader(AttentionSpace &space) : space(space), dimCount(space.dimCount()) {}
  /// Nothing if the mask depends on the head, or is given for pairs of places and lacks a batch.
  std::optional<Mask> mask(mlir::Value value, llvm::ArrayRef<int64_t> labels);
  /// Nothing if the integer is no such place; `why` then says why not.
  std::optional<TablePlace> place(Labelled index, std::string &why);
  /// The place of the key itself.
  TablePlace keyPlace(mlir::MLIRContext *context) const;
  /// The number of an operand, new or known. Nothing if it has a dimension besides batch, query and key.
  std::optional<int64_t> operand(mlir::Value value, llvm::ArrayRef<int64_t> labels);

  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Attribute> labels; // 0 batch, 1 query, 2 key

private:
  /// A summand and its coefficient.
  using Summand = std::pair<Labelled, int64_t>;
  std::optional<Mask> test(CompareOp compare, llvm::ArrayRef<int64_t> labels);
  static llvm::SmallVector<Summand> leavesOf(llvm::ArrayRef<Summand> sum);
  std::optional<Mask> atMostZero(llvm::ArrayRef<Summand> sum, int64_t plus);
  std::optional<Mask> isZero(llvm::ArrayRef<Summand> sum);
  std::optional<MaskForm> formOf(llvm::ArrayRef<Summand> sum);
  bool addPart(MaskForm &form, const Labelled &leaf, int64_t factor);
  std::optional<Mask> node(Mask::Kind kind, llvm::ArrayRef<mlir::Value> parts, llvm::ArrayRef<int64_t> labels);
  bool addLeaf(MaskForm &form, const Labelled &leaf, int64_t factor);
  bool addPlace(TablePlace &place, Labelled index, int64_t factor, unsigned branches, std::string &why);
  MaskForm emptyForm(mlir::MLIRContext *context) const;

  struct Read {
    Labelled tensor;
    int64_t number;
  };

  AttentionSpace &space;
  unsigned dimCount;
  llvm::SmallVector<Read> reads;
};

} // namespace tenon
