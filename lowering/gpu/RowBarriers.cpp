#include "lowering/gpu/RowBarriers.h"
#include "dialect/TensorSizes.h"

using namespace mlir;

namespace tenon::gpu {

static SmallVector<Operation *> putsOf(NestOp nest) {
  SmallVector<Operation *> puts;
  for (Operation &op : nest.getBody().front())
    if (isa<EachOp, PutOp>(op))
      puts.push_back(&op);
  return puts;
}

RowBarriers::RowBarriers(NestOp nest, const RowLoops &loops, int64_t threads, int64_t rows)
    : nest(nest), loops(loops), threads(threads), rows(rows), puts(putsOf(nest)) {}

/// Calls `waits` for each place where a barrier may stand, with its number and whether one must; it says whether one does. A
/// result may lie where an operand lies whose element is read before: whatever others still read is read before something is
/// put. Between a row and the next one a barrier is behind the memory in which a fold combines: one that is there for another
/// reason, or that of another fold, will do.
void RowBarriers::overPlaces(llvm::function_ref<bool(size_t, bool)> waits) const {
  bool isReading = false, isCombining = false; // since the last barrier
  size_t place = 0, combined = 0;              // combined: folds, each behind a barrier of its own
  auto visit = [&](bool isNeeded) {
    if (waits(place++, isNeeded))
      isReading = isCombining = false;
  };
  llvm::DenseSet<Operation *> known; // made in the pass of one before them
  for (Operation &op : nest->getRegion(0).front()) {
    if (known.contains(&op))
      continue;
    if (isa<EachOp, PutOp>(op))
      visit(isReading);
    size_t folds = 0;
    if (auto fold = dyn_cast<FoldOp>(op)) {
      SmallVector<FoldOp> pass = loops.passOf(fold);
      known.insert(pass.begin(), pass.end());
      folds = threads > rows ? pass.size() : 0;
    }
    auto at = dyn_cast<AtOp>(op);
    const bool mayBeWritten = at && llvm::is_contained(nest->getResultTypes(), at.getTensor().getType());
    isReading = folds == 0 && (isReading || mayBeWritten || isa<EachOp, FoldOp>(op));
    isCombining |= folds > 0;
    combined += folds;
  }
  auto count = dyn_cast<AffineConstantExpr>(product(NestOp(nest).parallelDomain(), nest->getContext()));
  const bool mayHaveNext = !count || count.getValue() > rows;
  visit(mayHaveNext && combined == 1 && isCombining);
}

ChosenList RowBarriers::choose() const {
  SmallVector<int64_t> needed;
  overPlaces([&](size_t, bool isNeeded) {
    needed.push_back(isNeeded);
    return isNeeded;
  });
  return {"barrier", needed};
}

ChoiceList RowBarriers::listOf(NestOp nest) {
  return {"barrier", "put, loop of puts and the row's end",
          SmallVector<ChoiceNumber>(putsOf(nest).size() + 1, ChoiceNumber{"barrier", 0, 1})};
}

LogicalResult RowBarriers::read(const Choice &choice) {
  list = llvm::to_vector(choice.list("barrier"));
  std::optional<size_t> missing;
  overPlaces([&](size_t place, bool isNeeded) {
    if (isNeeded && list[place] == 0 && !missing)
      missing = place;
    return list[place] != 0;
  });
  if (missing)
    return nest.emitOpError("expects in ") // S11
           << kChosen << " barrier 1 where threads put what others may still read, or go on to a row while others combine, got "
           << "barrier[" << *missing << "] 0";
  return success();
}

bool RowBarriers::isBefore(Operation &put) const { return list[size_t(llvm::find(puts, &put) - puts.begin())] != 0; }

} // namespace tenon::gpu
