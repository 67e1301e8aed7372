// Rounds of a stack that do not run.
#pragma once
#include "dialect/TenonDialect.h"

#define GET_OP_CLASSES
#include "dialect/RoundOps.h.inc"

namespace tenon {

/// Whether there may be rounds that do not run: then carries stay where they are, and what is kept of such a depth is nothing.
bool mayEndEarly(StackOp stack);
/// The carry that counts the rounds that ran, by number; nothing where none does.
std::optional<unsigned> roundsCarry(StackOp stack);

} // namespace tenon
