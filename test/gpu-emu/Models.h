// The functions behind the rows of Ops.def, and what their parameters mean.
#pragma once
#include "Machine.h"
#include <cstring>

namespace tenon::emu {

/// Of barriers.
enum BarrierForm { kAligned = 1, kCounted = 2, kArrives = 4, kPopulation = 8, kAnd = 16, kOr = 32, kReduction = 8 + 16 + 32 };
/// Of shuffles and votes.
enum ShuffleForm { kUp, kDown, kButterfly, kIndex, kShuffle = 3, kWithPredicate = 4 };
enum VoteForm { kVoteAll, kVoteAny, kVoteUniform, kVoteBallot };
/// Of reductions over a warp.
enum ReduxForm { kReduxAdd, kReduxMinU, kReduxMaxU, kReduxMinS, kReduxMaxS, kReduxAnd, kReduxOr, kReduxXor };
/// Of matrix loads: matrices, plus 8 where they are transposed.
enum MatrixForm { kTransposed = 8 };
/// Of products: element types, with the depth.
enum MmaForm { kBf16 = 0, kF16 = 1, kTf32 = 2 };
constexpr int mma(int depth, int form) { return depth * 8 + form; }
/// Of copies: bytes, plus 32 where a last argument says how many of them come from the source.
enum CopyForm { kWithSize = 32 };
/// Of asynchronous products: columns above these bits. kFragmentA: the first operand is in registers; kFresh: sums are not read.
enum ProductForm { kTransposedA = 1, kTransposedB = 2, kHalf = 4, kFragmentA = 8, kFresh = 16, kFormBits = 5 };
/// Of arrivals at an mbarrier: what their second argument counts.
enum ArriveForm { kArrivals = 1, kBytes = 2 };
/// Of changes of registers.
enum RegisterForm { kGrows = 1 };
enum MathForm { kEx2, kLg2, kRcp, kRsqrt, kSqrt, kSin, kCos, kDivide };

#define TENON_EMU_MODEL(name) void name(const Site &site, const uint64_t *arguments, void *result)
TENON_EMU_MODEL(opBarrier);
TENON_EMU_MODEL(opWarpSync);
TENON_EMU_MODEL(opShuffle);
TENON_EMU_MODEL(opVote);
TENON_EMU_MODEL(opElect);
TENON_EMU_MODEL(opRedux);
TENON_EMU_MODEL(opMatchAny);
TENON_EMU_MODEL(opActiveMask);
TENON_EMU_MODEL(opLdmatrix);
TENON_EMU_MODEL(opMma);
TENON_EMU_MODEL(opCopy);
TENON_EMU_MODEL(opCommit);
TENON_EMU_MODEL(opWaitGroup);
TENON_EMU_MODEL(opWaitAll);
TENON_EMU_MODEL(opMbarrierInit);
TENON_EMU_MODEL(opMbarrierInvalidate);
TENON_EMU_MODEL(opMbarrierArrive);
TENON_EMU_MODEL(opMbarrierExpect);
TENON_EMU_MODEL(opMbarrierWait);
TENON_EMU_MODEL(opBulkCopy);
TENON_EMU_MODEL(opTensorCopy);
TENON_EMU_MODEL(opFenceBarriers);
TENON_EMU_MODEL(opFenceProxy);
TENON_EMU_MODEL(opProduct);
TENON_EMU_MODEL(opHold);
TENON_EMU_MODEL(opOpenProducts);
TENON_EMU_MODEL(opCommitProducts);
TENON_EMU_MODEL(opWaitProducts);
TENON_EMU_MODEL(opNothing);
TENON_EMU_MODEL(opRegisters);
TENON_EMU_MODEL(opMath);
TENON_EMU_MODEL(opMathF64);
TENON_EMU_MODEL(opToTf32);
TENON_EMU_MODEL(opPairTo16);
TENON_EMU_MODEL(opIsShared);
TENON_EMU_MODEL(opIsGlobal);
TENON_EMU_MODEL(opPermute);
TENON_EMU_MODEL(opNanosleep);

template <typename T> T argument(const uint64_t *arguments, unsigned i) {
  T value;
  memcpy(&value, arguments + i, sizeof value);
  return value;
}
template <typename T> void give(void *result, T value) { memcpy(result, &value, sizeof value); }

/// Which element of a product m16n8k(depth) a lane's value is: A by row and depth, B by depth and column, C and D by row and
/// column. Values are counted in the order of the arguments, the lower half of a register first.
struct MmaPlace {
  int row, column;
};
MmaPlace placeInA(int depth, int type, int lane, int value);
MmaPlace placeInB(int depth, int type, int lane, int value);
MmaPlace placeInC(int lane, int value);

/// The statement of inline assembly that is an asynchronous product; the model of one, null where it is another statement.
std::string productText(unsigned columns, int form);
const Model *findProduct(llvm::StringRef assembly);
/// That of assembly without a statement, which holds code that reads so many sums behind a wait for their products.
const Model *findHold(unsigned count);

float fromBf16(uint16_t bits);
float fromF16(uint16_t bits);
/// Nearest, ties to even.
uint16_t toBf16(float value);
uint16_t toF16(float value);

} // namespace tenon::emu
