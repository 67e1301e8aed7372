// Rows in which a condition fails, of a kernel that may leave them out: where nothing reads what it would put there, or where
// that is what its memory holds already.
#pragma once
#include "lowering/cpu/GemmAxes.h"
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

/// A condition of rows: the truth values, and the index of the kernel's code that each of its dimensions has.
struct RowCondition {
  Value where;
  llvm::SmallVector<Value> indices;
};

/// The tensor of which `put` puts the element at its own indices where the condition fails: it adds what is 0 there, `sum` (may
/// be null) or a choice by the condition. Null: it is anything else.
Value keptWhereFails(PutOp put, const RowCondition &condition, Value sum);

/// Whether all results in `kept` lie where the tensors lie that they keep (i1); true where there are none.
Value areInPlace(FunctionCode &code, llvm::ArrayRef<std::pair<Value, Value>> kept);

/// Whether a contraction under a condition of rows has nothing to put in the others (i1); null: it has.
Value restStays(FunctionCode &code, GemmOp gemm, const GemmAxes &axes);

} // namespace tenon::cpu
