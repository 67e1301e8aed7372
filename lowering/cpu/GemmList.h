// The rows of A, or the steps of K, that the condition of a contraction names, as a list that its tiles read.
#pragma once
#include "lowering/cpu/GemmAxes.h"
#include "lowering/cpu/GemmReads.h"

namespace tenon::cpu {

/// In memory: how many they are, these, and then the others, both in their order.
class GemmList {
public:
  GemmList(const GemmAxes &axes, const GemmReads &reads) : axes(axes), reads(reads) {}

  /// Adds the kernel in front that makes it. Gives its temporaries, which are the first ones of the kernel that reads it.
  llvm::SmallVector<unsigned> generate(KernelSequence &sequence, mlir::Location location) const;
  Value count(FunctionCode &code) const;
  /// The place of number `number` (i64) in the order of the list.
  Value place(FunctionCode &code, Value number) const;

private:
  void write(FunctionCode &code) const;
  Value holdsAt(FunctionCode &code, Value place) const;

  const GemmAxes &axes;
  const GemmReads &reads;
};

} // namespace tenon::cpu
