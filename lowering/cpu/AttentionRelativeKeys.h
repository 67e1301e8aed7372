// Keys that ask for the place of the query (DeBERTa's position to content): s_ij gets K_j . key_table_d. Of a strip, the keys of
// a tile against the rows of the table that its queries reach are one contraction, by key and place; a query reads it along the
// diagonal.
#pragma once
#include "lowering/cpu/AttentionScores.h"

namespace tenon::cpu {

class RelativeKeys {
public:
  using Block = AttentionScores::Block;

  RelativeKeys(AttentionCode &on, const AttentionOperands &operands, const AttentionScores &terms)
      : on(on), operands(operands), terms(terms), builder(on.builder), emit(on.emit) {}

  bool any() const { return bool(operands.keyTable); }

  /// Offsets in scratch, in elements; null: not needed.
  struct Scratch {
    int64_t rows, band, panels, grads;
    /// `gradients`: backward.
    Scratch(ScratchPlan &plan, Tier tier, const AttentionOperands &operands, const AttentionTables &tables, bool gradients);
  };
  /// One task, for all heads that share keys; `place`: an address in scratch.
  void enter(Value batch, Value keyHead, llvm::function_ref<Value(int64_t)> place, const Scratch &scratch);

  /// Adds the term to the scores of the block.
  void addScores(const Block &block) const;

  /// Backward, of one chunk of keys: clears the gradients of position_key.
  void clear(Value count, Value zero) const;
  /// Adds those of a block, onto what other strips and heads gave; `tableGrads` by place, null: not wanted.
  void addGradients(const Block &block, const AttentionMask &mask, Value scoreGrads, bool wantsKeys, Value tableGrads) const;
  /// Rows of the gradients of position_key, in scratch.
  Value gradRow(Value key) const { return on.at(grads, emit.mul(key, on.keySumWidth())); }

private:
  static constexpr int64_t kTileKeys = 64;
  /// Keys of a tile, and the columns of the band: column c is place `start` + c, those of existing rows are [low, high).
  struct Tile {
    Value key, keys, start, low, high;
    Staircase stairs;
  };
  static int64_t stride(const AttentionTables &tables) {
    return AttentionCode::roundUp(tables.spreadLimit() + kTileKeys + 2 * 32, 64) + 16;
  }
  void forTiles(const Block &block, llvm::function_ref<void(const Tile &)> body) const;
  void gatherKeys(const Block &block, const Tile &tile) const;
  /// Of query `number` of the block: the band's element of the tile's key `key`, and those of the keys behind it, by lanes.
  Value diagonal(const Block &block, const Tile &tile, Value number, Value key) const;
  void spreadGradients(const Block &block, const Tile &tile, const AttentionMask &mask, Value scoreGrads) const;

  AttentionCode &on;
  const AttentionOperands &operands;
  const AttentionScores &terms;
  ImplicitLocOpBuilder &builder;
  Emitter &emit;
  Value batch, keyHead, rows, band, panels, grads;
};

} // namespace tenon::cpu
