// The host as a device: its memory is the process's, its code is a shared library or linked in, and a run has ended when it
// returns.
#pragma once
#include "runtime/device/Device.h"

namespace tenon::runtime {

/// Several threads may use it at once.
class HostDevice : public Device {
public:
  std::string_view name() const override { return "host"; }
  bool sharesMemory() const override { return true; }
  Expected<DeviceMemory> allocate(uint64_t bytes, unsigned staggerSteps, const char *purpose) override;
  uint64_t availableBytes() const override;
  Status copyIn(const DeviceView &to, const void *from) override;
  Status copyOut(void *to, const DeviceView &from) override;
  Status copyWithin(const DeviceView &to, const DeviceView &from) override;
  Status fillZero(const DeviceView &to) override;
  Status wait() override { return {}; }
  Expected<std::unique_ptr<DeviceCode>> open(const std::string &path) override;
};

/// The one of the process.
HostDevice &hostDevice();

} // namespace tenon::runtime
