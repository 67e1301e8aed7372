// Scalar code of the kernel form as the code of one thread.
#pragma once
#include "lowering/gpu/Launch.h"
#include <array>

namespace tenon::gpu {

/// What a scalar is in registers: i64 for `index`, the type itself else.
Type machineType(Type source);

/// exp of an f32 or f64 that is at most 0, or NaN.
Value exponentialAtMostOne(ImplicitLocOpBuilder &builder, Value x);

/// Whether there is code for an op of arith or math in one thread; whether that is an instruction of the chip.
bool hasCode(mlir::Operation &op);
bool isInstruction(mlir::Operation &op);
/// Whether there is code for the scalars in the regions of a kernel: the first op without is reported. Asked before there is
/// code, which is made of the others alone.
mlir::LogicalResult checkScalars(mlir::Operation *kernel);

/// A number of what is chosen for a kernel: 1 where its exp and tanh of f32 are the chip's own.
inline constexpr llvm::StringLiteral kApproximate = "approximate";
/// Whether it may be 1: there are such, and the kernel makes tensors of 16 bits; beside their rounding the errors of the chip's
/// functions are small.
bool mayApproximate(mlir::Operation *kernel);
/// Whether what is chosen for the kernel says so.
bool isApproximated(mlir::Operation *kernel, const Chip &chip);
/// A list beside that number: of each such tanh 1 where it is one exponential, whose error is small beside 1 alone; 0: near 0 a
/// polynomial. Where the number itself counts it has to be 0; the most that it may be is chosen.
inline constexpr llvm::StringLiteral kBesideOne = "beside_one";
ChoiceList listBesideOne(mlir::Operation *kernel);

class ScalarCode {
public:
  /// `results`: of the op whose code it is, as puts number them.
  ScalarCode(KernelCode &code, mlir::ValueRange results) : code(code), builder(code.builder), results(results) {}

  void bind(Value source, Value value) { values[source] = value; }
  Value get(Value source);
  /// Scalars from outside of `op` are computed here, where they dominate every use in its regions.
  void bindOutside(mlir::Operation *op);
  /// Emits the ops of the block in order; a yield at the end is left to the caller.
  void emitOps(mlir::Block &block);
  void emitOp(mlir::Operation &op);
  /// The index of each dimension of `sizes` from a number of the places in them, row-major.
  llvm::SmallVector<Value> split(Value number, llvm::ArrayRef<mlir::AffineExpr> sizes);
  void bindSplit(mlir::ValueRange sources, Value number, llvm::ArrayRef<mlir::AffineExpr> sizes);
  /// Element number of a row-major tensor; of one whose rows may lie apart.
  Value linearIndex(mlir::RankedTensorType type, llvm::ArrayRef<Value> indices);
  Value linearIndex(Value tensor, llvm::ArrayRef<Value> indices);
  /// Of what an op reads, whose indices are `sources`. Where one of several tensors is chosen, the places of the others are
  /// forced into them, and one without elements has none: its first place, which exists (CudaDevice::allocate), is read then.
  Value linearIndexOf(AtOp at, llvm::ArrayRef<Value> indices);
  Value load(Type element, Value base, Value index);
  void store(Type element, Value base, Value index, Value value);
  /// The words of a counter of tenon.random_keep, each with two numbers of 16 bits. `depth`: i64, null without.
  std::array<Value, 4> drawWords(Value counter, Value depth, int64_t site);
  /// tenon.random_keep: whether the element survives. `depth`: i64, null without.
  Value drawKeep(Value element, Value depth, int64_t site, int64_t threshold);
  /// One thread's part of a fold: the terms from `first` on in steps of `step`, in their order.
  Value foldPart(FoldOp fold, Value first, Value step);

private:
  void emitElementwise(mlir::Operation &op);
  void emitMath(mlir::Operation &op);
  Value castIndex(mlir::Operation &op);
  void emitRandom(mlir::Operation &op);
  std::pair<Value, Value> drawWord(Value element, Value depth, int64_t site, int64_t ofBlock);

  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  mlir::ValueRange results;
  llvm::DenseMap<Value, Value> values;
};

} // namespace tenon::gpu
