// Tables that are read at a function of the distance between key and query (clipped, in buckets): their rows in the order of the
// distance, so that the place in the rearranged table is linear.
#pragma once
#include "dialect/Build.h"
#include "lowering/tensor/AttentionIndices.h"

namespace tenon {

class Distances {
public:
  Distances(mlir::OpBuilder &builder, mlir::Location location, const AttentionSpace &space)
      : builder(builder), build(builder, location), location(location), queries(space.size(kQuery)), keys(space.size(kKey)),
        dimCount(space.dimCount()) {}

  /// The index of (query i, key j) as integers [I + J - 1] at d = j - i + I - 1. Null: it depends on more than the distance.
  mlir::Value along(Labelled index);
  /// An elementwise function of the distance and of heads: [I + J - 1, ..] by d as above, with the labels kPlace and those of the
  /// heads. Nothing: it depends on more.
  std::optional<Labelled> function(Labelled x);
  /// The table with its rows read at `rows`: row d is that of distance d. `clamp`: as of the gather.
  Labelled ordered(const Labelled &table, int64_t placeLabel, mlir::Value rows, bool clamp);
  /// j - i + I - 1.
  TablePlace place() const;

private:
  mlir::Value rebuilt(const Labelled &index);
  mlir::Value linear(const Labelled &index, mlir::RankedTensorType type);
  mlir::AffineExpr count() const { return queries + keys - 1; }

  mlir::OpBuilder &builder;
  Build build;
  mlir::Location location;
  mlir::AffineExpr queries, keys;
  unsigned dimCount;
  llvm::SmallVector<std::pair<Labelled, mlir::Value>> known;
  struct Order {
    Labelled table;
    mlir::Value rows, result;
  };
  llvm::SmallVector<Order> orders;
};

} // namespace tenon
