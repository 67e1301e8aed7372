// Where the emulated memory lies in the address space of the process.
//
// Shared memory is one arena below 4 GiB whose address is a multiple of 256 KiB: 32-bit shared addresses, and the 18 bits that
// descriptors hold, are exact. Around it, and around each buffer of the device, are pages without access. Buffers end where a
// page ends, but for the rest to 256 bytes, and no address is handed out twice, so that the first access behind a buffer, or of
// a freed one, faults even when nothing is checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::emu {

constexpr uint32_t kArena = 256 << 10;
/// Maps the arena on the first call.
uintptr_t sharedArena();
inline bool inArena(uintptr_t address) { return address - sharedArena() < kArena; }

struct Buffer {
  uint64_t begin = 0, bytes = 0;
  bool contains(uint64_t address, uint64_t size) const {
    return address >= begin && size <= bytes && address - begin <= bytes - size;
  }
};

/// A buffer of the device, filled with NaN bytes; 0 when the device has no more memory. `bytes` is not 0.
uint64_t allocateBuffer(uint64_t bytes, uint64_t limit);
/// False if no buffer begins there.
bool freeBuffer(uint64_t address);
/// The buffer that `address` lies in, or the one before it; null if there is none.
const Buffer *bufferAt(uint64_t address);
std::vector<Buffer> allBuffers(); // by address
uint64_t allocatedBytes();
/// Whether the address is one that buffers have or had.
bool isDeviceAddress(uint64_t address);

/// While one lives, the host may read and write buffers; else it faults. Nests.
class OpenMemory {
public:
  OpenMemory();
  ~OpenMemory();
  OpenMemory(const OpenMemory &) = delete;
};

} // namespace tenon::emu
