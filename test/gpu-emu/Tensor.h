// Tensors as the engine of copies reads them: what a CUtensorMap holds here.
#pragma once
#include <cstdint>
#include <string>

namespace tenon::emu {

constexpr unsigned kMapBytes = 128;

/// Of elements of 16 bits, zeros outside of it.
struct TensorMap {
  static constexpr uint64_t kMagic = 0x70616d726f736e65;
  uint64_t magic, address;
  uint64_t sizes[5], strides[4]; // innermost first; strides in bytes, of all but the innermost
  uint32_t box[5];
  uint32_t rank : 8, swizzle : 24; // bytes of a row in which chunks of 16 are turned: 128, 64, 32; 0: none
};
static_assert(sizeof(TensorMap) <= kMapBytes);

/// What NVIDIA's documentation of cuTensorMapEncodeTiled does not allow; empty: nothing.
std::string wrongIn(const TensorMap &map);
/// `address` with its chunk of 16 bytes turned, by the bits above those of a row: of `swizzle` bytes.
uint64_t turned(uint64_t address, uint32_t swizzle);

} // namespace tenon::emu
