// A recurrence whose rounds run in blocks, so that `save = blocks(steps = k)` can treat each block as a layer.
#pragma once
#include "dialect/TenonDialect.h"

namespace tenon {

/// Whether these loops and the one that runs back through them are a recurrence along an axis, all of whose rounds run, and read
/// what is outside of them at their own place alone.
bool isRecurrence(llvm::ArrayRef<StackOp> forwards, StackOp reversed);

/// The same rounds as a loop over blocks of `steps` rounds, in which a loop runs through one block; gives the outer one. Where
/// the last block is shorter, the inner loop skips the rounds that are not there.
StackOp splitRounds(StackOp loop, int64_t steps);

/// What is collected of the last round of a loop, where it is a carry, is read from its last carry.
void readLastCarries(StackOp loop);

} // namespace tenon
