// How a nest is cut into tiles: rows, and parts of a row where there are few. Of known sizes that is chosen before memory is
// planned, for others the code evaluates the rule. No bit of a result depends on it.
#pragma once
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

class NestCut {
public:
  explicit NestCut(NestOp nest);

  mlir::DictionaryAttr choose() const;
  /// Takes what `tenon.chosen` of the nest says. Fails where that is not legal, which is reported there.
  mlir::LogicalResult take(Tier tier);

  /// Of a kernel's code. A tile has consecutive rows.
  struct Tiles {
    Value rowCount, rowsPerTile, rowTiles;
    Value parts, partSize; // each row is further cut along `cutSize`
  };
  Tiles tilesOf(FunctionCode &code) const;
  llvm::SmallVector<CutSide> sides() const;

  llvm::SmallVector<mlir::AffineExpr> rows; // all dimensions, but for one on the lanes
  bool lastOnLanes = false;                 // no each, no fold: the last dimension of the domain is the one on the lanes
  mlir::AffineExpr cutSize;                 // that one, or the first of the body's only each; null: rows are not cut further

private:
  InnerLoopOpInterface onlyLoop() const;
  /// Nothing where a size is not known.
  struct KnownSizes {
    int64_t rows, cost, size;
  };
  std::optional<KnownSizes> knownSizes() const;

  NestOp nest;
  mlir::AffineExpr rowCount, cost;                  // picoseconds of a row
  int64_t step = 64;                                // parts are multiples of it
  int64_t chosenRows = 0, chosenPart = 0, work = 0; // 0: not chosen
};

} // namespace tenon::cpu
