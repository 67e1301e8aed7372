// An entry of the schedule form as code of the host: its halves, loops and their early ends, who is told that gradients are
// ready. What a kernel, a copy and the index of a loop become is the target's.
#pragma once
#include "dialect/Rounds.h"
#include "dialect/TenonDialect.h"
#include "lowering/code/ContextCode.h"
#include "lowering/code/Parameters.h"
#include "lowering/schedule/ScheduledEntry.h"
#include "lowering/target/KernelNeeds.h"
#include <optional>

namespace tenon {

class ScheduleEmitter {
public:
  virtual ~ScheduleEmitter() = default;

  // For generators of kernels:
  /// Memory that the kernels of one op share, bytes over the dims. It is dead before and after that op. An op asks for the same
  /// ones in the same order whenever it is generated.
  unsigned temporary(mlir::AffineExpr bytes);
  /// The place of a tensor, as the schedule says it. None where nobody reads it, and none while needs are noted.
  std::optional<Buffer> bufferOf(mlir::Value tensor);
  const ParameterTable &allParameters();
  bool onlyNotes() const { return needs; }
  mlir::func::FuncOp function() const { return source; }

protected:
  ScheduleEmitter(const ScheduledEntry &entry, const ParameterTable &parameters)
      : source(entry.function), arenas(&entry.arenas), parameters(&parameters) {}
  /// Of one that notes in `needs` what the kernels of an op need, before memory is planned: no code is made, nothing has a place.
  ScheduleEmitter(mlir::func::FuncOp entry, KernelNeeds &needs) : source(entry), needs(&needs) {}

  /// The ops of the entry into the host's function. Values lie in memory, so each half may be a call of its own. Errors are
  /// reported at the ops.
  mlir::LogicalResult emitHalves();
  /// Where temporary `number` of the current op lies, and its bytes.
  Buffer temporaryPlace(unsigned number) const;
  mlir::AffineExpr temporaryBytes(unsigned number) const;

  // What the target has:
  /// Of the host's function.
  virtual ContextCode &hostCode() = 0;
  virtual mlir::LogicalResult emitKernels(mlir::Operation *op) = 0;
  virtual void emitCopy(CopyOp copy) = 0;
  /// `gradient`: its place.
  virtual void emitSumSlices(SumSlicesOp sum, const Buffer &gradient, int64_t slices) = 0;
  /// At the beginning of a round: `index` is that of loops.back().
  virtual mlir::LogicalResult startRound(mlir::Value index) = 0;
  /// i1: whether what stands behind `skip` in its loop runs. Null after an error, which was reported.
  virtual mlir::Value goesOn(SkipOp skip) = 0;

  mlir::func::FuncOp source;
  const Arenas *arenas = nullptr;
  KernelNeeds *needs = nullptr;
  llvm::SmallVector<LoopOp> loops;    // around the current op, outermost first
  mlir::Operation *current = nullptr; // whose kernels are generated
  bool lacksTemporary = false;        // the schedule gives it fewer than it asks for
  bool isRefused = false;             // an error was reported at it

private:
  void checkTemporary(PlaceAttr place, mlir::AffineExpr bytes);
  mlir::LogicalResult emitHalf(mlir::Block::iterator begin, mlir::Block::iterator end, int64_t otherHalf);
  mlir::LogicalResult emitOps(mlir::Block::iterator begin, mlir::Block::iterator end);
  mlir::LogicalResult emitOp(mlir::Operation &op);
  mlir::LogicalResult emitLoop(LoopOp loop);
  void emitReady(ReadyOp ready);
  const ParameterTable *parameters = nullptr;
  ParameterTable ownParameters; // where none were given
  unsigned nextTemporary = 0;   // of `current`
};

} // namespace tenon
