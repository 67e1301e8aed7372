// The kernels of tenon.optimize, one after the other: sums of squares per tile, the scalars of the step, (with a ratio per
// tensor: moments and norms, the ratios,) the update.
#pragma once
#include "lowering/artifact/Abi.h"
#include "lowering/code/FactoredRule.h"
#include "lowering/code/OptimizerRule.h"
#include "lowering/code/OptimizerTable.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Optimizer.h"

namespace tenon::cpu {

constexpr int64_t normScalar = abi::CallScalars, rateScalar = abi::CallScalars + 8,
                  unscaleScalar = abi::CallScalars + 16; // 1 / loss scale

/// A sum of squares in f64, over vectors of reals.
class SquareSum {
public:
  SquareSum(FunctionCode &code, int64_t lanes);
  void restart();
  void add(Value x);
  Value total();

private:
  ImplicitLocOpBuilder &builder;
  mlir::VectorType wide;
  Value memory;
};

class OptimizerKernels {
public:
  OptimizerKernels(OptimizeOp op, KernelSequence &sequence) : op(op), sequence(sequence), rule(ruleOf(op)), form(formOf(op)) {}
  mlir::LogicalResult generate();

private:
  /// What a tile works on.
  struct Piece {
    Value offset, count; // bytes from the start of the arena; elements
    Value first;         // the number of the first one in its segment
    Value rate, gradient, decay;
    Value norm, segment;
    Value tile; // its number among those of all parts
  };
  /// Where the kernels leave numbers for each other: f64, in a temporary of the op.
  struct Areas {
    int64_t squares = 0;    // per tile, of gradients
    int64_t norms = 0;      // per bound: the sum of squares, then the factor of clipping
    int64_t tensors = 0;    // per segment: the sum of squares of its gradients, then the factor of its own clipping
    int64_t parameters = 0; // per tile, sums of squares
    int64_t directions = 0; // per tile, sums of squares
    int64_t ratios = 0;     // per segment
    int64_t scales = 0;     // per segment: the size of its numbers
    int64_t rowMeans = 0;   // per segment: the mean over its rows
    int64_t columns = 0;    // per tile of a matrix, sums of squares by columns; then in its first tile the factors of columns
    int64_t count = 0;
  };
  /// Arenas of a tile, as addresses; null where the rule keeps nothing.
  struct Places {
    Value parameters, gradients, first, second, copies, remainders;
  };

  // Optimizer.cpp: tables and places.
  llvm::SmallVector<CutSide> sides() const;
  void collectTables();
  void emitTables(llvm::ArrayRef<int64_t> whole, llvm::ArrayRef<double> real);
  std::string emitGlobal(llvm::StringRef stem, Type type, mlir::DenseElementsAttr values);
  Value loadAt(FunctionCode &code, const std::string &name, Type type, Value index);
  int64_t elementsPerTile(const OptimizerSegment &segment) const;
  Value tileElementsOf(FunctionCode &code, Value segment);
  Value segmentOf(FunctionCode &code, Value tile);
  Value wholeColumn(FunctionCode &code, Value segment, int64_t i);
  Piece pieceOf(FunctionCode &code);
  Value arena(FunctionCode &code, TnArena number, const Piece &piece);
  Places placesOf(FunctionCode &code, const Piece &piece);
  Value areaAddress(FunctionCode &code, int64_t area, Value index);
  Value loadArea(FunctionCode &code, int64_t area, Value index);
  void storeArea(FunctionCode &code, int64_t area, Value index, Value value);
  Value batchesPerUpdate(FunctionCode &code);
  Value isLast(FunctionCode &code);
  Value real(FunctionCode &code, double value);
  bool isFactored() { return rule.isFactored(); }
  int64_t laneCount();
  int64_t tileCount() const { return int64_t(tileSegments.size()); }
  int64_t segmentCount() { return int64_t(table.segments.size()); }
  /// A kernel of this op, whose tiles number `tiles`; `afterNorm`: none unless an update is made.
  void addKernel(llvm::StringRef name, int64_t tiles, bool afterNorm, std::function<void(FunctionCode &)> body,
                 bool isUpdate = false);
  /// One for each part, whose tiles are the part's.
  void addKernels(llvm::StringRef name, bool afterNorm, void (OptimizerKernels::*emit)(FunctionCode &), bool isUpdate = false);
  int64_t firstTile(size_t segment) const { return segment < firstTiles.size() ? firstTiles[segment] : tileCount(); }

  // OptimizerNorms.cpp: gradients, before anything is updated.
  void emitNorm(FunctionCode &code);
  void emitAccumulation(FunctionCode &code, const Piece &piece);
  void emitSquares(FunctionCode &code, const Piece &piece, llvm::function_ref<Value(LaneCode &, LaneValue, Value)> change);
  void addScalars();
  void emitScalars(FunctionCode &code);
  void emitSums(FunctionCode &code, int64_t area, int64_t count, llvm::function_ref<Value(Value)> placeOf);
  void emitClips(FunctionCode &code, Value all, const LossScale &scale);
  void emitOwnClips(FunctionCode &code, const LossScale &scale);
  Value clipFactor(FunctionCode &code, Value norm, Value bound, double epsilon);
  void storeResult(FunctionCode &code, Value tensor, Value value);

  // OptimizerUpdate.cpp: moments and parameters.
  void addUpdate();
  void emitMoments(FunctionCode &code);
  void emitRatio(FunctionCode &code);
  void emitUpdate(FunctionCode &code);
  /// The gradient of an element as the rule sees it: unscaled, clipped, with its group's factor.
  std::function<Value(Value)> clipping(FunctionCode &code, const Piece &piece);
  Value readParameter(FunctionCode &code, LaneCode &lanes, LaneValue index, const Places &places);
  void writeParameter(FunctionCode &code, LaneCode &lanes, LaneValue index, const Places &places, Value value);
  /// From and to the bits that a parameter of 16 bits has in memory; where it is split, its remainder is read, or written.
  Value widened(FunctionCode &code, LaneCode &lanes, LaneValue index, const Places &places, Value bits);
  Value narrowed(FunctionCode &code, LaneCode &lanes, LaneValue index, const Places &places, Value value);
  void fetchAhead(FunctionCode &code, LaneValue index, llvm::ArrayRef<Value> bases); ///< of `part.element`, null: none
  ElementMoments readMoments(LaneCode &lanes, LaneValue index, const Places &places);
  void writeMoments(LaneCode &lanes, LaneValue index, const Places &places, ElementMoments moments);

  // OptimizerFactored.cpp: means of squares by rows and columns, and what moves by them.
  void addFactoredUpdate();
  void emitRowMeans(FunctionCode &code);
  void emitColumnMeans(FunctionCode &code, Value segment);
  void emitFactoredDirections(FunctionCode &code);
  void emitFactoredRatio(FunctionCode &code, Value segment);
  void emitFactoredUpdate(FunctionCode &code);
  void emitElementMeans(FunctionCode &code, const Piece &piece, SquareSum &squares);
  FactoredCode factoredOf(FunctionCode &code);
  Value meansAddress(FunctionCode &code, Value segment, int64_t column);
  /// One of each part for each of its segments, not for their tiles.
  void addSegmentKernels(llvm::StringRef name, void (OptimizerKernels::*emit)(FunctionCode &, Value segment));

  // OptimizerPanels.cpp: the parameters of a tile, wherever they lie; indices are row-major in the tile.
  class PanelWalk;
  using StepOfElements = llvm::function_ref<Value(LaneValue index, Value parameter)>;
  void inPanels(FunctionCode &code, const Piece &piece, llvm::function_ref<void()> panels, llvm::function_ref<void()> rowMajor);
  void readParameters(FunctionCode &code, const Piece &piece, const Places &places,
                      llvm::function_ref<void(LaneCode &, LaneValue index, Value parameter)> visit);
  /// `step` gives the new value.
  void updateParameters(FunctionCode &code, const Piece &piece, const Places &places,
                        llvm::function_ref<Value(LaneCode &, LaneValue index, Value parameter)> step);

  mlir::VectorType vectorType();
  RuleCode rulesOf(FunctionCode &code, Value rate, Value decay);
  Value scalarOf(FunctionCode &code, int64_t offset);
  bool hasRatios() { return form.trust != schema::Trust::None; }

  OptimizeOp op;
  KernelSequence &sequence;
  const schema::OptimizerRule &rule;
  const schema::OptimizerForm &form;
  OptimizerTable table;
  OptimizerPart part;       // whose kernels are being made
  int64_t tileElements = 0; // chosen: of a segment, but for its last tile; of means by rows and columns a bound
  llvm::SmallVector<int32_t> tileSegments;
  llvm::SmallVector<int64_t> firstTiles; // by segment
  std::string tileTable, wholeTable, realTable, boundTable;
  Areas areas;
  int64_t columnSums = 0; // numbers of areas.columns
  unsigned partials = 0;
};

} // namespace tenon::cpu
