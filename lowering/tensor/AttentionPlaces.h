// The place in tables as any integer function of the query and the key (the offset of two places of a grid, in buckets or not):
// scalar code, evaluated per pair by the kernel.
#pragma once
#include "dialect/Build.h"
#include "lowering/tensor/AttentionIndices.h"

namespace tenon {

class ComputedPlace {
public:
  ComputedPlace(mlir::OpBuilder &builder, mlir::Location location, IndexReader &indices)
      : builder(builder), build(builder, location), location(location), indices(indices) {}

  /// Reads an index over batch, query and key, and adds `first` to it; what does not depend on both query and key becomes an
  /// index operand. Empty, or why it cannot be read. Several places are those of one table, whose rows there add up.
  std::string read(const Labelled &index, mlir::AffineExpr first);
  /// A form without operands.
  void read(const MaskForm &form, mlir::AffineExpr queries, mlir::AffineExpr keys, mlir::AffineExpr first);
  /// Whether a place has been read.
  bool any() const { return !results.empty(); }
  /// Fills the region of an attention op that has the operands of the reader: one argument for the element of each.
  void fill(mlir::Region &region) const;

private:
  mlir::Value of(Labelled x);
  mlir::Value sum(const Labelled &x);
  mlir::Value argument(const Labelled &x);
  void addResult(mlir::Value place, mlir::AffineExpr first);

  mlir::OpBuilder &builder;
  Build build;
  mlir::Location location;
  IndexReader &indices;
  struct Known {
    Labelled tensor;
    mlir::Value scalar; // a tensor without dimensions
  };
  llvm::SmallVector<Known> known;
  llvm::SmallVector<std::pair<int64_t, mlir::Value>> arguments; // number of an index operand, its element
  llvm::SmallVector<mlir::Value> results;
};

} // namespace tenon
