// How a parameter lies in memory, where its module has other types than its own for that.
#pragma once
#include "dialect/TenonDialect.h"

namespace tenon {

/// The attribute of a parameter of f32 that lies in memory in f32 where the module's tenon.parameters says 16 bits. f64 lies in
/// its own type without it.
inline constexpr llvm::StringLiteral kWhole = "tenon.whole";
/// The type of its numbers in the arena of parameters; of both halves, where it is split.
mlir::Type storedType(ParameterOp parameter);
/// Whether it lies in two halves, the second in the arena of remainders.
bool isSplit(ParameterOp parameter);
/// The type of 16 bits that contractions have a copy of it in. Null: there is none.
mlir::Type copyTypeOf(ParameterOp parameter);
/// The other type in which it can be read: its own in memory, or that of its copy. Null: there is none.
mlir::Type otherReadType(ParameterOp parameter);
/// In the arena of what is of type `stored` (null: of the parameters' own), the bytes at an offset of the arena of gradients
/// begin at this part of it: two for 16 bits, which f32 has twice the bytes of.
int64_t arenaPart(mlir::Type stored);
/// Bytes in the arena of gradients that an element takes. Where the arena of parameters is half as long, what is not of 16 bits
/// takes twice its own, so that one layout serves all arenas.
int64_t arenaBytesOf(ParameterOp parameter);

} // namespace tenon
