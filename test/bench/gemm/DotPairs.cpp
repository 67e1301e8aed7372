#include "DotPairs.h"
#include "RandomHalves.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <immintrin.h>
#include <random>

namespace tenon::test {
namespace {

constexpr int kLanes = 16;

float widen(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

[[gnu::target("avx512f,avx512bf16")]] void instruction(float *sum, const uint16_t *a, const uint16_t *b) {
  __m512bh left, right;
  std::memcpy(&left, a, sizeof left);
  std::memcpy(&right, b, sizeof right);
  _mm512_storeu_ps(sum, _mm512_dpbf16_ps(_mm512_loadu_ps(sum), left, right));
}

} // namespace

void dotPairs(float *sum, const uint16_t *a, const uint16_t *b, bool evenFirst) {
  for (int lane = 0; lane < kLanes; ++lane) {
    int first = 2 * lane + (evenFirst ? 0 : 1), second = first ^ 1;
    sum[lane] = std::fmaf(widen(a[second]), widen(b[second]), std::fmaf(widen(a[first]), widen(b[first]), sum[lane]));
  }
}

bool compareWithInstruction(bool evenFirst) {
  constexpr int kRounds = 100000;
  std::mt19937 random(1);
  for (int round = 0; round < kRounds; ++round) {
    bool narrow = round % 2 == 0;
    uint16_t a[2 * kLanes], b[2 * kLanes];
    float sum[kLanes], defined[kLanes], found[kLanes];
    for (int half = 0; half < 2 * kLanes; ++half)
      a[half] = randomHalf(random, narrow), b[half] = randomHalf(random, narrow);
    for (float &start : sum)
      start = std::bit_cast<float>(static_cast<uint32_t>(randomHalf(random, narrow)) << 16 |
                                   static_cast<uint32_t>(random() & 0xffff));
    std::memcpy(defined, sum, sizeof sum);
    std::memcpy(found, sum, sizeof sum);
    dotPairs(defined, a, b, evenFirst);
    instruction(found, a, b);
    for (int lane = 0; lane < kLanes; ++lane)
      if (!agree(found[lane], defined[lane])) {
        std::printf("vdpbf16ps: FAIL %a + %a * %a + %a * %a: the instruction gives %a, its definition %a\n", sum[lane],
                    widen(a[2 * lane + 1]), widen(b[2 * lane + 1]), widen(a[2 * lane]), widen(b[2 * lane]), found[lane],
                    defined[lane]);
        return false;
      }
  }
  std::printf("vdpbf16ps: %d sums as defined\n", kRounds * kLanes);
  return true;
}

void flushDenormals() { _mm_setcsr(_mm_getcsr() | 0x8040); }

} // namespace tenon::test
