#include "test/runtime/GuardedDevice.h"
#include "runtime/device/Threads.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace tenon::runtime::test {

/// As memory of a device is freed: after all work that may use it.
class GuardedBlock : public DeviceMemory::Block {
public:
  GuardedBlock(GuardedDevice &device, void *mapping) : device(device), mapping(mapping) {}
  ~GuardedBlock() override {
    (void)device.wait().ok(); // told to whoever waits next in a real device; here the memory is on its way out
    auto block = device.blocks.find(mapping);
    munmap(mapping, block->second);
    device.blocks.erase(block);
  }

private:
  GuardedDevice &device;
  void *mapping;
};

/// What a run was told, which the caller may change afterwards.
struct Launch {
  TnContext call;
  std::vector<int64_t> dims, offsets;
  std::vector<char *> arenas;
  std::vector<void *> inputs, outputs;

  Launch(const TnEntry &entry, const TnContext &told)
      : call(told), dims(told.dims, told.dims + entry.dim_count), offsets(told.offsets, told.offsets + entry.offset_count),
        arenas(told.arenas, told.arenas + TN_ARENA_COUNT), inputs(told.inputs, told.inputs + entry.input_count),
        outputs(told.outputs, told.outputs + entry.output_count) {
    call.dims = dims.data();
    call.offsets = offsets.data();
    call.arenas = arenas.data();
    call.inputs = inputs.data();
    call.outputs = outputs.data();
  }
  Launch(const Launch &) = delete;
};

class GuardedCode : public DeviceCode {
public:
  GuardedCode(GuardedDevice &device, std::unique_ptr<DeviceCode> code)
      : DeviceCode(code->table()), device(device), code(std::move(code)) {}
  Status choose(std::span<const TnEntry *const> entries, const std::vector<std::string> &listed,
                std::string_view wanted) override {
    return code->choose(entries, listed, wanted);
  }
  std::string_view variant() const override { return code->variant(); }
  Expected<int32_t> run(const TnEntry &entry, const TnContext &call) override {
    ++device.counts.runs;
    auto launch = std::make_shared<Launch>(entry, call);
    const bool fails = std::exchange(device.failsNextRun, false);
    device.tell([this, &entry, launch, fails]() -> Status {
      if (fails)
        return Status(ErrorKind::Resource, concat("the device guarded has lost a run of '", entry.name, "'"));
      FloatingPointScope mode;
      device.unlock(true);
      auto result = code->run(entry, launch->call);
      device.unlock(false);
      if (result.ok() && *result != 0)
        return inputError("run-time check number ", *result);
      return result.status();
    });
    return 0;
  }

private:
  GuardedDevice &device;
  std::unique_ptr<DeviceCode> code;
};

GuardedDevice::~GuardedDevice() {
  if (!blocks.empty()) {
    fprintf(stderr, "%zu blocks of the device outlive it\n", blocks.size());
    abort();
  }
}

void GuardedDevice::unlock(bool open) const {
  for (const auto &[mapping, bytes] : blocks)
    if (mprotect(mapping, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
      abort();
}

Expected<DeviceMemory> GuardedDevice::allocate(uint64_t bytes, unsigned, const char *purpose) {
  ++counts.allocations;
  const uint64_t pages = (bytes + 4095) / 4096 * 4096 + 4096;
  void *mapping = mmap(nullptr, pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return resourceError("not enough memory for ", purpose);
  blocks[mapping] = pages;
  char *const host = claimsHostView ? static_cast<char *>(mapping) : nullptr;
  return DeviceMemory(DeviceView(*this, reinterpret_cast<uintptr_t>(mapping), bytes, host),
                      std::make_unique<GuardedBlock>(*this, mapping));
}

Status GuardedDevice::copyIn(const DeviceView &to, const void *from) {
  ++counts.copiesIn;
  counts.bytesIn += to.size();
  std::vector<char> values(static_cast<const char *>(from), static_cast<const char *>(from) + to.size());
  if (losesBits)
    values[0] ^= 1;
  tell([this, to, values = std::move(values)]() -> Status {
    unlock(true);
    std::memcpy(to.codePointer(), values.data(), values.size());
    unlock(false);
    return {};
  });
  return {};
}

Status GuardedDevice::copyOut(void *to, const DeviceView &from) {
  ++counts.copiesOut;
  counts.bytesOut += from.size();
  if (Status status = wait(); status.failed())
    return status;
  unlock(true);
  std::memcpy(to, from.codePointer(), from.size());
  unlock(false);
  return {};
}

Status GuardedDevice::copyWithin(const DeviceView &to, const DeviceView &from) {
  ++counts.copiesWithin;
  tell([this, to, from]() -> Status {
    unlock(true);
    std::memcpy(to.codePointer(), from.codePointer(), to.size());
    unlock(false);
    return {};
  });
  return {};
}

Status GuardedDevice::fillZero(const DeviceView &to) {
  ++counts.fills;
  tell([this, to]() -> Status {
    unlock(true);
    std::memset(to.codePointer(), 0, to.size());
    unlock(false);
    return {};
  });
  return {};
}

Status GuardedDevice::wait() {
  Status first;
  while (!queue.empty()) {
    const std::function<Status()> work = std::move(queue.front());
    queue.pop_front();
    if (Status status = work(); status.failed() && first.ok())
      first = status;
  }
  return first;
}

Expected<std::unique_ptr<DeviceCode>> GuardedDevice::open(const std::string &path) {
  auto code = hostDevice().open(path);
  if (!code.ok())
    return code.status();
  return std::unique_ptr<DeviceCode>(std::make_unique<GuardedCode>(*this, code.take()));
}

} // namespace tenon::runtime::test
