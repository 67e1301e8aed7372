// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): a draw is a function of a key and a counter,
// so a data position needs no generator state and any batch can be made on its own.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::data {

/// The block of four words that `counter` has under `key`.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// What draws are for; keeps the streams of one (seed, index) apart.
enum class Purpose : uint32_t { Order = 1, Shift, Pairs, Mask, Rank, Sample, Tasks, Direction, Crop };

/// The draws of one (seed, purpose, index, part), one after the other.
class RandomStream {
public:
  RandomStream(uint64_t seed, Purpose purpose, uint64_t index, uint32_t part = 0);
  uint32_t next();
  /// Uniform in [0, 1) with 53 bits.
  double uniform();
  /// Uniform in [0, n) without bias; n > 0.
  uint64_t below(uint64_t n);
  /// Uniform in [low, high], both included; low <= high.
  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1)); }
  /// Fisher-Yates on anything with size() and operator[].
  template <typename Items> void shuffle(Items &items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(i))]);
  }

private:
  std::array<uint32_t, 4> counter;
  std::array<uint32_t, 2> key;
  std::array<uint32_t, 4> block{};
  unsigned used = 4;
};

/// A permutation of [0, n) that is computed one element at a time: a Feistel network over the next even power of two, walked
/// until it lands inside (Black and Rogaway 2002). Its halves of a few bits are far from uniform, so that up to kShuffled
/// elements are shuffled as a whole. `epoch` picks another permutation.
class Permutation {
public:
  Permutation(uint64_t seed, uint64_t epoch, uint64_t size);
  uint64_t operator()(uint64_t index) const;

private:
  static constexpr uint64_t kShuffled = 64;
  uint64_t round(uint64_t value) const;
  std::vector<uint8_t> order; // of so few
  uint64_t seed, epoch, size;
  unsigned halfBits;
};

} // namespace tenon::data
