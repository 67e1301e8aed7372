// The places of an inner dimension of a nest's row: what each has of its own, and how many a thread can have at a time.
#pragma once
#include "lowering/gpu/LaneCode.h"
#include "llvm/ADT/SetVector.h"

namespace tenon::gpu {

/// Places that a thread reads before it goes on with them, where they are no vector and so many that this fills all threads. A
/// text may say another number, up to kMostApart.
constexpr int64_t kApart = 4, kMostApart = 16;

/// The ops of a body that each place has of its own; all places share what else stands there.
inline llvm::SetVector<mlir::Operation *> ownOps(mlir::Block &body) {
  llvm::DenseSet<Value> varying(body.args_begin(), body.args_end());
  llvm::SetVector<mlir::Operation *> own;
  for (mlir::Operation &op : body)
    if (mlir::isa<PutOp>(op) || readsAny(op, varying)) {
      varying.insert(op.result_begin(), op.result_end());
      own.insert(&op);
    }
  return own;
}

/// Whether a thread can have several of them that lie apart: they are no vectors, and what is a place's own has no loops.
inline bool mayLieApart(const llvm::SetVector<mlir::Operation *> &own, int64_t lanes) {
  return lanes == 1 && llvm::none_of(own, llvm::IsaPred<FoldOp, EachOp>);
}

/// Whether each of `threads` threads is known to have `ofThread` of them.
inline bool hasPlacesFor(EachOp each, int64_t threads, int64_t ofThread) {
  auto known =
      mlir::dyn_cast<mlir::AffineConstantExpr>(product(llvm::to_vector(each.getSizes().getResults()), each.getContext()));
  return known && known.getValue() >= threads * ofThread;
}

} // namespace tenon::gpu
