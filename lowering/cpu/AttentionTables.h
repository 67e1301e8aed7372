// Tables of relative positions: packed per head in key order, so that reading along the keys of a row has unit stride.
#pragma once
#include "lowering/cpu/Attention.h"

namespace tenon::cpu {

/// Row d of the tables is at place d where d rises with the key, at place P - 1 - d where it falls: the place of (i, j) is
/// `placeOf(i) + j` either way.
class AttentionTables {
public:
  /// `forGradient`: keeps the table as the right-hand side of dposition_query, too.
  AttentionTables(const AttentionOperands &operands, const IndexOperands &indices, bool forGradient);

  bool any() const { return !forms.empty() || computes(); }
  /// The place is computed for each pair: nothing is known of neighbours, a row of the band has all places.
  bool computes() const { return operands.placeCode; }
  /// Adds the kernel that packs, and returns its result: a temporary of the sequence.
  unsigned pack(KernelSequence &sequence, mlir::Location location) const;

  /// Of one (batch, head).
  struct Head {
    Value falls; // i1
    Value columns, rows,
        scores;                // panels over places; panels over the width; scores by place. Null where the op has no such table.
    Value rowStride;           // of the panels `rows`, `keyRows`
    Value keyColumns, keyRows; // of the table that keys read, as `columns` and `rows`
    Value values, valueStride; // panels of the value table: forward over the width, for the gradient over places
  };
  Head head(AttentionCode &on, Value packed, Value batch, Value head) const;
  /// i64: the place of key 0.
  Value placeOf(AttentionCode &on, const Head &head, QueryPlace query) const;
  Value places(AttentionCode &on) const { return on.code.size(count); } // P
  mlir::AffineExpr size() const { return count; }                       // P

  /// placeOf of a query less that of the one before, if that is one number.
  std::optional<int64_t> step() const;

  /// Largest difference of placeOf within a group of queries.
  int64_t spreadLimit() const { return known() ? knownSpread() : kSpread; }
  /// Splits queries into groups whose places differ by no more: body(first query, rows, least place, spread).
  void forGroups(AttentionCode &on, const Head &head, Value batch, Value first, Value rows,
                 llvm::function_ref<void(Value, Value, Value, Value)> body) const;

private:
  static constexpr int64_t kSpread = 512;
  int64_t knownSpread() const;
  bool known() const;
  bool falling(unsigned form) const { return form < forms.size() && forms[form].key < 0; }
  /// Copies of the packed tables: one, or rising and falling.
  int64_t copies() const { return forms.size() == 2 && falling(0) != falling(1) ? 2 : 1; }
  void packHead(AttentionCode &on, Value packed) const;
  mlir::AffineExpr columnElements(Value table) const, rowElements(Value table) const, scoreElements() const,
      valueElements() const, copyElements() const;
  /// Where a part of a copy begins.
  mlir::AffineExpr scoresAt() const { return columnElements(operands.table) + rowElements(operands.table); }
  mlir::AffineExpr valuesAt() const { return scoresAt() + scoreElements(); }
  mlir::AffineExpr keysAt() const { return valuesAt() + valueElements(); }
  void packVectors(AttentionCode &on, Value table, Value head, Value falls, Value columns) const;

  const AttentionOperands &operands;
  const IndexOperands &indices;
  bool forGradient;
  llvm::SmallVector<MaskForm> forms;
  mlir::AffineExpr count;
};

} // namespace tenon::cpu
