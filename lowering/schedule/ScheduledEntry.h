// An entry between its schedule and code.
#pragma once
#include "dialect/TenonDialect.h"
#include "lowering/schedule/MemoryPlan.h"

namespace tenon {

/// A function of the schedule form inside the module, and what its attributes say of its memory.
struct ScheduledEntry {
  mlir::func::FuncOp function; // its name is that of the entry; its leading arguments are its dims
  Arenas arenas;
  int32_t dims = 0, inputs = 0, outputs = 0; // states: arenas.stateBytes
  /// Of TnContext::offsets: states, then slots of the workspace.
  int32_t offsets() const { return int32_t(arenas.stateBytes.size() + arenas.slots.size()); }

  /// Fails, with the reason reported at the function, where it is not in the schedule form.
  static mlir::FailureOr<ScheduledEntry> of(mlir::func::FuncOp function);
};

/// Sizes as attributes of places and slots have them: the product of the results of a map, for a map's results have no products
/// of dims. Null where `bytes` is no such product.
mlir::AffineMap factorsOf(mlir::AffineExpr bytes, unsigned dims);
mlir::AffineExpr productOf(mlir::AffineMap factors);

/// The entry and the index of loop `loop` around `op`, counted from the outermost one.
mlir::Value loopIndex(mlir::Operation *op, int64_t loop);
/// A place, seen from an op: memory of `arenas` and steps over the loops around it.
Buffer bufferOf(PlaceAttr place, mlir::Operation *op, const Arenas &arenas);

/// Of the kernel form, by its plan. What it writes: `tenon-schedule` in lowering/Passes.td.
void schedule(mlir::func::FuncOp function, const MemoryPlan &plan);

} // namespace tenon
