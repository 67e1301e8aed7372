// Instructions of warpgroups (PTX: wgmma, from sm_90a on), of the engine that copies boxes of tensors into shared memory
// (cp.async.bulk.tensor), and of the barriers in shared memory that both sides wait at (mbarrier).
#pragma once
#include "lowering/gpu/Launch.h"

namespace tenon::gpu {

/// Threads, and what a block may have of shared memory where there are warpgroups.
constexpr int64_t kWarpgroup = 128, kMostShared = 227 << 10;
/// Of an H100 or H200 (SXM): so many blocks that take all of one have one each.
constexpr int64_t kProcessors = 132;

/// Waits for so many threads of the block, a multiple of 32, at its barrier of this number (i32), which is not 0; or is one of
/// them and does not wait.
void barrierOf(ImplicitLocOpBuilder &builder, Value number, int64_t threads);
void arriveAtBarrierOf(ImplicitLocOpBuilder &builder, Value number, int64_t threads);

/// Waits for all lanes of the warp, which all get here.
void barrierOfWarp(ImplicitLocOpBuilder &builder);

/// Starts to bring the box of a map (KernelCode::map) at these places (i64, innermost first) to shared memory, a multiple of
/// 1024; its bytes, also those outside of the tensor, which are 0, arrive at the barrier.
void copyBox(ImplicitLocOpBuilder &builder, Value to, Value barrier, Value map, llvm::ArrayRef<Value> places);

/// A ring of stages in shared memory, which one thread has filled, step by step, and other warps empty.
class StageRing {
public:
  /// The stage of a step (i64), and the parity of its round (i32): 0, then 1.
  struct Turn {
    Value stage, parity;
  };
  /// `barriers`: of bytesOf(stages) in shared memory.
  StageRing(ImplicitLocOpBuilder &builder, Value barriers, int64_t stages)
      : builder(builder), barriers(barriers), stages(stages) {}
  static constexpr int64_t bytesOf(int64_t stages) { return 16 * stages; }
  /// By one thread. `readers`: warps that release each stage.
  void init(int64_t readers);
  Turn first();
  Turn after(Turn turn);
  Turn before(Turn turn);                  // of which only the stage is told
  Turn afterSteps(Turn turn, Value count); // i64
  /// Loops over steps, each in the next stage from `turn` on, which is the one behind the last step then. `carried` values go
  /// from step to step; these are what the last one leaves.
  llvm::SmallVector<Value> overSteps(std::pair<Value, Value> steps, Turn &turn, mlir::ValueRange carried,
                                     llvm::function_ref<llvm::SmallVector<Value>(Value step, Turn, mlir::ValueRange)> body);
  /// Waits until nobody reads the stage, at once in the first round, and gives the barrier that so many bytes are to come to.
  Value claim(Turn turn, int64_t bytes);
  void waitFull(Turn turn);
  /// By one lane of each warp that has read the stage.
  void release(Turn turn);

private:
  Value barrier(Value stage, bool isFull);
  ImplicitLocOpBuilder &builder;
  const Value barriers; // of each stage: when what was copied has come; behind these: when nobody reads it any more
  const int64_t stages;
};

/// Registers of a thread of a block whose producer is a warpgroup: of all when it starts, then of the producer, which leaves some
/// to the consumers.
struct RegisterShares {
  /// `consumer`: a multiple of 8, as many as there can be together.
  RegisterShares(int64_t consumers, int64_t consumer);
  int64_t start, producer, consumer;
  bool fit() const;
};

/// The parts of a block: thread 0 makes barriers, then `consumers` threads and one thread of a last warp, or with `shares` of a
/// last warpgroup, do their work.
void emitRoles(KernelCode &code, int64_t consumers, llvm::function_ref<void()> init, llvm::function_ref<void()> consume,
               llvm::function_ref<void()> produce, std::optional<RegisterShares> shares = {});

/// 64 (of the first operand) or more lines of 64 steps of the depth in shared memory as copyBox leaves them: rows of 128 bytes,
/// whose chunks of 16 are turned by the row. Rows are lines, with 64 steps, or steps, with 64 lines, in pieces of 64 lines.
struct WarpgroupOperand {
  bool alongDepth;
  int64_t steps = 64;                                      // rows of a piece, where these are steps
  static constexpr int64_t kRow = 128, kPiece = 64 * kRow; // bytes; of 64 rows
  /// i64: how wgmma finds it in shared memory, from `memory` on, which is a multiple of 1024.
  Value descriptor(ImplicitLocOpBuilder &builder, Value memory) const;
  /// What the next 16 steps add to that.
  int64_t perStep() const { return (alongDepth ? 32 : 16 * kRow) >> 4; }
};

/// sums += a b of 64 x `columns` sums and 16 steps by a warpgroup: columns / 2 f32 of each lane, in fours of 16 x 8 as those of
/// mma.sync (TensorCores.h), of rows 16 (warp % 4) and all columns; with `isFirst` sums = a b. `element`: bf16 or f16. `a`: a
/// descriptor of operands[0], or the fragment of these rows, four i32 as those of mma.sync. Asynchronous: between openProducts
/// and a wait nothing else touches the sums and the fragment.
void multiplyAsync(ImplicitLocOpBuilder &builder, Type element, llvm::ArrayRef<Value> a, Value b,
                   const WarpgroupOperand (&operands)[2], llvm::MutableArrayRef<Value> sums, bool isFirst = false);
void openProducts(ImplicitLocOpBuilder &builder);
/// Products since the last call are a group.
void commitProducts(ImplicitLocOpBuilder &builder);
/// Until all groups of this warp but the `newest` ones are done: their operands are read, and their sums there.
void waitForProducts(ImplicitLocOpBuilder &builder, int64_t newest);
/// Code that reads these values stays behind this place: without it nothing says that sums depend on a wait.
void holdBehind(ImplicitLocOpBuilder &builder, llvm::MutableArrayRef<Value> sums);
/// An i64 below 2^31 of which nothing is known behind this place: what is made of it there is not kept from before.
Value heldBehind(ImplicitLocOpBuilder &builder, Value number);

} // namespace tenon::gpu
