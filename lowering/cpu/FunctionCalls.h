// Which elementary functions of a kernel are calls of one function that all kernels share, and which are code at each use: a part
// of what is chosen for a tier (`exp_calls = 1`), for vector code of types that no function of libm computes lane by lane.
#pragma once
#include "lowering/cpu/Tier.h"
#include "lowering/target/Choice.h"

namespace tenon::cpu {

/// The function of libm that an op of the math dialect is for f64; empty: there is none.
llvm::StringRef libraryName(mlir::Operation &op);
/// The number of a choice that says whether it is called; empty: the op is no function.
llvm::StringRef callsNumber(mlir::Operation &op);
/// Whether each use is calls of libm in a tier as it is: then there is nothing to choose.
bool callsLibrary(Tier tier, mlir::Type element);
/// The numbers that a choice for a kernel may have besides those of its form: 1 for a function that is called.
llvm::SmallVector<ChoiceNumber> callNumbers(mlir::Operation *kernel, Tier tier);
/// A choice, with those of the functions that are worth calls.
mlir::DictionaryAttr withCalls(mlir::DictionaryAttr choice, mlir::Operation *kernel, Tier tier);

} // namespace tenon::cpu
