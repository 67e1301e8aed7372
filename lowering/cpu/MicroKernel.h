#ifndef TENON_LOWERING_CPU_MICROKERNEL_H
#define TENON_LOWERING_CPU_MICROKERNEL_H

#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Tier.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::cpu {

/// How a micro-kernel walks A: the stride that is known to be 1 becomes a displacement of the load.
enum class WalkOfA {
  RowMajor,   ///< elements of a row are neighbours (stride along K is 1)
  Transposed, ///< elements of a column are neighbours (stride along M is 1)
  Strided     ///< both strides are arguments
};

/// One register tile: C[rows, vectors * lanes] (+)= A[rows, K] * B[K, vectors * lanes].
struct MicroKernel {
  Tier tier;
  mlir::Type element; ///< f32, f64; bf16 where the tier multiplies pairs
  int64_t rows;
  int64_t vectors;
  WalkOfA walk;
  int64_t panelWidth;  ///< columns of the panel of B, at least those of the tile: elements from one of its rows to the next
  bool isCold = false; ///< B is read once, from memory: it is asked for ahead
};

/// The private function of `kernel` in the module around the insertion point:
///   (k: i64, a: ptr, aRowStride: i64, aColStride: i64, b: ptr, c: ptr, cRowStride: i64, accumulate: i1)
/// Strides count elements; b is aligned to its vectors; accumulate = false starts from zero, true from C. Elements of C are one
/// fused multiply-add per step of K, in ascending order.
///
/// bf16: B has pairs of steps of a column side by side, [(K + 1) / 2][columns][2], its last odd half zero. A by rows is any
/// matrix of bf16, whose odd last element is read alone: what lies behind it may be anything; transposed, it has pairs like B
/// ([(K + 1) / 2][rows][2]), and aColStride counts pairs. C is f32, and each pair adds its odd product first.
mlir::func::FuncOp getMicroKernel(mlir::OpBuilder &builder, mlir::Location location, const MicroKernel &kernel);

/// sum + a[2i + 1] b[2i + 1] + a[2i] b[2i] for lane i of vectors of i32, each of them two bf16: two fused multiply-adds, the odd
/// one first, without denormals.
mlir::Value emitDotPairs(Emitter &emit, mlir::Value sum, mlir::Value a, mlir::Value b);

} // namespace tenon::cpu

#endif // TENON_LOWERING_CPU_MICROKERNEL_H
