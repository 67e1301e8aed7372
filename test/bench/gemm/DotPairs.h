#ifndef TENON_TEST_BENCH_GEMM_DOTPAIRS_H
#define TENON_TEST_BENCH_GEMM_DOTPAIRS_H

#include <cstdint>

namespace tenon::test {

/// What `vdpbf16ps` computes, for one register: sum[i] + a[2i + 1] b[2i + 1] + a[2i] b[2i] by two fused multiply-adds, the odd
/// one first. It reads and writes denormals as zero, as the threads of the runtime do; `evenFirst` is another order.
void dotPairs(float *sum, const uint16_t *a, const uint16_t *b, bool evenFirst);

/// Compares with the instruction on random bits of all exponents; prints what differs, or how many sums agree. The machine must
/// have it.
bool compareWithInstruction(bool evenFirst);

/// Denormals are zero in this thread, as in those of the runtime.
void flushDenormals();

} // namespace tenon::test

#endif // TENON_TEST_BENCH_GEMM_DOTPAIRS_H
