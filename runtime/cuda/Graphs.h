// Runs as CUDA graphs: what a run launches is written down first; a run that launches the same kernels in the same memory a
// second time becomes a graph, and later ones start that whole. They write down the launches alone whose arguments can have
// changed (numbers of the step), and these are set.
#pragma once
#include "runtime/cuda/CudaDevice.h"
#include "runtime/include/tenon/tensor_map.h"
#include <optional>
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
    /// But for where its arguments are.
    bool isLike(Launch other) const {
      other.first = first;
      other.firstSpan = firstSpan;
      return *this == other;
    }
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
  /// Numbers that are equal for runs with the same launches in the same memory, but for what depends on numbers of the run.
  using Key = std::vector<uint64_t>;
  explicit Graphs(CudaDevice &device) : device(device) {}
  Graphs(const Graphs &) = delete;
  Graphs &operator=(const Graphs &) = delete;
  ~Graphs() { clear(); }
  /// Told of what is launched; null: nobody is.
  Profile *profile = nullptr;
  /// Before the module of the kernels goes.
  void clear();
  /// Whether `restart` has something to look for.
  bool hasGraph(const Key &key) const;
  /// Starts the graph of a run of which `numbers` are the launches that depend on numbers of the run (TN_NUMBERS_ONLY). False: no
  /// graph has these launches, so all of them have to be written down. `kernels`: what launches mean by the number of a kernel.
  Expected<bool> restart(const LaunchList &numbers, const Key &key, const std::vector<Handle> &kernels, std::string_view entry);
  /// Whether a run with these launches was there before.
  bool isKnown(const LaunchList &list, const Key &key) { return find(list, key); }
  /// `numbers`: those of `list` that TN_NUMBERS_ONLY gives.
  void remember(const LaunchList &list, const LaunchList &numbers, Key key);
  /// Starts a run that isKnown as a graph.
  Status run(const LaunchList &list, const Key &key, const std::vector<Handle> &kernels, std::string_view entry);
  /// One launch after the other. `module`: for messages.
  Status launchAll(const LaunchList &list, const std::vector<Handle> &kernels, const TnModule &module);

private:
  using Places = std::vector<uint32_t>; // of launches in a list
  /// A run that was seen, and its graph from the second time on.
  struct Known {
    Key key;
    LaunchList list;               // with the arguments that the graph has
    std::optional<Places> numbers; // those that depend on numbers of the run; none: nobody can say
    Handle graph = nullptr, executable = nullptr;
    std::vector<Handle> nodes;
    uint64_t lastRun = 0;
  };
  Known *find(const LaunchList &list, const Key &key);
  Status start(Known &known, std::string_view entry);
  Status build(Known &known, const std::vector<Handle> &kernels);
  /// Launch i of `list` is that of the graph at places[i]; without places at i.
  Status update(Known &known, const LaunchList &list, const Places *places, const std::vector<Handle> &kernels);
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
