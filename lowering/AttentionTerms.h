// Score terms of attention: sums, contractions and gathers in tensor form, sorted into the terms of tenon.attention.
#pragma once
#include "lowering/AttentionDistances.h"

namespace tenon {

/// Adds the score terms of one attend up; what they have in common (the key, the table) must be the same, the rest is summed.
class ScoreReader {
public:
  /// `sizes` of batch, query, head, width, key, by label.
  ScoreReader(mlir::OpBuilder &builder, mlir::Location location, llvm::ArrayRef<mlir::AffineExpr> sizes, unsigned dimCount, IndexReader &indices)
      : builder(builder), build(builder, location), sizes(sizes), dimCount(dimCount), indices(indices), distances(builder, location, sizes, dimCount) {}
  /// Before the scores: what all of them are multiplied by. Empty, or why not.
  std::string scale(mlir::Value factor, llvm::ArrayRef<int64_t> labels);
  /// Takes a score. Empty, or why not.
  std::string add(Labelled score) { return add(score, whole); }
  /// Takes factor * value: parts that belong to the key, and tables of relative values. Empty, or why not.
  std::string addValue(Labelled value, double factor = 1);
  /// After the last score: makes the operands of tenon.attention. Empty, or why not.
  std::string finish();

  mlir::Value query, key, value, positionQuery, table, selectedScores, scoreTable, valueTable;
  std::optional<TablePlace> place;
  std::optional<Mask> select;
  double factor = 1; // of the sum of all terms

private:
  /// What a score is multiplied by.
  struct Weight {
    struct Tensor {
      Labelled value; // does not depend on both query and key
      bool divides;
      bool operator==(const Tensor &other) const { return value == other.value && divides == other.divides; }
    };
    double number = 1;
    llvm::SmallVector<Tensor> tensors;
  };
  /// factor * (a contracted with b): a without the key, b with it or a table.
  struct Pair {
    Labelled a, b;
    double factor;
  };
  /// Where a table is read; `place` null: at no linear form, only at a function of the distance. `byDistance`: its rows are in that order already.
  struct Read {
    Labelled index; // null where no gather reads
    bool clamp;
    std::optional<TablePlace> place;
    bool byDistance;
  };
  struct Table {
    Labelled table;
    double factor;
    Read read;
  };
  struct Weighted {
    Labelled x;
    llvm::SmallVector<Weight::Tensor> tensors;
    Labelled result;
  };
  std::string add(Labelled score, const Weight &weight);
  std::optional<std::string> addProduct(mlir::Operation *op, llvm::ArrayRef<int64_t> labels, const Weight &weight);
  std::optional<std::string> addFunction(const Labelled &score, const Weight &weight);
  std::string addTable(Labelled table, const Read &read, const Weight &weight);
  std::string addDot(DotOp dot, llvm::ArrayRef<int64_t> labels, const Weight &weight);
  std::string addGather(GatherOp gather, llvm::ArrayRef<int64_t> labels, const Weight &weight);
  std::string addSelected(GatherOp gather, SelectOp choice, Labelled x, Labelled index, const Weight &weight);
  std::string addPosition(Labelled query, Labelled table, Labelled index, bool clamp, const Weight &weight);
  Labelled weighted(Labelled x, llvm::ArrayRef<Weight::Tensor> tensors);
  static std::string withoutKey(const Weight &weight);
  bool canOrder(const Read &read);
  /// Whether one place can be found for this read and those before it. Empty, or why not.
  std::string checkPlace(const Read &read);
  void takeCommonFactor();
  /// Where a gather reads. Nothing, and why, if no table can be read there.
  std::optional<Read> readAt(Labelled index, bool clamp, std::string &why);
  bool samePlace(const Read &a, const Read &b) const;
  /// One place for all tables: the linear form that they share, or the distance, by which they are rearranged.
  std::string findPlace();
  std::string sum(llvm::ArrayRef<Pair> pairs, llvm::ArrayRef<int64_t> aLabels, llvm::ArrayRef<int64_t> bLabels, mlir::Value &a, mlir::Value &b);
  /// x with its dimensions in this order, repeated along those it does not have, times factor.
  mlir::Value arranged(Labelled x, llvm::ArrayRef<int64_t> order, double factor);
  static void accumulate(Build &build, mlir::Value &total, mlir::Value term) { total = total ? build.add(total, term) : term; }

  mlir::OpBuilder &builder;
  Build build;
  llvm::SmallVector<mlir::AffineExpr> sizes;
  unsigned dimCount;
  IndexReader &indices;
  Distances distances;
  llvm::SmallVector<Pair> contents, positions;
  std::vector<Read> positionReads; // of `positions`
  std::vector<Table> scoreTables, valueTables;
  llvm::SmallVector<std::pair<Labelled, double>> selections;
  std::vector<Weighted> weightedOnes;
  Weight whole;
  llvm::SmallVector<std::pair<Labelled, double>> values; // of the key alone
  mlir::AffineExpr width, places; // of the contracted dimension, of the tables
};

} // namespace tenon
