// Score terms of attention: sums, contractions and gathers in tensor form, sorted into the terms of tenon.attention.
#pragma once
#include "lowering/tensor/AttentionDistances.h"
#include "lowering/tensor/AttentionPlaces.h"

namespace tenon {

/// Size of the dimension of `x` that has the label.
mlir::AffineExpr sizeAt(const Labelled &x, int64_t label);

/// Of a reason why not.
constexpr char kNoDistance[] = "a place that is no function of the distance j - i";
constexpr char kOwnKeys[] = "each query has rows of its own, gathered at an index that depends on the query from what differs by "
                            "batch row, and fused attention has one set of keys for all queries of a batch row; all keys under a "
                            "`mask` are fused";

/// Adds the score terms of one attend up; what they have in common (the key, the table) must be the same, the rest is summed;
/// contractions with several keys are one with all of them beside each other.
class ScoreReader {
public:
  ScoreReader(mlir::OpBuilder &builder, mlir::Location location, AttentionSpace &space, IndexReader &indices)
      : computed(builder, location, indices), builder(builder), build(builder, location), space(space), indices(indices),
        distances(builder, location, space) {}
  /// Before the scores: what all of them are multiplied by. Empty, or why not.
  std::string scale(mlir::Value factor, llvm::ArrayRef<int64_t> labels);
  /// Takes a score. Empty, or why not.
  std::string add(Labelled score) { return add(score, whole); }
  /// Takes factor * value: parts that belong to the key, and tables of relative values. Empty, or why not.
  std::string addValue(Labelled value, double factor = 1);
  /// Whether a score exists whatever the attention does: numbers of pairs, or of keys, from inputs, parameters and what other
  /// layers make of these; no function of a contraction of queries with keys.
  static bool isStored(const Labelled &score);
  /// After the last score: makes the operands of tenon.attention. Empty, or why not.
  std::string finish();

  mlir::Value query, key, value, positionQuery, table, selectedScores, scoreTable, valueTable, positionKey, keyTable, pairScores;
  std::optional<TablePlace> place; // of the tables, if it is a form
  ComputedPlace computed;          // of the tables, if it is none
  std::optional<Mask> select;
  mlir::AffineMapAttr pairBatch; // null: pair_scores has all rows of the batch, or one
  double factor = 1;             // of the sum of all terms

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
  /// Where a table is read; `place` null: at no linear form, only at a function of the distance or, with `computed`, of the pair.
  /// `byDistance`: its rows are in that order already.
  struct Read {
    Labelled index; // null where no gather reads
    bool clamp;
    std::optional<TablePlace> place;
    bool byDistance;
    bool computed = false;
    bool adds = true; // the table's row is a score, or contracted with the query: several places add up
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
  std::string addSelectedBefore(GatherOp gather, SelectOp choice, const Labelled &query, const Labelled &tables,
                                const Labelled &index, const Weight &weight);
  std::string addPosition(Labelled query, Labelled table, Labelled index, bool clamp, const Weight &weight);
  std::string addKeyPosition(const Labelled &key, const Labelled &table, const Labelled &index, bool clamp, const Weight &weight);
  std::string addPairs(Labelled score, const Weight &weight);
  void finishPairs(mlir::Type element);
  Labelled weighted(Labelled x, llvm::ArrayRef<Weight::Tensor> tensors);
  static std::string withoutKey(const Weight &weight);
  llvm::SmallVector<const Read *> readsOfTables() const;
  bool canOrder(const Read &read);
  /// Whether this read and those before it can be read in one op. Empty, or why not.
  std::string checkPlace(const Read &read);
  void takeCommonFactor();
  /// Where a gather reads. Nothing, and why, if no table can be read there. `adds`: as of Read.
  std::optional<Read> readAt(Labelled index, bool clamp, std::string &why, bool adds = true);
  bool samePlace(const Read &a, const Read &b) const;
  /// One place for all tables: the linear form that they share, or the distance, by which they are rearranged; or computed ones,
  /// for each its own rows of one table.
  std::string findPlace();
  std::string computePlaces(llvm::ArrayRef<std::pair<Read *, Labelled *>> reads);
  mlir::Value padded(const Labelled &table, mlir::AffineExpr first, mlir::AffineExpr rows);
  bool alignRows(llvm::ArrayRef<std::pair<Read *, Labelled *>> reads);
  static bool sharesSide(llvm::ArrayRef<Pair> pairs);
  std::string joinContents(llvm::ArrayRef<Labels> ofQuery, llvm::ArrayRef<Labels> ofKey);
  std::string sum(llvm::ArrayRef<Pair> pairs, llvm::ArrayRef<Labels> ofA, llvm::ArrayRef<Labels> ofB, mlir::Value &a,
                  mlir::Value &b);
  /// x with one dimension for each group of labels, times factor.
  mlir::Value arranged(const Labelled &x, llvm::ArrayRef<Labels> groups, double factor);
  /// The heads that keys and values have, if they are the first ones; else all.
  Labels headsOfKeys() const;
  static void accumulate(Build &build, mlir::Value &total, mlir::Value term) { total = total ? build.add(total, term) : term; }

  mlir::OpBuilder &builder;
  Build build;
  AttentionSpace &space;
  IndexReader &indices;
  Distances distances;
  llvm::SmallVector<Pair> contents, positions, keyPositions;
  std::vector<Read> positionReads, keyPositionReads; // of `positions`, `keyPositions`
  std::vector<Table> scoreTables, valueTables;
  llvm::SmallVector<std::pair<Labelled, double>> selections, pairs;
  std::vector<Weighted> weightedOnes;
  Weight whole;
  llvm::SmallVector<std::pair<Labelled, double>> values; // of the key alone
  mlir::AffineExpr places;                               // of the tables
};

} // namespace tenon
