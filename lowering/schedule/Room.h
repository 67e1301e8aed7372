// Whether tensors end inside the memory in which they are placed.
#pragma once
#include "lowering/schedule/ScheduledEntry.h"

namespace tenon {

/// Two formulas' values where the first one is more.
struct Excess {
  int64_t wanted, given;
};

/// Where `wanted` is more than `given`, formulas over so many dims of at least 1, at one of some points: formulas over different
/// dims are told apart where some dims are long and the others short, formulas that cross by points in between.
std::optional<Excess> whereMore(mlir::AffineExpr wanted, mlir::AffineExpr given, unsigned dims);

/// Reports at the op a tensor of so many bytes that does not end, or begin, inside the memory of its place in some iteration of
/// the loops around the op. `arenaBytes`: where parameters end in theirs.
mlir::LogicalResult checkRoom(mlir::Operation *op, PlaceAttr place, mlir::AffineExpr bytes, const ScheduledEntry &entry,
                              int64_t arenaBytes);

} // namespace tenon
