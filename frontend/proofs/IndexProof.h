// Proofs about integers of the checked program: indices stay inside their axis, slices inside their tensor, sizes are not
// negative. First intervals of linear forms, then Presburger arithmetic (mlir/Analysis/Presburger, hidden in the .cpp).
#pragma once
#include "frontend/Program.h"
#include <map>
#include <string>
#include <vector>

namespace tenon {

/// What a proof gives. `range` reads "1-T .. M+T-1" ("" when nothing bounds the value on either side). `example`, when not
/// proved: "i = 0, j = 3 gives -3 when T = 5"; empty if none could be found (the value depends on something that is not linear).
struct IndexProof {
  bool proved = false;
  std::string range;
  std::string example;
  bool exhausted = false; // it was given up, because it takes too long
  uint64_t effort = 0;    // about microseconds
};

/// What the graph itself does not say.
struct ProofHints {
  std::map<AxisId, std::string> placeNames; // attend binders: axis -> "i"; other axes are called by their own name
  std::map<NodeId, Size> bounds;            // Int nodes known to be in 0 .. bound-1, e.g. an argument declared index(V)
};

/// Proves low <= index < highExclusive for every element of the Int (or Bool: 0 or 1) node `index`, for all dims >= 1 within
/// Entry::dimUpperBound and Entry::requirements, at the places where all Bool nodes `conditions` hold. Conditions that are no
/// comparisons of integers only weaken the proof, never falsify it.
IndexProof proveIndex(const Entry &entry, NodeId index, const Size &low, const Size &highExclusive,
                      const std::vector<NodeId> &conditions, const ProofHints &hints = {});

/// Whether an index that a proof keeps below `highExclusive` may still be another one in 32 bits, which is what code computes
/// whole numbers in: something that it, or one of the proof's conditions, is made of may need more.
bool mayLeaveIn32Bits(const Entry &entry, NodeId index, const Size &highExclusive, const std::vector<NodeId> &conditions,
                      const ProofHints &hints = {});

/// Proves that Bool node `goal` holds at every element where `conditions` hold (e.g. `key <= query` under a mask).
IndexProof proveCondition(const Entry &entry, NodeId goal, const std::vector<NodeId> &conditions, const ProofHints &hints = {});

/// size >= 0 for all dims. `example` reads "-1 when T = 1".
IndexProof proveNonNegative(const Size &size, const Entry &entry);
/// left <= right for all dims; false also when a form overflows.
bool provablyAtMost(const Size &left, const Size &right, const Entry &entry);
/// 0 <= low and low + count <= total, for all dims; `range` reads "T .. M+T-1".
IndexProof proveSlice(const Size &low, const Size &count, const Size &total, const Entry &entry);

/// Three-way comparison for all dims: -1, 0, 1 when left < right, left == right, left > right everywhere; nullopt when it
/// depends.
std::optional<int> compareAlways(const Size &left, const Size &right, const Entry &entry);

/// size / divisor rounded down, where that is linear: the part of the dims divides, the constant alone is rounded. 4 * N - 1 by 2
/// is 2 * N - 1. The divisor is not 0.
std::optional<Size> divideDown(const Size &size, int64_t divisor);

} // namespace tenon
