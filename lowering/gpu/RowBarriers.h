// The barriers of a block that has rows of a nest, as they are chosen, for Nest.cpp: where the threads of a row wait for each
// other. The list `barrier` of `tenon.chosen` has a truth value for each put and loop of puts, of what stands before it, and one
// for the row's end. The barriers of combining folds are not among them: they belong to the fold.
#pragma once
#include "lowering/gpu/RowLoops.h"

namespace tenon::gpu {

class RowBarriers {
public:
  /// Of loops that are chosen or read; `threads` and `rows`: of a block.
  RowBarriers(NestOp nest, const RowLoops &loops, int64_t threads, int64_t rows);
  /// Barriers where the threads must wait, and nowhere else.
  ChosenList choose() const;
  /// What the list may be, whatever the loops are.
  static ChoiceList listOf(NestOp nest);
  /// Takes what the choice says. Fails where one is missing, which is reported at the nest.
  mlir::LogicalResult read(const Choice &choice);

  /// As read.
  bool isBefore(mlir::Operation &put) const;
  bool isAtEnd() const { return list.back() != 0; }

private:
  void overPlaces(llvm::function_ref<bool(size_t, bool)> waits) const;

  NestOp nest;
  const RowLoops &loops;
  int64_t threads, rows;
  llvm::SmallVector<mlir::Operation *> puts; // and loops of puts, in their order
  llvm::SmallVector<int64_t> list;           // as read
};

} // namespace tenon::gpu
