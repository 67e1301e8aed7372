#ifndef TENON_TEST_BENCH_GEMM_TILES_H
#define TENON_TEST_BENCH_GEMM_TILES_H

#include <cstdint>

namespace tenon::test {

/// The tiles of one thread (AMX) and what its instructions do with them, by Intel's definition. What the processor would answer
/// with a fault ends the process with a sentence.
class Tiles {
public:
  void configure(const void *memory); ///< ldtilecfg: 64 bytes, palette 1; clears all tiles
  void release();                     ///< tilerelease
  bool areReleased() const { return !configured; }
  void clear(int tile);                                       ///< tilezero
  void load(int tile, const void *memory, int64_t rowBytes);  ///< tileloadd
  void store(int tile, void *memory, int64_t rowBytes) const; ///< tilestored
  /// tdpbf16ps: per element of `sum` one chain of fused multiply-adds over the even halves of the pairs and one over the odd,
  /// both from zero; both added, then that to the sum. Denormals are zero and rounding is to nearest even, whatever MXCSR says.
  /// `oneChain`: another order, a pair after the other onto the sum.
  void multiply(int sum, int a, int b, bool oneChain = false);

private:
  struct Tile {
    int rows = 0, bytes = 0;
    alignas(64) uint8_t data[16][64] = {};
  };
  const Tile &used(int tile) const;
  Tile tiles[8];
  bool configured = false;
};

/// Of the running thread.
Tiles &tilesOfThread();

/// Whether the machine has the instructions and the operating system lets this process use them.
bool hasTiles();

/// Compares with the instructions on random bits and shapes of tiles; prints what differs, or how many sums agree. The machine
/// must have them.
bool compareTilesWithInstructions(bool oneChain);

} // namespace tenon::test

#endif // TENON_TEST_BENCH_GEMM_TILES_H
