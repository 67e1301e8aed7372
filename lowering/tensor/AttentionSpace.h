// The index space of one attend as the fused op sees it: batch, query, head, width and key, each of them one dimension of the
// attend or several, which are merged.
#pragma once
#include "dialect/Build.h"
#include "lowering/tensor/AttentionOrder.h"
#include <map>

namespace tenon {

/// Kinds of dimensions. Numbers of the first four are the places in the operands of tenon.attention.
constexpr int64_t kBatch = 0, kQuery = 1, kHead = 2, kWidth = 3, kKey = 4;
/// Besides those of the index space: the dimension that is contracted, the rows of a table, the two values of a selection.
constexpr int64_t kContracted = -1, kPlace = -2, kSelected = -3;

/// Labels of dimensions: the kind for the first one of a kind, plus kKinds for each further one.
constexpr int64_t kKinds = 8;
inline int64_t kindOf(int64_t label) { return label < 0 ? label : label % kKinds; }

using Labels = llvm::SmallVector<int64_t>;

/// A tensor whose dimensions have labels.
struct Labelled {
  mlir::Value value;
  Labels labels;
  bool operator==(const Labelled &other) const { return value == other.value && labels == other.labels; }
  /// Whether a dimension is of this kind.
  bool has(int64_t kind) const {
    return llvm::any_of(labels, [&](int64_t label) { return kindOf(label) == kind; });
  }
  /// Whether no dimension is of any other kind.
  bool only(std::initializer_list<int64_t> kinds) const {
    return llvm::all_of(labels, [&](int64_t label) { return llvm::is_contained(kinds, kindOf(label)); });
  }
};

class AttentionSpace {
public:
  AttentionSpace(mlir::OpBuilder &builder, AttendOp attend, const AttentionRoles &roles);

  /// Labels of an operand of the attend: scores, masks, the value, the factor.
  Labels labels(size_t number) const;
  /// The labels of a kind: at least one, with size 1 where the attend has none.
  const Labels &axes(int64_t kind) const { return axesOf.at(kind); }
  /// No dimension of the attend: for heads of keys that all heads share.
  static constexpr int64_t kSharedHead = kHead + 100 * kKinds;
  mlir::AffineExpr size(int64_t label) const { return sizes.at(label); }
  /// The product over a kind.
  mlir::AffineExpr whole(int64_t kind) const { return product(axes(kind)); }
  mlir::AffineExpr product(llvm::ArrayRef<int64_t> labels) const;
  /// kContracted, kPlace.
  void setSize(int64_t label, mlir::AffineExpr size) { sizes[label] = size; }
  unsigned dimCount() const { return dims; }
  mlir::RankedTensorType type(llvm::ArrayRef<mlir::AffineExpr> ofSizes, mlir::Type element) const {
    return tensorType(ofSizes, element, dims);
  }

  /// x with one dimension for each group of labels, repeated along those that it lacks.
  mlir::Value arranged(const Labelled &x, llvm::ArrayRef<Labels> groups);
  /// x with one dimension for each of these kinds that it has; the label of a dimension is its kind then.
  Labelled merged(const Labelled &x, llvm::ArrayRef<int64_t> kinds);
  /// The result of the fused op as that of the attend.
  mlir::Value split(mlir::Value y, mlir::RankedTensorType type);

private:
  mlir::OpBuilder &builder;
  Build build;
  AttendOp attend;
  llvm::SmallVector<int64_t> labelOf; // of the attend's own labels
  std::map<int64_t, Labels> axesOf;
  std::map<int64_t, mlir::AffineExpr> sizes;
  llvm::SmallVector<int64_t> missing; // kinds that the attend does not have
  unsigned dims = 0;
};

} // namespace tenon
