// Random bits of elements: Philox 4x32-10 as in Salmon et al. 2011.
#include "test/lowering/cpu/Reference.h"
#include <array>

namespace tenon::test {

/// The four words of the counter (block, step, site, depth).
static std::array<uint32_t, 4> philox(const Machine &machine, uint64_t block, int64_t site, int64_t depth) {
  std::array<uint32_t, 4> c = {uint32_t(block), uint32_t(machine.step), uint32_t(site), uint32_t(depth)};
  uint32_t k[2] = {uint32_t(machine.seed), uint32_t(machine.seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53) * c[0], p1 = uint64_t(0xCD9E8D57) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k[1], uint32_t(p0)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c;
}
bool survives(const Machine &machine, uint64_t element, int64_t site, int64_t depth, int64_t threshold) {
  const auto words = philox(machine, 16 * (element / 128) + element % 16, site, depth);
  uint32_t which = (element / 16) % 8;
  return ((words[which / 2] >> (16 * (which % 2))) & 0xffff) >= uint32_t(threshold);
}
uint32_t randomBits(const Machine &machine, uint64_t element, int64_t site, int64_t depth) {
  return philox(machine, 16 * (element / 64) + element % 16, site, depth)[(element / 16) % 4];
}

} // namespace tenon::test
