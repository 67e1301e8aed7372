// What the kernels of tenon.gemm share: the labels of both operands by their part in the product, elements of an operand at
// places of a tile, the code behind the sums.
#pragma once
#include "lowering/gpu/LaneCode.h"

namespace tenon::gpu {

using Labels = llvm::SmallVector<int64_t, 4>;

/// One operand. Code that only reads a tensor at places linear in its own, as some rows of each entry of a batch, is no code: the
/// operand is that tensor with other strides.
struct GemmSide {
  GemmSide(Value operand, mlir::RankedTensorType type, llvm::ArrayRef<int64_t> labels, mlir::Block *code);
  bool has(int64_t label) const { return llvm::is_contained(labels, label); }
  /// So many neighbours along the last label lie side by side and begin at a multiple of as many: a power of 2 up to `most`; 0:
  /// they lie apart.
  int64_t aligned(int64_t most) const;

  Value tensor; // null: computed
  mlir::RankedTensorType type;
  llvm::ArrayRef<int64_t> labels;
  mlir::Block *element;                        // code of an element; null: it is in memory
  llvm::SmallVector<mlir::AffineExpr> strides; // elements, by labels
  mlir::AffineExpr offset;                     // of the first one in the tensor
  bool isView = false;                         // code that only reads the tensor: strides are those of the reads
  bool isPadded = false;                       // a row ends in front of the next one's beginning (Rows.h)
};

/// a: rows x depth, b: columns x depth, in each batch. Threads beside each other store neighbouring columns: these are the labels
/// of the operand along which the result is contiguous.
struct GemmForm {
  explicit GemmForm(GemmOp op);
  mlir::AffineExpr sizeOf(const Labels &labels) const;
  llvm::SmallVector<mlir::AffineExpr> sizesOfLabels(const Labels &labels) const;
  /// Whether neighbours along the depth, not along the lines, are neighbours in memory.
  bool isAlongDepth(const GemmSide &side) const { return !side.labels.empty() && llvm::is_contained(depth, side.labels.back()); }
  /// How many columns beside each other a thread can have of the code behind the sums.
  int64_t lanes() const;
  /// i64: tiles of each batch and slice of the depth. `code`: of an entry or a kernel.
  template <typename Code> Value tilesOf(Code &code, int64_t tileRows, int64_t tileColumns, int64_t slices) const {
    auto &builder = code.builder;
    auto tiles = [&](const Labels &labels, int64_t size) {
      return ceilDivide(builder, code.size(sizeOf(labels)), constant(builder, size));
    };
    Value all = multiply(builder, tiles(rows, tileRows), tiles(columns, tileColumns));
    return multiply(builder, multiply(builder, code.size(sizeOf(batch)), all), constant(builder, slices));
  }
  /// A block for each tile of `tileRows` x `tileColumns` sums of each batch and slice of the depth; threads and body are left to
  /// the caller.
  Launch launchOf(llvm::StringRef name, int64_t tileRows, int64_t tileColumns, int64_t slices = 1) const;
  /// Adds that launch; with slices their sums of f32 lie in a temporary, and a second kernel adds them in the order of the depth
  /// and has the code behind the sums (GemmSlices.cpp).
  void addLaunches(LaunchSequence &sequence, Launch launch, int64_t slices) const;

  GemmOp op;
  mlir::Block &block; // behind the sums
  int64_t rank;
  GemmSide a, b;
  Type stored, element; // of the operands; what is multiplied and added
  Labels rows, columns, depth, batch;

private:
  void sortLabels();
  llvm::DenseMap<int64_t, mlir::AffineExpr> sizes;
};

/// Some sums of a tile, and the threads that have them: a thread stays in its columns.
struct SumsPart {
  Value firstRow, firstColumn; // of the product
  int64_t rows, columns;       // powers of 2
  int64_t threads;             // a power of 2, too
  Value thread;                // number of this one
  int64_t lanes = 1;           // columns beside each other of a thread
};

/// The code of one tile of launchOf, which is the block's, or has this number.
class GemmCode {
public:
  GemmCode(const GemmForm &form, KernelCode &code, int64_t tileRows, int64_t tileColumns, int64_t slices = 1, Value number = {});
  /// The first step of the tile's slice and the one behind its last one, in units of `depth` steps.
  std::pair<Value, Value> steps(int64_t depth);
  /// Of a side at a place in its lines (rows or columns) and in the depth, as it is stored; 0 beyond either.
  Value elementAt(const GemmSide &side, Value line, Value step);
  /// i1: whether both lie inside of the product.
  Value isInside(const GemmSide &side, Value line, Value step);
  /// Element number of the side's tensor, which is in memory.
  Value numberOf(const GemmSide &side, Value line, Value step);
  /// Sums of a warp as tensor cores leave them, in fours of 16 x 8, `warpColumns` beside each other, into shared memory in which
  /// rows are `width` f32 apart, an even number; they belong at a row and a column of it.
  void storeSums(mlir::ValueRange sums, int64_t warpColumns, Value row, Value column, Value memory, int64_t width);
  /// The code behind `rows` x `columns` sums in shared memory, powers of 2, from a row of the product on; a thread of the block
  /// computes so many `together`, of `lanes` columns beside each other. So it stands once, and threads beside each other store
  /// neighbours. Of a slice they are stored as they are.
  void emitResults(Value memory, int64_t width, Value firstRow, int64_t rows, int64_t columns, int64_t together,
                   int64_t lanes = 1);
  /// Of such a part of the tile, by some threads.
  void emitPart(const SumsPart &part, Value memory, int64_t width, int64_t together);
  /// Asks for what the code behind the sums of a part will read, row by row, so that it is in the cache of the chip by then.
  void prefetch(const SumsPart &part);
  /// As form.lanes(); of slices, whose sums are stored as they are.
  int64_t mostLanes() const;
  /// The code behind the sums of the tile, of so many slices whose sums are in a temporary of the launch.
  void emitSlices(int64_t rows, int64_t columns, int64_t together, int64_t ofSlices);
  /// The place of the block's batch in some of form.batch, of which the last one runs fastest.
  Value batchPlace(llvm::ArrayRef<int64_t> labels);

  Value firstRow, firstColumn; // of the tile

private:
  /// Some rows of a part, `step` apart, with the first of them in the part, of `lanes` columns beside each other, with the first
  /// of these in the part and in the product. All of the columns are inside.
  struct Places {
    Value row;
    int64_t step, count;
    Value place, column;
    int64_t lanes;
  };
  void overPart(const SumsPart &part, int64_t together, llvm::function_ref<void(const Places &, const LaneCode &)> body);
  /// The part that the whole block has, from a row on: not all of its threads where they are no power of 2.
  void ofBlock(Value row, int64_t rows, int64_t columns, int64_t lanes, llvm::function_ref<void(const SumsPart &)> body);
  /// Number of a sum of a slice in the temporary.
  Value numberOfPart(Value slice, Value row, Value column);
  using Rows = llvm::ArrayRef<llvm::SmallVector<Value>>; // sums of columns beside each other of each row
  void storeParts(Value row, int64_t step, Value column, Rows sums);
  /// The code behind the sums of a thread's columns, as far as rows have it in common.
  LaneCode ofColumns(Value column, int64_t lanes);
  void emitTogether(const LaneCode &columns, Value row, int64_t step, Rows sums, bool areInside = false);
  /// Labels of the batch and of these numbers of rows and columns, with their indices.
  llvm::SmallVector<std::pair<int64_t, Value>> indicesOf(Value row, Value column);
  const Labels &linesOf(const GemmSide &side) { return &side == &form.a ? form.rows : form.columns; }
  Value isBelow(Value index, const Labels &labels);
  Value addRuns(const GemmSide &side, const Labels &labels, Value number, Value offset);
  llvm::SmallVector<Value> placesOf(const GemmSide &side, Value line, Value step);
  const GemmForm &form;
  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  ScalarCode scalars;
  const int64_t slices;
  Value slice, batchNumber;
  llvm::DenseMap<int64_t, Value> batchIndices;
  llvm::DenseSet<mlir::Operation *> ofAllRows; // of the block behind the sums, without regions and results in memory
};

constexpr int64_t kStaticShared = 48 << 10; // bytes that every chip has for a block
/// A block of so many threads with so many bytes of shared memory and registers of a thread (0: as the assembler finds best), of
/// which every chip has some at a time; else it is reported.
mlir::LogicalResult checkBlock(mlir::Operation *op, int64_t threads, int64_t sharedBytes, int64_t mostShared = kStaticShared,
                               int64_t registers = 0);

/// f32 between the rows of sums in shared memory: with 8 more, the rows of a warp meet no bank twice.
constexpr int64_t sumsWidth(int64_t columns) { return columns + 8; }

/// The most slices of the depth.
constexpr int64_t kMostSlices = 16;

/// Of elements of 16 bits, or of f32 that are rounded to tf32 when they are multiplied, by tensor cores (TensorGemm.cpp).
mlir::DictionaryAttr chooseTensorGemm(const GemmForm &form, const Chip &chip);
mlir::LogicalResult generateTensorGemm(const GemmForm &form, LaunchSequence &sequence);
inline constexpr llvm::StringLiteral kRoundedForm = "tf32";
ChoiceForm roundedForm();
/// By `mma` or `tf32` as chosen.
mlir::LogicalResult generateTensorGemm(const GemmForm &form, const Choice &choice, LaunchSequence &sequence);
/// By warpgroups (WarpgroupGemm.cpp).
inline constexpr llvm::StringLiteral kWarpgroupForm = "wgmma";
ChoiceForm warpgroupForm();
mlir::LogicalResult generateWarpgroupGemm(const GemmForm &form, const Choice &choice, LaunchSequence &sequence);
/// Bytes of shared memory of a block.
int64_t warpgroupShared(int64_t rows, int64_t columns, int64_t stages);
/// By warpgroups that take turns (PingPongGemm.cpp).
inline constexpr llvm::StringLiteral kPingPongForm = "pingpong";
ChoiceForm pingPongForm();
mlir::LogicalResult generatePingPongGemm(const GemmForm &form, const Choice &choice, LaunchSequence &sequence);
/// One of both, with the tile and slices that take least time (WarpgroupTiles.cpp): null where the form is none for warpgroups.
mlir::DictionaryAttr chooseWarpgroupGemm(const GemmForm &form);

} // namespace tenon::gpu
