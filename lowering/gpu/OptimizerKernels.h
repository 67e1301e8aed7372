// The kernels of tenon.optimize, one after the other: the mean of several batches, sums of squares by tiles of the arenas, the
// scalars of the step, (with a ratio per tensor: moments and norms, the ratios,) the update. The rate of the step and what its
// number alone says are the host's.
#pragma once
#include "dialect/OptimizeSettings.h"
#include "lowering/artifact/Abi.h"
#include "lowering/code/FactoredRule.h"
#include "lowering/code/LossScale.h"
#include "lowering/code/OptimizerRule.h"
#include "lowering/code/OptimizerTable.h"
#include "lowering/gpu/ScalarCode.h"

namespace tenon::gpu {

class OptimizerKernels {
public:
  OptimizerKernels(OptimizeOp op, LaunchSequence &sequence) : op(op), sequence(sequence) {}
  mlir::LogicalResult generate();

private:
  static constexpr int64_t kThreads = 256, kTileElements = 16 * kThreads;
  /// What a block works on.
  struct Piece {
    Value offset, count; // elements from the start of the arena; elements
    Value rate, gradient, decay, norm, segment;
    Value tile;   // its number among those of all parts
    Value shrunk; // elements that parameters lie before their offset; null: none
  };
  /// Where the kernels leave numbers for each other: f64, in a temporary of the op.
  struct Areas {
    int64_t squares = 0;    // per tile, of gradients
    int64_t clips = 0;      // per bound: the factor of clipping
    int64_t norm = 0;       // one number
    int64_t inverse = 0;    // 1 / loss scale
    int64_t tensors = 0;    // per segment: the sum of squares of its gradients, or the factor of its own clipping
    int64_t parameters = 0; // per tile, sums of squares
    int64_t directions = 0; // per tile, sums of squares
    int64_t ratios = 0;     // per segment
    int64_t scales = 0;     // per segment: the size of its numbers
    int64_t rowMeans = 0;   // per segment: the mean over its rows
    int64_t columns = 0;    // per strip of a matrix, sums of squares by columns; then in its first strip the factors of columns
    int64_t count = 0;
  };

  // Optimizer.cpp: tables and places, gradients before anything is updated.
  void collectTables();
  int64_t tileCount() const { return int64_t(tileSegments.size()); }
  int64_t segmentCount() const { return int64_t(table.segments.size()); }
  bool hasRatios() const { return formOf(op).trust != schema::Trust::None; }
  bool isFactored() const { return ruleOf(op).isFactored(); }
  template <typename Number>
  Value entryOf(KernelCode &code, llvm::StringRef stem, Type type, llvm::ArrayRef<Number> values, Value index) {
    auto shape = mlir::RankedTensorType::get({int64_t(values.size())}, type);
    Value base = code.table(stem, type, mlir::cast<mlir::DenseElementsAttr>(mlir::DenseElementsAttr::get(shape, values)));
    return mlir::LLVM::LoadOp::create(code.builder, type, elementAddress(code.builder, base, type, index));
  }
  Value segmentOf(KernelCode &code, Value tile);
  Value wholeOf(KernelCode &code, Value segment, int64_t column);
  Value factorOf(KernelCode &code, Value segment, int64_t column);
  Piece pieceOf(KernelCode &code);
  Value real(KernelCode &code, double value);
  Value areaAt(KernelCode &code, int64_t area, Value index);
  Value loadArea(KernelCode &code, int64_t area, Value index);
  Value loadArea(KernelCode &code, int64_t area) { return loadArea(code, area, constant(code.builder, 0)); }
  void storeArea(KernelCode &code, int64_t area, Value index, Value value);
  // TnContext::step counts batches: every `accumulate`-th makes an update.
  Value batchOf(EntryCode &code);
  Value isBatch(EntryCode &code, int64_t batch); // i64: 0 or 1
  /// Blocks: `count`, or none where only the last batch has some and this is another one.
  std::function<Value(EntryCode &)> blocks(int64_t count, bool onlyLast);
  Launch::Number arena(TnArena number);
  Launch launchOf(llvm::StringRef name);
  int64_t firstTile(size_t segment) const { return segment < firstTiles.size() ? firstTiles[segment] : tileCount(); }
  int64_t tileCountOf(const OptimizerPart &of) const { return firstTile(of.first + of.count) - firstTile(of.first); }
  /// Calls `add` for each part with the launch of its tiles.
  void forParts(llvm::StringRef name, llvm::function_ref<void(Launch &)> add);
  void ifFirst(KernelCode &code, llvm::function_ref<void()> body);
  Value rateOf(EntryCode &code);
  static LibraryCall libraryOf(EntryCode &code) {
    return [&code](llvm::StringRef name, llvm::ArrayRef<Value> operands) { return code.callLibrary(name, operands); };
  }
  void addAccumulation(Launch &launch);
  void addNorm(Launch &launch);
  void addScalars();
  void emitScalars(KernelCode &code);
  void emitOwnClips(KernelCode &code, const LossScale &scale);
  Value sumOfTiles(KernelCode &code, Value first, int64_t step, Value norm);
  Value sumOfSegment(KernelCode &code, int64_t area, Value segment);
  Value clipFactor(KernelCode &code, Value norm, Value bound, double epsilon);

  // OptimizerFactored.cpp: means of squares by rows and columns, and what moves by them.
  /// The blocks of a launch that has several for each matrix of the part.
  struct Cover {
    llvm::SmallVector<int32_t> segments; // of each block
    llvm::SmallVector<int64_t> firsts;   // by segment: its first block
  };
  Cover cover(llvm::function_ref<int64_t(const OptimizerSegment &)> blocksOf);
  static int64_t columnSumsOf(const OptimizerSegment &segment);
  int64_t countColumnSums();
  void addFactoredUpdate();
  /// A kernel of the part with the arguments of all these; runs where the norm is finite.
  void addFactored(llvm::StringRef name, int64_t count, std::function<void(KernelCode &)> body);
  void addRowMeans();
  void addColumnSums();
  void addColumnMeans();
  void addMeansOfRows();
  void emitFactoredDirections(KernelCode &code);
  void emitFactoredRatio(KernelCode &code, Value segment);
  std::pair<Value, Value> placeIn(KernelCode &code, llvm::StringRef name, const Cover &of);
  void emitFactoredUpdate(KernelCode &code);
  FactoredCode factoredOf(KernelCode &code);
  Value meansOf(KernelCode &code, Value segment, int64_t column);
  std::function<Value(Value)> clippingOf(KernelCode &code, Value segment);

  // OptimizerUpdate.cpp: moments and parameters.
  void addUpdate();
  /// A kernel of parameters, gradients and moments that runs where the norm is finite.
  void addStep(Launch &launch, void (OptimizerKernels::*emit)(KernelCode &));
  void addRatios();
  void emitMoments(KernelCode &code);
  void emitUpdate(KernelCode &code);
  RuleCode rulesOf(KernelCode &code, Value rate, Value decay);
  ElementMoments readMoments(KernelCode &code, ScalarCode &scalars, Value at);
  void writeMoments(KernelCode &code, ScalarCode &scalars, Value at, ElementMoments moments);
  Value readParameter(KernelCode &code, ScalarCode &scalars, const Piece &piece, Value at);
  void writeParameter(KernelCode &code, ScalarCode &scalars, const Piece &piece, Value at, Value value);
  /// The gradient of an element as the rule sees it: unscaled, clipped, with its group's factor.
  std::function<Value(Value)> clipping(KernelCode &code, const Piece &piece);

  OptimizeOp op;
  LaunchSequence &sequence;
  OptimizerTable table;
  OptimizerPart part; // whose kernels are being made
  llvm::SmallVector<int32_t> tileSegments;
  llvm::SmallVector<int64_t> whole, firstTiles; // firstTiles: by segment
  llvm::SmallVector<double> factors;
  Areas areas;
  unsigned area = 0; // the temporary
};

} // namespace tenon::gpu
