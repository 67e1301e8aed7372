// Where the time of a GPU goes, in two ways: `kernels` one by one between events, without graphs; `runs` as they are otherwise,
// with the host's part of each. TENON_GPU_PROFILE=kernels or =runs prints a table on stderr when the artifact is closed,
// =kernels:FILE appends a line of JSON to the file.
#pragma once
#include "runtime/cuda/CudaDevice.h"
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

namespace tenon::runtime::cuda {

constexpr const char *kProfileVariable = "TENON_GPU_PROFILE";

class Profile {
public:
  /// Null where the environment asks for none. Fails where it asks for something else.
  static Expected<std::unique_ptr<Profile>> ofEnvironment(CudaDevice &device);
  ~Profile();
  bool ofKernels() const { return isOfKernels; }

  /// A run begins, behind the end of the one before; its launches are written down; they are given to the driver, `launch`
  /// seconds of it in the start of a graph.
  Status begin();
  void described(size_t launches) { times[1] = Clock::now(), written = std::max(written, launches); }
  void launching() { times[3] = Clock::now(); }
  void launched() { launch = seconds(times[3], Clock::now()); }
  /// Before the launch of this kernel, or of a whole run.
  Status before(uint32_t kernel);
  /// Behind the last. Nobody waits here, as nobody does without a profile.
  Status end(std::string_view entry);
  /// Table or line, of all runs that have ended.
  Status report(const TnModule &module);

private:
  using Clock = std::chrono::steady_clock;
  /// All in seconds.
  struct Run {
    std::string entry;
    std::vector<double> device, describe, start, launch;
    std::vector<size_t> written; // most launches at once; of a graph that is started again those alone that may have changed
  };
  Profile(CudaDevice &device, bool ofKernels, std::string path) : device(device), isOfKernels(ofKernels), path(std::move(path)) {}
  static double seconds(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }
  Status mark();
  Status settle();
  Status cover();
  Run &runOf(std::string_view entry);
  std::string table(const TnModule &module) const;
  std::string line(const TnModule &module) const;

  CudaDevice &device;
  const bool isOfKernels;
  const std::string path; // empty: a table
  Address covered = 0;    // memory that `cover` writes
  /// A run whose times on the device are not noted yet.
  struct Open {
    std::string entry;
    size_t first, kernels; // its first event, behind which there is one for each kernel, or one
  };
  std::vector<Open> open;
  std::vector<Handle> events;
  size_t next = 0;                           // the event that is recorded next
  std::vector<uint32_t> marked;              // kernels behind the events of this run
  std::vector<std::vector<double>> ofKernel; // seconds of each launch
  std::vector<Run> runs;
  Clock::time_point times[4];
  double launch = 0;
  size_t written = 0;
};

} // namespace tenon::runtime::cuda
