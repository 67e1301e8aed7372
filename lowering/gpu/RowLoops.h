// The loops over inner dimensions of a nest's row, as they are chosen, for Nest.cpp. Lists of `tenon.chosen`: `vector`, of each
// fold and each loop of puts (tenon.each) the places beside each other that a thread has at a time; `apart`, of each loop of puts
// those that lie apart; `pass`, of each fold the number of the pass over the row in which it is made; `broadcast`, of each fold
// whether all threads of the row get its value (1), or the first one alone, which puts it (0).
#pragma once
#include "lowering/target/Choice.h"

namespace tenon::gpu {

class RowLoops {
public:
  explicit RowLoops(NestOp nest);
  /// The most places beside each other that a thread can have of one of them.
  int64_t mostLanes() const;
  /// What is chosen for a block of `threads` that has one row, with at most so many places beside each other; for one that has
  /// several, whose folds and places it has one by one. The loops have it from then on.
  llvm::SmallVector<ChosenList> chooseRow(int64_t threads, int64_t lanes);
  llvm::SmallVector<ChosenList> chooseRows(int64_t threads);
  /// What these may be.
  llvm::SmallVector<ChoiceList> listsOfRow() const;
  llvm::SmallVector<ChoiceList> listsOfRows() const;
  /// Takes what the choice says. Fails where no block can do it, which is reported at the nest.
  mlir::LogicalResult read(const Choice &choice);

  /// As chosen or read.
  int64_t vectorOf(mlir::Operation *op) const;
  int64_t apartOf(EachOp op) const;
  /// The folds of a pass, by its first one; whether they are a maximum and the sum under it (OnlineFolds.h).
  llvm::SmallVector<FoldOp> passOf(FoldOp first) const;
  bool isOnline(mlir::ArrayRef<FoldOp> folds) const;
  bool isBroadcast(FoldOp fold) const;

private:
  llvm::SmallVector<int64_t> chooseApart(int64_t threads, mlir::ArrayRef<int64_t> lanes) const;
  llvm::SmallVector<int64_t> choosePasses(llvm::MutableArrayRef<int64_t> lanes) const;
  bool mayShare(mlir::ArrayRef<FoldOp> pass, FoldOp next, mlir::ArrayRef<int64_t> lanes) const;
  int64_t lanesOfOp(mlir::Operation *op, mlir::ArrayRef<int64_t> lanes) const;
  mlir::LogicalResult checkApart(int64_t threads) const;
  mlir::LogicalResult checkPasses() const;
  bool isOnlyPut(mlir::Value value) const;
  llvm::SmallVector<int64_t> chooseBroadcasts() const;
  mlir::LogicalResult checkBroadcasts() const;

  NestOp nest;
  llvm::SmallVector<mlir::Operation *> ops; // folds and loops of puts, in their order
  llvm::SmallVector<FoldOp> folds;
  llvm::SmallVector<EachOp> eaches;
  llvm::SmallVector<int64_t> vector, apart, pass, broadcast; // as chosen or read
};

} // namespace tenon::gpu
