// Graphs: kernels with what each waits for. Nothing else orders them: unordered ones run in the order of the mode.
#include "Driver.h"
#include <algorithm>

namespace tenon::emu::cuda {

namespace {

/// CUDA_KERNEL_NODE_PARAMS_v1.
struct KernelNode {
  void *function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, shared;
  void **parameters, **extra;
};

Result workOf(const char *call, const KernelNode &node, Work &work, const Kernel *&kernel) {
  const Result wrong = workOf(call, node.function, {node.gridX, node.gridY, node.gridZ}, {node.blockX, node.blockY, node.blockZ},
                              node.shared, node.parameters, node.extra, work);
  if (!wrong)
    kernel = static_cast<Function *>(node.function)->kernel;
  return wrong;
}

/// The steps of a graph one after the other, the first that may come next, or the last.
std::vector<Executable::Step> ordered(const Graph &graph) {
  std::vector<const GraphNode *> open;
  for (const auto &node : graph.nodes)
    open.push_back(node.get());
  if (machine.mode.order != Order::InOrder)
    std::reverse(open.begin(), open.end());
  std::vector<Executable::Step> steps;
  while (!open.empty()) { // edges go to nodes that were there before, so some node is free
    const auto isOpen = [&](const GraphNode *node) {
      return machine.mode.broken != "waits" && std::find(open.begin(), open.end(), node) != open.end();
    };
    const auto next = std::find_if(open.begin(), open.end(), [&](const GraphNode *node) {
      return std::none_of(node->before.begin(), node->before.end(), isOpen);
    });
    steps.push_back({*next, (*next)->kernel, (*next)->work});
    open.erase(next);
  }
  return steps;
}

const GraphNode *nodeOf(const Graph &graph, const void *handle) {
  for (const auto &node : graph.nodes)
    if (node.get() == handle)
      return node.get();
  return nullptr;
}

} // namespace

TENON_CUDA_API Result cuGraphCreate(void **graph, unsigned flags) {
  TENON_CUDA_ENTER;
  if (flags)
    return complain(kInvalidValue, "cuGraphCreate: flags must be 0");
  *graph = *driver().graphs.insert(new Graph()).first;
  return kSuccess;
}

TENON_CUDA_API Result cuGraphAddKernelNode(void **node, void *handle, void *const *before, size_t count,
                                           const KernelNode *kernel) {
  TENON_CUDA_ENTER;
  auto *graph = static_cast<Graph *>(handle);
  if (!driver().graphs.count(graph))
    return complain(kInvalidValue, "cuGraphAddKernelNode: this is no graph");
  auto made = std::make_unique<GraphNode>();
  for (size_t i = 0; i < count; ++i) {
    made->before.push_back(nodeOf(*graph, before[i]));
    if (!made->before.back())
      return complain(kInvalidValue, "cuGraphAddKernelNode: it waits for what is no node of the graph");
  }
  if (Result wrong = workOf("cuGraphAddKernelNode", *kernel, made->work, made->kernel))
    return wrong;
  *node = made.get();
  graph->nodes.push_back(std::move(made));
  return kSuccess;
}

TENON_CUDA_API Result cuGraphInstantiateWithFlags(void **executable, void *handle, unsigned long long) {
  TENON_CUDA_ENTER;
  auto *graph = static_cast<Graph *>(handle);
  if (!driver().graphs.count(graph))
    return complain(kInvalidValue, "cuGraphInstantiate: this is no graph");
  *executable = *driver().executables.insert(new Executable{ordered(*graph), graph}).first;
  return kSuccess;
}

TENON_CUDA_API Result cuGraphExecKernelNodeSetParams(void *handle, void *node, const KernelNode *kernel) {
  TENON_CUDA_ENTER;
  auto *executable = static_cast<Executable *>(handle);
  if (!driver().executables.count(executable) || !driver().graphs.count(const_cast<Graph *>(executable->source)))
    return complain(kInvalidValue,
                    "cuGraphExecKernelNodeSetParams: this is no graph that was instantiated, or its graph is gone");
  auto step = std::find_if(executable->steps.begin(), executable->steps.end(),
                           [&](const Executable::Step &one) { return one.node == node && one.kernel; });
  if (step == executable->steps.end())
    return complain(kInvalidValue, "cuGraphExecKernelNodeSetParams: this is no kernel of the graph");
  Work work;
  const Kernel *meant = nullptr;
  if (Result wrong = workOf("cuGraphExecKernelNodeSetParams", *kernel, work, meant))
    return wrong;
  ++driver().graphChanges;
  if (machine.mode.broken == "graphs")
    return kSuccess;
  step->kernel = meant;
  step->work = std::move(work);
  return kSuccess;
}

TENON_CUDA_API Result cuGraphLaunch(void *handle, void *streamHandle) {
  TENON_CUDA_ENTER;
  Stream *stream = streamOf(streamHandle);
  auto *executable = static_cast<Executable *>(handle);
  if (!stream || !driver().executables.count(executable))
    return complain(kInvalidHandle, "cuGraphLaunch: this is no stream, or no graph that was instantiated");
  ++driver().graphLaunches;
  for (const Executable::Step &step : executable->steps)
    if (Result wrong = tell(*stream, step.work))
      return wrong;
  return kSuccess;
}

TENON_CUDA_API Result cuGraphDestroy(void *graph) {
  std::lock_guard lock(driver().mutex);
  if (!driver().graphs.erase(static_cast<Graph *>(graph)))
    return complain(kInvalidValue, "cuGraphDestroy: this is no graph");
  delete static_cast<Graph *>(graph);
  return kSuccess;
}

// What was launched from it goes on: the queue has copies.
TENON_CUDA_API Result cuGraphExecDestroy(void *executable) {
  std::lock_guard lock(driver().mutex);
  if (!driver().executables.erase(static_cast<Executable *>(executable)))
    return complain(kInvalidValue, "cuGraphExecDestroy: this is no graph that was instantiated");
  delete static_cast<Executable *>(executable);
  return kSuccess;
}

} // namespace tenon::emu::cuda
