#include "runtime/data/Random.h"

namespace tenon::data {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{0xD2511F53u} * c[0], p1 = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1), static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1],
         static_cast<uint32_t>(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

RandomStream::RandomStream(uint64_t seed, Purpose purpose, uint64_t index, uint32_t part)
    : counter{0, part, static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32)},
      // The purpose goes into the key: the counter words hold block, part and index in full.
      key{static_cast<uint32_t>(seed) ^ (static_cast<uint32_t>(purpose) * 0x9E3779B1u), static_cast<uint32_t>(seed >> 32)} {}

uint32_t RandomStream::next() {
  if (used == 4) {
    block = philox(counter, key);
    ++counter[0];
    used = 0;
  }
  return block[used++];
}

double RandomStream::uniform() {
  uint64_t high = next() >> 5, low = next() >> 6;
  return static_cast<double>(high * 67108864 + low) * (1.0 / 9007199254740992.0);
}

uint64_t RandomStream::below(uint64_t n) {
  // Values at or above the largest multiple of n are drawn again.
  uint64_t limit = UINT64_MAX - (UINT64_MAX % n + 1) % n;
  for (;;) {
    uint64_t high = next();
    uint64_t value = high << 32 | next();
    if (value <= limit)
      return value % n;
  }
}

Permutation::Permutation(uint64_t seed, uint64_t epoch, uint64_t size) : seed(seed), epoch(epoch), size(size), halfBits(1) {
  while (halfBits < 32 && (uint64_t{1} << (2 * halfBits)) < size)
    ++halfBits;
  if (size > kShuffled)
    return;
  for (uint8_t i = 0; i < size; ++i)
    order.push_back(i);
  RandomStream(seed, Purpose::Order, epoch).shuffle(order);
}

uint64_t Permutation::round(uint64_t value) const {
  uint64_t mask = (uint64_t{1} << halfBits) - 1;
  uint64_t left = value >> halfBits, right = value & mask;
  std::array<uint32_t, 2> key{static_cast<uint32_t>(seed) ^ static_cast<uint32_t>(Purpose::Order),
                              static_cast<uint32_t>(seed >> 32)};
  for (uint32_t i = 0; i < 4; ++i) {
    uint64_t mixed =
        philox({static_cast<uint32_t>(right), i, static_cast<uint32_t>(epoch), static_cast<uint32_t>(epoch >> 32)}, key)[0];
    uint64_t next = left ^ (mixed & mask);
    left = right;
    right = next;
  }
  return left << halfBits | right;
}

uint64_t Permutation::operator()(uint64_t index) const {
  if (!order.empty())
    return order[index];
  do
    index = round(index);
  while (index >= size);
  return index;
}

} // namespace tenon::data
