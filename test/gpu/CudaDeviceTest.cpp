// cuda-device-test: copies of runtime/cuda on the stand-in for NVIDIA's driver (TENON_LIBCUDA): larger than what is pinned, from
// memory that changes as soon as a call returns, many between two waits. Prints what differs; exit 1 then.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/Staging.h"
#include <cstdio>

using namespace tenon::runtime;

static uint8_t byteAt(uint64_t i, unsigned round) { return static_cast<uint8_t>(i * 31 + (i >> 11) + round * 7); }

static void need(const Status &status) {
  if (status.failed()) {
    printf("FAILED: %s\n", status.message().c_str());
    exit(1);
  }
}

/// Whether `rounds` copies of `bytes` each, one behind the other on the device, come back.
static bool comeBack(Device &device, uint64_t bytes, unsigned rounds) {
  auto memory = device.allocate(bytes * rounds, 0, "copies");
  need(memory.status());
  std::vector<uint8_t> values(bytes);
  for (unsigned round = 0; round < rounds; ++round) {
    for (uint64_t i = 0; i < bytes; ++i)
      values[i] = byteAt(i, round);
    need(memory->view().part(bytes * round, bytes).write(values.data()));
  }
  std::vector<uint8_t> found(bytes * rounds);
  need(memory->view().read(found.data()));
  for (uint64_t i = 0; i < found.size(); ++i)
    if (found[i] != byteAt(i % bytes, static_cast<unsigned>(i / bytes))) {
      printf("WRONG: byte %llu of copies of %llu\n", static_cast<unsigned long long>(i), static_cast<unsigned long long>(bytes));
      return false;
    }
  return true;
}

int main() {
  auto device = cuda::CudaDevice::open();
  need(device.status());
  constexpr uint64_t piece = cuda::Staging::kPieceBytes;
  bool good = true;
  for (auto [bytes, rounds] : {std::pair<uint64_t, unsigned>(1, 3), {1000, 5000}, {piece, 4}, {3 * piece + 77, 2}})
    good &= comeBack(**device, bytes, rounds);
  puts(good ? "all copies are right" : "FAILED");
  return good ? 0 : 1;
}
