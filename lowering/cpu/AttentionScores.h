// The scores of a strip of queries against a chunk of keys: contractions, then vector by vector all terms, as forward and
// backward need them.
#pragma once
#include "lowering/cpu/AttentionTables.h"

namespace tenon::cpu {

/// Scratch of one worker in elements, handed out piece by piece.
struct ScratchPlan {
  int64_t end = 0;
  int64_t take(int64_t elements) {
    int64_t place = end;
    end += AttentionCode::roundUp(elements, 16);
    return place;
  }
};

class AttentionScores {
public:
  AttentionScores(AttentionCode &on, const AttentionOperands &operands, const IndexOperands &indices,
                  const AttentionTables &tables);

  /// Room for the dropout's bits of one row of a chunk.
  static int64_t takeKeepBits(ScratchPlan &plan, const AttentionOperands &operands) {
    return plan.take(operands.threshold() > 0
                         ? AttentionCode::roundUp(KeepBits::bytes(operands.chunkKeys), elementBytes(operands.element())) /
                               elementBytes(operands.element())
                         : 0);
  }
  /// Elements of scratch for the band of a strip.
  static int64_t bandElements(const AttentionOperands &operands, const AttentionTables &tables) {
    return AttentionCode::stripLimit * bandLimit(operands, tables) + 64;
  }

  /// Elements of scratch for the rows that contractions of scores read: queries, and those for the table.
  static int64_t rowElements(const AttentionOperands &operands) {
    return (operands.table ? 2 : 1) * AttentionCode::stripLimit * AttentionCode::rowWidth(operands.keyWidth());
  }

  /// One task's (batch, head): `scores`, `band` and `rows` are scratch, `packed` the packed tables; null: not needed.
  void enter(Value batch, Value head, Value scores, Value band, Value rows, Value packed);

  /// Queries of a strip (or the part of it whose places lie near each other) and the keys [low, high) of the chunk that begins at
  /// `start`.
  struct Block {
    Value firstQuery, rows;
    Value leastPlace, spread; // null without tables
    Value start, low, high;
    // Columns of the band: column c is place `bandStart` + c; those of existing rows of the table are [bandLow, bandHigh).
    Value bandStart, bandLow, bandHigh;
    KeyRuns runs; // of [low, high)
    // What the rows reach: columns from key `low` of the chunk on, and of the band.
    Staircase stairs, bandStairs;
  };
  /// Splits a strip where places demand it: body(block) with all but the keys.
  void forGroups(Value firstQuery, Value rows, llvm::function_ref<void(Block)> body);
  /// low is rounded down to whole panels.
  void setKeys(Block &block, const AttentionMask &mask, KeyRange range, Value start, Value count);
  /// Content scores, and the band; leaves the rows of the strip in `queryRows` and `positionRows`; `keyPanels` are over the keys
  /// of the chunk, unless they are read where they are.
  void contract(const Block &block, Value keyPanels, llvm::ArrayRef<RowsAhead> ahead = {},
                llvm::ArrayRef<RowsAhead> aheadOfBand = {});

  struct Row {
    QueryPlace place;
    Value content, band, distances; // addresses of key 0 of the chunk, or of place 0 if it is computed; null: no such term
    Value selected[2];
    Elements pairs; // of key 0 of the chunk; null: no such term
    RowParts parts;
  };
  Row row(const Block &block, const AttentionMask &mask, Value row);
  struct Score {
    Value value; // scaled, after the step
    Value slope; // derivative of the step, if asked for; null without a step
  };
  Score at(const Block &block, const Row &row, Value key, Value shown, bool slope);
  /// Lanes that take selected[1].
  Value chosen(const Block &block, const Row &row, Value key, Value shown) {
    return indices.test(on.code, *select, row.place, emit.add(block.start, key), on.rowLanes, shown);
  }

  /// The number that dropout gives key 0 of a row: rows of a whole are drawn at their places there.
  Value firstDrawn(QueryPlace place);
  /// The computed places of lanes, 0 for those that are not shown.
  llvm::SmallVector<Value> placesOf(const Block &block, const Row &row, Value key, Value shown);

  /// Scratch for the runs of keys that masks leave. 0: all keys are gone through, as with relative values, keys that ask and
  /// computed places, whose tables are read at all of them.
  static int64_t runElements(const AttentionOperands &operands, const AttentionMask &mask) {
    const bool goesByRuns = mask.skipsTiles() && !operands.valueTable && !operands.keyTable && !operands.placeCode;
    return goesByRuns ? KeyRuns::bytes(operands.chunkKeys) / elementBytes(operands.element()) : 0;
  }
  /// Columns of the band that the rows read for the keys of runs: those of runs that share some are one part.
  struct BandPart {
    Value low, high;
  };
  void forBandParts(const Block &block, llvm::function_ref<void(const BandPart &)> body);

  Value scores, band, bandStride, queryRows, positionRows;
  Value runs; // scratch for them; null: none are looked for
  /// Where contractions begin to read in row `number`, in whose tile other rows reach further, and where they end: what is hidden
  /// from there on has to be 0. `origin`: the column that the stairs count from. How much is hidden does not follow from them: a
  /// row may have further bounds, and they begin with the panel of the first key.
  Value clearFrom(const Staircase &stairs, Value origin, Value low, Value number) {
    return stairs.lowStep != 0 ? emit.max(low, emit.sub(bound(origin, stairs.low, stairs.lowStep, number), kTileRows)) : low;
  }
  Value clearTo(const Staircase &stairs, Value origin, Value high, Value number) {
    return stairs.highStep != 0 ? emit.min(high, emit.add(bound(origin, stairs.high, stairs.highStep, number), kTileRows)) : high;
  }
  /// Those of a run of the block's keys.
  Staircase stairsIn(const Block &block, const KeyRun &run) const { return from(block.stairs, emit.sub(run.low, block.low)); }
  /// What a contraction of a run asks for: each of several would ask for the same.
  static llvm::SmallVector<RowsAhead> aheadIn(const Block &block, llvm::ArrayRef<RowsAhead> ahead) {
    return block.runs.memory ? llvm::SmallVector<RowsAhead>() : llvm::SmallVector<RowsAhead>(ahead);
  }
  /// Stairs from `column` on.
  Staircase from(Staircase stairs, Value column) const;
  AttentionTables::Head table;
  const AttentionTables &tables;

private:
  static constexpr int64_t kTileRows = 16; // no micro-kernel has more
  Value bound(Value origin, Value ofFirst, int64_t step, Value number) {
    return emit.add(origin, emit.add(ofFirst, emit.mul(number, step)));
  }
  void setBand(Block &block, const Staircase &ofKeys);
  void contractInPlace(const Block &block, const KeyRun &run);
  static int64_t bandLimit(const AttentionOperands &operands, const AttentionTables &tables) {
    if (tables.computes()) // a number, where there is a band
      return AttentionCode::roundUp(mlir::cast<mlir::AffineConstantExpr>(tables.size()).getValue(), 64) + 16;
    return operands.chunkKeys + tables.spreadLimit() + 2 * 32 + 16;
  }
  AttentionCode &on;
  const AttentionOperands &operands;
  const IndexOperands &indices;
  std::optional<Mask> select;
  ImplicitLocOpBuilder &builder;
  Emitter &emit;
  Value batch, head;
};

} // namespace tenon::cpu
