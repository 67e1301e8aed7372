// One kernel of the gradient of fused attention by tensor cores. A block has 64 rows, 16 of each of its four warps, and goes
// through tiles of what these meet: where rows are queries it makes the gradients of queries, where they are keys those of keys
// and values, where they are places that of the table by relative position, per row of the batch. Scores and their gradients stay
// in registers: the sums of one product are, rounded, the first operand of the next.
#pragma once
#include "lowering/gpu/AttentionBand.h"
#include "lowering/gpu/TensorAttentionGradient.h"
#include "lowering/gpu/TileWalk.h"

namespace tenon::gpu {

/// Which kernel, and its results: sums of gradients of scores, of probabilities, and of gradients of scores over the rows of the
/// table; null: none.
struct GradientPart {
  llvm::StringRef name;
  enum class Rows { Queries, Keys, Places } rows;
  Value byScores, byWeights, byPosition;
};

class TensorGradient {
public:
  using Rows = GradientPart::Rows;
  using Numbers = AttentionFragments::Numbers;
  using Fragments = AttentionFragments::Fragments;
  TensorGradient(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, GradientTile tile,
                 const GradientPart &part);
  void emit();
  /// Shared memory of a block.
  static int64_t sharedBytes(AttentionGradOp op, const AttentionOperands &operands, GradientTile tile, const GradientPart &part);

private:
  static constexpr int64_t kStatistics = 2; // of a query, f32: see keepStatistics
  /// Vectors that a block has for each of its rows, or meets.
  struct Vectors {
    Value tensor;
    Rows by;
    int64_t width;
  };
  /// The first of these are multiplied to scores, the second to the gradients of probabilities; gradients of scores multiply the
  /// first met ones, probabilities the second.
  static constexpr size_t kThroughRing = 2; // own vectors; a third one comes through the memory of the band
  struct Layout {
    llvm::SmallVector<Vectors> own, met;
    int64_t stageElements(int64_t side) const;
    int64_t ownElements() const; // of what comes through the ring
  };
  static Layout layoutOf(AttentionGradOp op, const AttentionOperands &operands, Rows rows);
  /// Of the ring; with room for the first tile beside the own vectors where a block's memory has it.
  static int64_t ringElements(AttentionGradOp op, const AttentionOperands &operands, GradientTile tile, const GradientPart &part);
  static int64_t bytesBesideRing(const AttentionOperands &operands, GradientTile tile, const GradientPart &part);
  static BandShape bandOf(const AttentionOperands &operands, GradientTile tile);
  /// A tile that the block meets: its head of queries and first row, the number of its stage, the columns before it.
  struct Met {
    Value head, first, stage, done;
  };
  bool isBy(Rows rows) const { return part.rows == rows; }
  Value count(Rows rows) { return rows == Rows::Queries ? on.queries : rows == Rows::Keys ? on.keys : on.rows; }
  TileRows tileOf(size_t which) const { return {tile.side, layout.met[which].width}; }
  Value at(Value base, Type type, int64_t elements) { return elementAddress(builder, base, type, on.number(elements)); }
  Value at(Value base, Type type, Value index, int64_t elements) {
    return elementAddress(builder, base, type, multiply(builder, index, on.number(elements)));
  }
  size_t columnsOf(Value result, int64_t width) const { return result ? size_t(width / 2) : 0; }

  /// What a warp sums, and has from columns to columns.
  struct Sums {
    Numbers scores, weights, position;
    Numbers overlap;                   // of the band, where rows are queries
    AttentionFragments::Fragment late; // likewise
  };

  // The block.
  void enter();
  void findRange();
  SeenTiles seenRounds();
  void addBands();
  void bring(const Vectors &vectors, Value memory, int64_t rows, Value first);
  Value numberOfQuery(Value query);
  Value countOfQueries() { return multiply(builder, code.size(operands.batches() * operands.heads()), on.queries); }
  void bringOwn();
  /// What statistics are made of, beside dy: the thread's part of y, maximum and inverse sum of the row.
  struct RowValues {
    Value query, inside, largest, inverse;
    llvm::SmallVector<Value> y;
  };
  RowValues loadRow();
  void keepStatistics(const RowValues &row, Value memory);
  void readStatistics();
  Met metAt(Value round, Value stage);
  Value stageOf(Value round) { return remainder(builder, round, on.number(tile.kStages)); }
  Value memoryOf(const Met &met, size_t which);
  Value pastOf(const Met &met, int64_t column) { return add(builder, met.done, on.number(column)); }
  void issue(const Met &met, bool isFirst);
  bool bandWaits() const { return isEarly && layout.own.size() > kThroughRing; } // whose memory own vectors come through
  void issueStatistics(const Met &met);
  llvm::SmallVector<Value> packed(const Sums &sums) const;
  Sums unpacked(llvm::ArrayRef<Value> values) const;
  Sums start();
  Sums overTiles();
  void store(Value result, int64_t width, llvm::ArrayRef<Value> sums, double factor);

  // The pairs of a warp (TensorGradientPairs.cpp).
  void emitColumns(const Met &met, int64_t column, Sums &sums);
  void multiplyPairs(const Met &met, int64_t column, Numbers &scores, Numbers &along, Numbers &overlap);
  void weigh(const Met &met, const WarpPairs &pairs, int64_t column, Numbers &scores, Numbers &along);
  LineLimits limitsOfPlaces();
  std::pair<Value, Value> pairAt(const WarpPairs &pairs, size_t index, Value &exists);
  void hide(const WarpPairs &pairs, Numbers &scores);
  llvm::SmallVector<Value> kept(const WarpPairs &pairs);
  std::pair<Value, Value> statisticsOf(const Met &met, int64_t column, size_t index);

  AttentionGradOp op;
  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const AttentionOperands &operands;
  const GradientTile tile;
  const GradientPart part;
  const Layout layout;
  const int64_t ringSize; // elements
  const bool isEarly;     // the first tile comes with the own vectors
  AttentionFragments on;
  const int64_t group; // heads of queries that a block goes through
  const Type f32;
  const Value statisticsOfAll;                 // of the kernel of queries for the others: [2, B, H, I]
  llvm::SmallVector<Fragments> fragments;      // of the own vectors
  Value firstOwn, firstLine, ring, statistics; // statistics: of the block's queries, or those of each stage
  Value ownLargest[2], ownMean[2];             // of the lane's two rows
  Value firstPlace, placeStep, shift;          // of rows that are places: that of line 0, of the next; key = query - line + shift
  LineLimits limits;
  IndexRange range;
  Value tiles;                  // in the range
  std::optional<TileWalk> walk; // over rounds: of all heads, the tiles
  llvm::SmallVector<AttentionBand> bands;
};

} // namespace tenon::gpu
