// The code of an artifact on a GPU: the host's part of each entry, which launches the kernels of a module.
#pragma once
#include "runtime/cuda/Graphs.h"
#include "runtime/cuda/Profile.h"

namespace tenon::runtime::cuda {

class CudaCode : public DeviceCode {
public:
  /// `host`: holds the library open.
  CudaCode(CudaDevice &device, std::unique_ptr<DeviceCode> host)
      : DeviceCode(host->table()), device(device), host(std::move(host)), graphs(device) {}
  ~CudaCode() override;
  /// The most demanding variant that the chip can run, whose kernels are loaded: the driver compiles them here.
  Status choose(std::span<const TnEntry *const> entries, const std::vector<std::string> &listed,
                std::string_view wanted) override;
  std::string_view variant() const override { return chosen; }
  Expected<int32_t> run(const TnEntry &entry, const TnContext &call) override;

private:
  static void launch(const TnContext *context, int32_t kernel, int64_t blocks, int32_t threads, int32_t shared,
                     void *const *arguments, int32_t count, const int64_t *spans);
  static void groupReady(const TnContext *context, int64_t group);
  Status load(const TnModule &module);
  Status loadImage(const TnModule &from);
  /// So that launches of the kernel may have so much dynamic shared memory.
  Status allowShared(uint32_t kernel, int32_t bytes);
  /// Launches of the call in `list`, those alone that TN_NUMBERS_ONLY gives among `flags`; what the entry returns.
  int32_t describe(const TnVariant &variant, TnContext &call, uint64_t flags = 0);
  Expected<int32_t> start(const TnEntry &entry, TnContext &call);
  CudaDevice &device;
  std::unique_ptr<DeviceCode> host;
  std::string chosen;
  const TnModule *loaded = nullptr; // of the chosen variant
  Handle module = nullptr;
  std::vector<Handle> kernels;
  std::vector<int32_t> allowedShared; // bytes per kernel that were asked for
  LaunchList list;                    // of a run, not started yet
  Graphs graphs;
  std::unique_ptr<Profile> profile;  // null: nobody asked for one
  Status failure;                    // the first of a run
  const TnContext *caller = nullptr; // of a run
};

} // namespace tenon::runtime::cuda
