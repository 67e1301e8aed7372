// Index operands, masks and selections of fused attention as generated code.
#pragma once
#include "lowering/code/MaskTiles.h"
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

/// The keys of one row or strip that may be visible: [low, high).
struct KeyRange {
  Value low, high;
};

/// Row r of neighbouring rows sees nothing outside [low + lowStep r, high + highStep r). A step is 1 or -1, or 0 where the bound
/// is not known to move so (its value is null then).
struct Staircase {
  Value low, high;
  int64_t lowStep = 0, highStep = 0;
};

/// One query of one row of the batch; i64.
struct QueryPlace {
  Value batch, query;
};

/// Integers and truth values over batch, query and key, and the forms and tests that read them.
class IndexOperands {
public:
  IndexOperands(mlir::ArrayAttr labels, mlir::ValueRange operands);

  bool dependsOn(int64_t operand, int64_t label) const { return llvm::is_contained(labels[operand], label); }
  bool dependsOn(const MaskForm &form, int64_t label) const;
  /// Whether the form is another one from key to key.
  bool usesKey(const MaskForm &form) const;
  /// The operand at a place, i64; it does not depend on the key.
  Value scalar(FunctionCode &code, int64_t operand, QueryPlace place) const;
  /// The form without its key: its operands do not depend on the key.
  Value withoutKey(FunctionCode &code, const MaskForm &form, QueryPlace place) const;
  /// The integers that the code of places yields for the keys firstKey + lane. `inside`: lanes whose key exists.
  llvm::SmallVector<Value> computed(FunctionCode &code, mlir::Region &region, QueryPlace place, Value firstKey, int64_t lanes,
                                    Value inside) const;
  OperandLabels allLabels() const { return labels; }
  /// Whether some, and all, of the truth values of an operand of pairs hold in a tile.
  TileVisibility overPairs(FunctionCode &code, int64_t operand, Interval queries, Interval keys) const;
  /// Truth values of the mask for the keys firstKey + lane. `inside`: lanes whose key exists.
  Value test(FunctionCode &code, const Mask &mask, QueryPlace place, Value firstKey, int64_t lanes, Value inside) const;

private:
  Value testForm(FunctionCode &code, const Mask &mask, QueryPlace place, Value firstKey, int64_t lanes, Value inside) const;
  Value laneForm(FunctionCode &code, const MaskForm &form, QueryPlace place, Value firstKey, int64_t lanes, Value inside) const;
  Value indexOf(FunctionCode &code, int64_t operand, QueryPlace place) const;
  /// In the operand's own integer type; i1 of a truth value.
  Value laneOperand(FunctionCode &code, int64_t operand, QueryPlace place, Value firstKey, int64_t lanes, Value inside) const;
  mlir::Type elementOf(int64_t operand) const;

  llvm::SmallVector<Value> operands;
  llvm::SmallVector<llvm::SmallVector<int64_t>> labels;
};

/// The conjunction of masks of one attention op. Tests that bound the key by values of the row become ranges: what lies outside
/// is never computed. Everything else is evaluated per element.
class AttentionMask {
public:
  AttentionMask(mlir::ArrayAttr masks, const IndexOperands &indices);

  /// Bounds that hold for all queries in [first, last] of a row of the batch, within [0, keys).
  KeyRange ofStrip(FunctionCode &code, Value batch, Value first, Value last, Value keys) const;
  /// Bounds of one query.
  KeyRange ofRow(FunctionCode &code, QueryPlace place, Value keys) const;
  bool hasLowerBound() const { return !lower.empty(); }
  /// Where the keys of the queries first, first + 1, .. of a row of the batch begin and end, from key 0.
  Staircase staircase(FunctionCode &code, Value batch, Value first) const;
  /// Tests that are no bounds.
  bool hasOthers() const { return !rest.empty(); }
  /// Whether tiles inside of the bounds may be found to have no visible pair.
  bool skipsTiles() const;
  /// Of the tests that are no bounds, and of bounds that strips do not take.
  TileVisibility ofTile(FunctionCode &code, Value batch, Interval queries, Interval keys) const;
  /// Where they all hold, for keys firstKey + lane; null if there are none. `inside`: lanes whose key exists.
  Value others(FunctionCode &code, QueryPlace place, Value firstKey, int64_t lanes, Value inside) const;

private:
  struct Bound {
    MaskForm form;
    bool onStrip; // no operand of it depends on the query, nor is it rounded
  };
  void add(const Mask &mask);
  static const Bound *moving(llvm::ArrayRef<Bound> bounds);

  const IndexOperands &indices;
  llvm::SmallVector<Bound> lower, upper;
  llvm::SmallVector<Mask> rest, ofTiles;
};

/// Lanes [0, count) of `lanes`; count may lie outside.
Value firstLanes(FunctionCode &code, Value count, int64_t lanes);

} // namespace tenon::cpu
