// Where a tensor lies: a memory, a slot in it, and how the place moves with the loops around.
#pragma once
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/SmallVector.h"

namespace tenon {

/// The place of one tensor value: base address + offset + depth * depthStride, dense row-major, 64-byte aligned at depth 0.
struct Buffer {
  using Base = Memory;
  Base base = Base::Workspace;
  /// Parameters, Gradients: byte offset. States, NextStates, KeptStates, Workspace: index into TnContext::offsets. Input, Output:
  /// number.
  int64_t slot = 0;
  /// Inside stacks: the place moves with the depth of the enclosing stack(s); one (depth value, bytes per step) pair per stack.
  struct Step {
    mlir::Value depth;      // the depth argument of the stack body
    mlir::AffineExpr bytes; // over the dims of the entry
    int64_t shift = 0;      // depth + shift is used: a carry history holds element depth + 1 for the new carry
  };
  llvm::SmallVector<Step, 1> steps;
  /// The place moves with one more loop; a fixed number of steps of the same size becomes part of the shift.
  void move(Step step);
  bool samePlace(const Buffer &other) const;
};

/// A tensor that is brought to a place.
struct Delivery {
  mlir::Value value;
  Buffer to;
};

/// A tensor that is a part of another one: it lies where that one does, moved.
struct Part {
  mlir::Value whole;
  Buffer::Step step;
};

/// Steps of a tensor that has one element per depth of the nested stacks `depths`, `counts` of them each (more counts are not
/// read).
llvm::SmallVector<Buffer::Step, 1> depthSteps(mlir::ValueRange depths, llvm::ArrayRef<int64_t> counts,
                                              mlir::AffineExpr elementBytes);

} // namespace tenon
