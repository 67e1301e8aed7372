// A device for tests, whose memory faults wherever the host reads or writes it outside of the device's own copies and runs, and
// which does what it is told as late as it may: when somebody waits for it.
#pragma once
#include "runtime/device/HostDevice.h"
#include <deque>
#include <functional>
#include <map>

namespace tenon::runtime::test {

class GuardedDevice : public Device {
public:
  ~GuardedDevice() override;
  std::string_view name() const override { return "guarded"; }
  bool runsCodeFor(std::string_view device) const override { return hostDevice().runsCodeFor(device); }
  bool sharesMemory() const override { return false; }
  Expected<DeviceMemory> allocate(uint64_t bytes, unsigned staggerSteps, const char *purpose) override;
  uint64_t availableBytes() const override { return uint64_t(1) << 30; }
  Status copyIn(const DeviceView &to, const void *from) override;
  Status copyOut(void *to, const DeviceView &from) override;
  Status copyWithin(const DeviceView &to, const DeviceView &from) override;
  Status fillZero(const DeviceView &to) override;
  Status wait() override;
  Expected<std::unique_ptr<DeviceCode>> open(const std::string &path) override;

  struct Counts {
    uint64_t copiesIn = 0, bytesIn = 0, copiesOut = 0, bytesOut = 0, copiesWithin = 0, fills = 0, runs = 0, allocations = 0;
  };
  Counts counts; // may be set back

  /// Spoils for negative controls: views claim that the host can address the memory; copies in lose a bit; the next run fails
  /// when somebody waits for it.
  bool claimsHostView = false, losesBits = false, failsNextRun = false;

private:
  friend class GuardedBlock;
  friend class GuardedCode;
  void tell(std::function<Status()> work) { queue.push_back(std::move(work)); }
  void unlock(bool open) const;
  std::deque<std::function<Status()>> queue;
  std::map<void *, uint64_t> blocks; // mappings and their bytes
};

} // namespace tenon::runtime::test
