// Scalar code of the kernel form as straight-line code over one element (no lanes) or over 16 neighbours at a time: every scalar
// of the source is uniform, affine in the lane, or a vector.
#pragma once
#include "lowering/artifact/Scalars.h"
#include "lowering/code/Philox.h"
#include "lowering/code/Reductions.h"
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

/// The value of one source scalar. `index` is i64 here, truth values are i1.
struct LaneValue {
  enum class Kind { Uniform, Affine, Lanes } kind = Kind::Uniform;
  Value base;   // Uniform: the scalar; Affine: the scalar of lane 0; Lanes: the vector
  Value stride; // Affine: difference from lane to lane, of base's type
  // Uniform, Affine integers: base is `offset` modulo `modulus`; modulus 0: base is the constant `offset`.
  int64_t modulus = 1, offset = 0;

  static LaneValue uniform(Value value) {
    if (auto number = asConstant(value))
      return {Kind::Uniform, value, {}, 0, *number};
    return {Kind::Uniform, value, {}, 1, 0};
  }
  static LaneValue lanes(Value value) { return {Kind::Lanes, value, {}, 1, 0}; }
  static LaneValue affine(Value base, Value stride, int64_t modulus = 1, int64_t offset = 0) {
    return {Kind::Affine, base, stride, modulus, offset};
  }
  /// Lanes are consecutive numbers and the first is a multiple of `count` (at least 0).
  bool isAligned(int64_t count) const {
    return isAffine() && asConstant(stride) == 1 && modulus % count == 0 && offset % count == 0;
  }
  /// Keeps what a sum or product is known to be a multiple of.
  LaneValue knowing(int64_t newModulus, int64_t newOffset) const {
    LaneValue result = *this;
    if (auto number = isUniform() ? asConstant(base) : std::nullopt)
      newModulus = 0, newOffset = *number;
    result.modulus = newModulus;
    result.offset = newModulus > 0 ? newOffset % newModulus : newOffset;
    return result;
  }
  bool isUniform() const { return kind == Kind::Uniform; }
  bool isAffine() const { return kind == Kind::Affine; }
};

/// Whether there is code for the scalars in the regions of a kernel: the first op without is reported. Asked before there is
/// code, which is made of the others alone.
mlir::LogicalResult checkScalars(mlir::Operation *kernel);

class LaneCode {
public:
  /// `results`: addresses of the results that puts name, with their types.
  LaneCode(FunctionCode &code, llvm::ArrayRef<std::pair<Value, mlir::RankedTensorType>> results, int64_t lanes)
      : code(code), builder(code.builder), results(results), laneCount(lanes) {}

  const int64_t &lanes() const { return laneCount; }

  void bind(Value source, LaneValue value) { values[source] = value; }
  /// The bits of `op` (vector<lanes x i1>) are drawn already.
  void bindKeep(RandomKeepOp op, Value keep) { drawnKeeps[op] = keep; }
  /// Indices that are the places of one merged number, outermost first: beside each other in a tensor they are that number.
  void bindMerged(llvm::ArrayRef<Value> sources, llvm::ArrayRef<mlir::AffineExpr> sizes, LaneValue number) {
    merged = {llvm::SmallVector<Value>(sources), llvm::SmallVector<mlir::AffineExpr>(sizes), number};
  }
  LaneValue get(Value source);
  /// Emits the ops of the block in order; a yield at the end is left to the caller.
  void emitOps(mlir::Block &block);
  /// `rank`-wise loops of an each; the range of dimension 0 is [low, high) where given (low a multiple of 64 when it is the only
  /// one).
  void emitEach(EachOp each, Value low = {}, Value high = {});
  /// Runs `body` with `index` running over [low, high) in lanes: full vectors, then the rest under a mask.
  void forLanes(Value low, Value high, llvm::function_ref<void(LaneValue)> body);

  /// As a vector of the lane count.
  Value lanesOf(LaneValue value);
  Value mask; // lanes that exist, null: all

  LaneValue addValues(LaneValue a, LaneValue b);
  LaneValue multiplyValues(LaneValue a, LaneValue b);
  /// Quotient or remainder of index values (i64, never negative).
  LaneValue divide(LaneValue a, LaneValue b, bool wantRemainder);
  /// Element number sum of index * stride of a row-major tensor.
  LaneValue linearIndex(mlir::RankedTensorType type, mlir::ValueRange indices);
  LaneValue load(Type element, Value base, LaneValue index);
  void store(Type element, Value base, LaneValue index, LaneValue value);
  /// Work in lanes from here on (true) or on single elements.
  void setLanes(bool on) { vectorised = on; }
  /// The body of forLanes draws random bits: run it 8 times per step of 128, which share their
  /// random numbers. `low` is a multiple of 128 then.
  void setGrouped(bool on) { grouped = on; }

  void emitOp(mlir::Operation &op);

private:
  /// Where the random numbers of an element are: the counter word, and which of the block's numbers.
  struct RandomPlace {
    Value block, which; // `which` is one number where all lanes share it
    bool isUniform, areNeighbours;
  };
  void emitElementwise(mlir::Operation &op);
  void emitShortConversion(mlir::Operation &op);
  LaneValue castValue(LaneValue a, mlir::Type to, bool isSigned);
  std::optional<LaneValue> quotientOfQuotients(mlir::Operation &op);
  bool emitInteger(mlir::Operation &op);
  void emitMath(mlir::Operation &op);
  void emitFold(FoldOp fold);
  void emitRandomKeep(RandomKeepOp op);
  void emitRandomBits(RandomBitsOp op);
  RandomPlace placeOfRandom(const LaneValue &element, int64_t ofBlock);
  llvm::SmallVector<Value> sharedWords(int64_t site, Value depth);
  Value wordOf(const std::array<Value, 4> &words, Value which);
  Value foldSequential(FoldOp fold, llvm::ArrayRef<Value> sizes, unsigned dim, Value accumulator);
  Value foldInLanes(FoldOp fold, llvm::ArrayRef<Value> sizes, Value accumulator);
  void eachLoops(EachOp each, llvm::ArrayRef<Value> sizes, unsigned dim, Value low, Value high, bool nested);
  std::optional<LaneValue> undividedIndex(mlir::ValueRange indices, llvm::ArrayRef<mlir::AffineExpr> sizes);
  bool endsMerged(mlir::ValueRange indices, llvm::ArrayRef<mlir::AffineExpr> sizes);
  bool isGuarded(AtOp at);
  Value laterCondition(AtOp at);
  std::optional<LaneValue> loadGuarded(AtOp at, Value condition, Value fill);
  bool unclamp(Value index, llvm::ArrayRef<mlir::arith::CmpIOp> conditions);
  mlir::VectorType vectorOf(Type element) { return mlir::VectorType::get({laneCount}, element); }

  FunctionCode &code;
  ImplicitLocOpBuilder &builder;
  llvm::SmallVector<std::pair<Value, mlir::RankedTensorType>> results;
  int64_t laneCount;
  bool vectorised = false;
  bool grouped = false;
  llvm::DenseMap<mlir::Operation *, std::array<Value, 4>> randomWords; // of the current 128 elements
  llvm::DenseMap<mlir::Operation *, Value> drawnKeeps;
  llvm::DenseMap<Value, LaneValue> values;
  struct Merged {
    llvm::SmallVector<Value> sources;
    llvm::SmallVector<mlir::AffineExpr> sizes;
    LaneValue number;
  } merged;
};

/// Whether an op goes between f32 and what has 16 bits in memory, or to the bits of that, which it is in registers.
bool isShortConversion(mlir::Operation &op);
/// What a scalar is in registers: i64 for `index`, i16 for the bits of bf16 and f16, the type itself else.
Type machineType(Type source);
/// Halves the vector until one element is left: the fixed tree of every row reduction.
Value combineLanes(ImplicitLocOpBuilder &builder, Reduction kind, Value vector);

} // namespace tenon::cpu
