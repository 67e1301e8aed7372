// Where every tensor value of the kernel form lives. One workspace arena per entry, planned by lifetime; parameters, gradients,
// states, inputs and outputs have arenas or buffers of their own. No value is moved unless its planned place differs from its
// sink's.
#pragma once
#include "dialect/TenonDialect.h"
#include "lowering/target/KernelNeeds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace tenon {

class Target;

/// Sizes of what an entry needs memory for, as formulas over the dims.
struct Arenas {
  /// Of the workspace. `bind` evaluates slots in order: each starts at the maximum over `after` of their ends, aligned to 64.
  /// TnContext::offsets has the states first, then the slots.
  struct Slot {
    mlir::AffineExpr bytes;      // size over the dims (products of dims allowed: a general expression)
    std::vector<unsigned> after; // slots that must lie below this one: its offset is max(end of those), 0 when none
    bool saved = false;          // made in the forward pass and read in the backward pass
    bool temporary = false;      // of the kernels of one op
  };
  std::vector<Slot> slots;
  std::vector<mlir::AffineExpr> stateBytes; // in the order of the entry's states
  std::vector<bool> inPlace; // of the states: they lie in the arena of kept states, whose offsets are counted apart
  int64_t scratchBytes = 0;  // per worker, the most that a kernel needs
  int64_t stateCount() const { return int64_t(stateBytes.size()); }
};

/// Sizes of the states of an entry, as its attributes declare them.
void readStates(mlir::func::FuncOp entry, Arenas &arenas);

struct MemoryPlan : Arenas {
  llvm::DenseMap<mlir::Value, Buffer> buffers; // every materialised tensor value of the function
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Buffer, 1>>
      temporaries; // of kernel ops: what the target asks for, in its order
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<std::string>>
      launches; // of kernel ops that the target runs as more than one kernel: their names, in order
};

/// Plans the function (kernel form). Pure analysis: the function is not changed. Fails where the target has no kernel for an op,
/// which is reported there.
mlir::FailureOr<MemoryPlan> planMemory(mlir::func::FuncOp function, const Target &target, int64_t nominalDim = kNominalDim);
/// What planning takes for granted: a body, and declarations of the parameters and states it names. Reported at ops.
mlir::LogicalResult checkPlannable(mlir::func::FuncOp function);

} // namespace tenon
