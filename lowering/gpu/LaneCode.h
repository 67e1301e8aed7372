// Scalar code for several elements beside each other, which one thread has: what their indices have in common is computed once,
// and elements that are neighbours in a tensor are read and written as one vector of at most 16 bytes.
#pragma once
#include "lowering/gpu/ScalarCode.h"
#include <vector>

namespace tenon::gpu {

/// How many elements a thread may have of the code in `blocks`, of a nest or behind the sums of a product, whose index `last`
/// runs over `size` values: 1 where that is odd, no access would become a vector, or code has loops of its own. `mayBreakOff`:
/// the size need be no multiple where all rows begin at multiples of 16 bytes (Rows.h); what is left at the end of a row is no
/// vector then.
int64_t lanesOf(llvm::ArrayRef<mlir::Block *> blocks, Value last, mlir::AffineExpr size, bool mayBreakOff = false);

/// Elements beside each other in memory, aligned to all of them together.
llvm::SmallVector<Value> loadVector(ImplicitLocOpBuilder &builder, Type element, Value address, int64_t count);
void storeVector(ImplicitLocOpBuilder &builder, llvm::ArrayRef<Value> elements, Value address);

class LaneCode {
public:
  /// `one`: bound for the first of `count` elements, from which they differ in `last` alone. `results`: of the op, as puts number
  /// them.
  LaneCode(KernelCode &code, const ScalarCode &one, mlir::ValueRange results, Value last, int64_t count);
  /// Elements that lie apart: `lanes` are bound for one each, and differ in `sources`.
  LaneCode(KernelCode &code, std::vector<ScalarCode> lanes, mlir::ValueRange results, mlir::ValueRange sources);
  /// A value that each element has its own of.
  void bind(Value source, llvm::ArrayRef<Value> values);
  /// What all elements have in common.
  void bindAll(Value source, Value value);
  void bindSplit(mlir::ValueRange sources, Value number, llvm::ArrayRef<mlir::AffineExpr> sizes);
  /// As those of ScalarCode.
  void emitOps(mlir::Block &block);
  void emitOp(mlir::Operation &op);
  /// Of each element.
  llvm::SmallVector<Value> get(Value source);

private:
  bool areNeighbours(Value tensor, mlir::ValueRange indices) const;
  Value address(Value tensor, Value linear);
  llvm::SmallVector<Value> ofFirst(mlir::ValueRange sources);
  void load(AtOp at);
  void store(PutOp put, Value result);
  void roundPairs(mlir::arith::TruncFOp round);

  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  mlir::ValueRange results;
  Value last; // null where elements lie apart
  std::vector<ScalarCode> lanes;
  llvm::DenseSet<Value> varying; // differ from one element to the next
};

/// Whether an op, or what stands in it, reads one of these.
bool readsAny(mlir::Operation &op, const llvm::DenseSet<Value> &values);

/// One thread's parts of folds over one space whose last size is a multiple of `count`, in one loop: their terms `count` at a
/// time, from number `first` of these on in steps of `step`.
llvm::SmallVector<Value> foldLanes(KernelCode &code, const ScalarCode &scalars, llvm::ArrayRef<FoldOp> folds, Value first,
                                   Value step, int64_t count);

/// Places of a thread: those below `count` from number `first` on in steps of `step`, so many together.
struct Apart {
  Value first, step, count;
  int64_t together;
};
/// The code of `emit` for all of them but the last few; the number of the first of these. `places`, of `sizes`, are what a number
/// means, `results` those of the op.
Value emitApart(KernelCode &code, const ScalarCode &scalars, mlir::ValueRange results, mlir::ValueRange places,
                llvm::ArrayRef<mlir::AffineExpr> sizes, const Apart &of, llvm::function_ref<void(LaneCode &)> emit);

} // namespace tenon::gpu
