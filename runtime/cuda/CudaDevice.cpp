#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/CudaCode.h"
#include "runtime/device/HostDevice.h"

namespace tenon::runtime::cuda {

namespace {

/// Freeing waits for what was started before.
class CudaBlock : public DeviceMemory::Block {
public:
  CudaBlock(CudaDevice &device, Address address, uint64_t bytes) : device(device), address(address), bytes(bytes) {
    device.holds(bytes);
  }
  ~CudaBlock() override {
    if (device.activate().ok())
      device.driver().cuMemFree_v2(address); // an error is told to whoever waits next
    device.gives(bytes);
  }

private:
  CudaDevice &device;
  Address address;
  uint64_t bytes;
};

} // namespace

Expected<CudaDevice *> CudaDevice::open() {
  static const Expected<CudaDevice *> opened = []() -> Expected<CudaDevice *> {
    auto driver = Driver::open();
    if (!driver.ok())
      return driver.status();
    auto *device = new CudaDevice(**driver); // never freed: it outlives all that is static
    if (Status status = device->start(); status.failed()) {
      delete device;
      return status;
    }
    return device;
  }();
  return opened;
}

Status CudaDevice::start() {
  int count = 0, device = 0, major = 0, minor = 0;
  char name[256] = {};
  const Result ready = driver().cuInit(0);
  if (ready == kNoDevice)
    return resourceError("this machine has an NVIDIA driver, but no GPU that it shows");
  if (Status status = check(ready, "starting the driver"); status.failed())
    return status;
  if (Status status = check(driver().cuDeviceGetCount(&count), "counting the GPUs"); status.failed())
    return status;
  if (count == 0)
    return resourceError("this machine has an NVIDIA driver, but no GPU that it shows");
  Result result = driver().cuDeviceGet(&device, 0);
  if (result == kSuccess)
    result = driver().cuDeviceGetName(name, sizeof name - 1, device);
  if (result == kSuccess)
    result = driver().cuDeviceGetAttribute(&major, kComputeMajor, device);
  if (result == kSuccess)
    result = driver().cuDeviceGetAttribute(&minor, kComputeMinor, device);
  if (result == kSuccess)
    result = driver().cuDevicePrimaryCtxRetain(&context, device);
  if (result == kSuccess)
    result = driver().cuCtxSetCurrent(context);
  if (result == kSuccess)
    result = driver().cuStreamCreate(&queue, 0);
  if (result == kSuccess)
    result = staging.start(queue);
  chip = name;
  version = 10 * major + minor;
  return check(result, "starting the GPU");
}

Status CudaDevice::activate() const { return check(driver().cuCtxSetCurrent(context), "turning to the GPU"); }

Status CudaDevice::check(Result result, const char *what) const {
  return result == kSuccess ? Status() : resourceError(what, " failed", whatRan(), ": ", driver().textOf(result));
}

std::string CudaDevice::whatRan() const {
  if (lastKernel.empty())
    return "";
  if (lastGraph)
    return concat(", at or before the ", lastGraph, " kernels of '", lastKernel, "' that ran as one graph (", kGraphsVariable,
                  "=each names the kernel)");
  return concat(", at or before the kernel ", lastStarted(), " (", kGraphsVariable, "=each names the kernel itself)");
}

std::string CudaDevice::lastStarted() const { return lastPlace.empty() ? lastKernel : concat(lastKernel, " of ", lastPlace); }

Status CudaDevice::waitForKernel() const {
  const Result result = driver().cuStreamSynchronize(queue);
  return result == kSuccess ? Status() : resourceError("the kernel ", lastStarted(), " failed: ", driver().textOf(result));
}

Expected<DeviceMemory> CudaDevice::allocate(uint64_t bytes, unsigned, const char *purpose) {
  if (Status status = activate(); status.failed())
    return status;
  Address address = 0;
  // Code that chooses between elements of several tensors may read the first place of one that has none.
  constexpr uint64_t beyond = 64;
  const Result result = driver().cuMemAlloc_v2(&address, bytes + beyond);
  if (result == kOutOfMemory)
    return resourceError("the GPU (", chip, ") has no room for ", bytes, " bytes of ", purpose, ": ", freeBytes(),
                         " bytes are free");
  if (Status status = check(result, "allocating memory of the GPU"); status.failed())
    return status;
  DeviceMemory memory(DeviceView(*this, address, bytes, nullptr), std::make_unique<CudaBlock>(*this, address, bytes));
  if (Status status = fillZero(memory.view()); status.failed())
    return status;
  return memory;
}

uint64_t CudaDevice::freeBytes() const {
  size_t available = 0, total = 0;
  return activate().ok() && driver().cuMemGetInfo_v2(&available, &total) == kSuccess ? available : 0;
}

Status CudaDevice::copyIn(const DeviceView &to, const void *from) {
  Status status = activate();
  return status.failed() ? status : check(staging.copyIn(to.address(), from, to.size()), "a copy to the GPU");
}

Status CudaDevice::copyOut(void *to, const DeviceView &from) {
  Status status = activate();
  return status.failed() ? status : check(staging.copyOut(to, from.address(), from.size()), "a run on the GPU or a copy from it");
}

Status CudaDevice::copyWithin(const DeviceView &to, const DeviceView &from) {
  Status status = activate();
  return status.failed()
             ? status
             : check(driver().cuMemcpyDtoDAsync_v2(to.address(), from.address(), to.size(), queue), "a copy within the GPU");
}

Status CudaDevice::fillZero(const DeviceView &to) {
  Status status = activate();
  if (status.failed() || to.size() == 0)
    return status;
  return check(driver().cuMemsetD8Async(to.address(), 0, to.size(), queue), "clearing memory of the GPU");
}

Status CudaDevice::wait() {
  Status status = activate();
  return status.ok() ? check(driver().cuStreamSynchronize(queue), "a run on the GPU") : status;
}

Expected<std::unique_ptr<DeviceCode>> CudaDevice::open(const std::string &path) {
  auto code = hostDevice().open(path);
  if (!code.ok())
    return code.status();
  return std::unique_ptr<DeviceCode>(std::make_unique<CudaCode>(*this, code.take()));
}

} // namespace tenon::runtime::cuda
