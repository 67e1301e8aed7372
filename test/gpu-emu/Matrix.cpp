// Tensor cores of the first rung: ldmatrix and mma.sync. Which lane holds which element is by PTX's figures; with group = lane /
// 4 and quad = lane % 4.
#include "Banks.h"
#include "Models.h"
#include "Shadow.h"
#include <vector>

namespace tenon::emu {
namespace {

constexpr uint32_t kAll = ~0u;

/// Lane i has the address of row i % 8 of matrix i / 8. Register j of a lane holds two neighbours of matrix j: of row `group` the
/// columns 2 quad and 2 quad + 1; transposed, of column `group` these rows.
void loadMatrices(const Site &site, uint32_t warp, uint32_t) {
  const int matrices = site.model->parameter & 7;
  const bool transposed = site.model->parameter & kTransposed;
  uint16_t rows[32][8];
  uint64_t addresses[32];
  for (int i = 0; i < 8 * matrices; ++i) {
    const Thread &thread = threadOf(warp, i);
    const uint64_t address = addresses[i] = thread.arguments[0];
    if (address % 16)
      fail("misaligned", nameOf(thread) + " gives a row that is not aligned to 16 bytes, at " + placeOf(site));
    if (machine.mode.checked)
      shadowRead(site, thread, address, 16);
    memcpy(rows[i], reinterpret_cast<const void *>(address), 16);
  }
  if (machine.mode.banks)
    countRows(site, addresses, 8 * unsigned(matrices));
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const unsigned group = lane / 4, quad = lane % 4;
    uint32_t registers[4];
    for (int j = 0; j < matrices; ++j) {
      const uint16_t low = transposed ? rows[8 * j + 2 * quad][group] : rows[8 * j + group][2 * quad];
      const uint16_t high = transposed ? rows[8 * j + 2 * quad + 1][group] : rows[8 * j + group][2 * quad + 1];
      registers[j] = uint32_t(high) << 16 | low;
    }
    memcpy(threadOf(warp, lane).result, registers, 4 * matrices);
  }
}

const float *f16Table() {
  static const std::vector<float> table = [] {
    std::vector<float> values(1 << 16);
    for (uint32_t bits = 0; bits < values.size(); ++bits)
      values[bits] = fromF16(bits);
    return values;
  }();
  return table.data();
}

float valueOf(int type, uint16_t bits) { return type == kBf16 ? fromBf16(bits) : f16Table()[bits]; }

} // namespace

MmaPlace placeInA(int depth, int type, int lane, int value) {
  const int group = lane / 4, quad = lane % 4;
  if (type == kTf32) // one value per register
    return {group + 8 * (value & 1), quad + 4 * (value >> 1)};
  const int pair = value / 2; // two to a register: rows first, then the upper half of the depth
  return {group + 8 * (pair & 1), 2 * quad + (value & 1) + 8 * (pair >> 1)};
}

MmaPlace placeInB(int depth, int type, int lane, int value) {
  const int group = lane / 4, quad = lane % 4;
  if (type == kTf32)
    return {quad + 4 * value, group};
  return {2 * quad + (value & 1) + 8 * (value >> 1), group};
}

MmaPlace placeInC(int lane, int value) { return {lane / 4 + 8 * (value >> 1), 2 * (lane % 4) + (value & 1)}; }

namespace {

/// D = A B + C, 16 x depth by depth x 8, summed in order of the depth in f32.
void multiply(const Site &site, uint32_t warp, uint32_t) {
  const int depth = site.model->parameter / 8, type = site.model->parameter & 3;
  const int perRegister = type == kTf32 ? 1 : 2;
  const int ofA = 16 * depth / 32, ofB = 8 * depth / 32; // values per lane
  const int firstB = ofA / perRegister, firstC = firstB + ofB / perRegister;
  float a[16][16], b[8][16];
  ++machine.products;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const uint64_t *arguments = threadOf(warp, lane).arguments;
    const auto value = [&](int first, int i) {
      const uint32_t bits = argument<uint32_t>(arguments, first + i / perRegister);
      if (type != kTf32)
        return valueOf(type, bits >> 16 * (i & 1));
      const uint32_t kept = bits & ~0x1fffu; // the rest is ignored
      float result;
      memcpy(&result, &kept, sizeof result);
      return result;
    };
    for (int i = 0; i < ofA; ++i) {
      const MmaPlace place = placeInA(depth, type, lane, i);
      a[place.row][place.column] = value(0, i);
    }
    for (int i = 0; i < ofB; ++i) {
      const MmaPlace place = placeInB(depth, type, lane, i);
      b[place.column][place.row] = value(firstB, i);
    }
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    Thread &thread = threadOf(warp, lane);
    float sums[4];
    for (int i = 0; i < 4; ++i) {
      const MmaPlace place = placeInC(lane, i);
      float sum = argument<float>(thread.arguments, firstC + i);
      for (int k = 0; k < depth; ++k)
        sum += a[place.row][k] * b[place.column][k];
      sums[i] = sum;
    }
    memcpy(thread.result, sums, sizeof sums);
  }
}

} // namespace

void opLdmatrix(const Site &site, const uint64_t *arguments, void *result) { meet(site, kAll, arguments, result, loadMatrices); }
void opMma(const Site &site, const uint64_t *arguments, void *result) { meet(site, kAll, arguments, result, multiply); }

} // namespace tenon::emu
