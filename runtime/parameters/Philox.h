// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a counter goes in, 128 random bits come
// out; there is no state. Constants and the known answers in the tests are those of the Random123 library.
#pragma once
#include <array>
#include <cstdint>

namespace tenon::runtime {

using PhiloxBlock = std::array<uint32_t, 4>;

inline PhiloxBlock philox(PhiloxBlock counter, uint64_t seed) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53u) * counter[0], second = uint64_t(0xCD9E8D57u) * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(first)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// (0, 1): never 0, so that a logarithm is finite. 52 bits of the two words.
inline double openUniform(uint32_t high, uint32_t low) {
  uint64_t bits = (static_cast<uint64_t>(high) << 32 | low) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

} // namespace tenon::runtime
