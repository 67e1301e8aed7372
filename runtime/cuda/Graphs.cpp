#include "runtime/cuda/Graphs.h"
#include "runtime/cuda/Dependencies.h"
#include "runtime/cuda/Profile.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace tenon::runtime::cuda {

/// More than the two of a step (states have two places in turn), with some for other entries and for the slices of a batch. A run
/// that comes when there are so many, all of them in use, is launched kernel by kernel.
constexpr size_t kMostGraphs = 32;

void Graphs::clear() {
  if (!all.empty() && device.activate().ok())
    for (Known &known : all)
      destroy(known);
  all.clear();
}

/// What was started from it goes on.
void Graphs::destroy(Known &known) {
  if (known.executable)
    device.driver().cuGraphExecDestroy(known.executable);
  if (known.graph)
    device.driver().cuGraphDestroy(known.graph);
  known.executable = known.graph = nullptr;
  known.nodes.clear();
}

Graphs::Known *Graphs::find(const LaunchList &list, const Key &key) {
  for (Known &known : all)
    if (known.key == key && known.list.launches == list.launches)
      return &known;
  return nullptr;
}

/// Where in `list` the launches of `part` are, which have the same order; none: they are not.
static std::optional<std::vector<uint32_t>> placesOf(const LaunchList &part, const LaunchList &list) {
  std::vector<uint32_t> places;
  uint32_t next = 0;
  for (const LaunchList::Launch &launch : part.launches) {
    const auto arguments = part.arguments.begin() + launch.first;
    auto isThis = [&](const LaunchList::Launch &other) {
      return launch.isLike(other) && std::equal(arguments, arguments + launch.words(), list.arguments.begin() + other.first);
    };
    while (next < list.launches.size() && !isThis(list.launches[next]))
      ++next;
    if (next == list.launches.size())
      return std::nullopt;
    places.push_back(next++);
  }
  return places;
}

void Graphs::remember(const LaunchList &list, const LaunchList &numbers, Key key) {
  if (all.size() == kMostGraphs) {
    auto oldest = std::min_element(all.begin(), all.end(), [](const Known &a, const Known &b) { return a.lastRun < b.lastRun; });
    if (runs - oldest->lastRun < 4 * kMostGraphs)
      return;
    destroy(*oldest);
    all.erase(oldest);
  }
  Known known;
  known.key = std::move(key);
  known.list = list;
  known.numbers = placesOf(numbers, list);
  known.lastRun = ++runs;
  all.push_back(std::move(known));
}

bool Graphs::hasGraph(const Key &key) const {
  return std::any_of(all.begin(), all.end(), [&](const Known &known) { return known.executable && known.key == key; });
}

Expected<bool> Graphs::restart(const LaunchList &numbers, const Key &key, const std::vector<Handle> &kernels,
                               std::string_view entry) {
  for (Known &known : all) {
    if (!known.executable || !known.numbers || known.key != key || known.numbers->size() != numbers.launches.size())
      continue;
    size_t alike = 0;
    while (alike < numbers.launches.size() && numbers.launches[alike].isLike(known.list.launches[(*known.numbers)[alike]]))
      ++alike;
    if (alike < numbers.launches.size())
      continue;
    Status status = update(known, numbers, &*known.numbers, kernels);
    if (status.ok())
      status = start(known, entry);
    return status.ok() ? Expected<bool>(true) : status;
  }
  return false;
}

Status Graphs::run(const LaunchList &list, const Key &key, const std::vector<Handle> &kernels, std::string_view entry) {
  Known &known = *find(list, key);
  Status status = update(known, list, nullptr, kernels);
  if (status.ok() && !known.executable)
    status = build(known, kernels);
  if (status.ok())
    return start(known, entry);
  destroy(known);
  return status;
}

Status Graphs::start(Known &known, std::string_view entry) {
  known.lastRun = ++runs;
  device.startedGraph(entry, known.list.launches.size());
  if (Status status = profile ? profile->before(0) : Status(); status.failed())
    return status;
  if (profile)
    profile->launching();
  Status status = device.check(device.driver().cuGraphLaunch(known.executable, device.stream()), "the start of a graph");
  if (profile)
    profile->launched();
  return status;
}

Status Graphs::encode(const TnTensorMap &map, EncodedMap &made) {
  const Driver &driver = device.driver();
  if (!driver.cuTensorMapEncodeTiled)
    return resourceError("the NVIDIA driver of this machine is too old: it has no cuTensorMapEncodeTiled");
  constexpr uint32_t apart[] = {1, 1, 1, 1, 1};
  uint64_t sizes[5];
  std::transform(std::begin(map.sizes), std::end(map.sizes), sizes, [](uint64_t size) { return std::max<uint64_t>(size, 1); });
  return device.check(driver.cuTensorMapEncodeTiled(&made, kElements16, map.rank, reinterpret_cast<void *>(map.address), sizes,
                                                    map.strides, map.box, apart, 0, kSwizzle128, kPromote256, 0),
                      "describing a tensor to the GPU");
}

Status Graphs::nodeOf(const LaunchList &list, size_t i, const std::vector<Handle> &kernels, KernelNode &node) {
  const LaunchList::Launch &launch = list.launches[i];
  pointers.clear();
  encoded.resize(launch.maps);
  uint32_t word = launch.first;
  for (EncodedMap &map : encoded) {
    TnTensorMap asked;
    std::memcpy(&asked, &list.arguments[word], sizeof asked);
    if (Status status = encode(asked, map); status.failed())
      return status;
    word += LaunchList::kMapWords;
    pointers.push_back(&map);
  }
  for (; word < launch.first + launch.words(); ++word)
    pointers.push_back(const_cast<uint64_t *>(&list.arguments[word])); // which the driver only reads
  node = {kernels[launch.kernel], launch.blocks, 1, 1, launch.threads, 1, 1, launch.shared, pointers.data(), nullptr};
  return {};
}

static bool isSetTo(std::string_view value) {
  const char *given = std::getenv(kGraphsVariable);
  return given && given == value;
}

Status Graphs::launchAll(const LaunchList &list, const std::vector<Handle> &kernels, const TnModule &module) {
  const bool waitsForEach = isSetTo(kWaitForEach);
  for (size_t i = 0; i < list.launches.size(); ++i) {
    KernelNode node;
    if (Status status = nodeOf(list, i, kernels, node); status.failed())
      return status;
    const uint32_t kernel = list.launches[i].kernel;
    device.started(module.kernels[kernel], module.places[kernel]);
    const bool isMarked = profile && (i == 0 || profile->ofKernels());
    if (Status status = isMarked ? profile->before(kernel) : Status(); status.failed())
      return status;
    const Result result = device.driver().cuLaunchKernel(node.function, node.gridX, 1, 1, node.blockX, 1, 1, node.shared,
                                                         device.stream(), node.arguments, nullptr);
    if (Status status = device.check(result, "a launch"); status.failed())
      return status;
    if (Status status = waitsForEach ? device.waitForKernel() : Status(); status.failed())
      return status;
  }
  return {};
}

/// With TENON_CUDA_GRAPHS=chain each for the one before, to compare.
static std::vector<std::vector<uint32_t>> waitsOf(const LaunchList &list) {
  if (!isSetTo("chain"))
    return dependenciesOf(list);
  std::vector<std::vector<uint32_t>> waits(list.launches.size());
  for (uint32_t i = 1; i < waits.size(); ++i)
    waits[i] = {i - 1};
  return waits;
}

Status Graphs::build(Known &known, const std::vector<Handle> &kernels) {
  const Driver &driver = device.driver();
  const std::vector<std::vector<uint32_t>> waits = waitsOf(known.list);
  std::vector<Handle> before;
  Result result = driver.cuGraphCreate(&known.graph, 0);
  for (size_t i = 0; i < known.list.launches.size() && result == kSuccess; ++i) {
    KernelNode kernel;
    if (Status status = nodeOf(known.list, i, kernels, kernel); status.failed())
      return status;
    before.clear();
    for (uint32_t each : waits[i])
      before.push_back(known.nodes[each]);
    Handle node = nullptr;
    result = driver.cuGraphAddKernelNode(&node, known.graph, before.data(), before.size(), &kernel);
    known.nodes.push_back(node);
  }
  if (result == kSuccess)
    result = driver.cuGraphInstantiateWithFlags(&known.executable, known.graph, 0);
  return device.check(result, "making a graph");
}

Status Graphs::update(Known &known, const LaunchList &list, const Places *places, const std::vector<Handle> &kernels) {
  for (size_t i = 0; i < list.launches.size(); ++i) {
    const size_t place = places ? (*places)[i] : i;
    const LaunchList::Launch &launch = list.launches[i];
    const auto from = list.arguments.begin() + launch.first;
    const auto to = known.list.arguments.begin() + known.list.launches[place].first;
    if (std::equal(from, from + launch.words(), to))
      continue;
    std::copy(from, from + launch.words(), to);
    if (!known.executable)
      continue;
    KernelNode kernel;
    if (Status status = nodeOf(list, i, kernels, kernel); status.failed())
      return status;
    const Result result = device.driver().cuGraphExecKernelNodeSetParams(known.executable, known.nodes[place], &kernel);
    if (Status status = device.check(result, "changing a graph"); status.failed())
      return status;
  }
  return {};
}

} // namespace tenon::runtime::cuda
