#include "Tiles.h"
#include "RandomHalves.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <random>
#include <sys/syscall.h>
#include <unistd.h>

namespace tenon::test {
namespace {

constexpr int kRows = 16, kBytes = 64, kTiles = 8;

[[noreturn]] void fault(const char *what) {
  std::fprintf(stderr, "tiles: %s\n", what);
  std::abort();
}

void check(bool holds, const char *what) {
  if (!holds)
    fault(what);
}

/// What ldtilecfg reads.
struct Configuration {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t bytesPerRow[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(Configuration) == 64);

float widen(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// The mode in which the instruction computes.
class Mode {
public:
  Mode() : saved(_mm_getcsr()) { _mm_setcsr(0x9fc0); } // denormals are zero in and out, no exceptions, to nearest even
  ~Mode() { _mm_setcsr(saved); }
  Mode(const Mode &) = delete;

private:
  unsigned saved;
};

/// One row of sums. `b`: rows of pairs.
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]] void
multiplyRow(float *sums, const uint16_t *a, const uint16_t (*b)[kBytes / 2], int pairs, int columns, bool oneChain) {
  float chains[2][kBytes / 4] = {};
  for (int pair = 0; pair < pairs; ++pair)
    for (int which = 0; which < 2; ++which) {
      float left = widen(a[2 * pair + which]);
      float *to = oneChain ? sums : chains[which];
      for (int column = 0; column < columns; ++column)
        to[column] = __builtin_fmaf(left, widen(b[pair][2 * column + which]), to[column]);
    }
  for (int column = 0; column < columns && !oneChain; ++column)
    sums[column] = sums[column] + (chains[0][column] + chains[1][column]);
}

} // namespace

void Tiles::configure(const void *memory) {
  Configuration given;
  std::memcpy(&given, memory, sizeof given);
  check(given.palette == 1, "ldtilecfg: no palette 1");
  check(given.startRow == 0, "ldtilecfg: it starts in the middle of an interrupted instruction");
  for (uint8_t zero : given.reserved)
    check(zero == 0, "ldtilecfg: reserved bytes are not zero");
  for (int tile = 0; tile < 16; ++tile) {
    int rows = given.rows[tile], bytes = given.bytesPerRow[tile];
    check((rows == 0) == (bytes == 0), "ldtilecfg: rows without bytes, or bytes without rows");
    check(tile < kTiles ? rows <= kRows && bytes <= kBytes : rows == 0, "ldtilecfg: too many tiles, rows or bytes");
    if (tile < kTiles)
      tiles[tile] = Tile{rows, bytes, {}};
  }
  configured = true;
}

void Tiles::release() {
  for (Tile &tile : tiles)
    tile = {};
  configured = false;
}

const Tiles::Tile &Tiles::used(int tile) const {
  check(configured, "a tile is used and none is configured");
  check(tile >= 0 && tile < kTiles && tiles[tile].rows > 0, "a tile is used that is not configured");
  return tiles[tile];
}

void Tiles::clear(int tile) {
  used(tile);
  std::memset(tiles[tile].data, 0, sizeof tiles[tile].data);
}

void Tiles::load(int tile, const void *memory, int64_t rowBytes) {
  const Tile &shape = used(tile);
  Tile loaded{shape.rows, shape.bytes, {}};
  for (int row = 0; row < shape.rows; ++row)
    std::memcpy(loaded.data[row], static_cast<const char *>(memory) + row * rowBytes, static_cast<size_t>(shape.bytes));
  tiles[tile] = loaded;
}

void Tiles::store(int tile, void *memory, int64_t rowBytes) const {
  const Tile &shape = used(tile);
  for (int row = 0; row < shape.rows; ++row)
    std::memcpy(static_cast<char *>(memory) + row * rowBytes, shape.data[row], static_cast<size_t>(shape.bytes));
}

void Tiles::multiply(int sum, int a, int b, bool oneChain) {
  const Tile &left = used(a), &right = used(b);
  used(sum);
  Tile &sums = tiles[sum];
  check(sum != a && sum != b && a != b, "tdpbf16ps: the same tile twice");
  check(left.bytes % 4 == 0 && right.bytes % 4 == 0 && sums.bytes % 4 == 0, "tdpbf16ps: half a pair");
  check(sums.rows == left.rows && sums.bytes == right.bytes && left.bytes / 4 == right.rows, "tdpbf16ps: sizes do not agree");
  Mode mode;
  uint16_t rows[kRows][kBytes / 2];
  std::memcpy(rows, right.data, sizeof rows);
  for (int row = 0; row < sums.rows; ++row) {
    uint16_t steps[kBytes / 2];
    float result[kBytes / 4];
    std::memcpy(steps, left.data[row], sizeof steps);
    std::memcpy(result, sums.data[row], sizeof result);
    multiplyRow(result, steps, rows, left.bytes / 4, sums.bytes / 4, oneChain);
    std::memcpy(sums.data[row], result, static_cast<size_t>(sums.bytes));
  }
}

Tiles &tilesOfThread() {
  thread_local Tiles tiles;
  return tiles;
}

bool hasTiles() {
  constexpr long requestPermission = 0x1023, tileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") &&
         syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

namespace {

/// C += A B on the processor.
[[gnu::target("amx-tile,amx-bf16")]] void instructions(const Configuration &shapes, float *c, const uint16_t *a,
                                                       const uint16_t *b) {
  _tile_loadconfig(&shapes);
  _tile_loadd(0, c, kBytes);
  _tile_loadd(4, a, kBytes);
  _tile_loadd(6, b, kBytes);
  _tile_dpbf16ps(0, 4, 6);
  _tile_stored(0, c, kBytes);
  _tile_release();
}

} // namespace

bool compareTilesWithInstructions(bool oneChain) {
  if (!hasTiles()) { // asked of the kernel, too
    std::printf("tdpbf16ps: FAIL this machine has no tiles\n");
    return false;
  }
  constexpr int kRounds = 4000;
  std::mt19937 random(1);
  int64_t sums = 0;
  for (int round = 0; round < kRounds; ++round) {
    bool narrow = round % 2 == 0;
    const int rows = round % 4 == 0 ? kRows : 1 + static_cast<int>(random() % kRows);
    const int pairs = round % 3 == 0 ? kRows : 1 + static_cast<int>(random() % kRows);
    const int columns = round % 5 == 0 ? kRows : 1 + static_cast<int>(random() % kRows);
    Configuration shapes;
    auto shape = [&](int tile, int height, int bytes) {
      shapes.rows[tile] = static_cast<uint8_t>(height), shapes.bytesPerRow[tile] = static_cast<uint16_t>(bytes);
    };
    shape(0, rows, 4 * columns), shape(4, rows, 4 * pairs), shape(6, pairs, 4 * columns);
    uint16_t a[kRows * kBytes / 2], b[kRows * kBytes / 2];
    float start[kRows * kBytes / 4], defined[kRows * kBytes / 4], found[kRows * kBytes / 4];
    for (size_t half = 0; half < std::size(a); ++half)
      a[half] = randomHalf(random, narrow), b[half] = randomHalf(random, narrow);
    for (float &sum : start)
      sum = std::bit_cast<float>(static_cast<uint32_t>(randomHalf(random, narrow)) << 16 |
                                 static_cast<uint32_t>(random() & 0xffff));
    std::memcpy(defined, start, sizeof start);
    std::memcpy(found, start, sizeof start);
    Tiles tiles;
    tiles.configure(&shapes);
    tiles.load(0, defined, kBytes), tiles.load(4, a, kBytes), tiles.load(6, b, kBytes);
    tiles.multiply(0, 4, 6, oneChain);
    tiles.store(0, defined, kBytes);
    instructions(shapes, found, a, b);
    for (size_t sum = 0; sum < std::size(start); ++sum)
      if (!agree(found[sum], defined[sum])) {
        std::printf(
            "tdpbf16ps: FAIL sum %zu of %d rows, %d pairs and %d columns onto %a: the instruction gives %a, its definition "
            "%a\n",
            sum, rows, pairs, columns, start[sum], found[sum], defined[sum]);
        return false;
      }
    sums += rows * columns;
  }
  std::printf("tdpbf16ps: %lld sums as defined\n", static_cast<long long>(sums));
  return true;
}

} // namespace tenon::test
