#ifndef TENON_LOWERING_CPU_GEMM_H
#define TENON_LOWERING_CPU_GEMM_H

#include "lowering/cpu/Tier.h"
#include "mlir/IR/Builders.h"

#include <functional>

/// Generators for contractions C[M,N] = A[M,K] * B[K,N] as tiled, packed, register-blocked CPU code.
///
/// A contraction is cut into tiles: blocks of M x N whose extents depend on the shape and the tier only, never on the number of
/// threads. `emitGemmTile` emits the code of one tile into a function (context, tile index) of the caller; the tiles write
/// disjoint parts of C and may run in any order. The loop over K is one sequential FMA chain per element of C, so neither tiles
/// nor tiers change a bit of the result. Emitted dialects: arith, scf, func, math.fma, vector (rank 1), llvm (pointers).
/// Micro-kernels and packing routines become private functions of the module, shared by all contractions of the same tier and
/// element type.
namespace tenon::cpu {

/// A matrix in memory. `base` is an !llvm.ptr to element (0, 0); strides are i64 values counted in elements.
/// A: rows = M, columns = K; read in place or, of bf16 and f16, block by block from scratch; one stride should be the constant 1
/// (row-major or transposed), any pair is right. B: rows = K, columns = N; packed just in time. Constant colStride 1 (row-major)
/// packs by copies, constant rowStride 1 (Linear weights [N,K]) by in-register transposes, anything else element by element
/// (right, slow).
struct GemmOperand {
  mlir::Value base;
  mlir::Value rowStride;
  mlir::Value colStride;
};

/// An operand that is in no memory: tiles compute blocks of it into scratch, in the storage type, and go on from there.
struct GemmElements {
  bool areComputed = false;
  bool alongDepth = true; ///< neighbours in scratch are steps of K, else rows of A or columns of B
  /// Writes `count` neighbours from `first` on, in row or column `line` of A or B (or of step `line` of K), to `target`. Numbers
  /// are i64; of steps, `first` is a multiple of 16. It may be called several times, like the epilogue.
  std::function<void(mlir::OpBuilder &, mlir::Location, mlir::Value line, mlir::Value first, mlir::Value count,
                     mlir::Value target)>
      compute;
  /// The same of `lines` lines from `line` on, `pitch` elements apart in the target, for less than line by line; null: there is
  /// no such code. Along depth up to a vector may be written behind each line.
  std::function<void(mlir::OpBuilder &, mlir::Location, mlir::Value line, mlir::Value lines, mlir::Value first, mlir::Value count,
                     mlir::Value target, mlir::Value pitch)>
      computeBlock;
};

/// Rows of A, or steps of K of B, that lie in several places, such as memory and segment that are joined. In each the operand has
/// the strides of the whole; its `base` is not used.
struct GemmRanges {
  /// Calls `body` for the lines of [first, end) (i64) that lie in one place, in order: [low, high), maybe none, of which `low` is
  /// at `address`. It may be called several times, like the epilogue. Null: all lie in one place.
  std::function<void(mlir::OpBuilder &, mlir::Location, mlir::Value first, mlir::Value end,
                     llvm::function_ref<void(mlir::Value low, mlir::Value high, mlir::Value address)> body)>
      visit;
  std::optional<llvm::SmallVector<int64_t>> starts; ///< of the ranges and, last, of their repetition, where known
  explicit operator bool() const { return bool(visit); }
};

/// Columns of the panels in which weights lie in memory, of all tiers: those of the widest register tile, so that it reads a
/// panel from one end to the other. The panels of the others are 1/2, 1/4, .. of one.
constexpr int64_t kPanelWidth = 32;

/// B in panels, as weights lie in memory (`tenon.panels`), filled up where they are not full. Its `base` is the first panel;
/// strides are not used.
struct GemmPanels {
  int64_t width = 0; ///< columns of a panel, a multiple of those that a tile reads; 0: B has strides
  int64_t steps = 1; ///< lines side by side: 2 of bf16, of which there are a multiple of 32
  /// Lines are columns of B and the panels go along K: B is packed from them. Else lines are steps of K, which are read where
  /// they are, or, of what is widened, packed.
  bool acrossDepth = false;
  int64_t lines = 0; ///< of a panel, from its beginning to that of the next one; 0: as many as there are steps, or columns
  explicit operator bool() const { return width > 0; }
};

/// One finished vector of C: lanes column, column + 1, ... of row `row` (both i64).
struct GemmResult {
  mlir::Value row, column, sum;
  mlir::Value
      mask; ///< vector<lanes x i1>, null when all lanes are inside C; lanes whose bit is clear lie outside and hold zero sums
  mlir::Value runColumn, runMemory; ///< with GemmRuns: first column of the run that `column` is in, the memory of this row of it
};

/// Stores one result itself (see `emitVectorStore`); may be called several times for one contraction: it must emit the same code
/// each time.
using GemmEpilogue = std::function<void(mlir::OpBuilder &, mlir::Location, const GemmResult &)>;

/// Of rows of A, or of steps of K, those that come into sums: the first `count` (i64) of an order that computed elements and the
/// epilogue know. Sums of the other rows are 0.
struct GemmListed {
  mlir::Value count; ///< null: all
  bool ofRows = false;
  mlir::Value restStays; ///< of rows, i1: what the others give is not stored; null: it is
  explicit operator bool() const { return bool(count); }
};

/// What the epilogue needs per row and is cheaper to compute for many columns at once (random bits): a tile cuts its columns into
/// runs and has every row of a run prepared before its results are finished.
struct GemmRuns {
  static constexpr int64_t mostColumns = 128;
  int64_t bytes = 0; ///< of memory per row of a run, a multiple of 16; 0: nothing to prepare
  /// Fills `memory` for `columns` columns of `row` from `column` on (i64); may be called several times, like the epilogue.
  std::function<void(mlir::OpBuilder &, mlir::Location, mlir::Value row, mlir::Value column, mlir::Value columns,
                     mlir::Value memory)>
      prepare;
};

/// Where the epilogue will write: fetched into the cache while the sums are computed, for it may be memory that nobody has read
/// for long (a gradient).
struct GemmTarget {
  /// Of a row and a column (i64), with the columns behind as neighbours; null: nothing is fetched.
  std::function<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value row, mlir::Value column)> address;
  int64_t bytes = 0; ///< of an element
};

/// Bounds of one tile. The rows of A that a tile reads for one block of K (rows x depth) stay in a core's L2 while the panels of
/// B, one at a time, stay in L1 or stream from L2.
struct GemmLimits {
  int64_t rows;   ///< rows of C in one tile
  int64_t whole;  ///< K up to which there is one block: the sums of a strip then never leave the cache nearest to the core
  int64_t depth;  ///< steps of K in one block beyond that, between two visits of the sums in scratch
  int64_t panels; ///< panels of B in one tile
  int64_t split;  ///< column blocks wanted when K is split: fewer read a block of A, which no cache keeps, fewer times
  int64_t work;   ///< multiply-adds below which a tile takes more panels: about 20 us on a fast core
  int64_t staged; ///< panels of one tile at least, where they share rows of A in scratch that are copied there
  int64_t many;   ///< entries of a batch from which they alone keep all threads busy: tiles then take all panels they may
};

/// The most of a tier: scratch has room for tiles of these.
GemmLimits gemmLimits(Tier tier, mlir::Type storage);
/// Blocks of K begin at multiples of so many steps.
int64_t stepsOfBlocks(Tier tier, mlir::Type storage);
/// Panels of a tile that reads B where it is, at most.
int64_t streamedPanels(Tier tier);
/// Columns of a panel.
int64_t panelWidth(Tier tier, mlir::Type storage);

/// How a contraction is cut (`tenon.chosen`).
struct GemmChoice {
  enum class Form {
    Strips,  ///< blocks of M x K in strips of the register tile
    Tiles,   ///< in strips of tiles (TileKernel.h)
    Streams, ///< few rows of A read B where it is, all of K at once
    BySize   ///< where sizes are known at run time alone: GemmCut, within `limits`
  } form = Form::BySize;
  int64_t rows = 0, depth = 0, panels = 0; ///< of a block, but for the last
  int64_t entries = 1;                     ///< contractions that share a tile, of many
  GemmLimits limits = {};
  int64_t strip = 0;   ///< rows of a register tile at most; 0: those of the tier, or of tiles
  int64_t order = 0;   ///< elements of a tile of the kernel in front that puts A in order, where there is one
  bool staged = false; ///< rows of A that could be read in place go through scratch
};

/// What is known of the operands before there is code.
struct GemmAccess {
  Tier tier = Tier::Avx2;
  mlir::Type storage;
  std::optional<int64_t> aRowStride, aColStride, bRowStride, bColStride; ///< those that are constants
  bool computesA = false, computesB = false;                             ///< tiles compute blocks of them
  bool joinsA = false, joinsB = false;                                   ///< they lie in ranges
  GemmPanels panelsOfB = {};
  bool hasRuns = false;
  bool stagesLeft = false; ///< as chosen
  /// Whether rows that could be read in place may go through scratch as well: those of a row-major A where strips are high, of
  /// a transposed one where they are low.
  bool mayStageLeft() const;
  /// By which it is chosen, where strides are known: lines of A that are whole pages apart share a set of each cache. Of a
  /// row-major A each step of a high strip would fetch them anew from the second-level cache; of a transposed one, whose lines
  /// serve one high strip but three low ones, each low strip from behind it.
  bool linesShareSet() const;
  bool mayStreamRight() const;    ///< few rows of A read B where it is, once (StreamRows.h, StreamColumns.h)
  bool readsRightInPlace() const; ///< micro-kernels read B where it is
  bool readsLeftInPlace() const;  ///< micro-kernels read A where it is; otherwise a tile has its rows in scratch
  bool mayBeWhole() const { return readsRightInPlace() && readsLeftInPlace(); } ///< few rows read all of K at once
};

struct GemmSpec {
  Tier tier = Tier::Avx2;
  mlir::Type storage;  ///< of both operands in memory: f32, f64, bf16 or f16
  mlir::Value m, n, k; ///< i64, constants or not; 0 is allowed (k = 0 gives zero sums)
  GemmOperand a, b;
  GemmElements elementsOfA, elementsOfB; ///< where computed, the operand's address and strides are ignored
  GemmRanges rangesOfA;                  ///< rows; K is contiguous
  GemmRanges rangesOfB;                  ///< steps of K; columns are contiguous. Of bf16, ranges begin at even steps
  GemmPanels panelsOfB;
  GemmListed listed; ///< A is computed, and with it B where steps are listed
  GemmEpilogue epilogue;
  GemmRuns runs;
  GemmTarget target;
  mlir::Type element() const { return elementModel(storage).compute; } ///< f32 or f64: products and sums
  std::optional<GemmChoice> choice;                                    ///< none: by size, within the limits of the tier
  GemmAccess access() const;
  GemmLimits limits() const { return choice ? choice->limits : gemmLimits(tier, storage); }
  bool readsRightInPlace() const { return access().readsRightInPlace(); }
  /// Whether elements of B that are computed row by row are a panel already.
  bool computesPanels() const { return elementsOfB.areComputed && !elementsOfB.alongDepth && element() == storage; }
  bool readsLeftInPlace() const { return access().readsLeftInPlace(); }
};

/// Number of tiles of the contraction (i64; a constant when m, n and k are). 1 when the whole work is below about 20 us.
mlir::Value gemmTileCount(mlir::OpBuilder &builder, mlir::Location location, const GemmSpec &spec);

/// Emits the work of tile number `tile` (i64 in [0, gemmTileCount)). `scratch` is a 64-byte aligned !llvm.ptr to
/// `gemmScratchBytes` bytes that belong to the running worker; its contents are garbage before and after.
void emitGemmTile(mlir::OpBuilder &builder, mlir::Location location, const GemmSpec &spec, mlir::Value tile, mlir::Value scratch);

/// Whether a strip has more rows than a set of the nearest cache has lines (8 or 12).
bool hasHighStrips(Tier tier);

/// Scratch bytes one worker needs for any contraction of this tier and storage type with such runs, whatever its shape;
/// `inPlace`: as GemmSpec::readsLeftInPlace.
int64_t gemmScratchBytes(Tier tier, mlir::Type storage, int64_t runBytes, bool inPlace, bool computesA = false,
                         bool computesB = false);

/// Many contractions of one shape, e.g. one per head: `specOf` gives the operands and the epilogue of batch entry `index` (i64).
/// Its tier, element, m, n and k must not depend on the index, and values it uses must dominate the insertion point. Small
/// contractions share a tile, so that each tile still is worth a task.
struct BatchedGemmSpec {
  mlir::Value batch; ///< i64 number of contractions
  std::function<GemmSpec(mlir::OpBuilder &, mlir::Location, mlir::Value index)> specOf;
};

mlir::Value batchedGemmTileCount(mlir::OpBuilder &builder, mlir::Location location, const BatchedGemmSpec &spec);
void emitBatchedGemmTile(mlir::OpBuilder &builder, mlir::Location location, const BatchedGemmSpec &spec, mlir::Value tile,
                         mlir::Value scratch);

/// Loads or stores `vector` at `pointer` (aligned to the element only); `mask` may be null. Masked-off lanes load as zero.
mlir::Value emitVectorLoad(mlir::OpBuilder &builder, mlir::Location location, mlir::VectorType type, mlir::Value pointer,
                           mlir::Value mask = nullptr);
void emitVectorStore(mlir::OpBuilder &builder, mlir::Location location, mlir::Value vector, mlir::Value pointer,
                     mlir::Value mask = nullptr);

} // namespace tenon::cpu

#endif // TENON_LOWERING_CPU_GEMM_H
