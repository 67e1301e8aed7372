// Runs as CUDA graphs: what a run launches is written down first; a run that launches the same kernels in the same memory a
// second time becomes a graph, and later ones start that whole, after the arguments that changed (numbers of the step) are set.
#pragma once
#include "runtime/cuda/CudaDevice.h"
#include "runtime/include/tenon/tensor_map.h"
#include <vector>

namespace tenon::runtime::cuda {

/// The launches of a run, in their order. All arguments have 8 bytes or less, but for maps of tensors: of these the numbers are
/// kept that the driver makes one of.
struct LaunchList {
  static constexpr uint32_t kMapWords = sizeof(TnTensorMap) / 8;
  struct Launch {
    uint32_t kernel, blocks, threads, shared;
    uint32_t first, count, maps; // word of the first argument, arguments, how many of them are maps, which come first
    uint32_t firstSpan, spans;   // of the addresses, which come next; 0: it may touch anything
    uint32_t words() const { return count + maps * (kMapWords - 1); }
    bool operator==(const Launch &) const = default;
  };
  std::vector<Launch> launches;
  std::vector<uint64_t> arguments;
  std::vector<int64_t> spans; // bytes that are touched from an address on, negative: some are written
  void clear() {
    launches.clear();
    arguments.clear();
    spans.clear();
  }
};

class Profile;

class Graphs {
public:
  explicit Graphs(CudaDevice &device) : device(device) {}
  Graphs(const Graphs &) = delete;
  Graphs &operator=(const Graphs &) = delete;
  ~Graphs() { clear(); }
  /// Told of what is launched; null: nobody is.
  Profile *profile = nullptr;
  /// Before the module of the kernels goes.
  void clear();
  /// Starts a run whose launches these are. `memory`: addresses that tell runs with other buffers apart, each of which has a
  /// graph of its own. `kernels`, `module`: what launches mean by the number of a kernel.
  Status run(const LaunchList &list, std::vector<uint64_t> memory, const std::vector<Handle> &kernels, const TnModule &module,
             std::string_view entry);
  /// One launch after the other.
  Status launchAll(const LaunchList &list, const std::vector<Handle> &kernels, const TnModule &module);

private:
  /// A run that was seen, and its graph from the second time on.
  struct Known {
    std::vector<uint64_t> memory;
    LaunchList list; // with the arguments that the graph has
    Handle graph = nullptr, executable = nullptr;
    std::vector<Handle> nodes;
    uint64_t lastRun = 0;
  };
  Known *find(const LaunchList &list, const std::vector<uint64_t> &memory);
  void remember(const LaunchList &list, std::vector<uint64_t> memory);
  Status build(Known &known, const std::vector<Handle> &kernels);
  Status update(Known &known, const LaunchList &list, const std::vector<Handle> &kernels);
  void destroy(Known &known);
  /// The driver's form of launch `i`; its arguments are those of `list` until the next call.
  Status nodeOf(const LaunchList &list, size_t i, const std::vector<Handle> &kernels, KernelNode &node);
  Status encode(const TnTensorMap &map, EncodedMap &encoded);
  CudaDevice &device;
  std::vector<Known> all;
  std::vector<void *> pointers;    // of nodeOf
  std::vector<EncodedMap> encoded; // of nodeOf
  uint64_t runs = 0;
};

} // namespace tenon::runtime::cuda
