// A GPU as a device: its memory is its own, its code is PTX that the driver compiles, and runs go on when they return, one after
// the other in one stream.
#pragma once
#include "runtime/cuda/Staging.h"
#include "runtime/device/Device.h"
#include <string>

namespace tenon::runtime::cuda {

/// 0: kernels are launched one by one; each: and waited for, so that an error names the kernel that made it. The numbers are the
/// same.
constexpr const char *kGraphsVariable = "TENON_CUDA_GRAPHS";
constexpr std::string_view kWaitForEach = "each";

/// One thread at a time, not always the same.
class CudaDevice : public Device {
public:
  /// The first GPU that the driver shows (CUDA_VISIBLE_DEVICES says which). It lives as long as the process. Fails, with the
  /// reason, where there is no driver or no GPU.
  static Expected<CudaDevice *> open();
  std::string_view name() const override { return "cuda"; }
  bool sharesMemory() const override { return false; }
  Expected<DeviceMemory> allocate(uint64_t bytes, unsigned staggerSteps, const char *purpose) override;
  /// Memory of a GPU is taken when it is allocated: what is free, and what is allocated.
  uint64_t availableBytes() const override { return freeBytes() + heldBytes; }
  Status copyIn(const DeviceView &to, const void *from) override;
  Status copyOut(void *to, const DeviceView &from) override;
  Status copyWithin(const DeviceView &to, const DeviceView &from) override;
  Status fillZero(const DeviceView &to) override;
  Status wait() override;
  Expected<std::unique_ptr<DeviceCode>> open(const std::string &path) override;

  const Driver &driver() const { return *functions; }
  Handle stream() const { return queue; }
  const std::string &chipName() const { return chip; }
  /// Compute capability, 80 for sm_80.
  int capability() const { return version; }
  /// Makes the context that of this thread.
  Status activate() const;
  /// An error of `result`, null if it is none. Errors of what ran before arrive late: the kernel that was started last is named.
  Status check(Result result, const char *what) const;
  /// Of the kernel that was started last; an error is that kernel's where each was waited for.
  Status waitForKernel() const;
  /// For messages.
  void started(const char *kernel, const char *place) { lastKernel = kernel, lastPlace = place, lastGraph = 0; }
  void startedGraph(std::string_view entry, size_t kernels) { lastKernel = entry, lastPlace.clear(), lastGraph = kernels; }

  /// What follows an allocation of so many bytes, or a release.
  void holds(uint64_t bytes) { heldBytes += bytes; }
  void gives(uint64_t bytes) { heldBytes -= bytes; }

private:
  explicit CudaDevice(const Driver &driver) : functions(&driver), staging(driver) {}
  Status start();
  std::string whatRan() const;
  uint64_t freeBytes() const;
  std::string lastStarted() const;
  const Driver *functions;
  Staging staging;
  Handle context = nullptr, queue = nullptr;
  std::string chip;
  int version = 0;
  uint64_t heldBytes = 0; // by allocations
  std::string lastKernel, lastPlace;
  size_t lastGraph = 0; // kernels of the graph of the entry lastKernel; 0: a kernel was started by itself
};

} // namespace tenon::runtime::cuda
