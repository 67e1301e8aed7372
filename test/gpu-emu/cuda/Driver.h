// What the stand-in for the CUDA driver keeps: one device, its primary context, streams as queues of work, graphs as lists.
// Names, numbers and rules are those of NVIDIA's documentation of the driver interface.
#pragma once
#include "../Record.h"
#include "Scores.h"
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace tenon::emu::cuda {

enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinary = 209,
  kUnsupportedPtx = 222,
  kFileNotFound = 301,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchFailed = 719,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
};

/// Something that a stream does later; the memory of the device is open.
using Work = std::function<Result()>;

struct GraphNode {
  Work work;
  std::vector<const GraphNode *> before; // what it waits for
  const Kernel *kernel = nullptr;        // null: a copy or a fill
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
};

/// A graph that was instantiated: its work in an order that its edges allow.
struct Executable {
  struct Step {
    const GraphNode *node; // of `source`
    const Kernel *kernel;
    Work work;
  };
  std::vector<Step> steps;
  const Graph *source;
};

struct Stream {
  std::deque<Work> queue;
  Graph *capture = nullptr; // that takes what is told, owned
  bool captureSpoiled = false;
};

struct LoadedModule {
  std::unique_ptr<llvm::MemoryBuffer> code; // what it was made from
  std::unique_ptr<Program> program;
  std::map<std::string, struct Function *> functions;
  std::unique_ptr<Recorder> recorder; // null: not yet needed
  std::set<std::string> recorded;     // kernels
};

struct Function {
  const Kernel *kernel;
  LoadedModule *module;
  uint32_t mostDynamicShared = 48 << 10;
};

struct Event {
  uint64_t told = 0, reached = 0; // how often it was recorded, and how many of these a stream has come by
  bool isTimed = true;
  std::chrono::steady_clock::time_point time; // when a stream came by
};

/// PTX on its way to code of the chip.
struct Link {
  std::string image;        // of what was added; empty: nothing yet
  std::vector<int> options; // of its creation: where errors are written
  std::vector<void *> values;
};

struct Count {
  uint64_t launches = 0;
  double seconds = 0;
};

struct Driver {
  std::recursive_mutex mutex;
  bool initialized = false;
  unsigned retained = 0; // of the primary context
  Result sticky = kSuccess;
  Stream defaultStream;
  std::set<Stream *> streams;
  std::set<Graph *> graphs;
  std::set<Executable *> executables;
  std::set<Event *> events;
  std::set<Link *> links;
  std::set<LoadedModule *> modules;
  std::set<Function *> functions;
  std::map<char *, size_t> pinned; // memory of the host
  std::map<std::string, Count> counts;
  Scores scores;
  std::map<std::string, std::string> texts; // PTX by the name of its bitcode
  uint64_t copies = 0, copiedBytes = 0, compiled = 0, graphLaunches = 0, graphChanges = 0;
};
/// Lives as long as the process, so that nothing depends on the order in which libraries end.
Driver &driver();

/// What is wrong with a call before it does anything: not initialised, no context of this thread, an error of earlier work.
Result entryCheck();
/// A sentence on stderr, and the result.
Result complain(Result result, const std::string &text);

/// The stream behind a handle; null if there is none.
Stream *streamOf(void *handle);
/// Gives work to a stream: to its capture, or to its queue, or at once where copies are early.
Result tell(Stream &stream, Work work);
/// Does all that a stream was told, or (`until`) until the event has come; an error stays.
Result drain(Stream &stream, const Event *until = nullptr);
Result drainAll();
bool capturing();
/// The work of one kernel with these arguments; `call` names the function for messages.
Result workOf(const char *call, void *function, Dim3 grid, Dim3 block, unsigned dynamicShared, void **parameters, void **extra,
              Work &work);
/// Marks captures as spoiled by a call that waits; whether there were any.
bool spoilCaptures();

} // namespace tenon::emu::cuda

/// A function of the driver's interface: what it does stands behind, under the lock.
#define TENON_CUDA_API extern "C" __attribute__((visibility("default")))
#define TENON_CUDA_ENTER                                                                                                         \
  std::lock_guard lock(driver().mutex);                                                                                          \
  if (Result wrong = entryCheck())                                                                                               \
  return wrong
