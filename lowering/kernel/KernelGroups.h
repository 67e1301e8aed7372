// Which values a kernel makes beside its own: those that read them element by element and could run at its place.
#pragma once
#include "dialect/TenonDialect.h"
#include "llvm/ADT/SetVector.h"
#include <set>

namespace tenon {

class KernelGroups {
public:
  /// `inMemory`: the results of element ops that get memory. `placed`: those that a kernel makes already. `fuse`: whether there
  /// are groups at all.
  KernelGroups(bool fuse, llvm::DenseSet<mlir::Value> &inMemory, const llvm::DenseMap<mlir::Value, mlir::Value> &placed)
      : fuse(fuse), inMemory(inMemory), placed(placed) {}

  /// The values of the shape of `value`, a result of `root` with `rank` dimensions, that the kernel of `root` makes too, in their
  /// order.
  llvm::SmallVector<mlir::Value> collect(mlir::Operation *root, mlir::Value value, int64_t rank);

private:
  /// A place relative to a kernel's index space: dimension k is index number place[k] of the space; empty if it is anything else.
  using Place = std::optional<llvm::SmallVector<int64_t>>;
  struct IsBefore {
    bool operator()(mlir::Operation *a, mlir::Operation *b) const { return a != b && a->isBeforeInBlock(b); }
  };
  using OpsInOrder = std::set<mlir::Operation *, IsBefore>; // of one block

  void reach(mlir::Value value, mlir::Block *block, OpsInOrder &found);
  unsigned codeOfMember(mlir::Value candidate, const llvm::SetVector<mlir::Value> &group);
  bool fusable(mlir::Value candidate, mlir::Operation *root, const llvm::SetVector<mlir::Value> &group, Place &placeOfGroup);
  bool readsLegally(mlir::Value value, Place place, mlir::Operation *root, const llvm::SetVector<mlir::Value> &group,
                    Place &groupPlace, unsigned &budget);

  bool fuse;
  llvm::DenseSet<mlir::Value> &inMemory;
  const llvm::DenseMap<mlir::Value, mlir::Value> &placed;
};

} // namespace tenon
