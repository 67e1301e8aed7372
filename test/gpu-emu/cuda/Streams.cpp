// Streams, captures and graphs. Work waits until somebody waits for it, as it may on a device: who reads too early reads what was
// there before.
#include "../Memory.h"
#include "Driver.h"

namespace tenon::emu::cuda {

Stream *streamOf(void *handle) {
  auto *stream = static_cast<Stream *>(handle);
  if (!stream)
    return &driver().defaultStream;
  return driver().streams.count(stream) ? stream : nullptr;
}

static Result perform(const Work &work) {
  const Result result = work();
  if (result && !driver().sticky)
    driver().sticky = result;
  return driver().sticky;
}

Result drain(Stream &stream) {
  if (driver().sticky)
    return driver().sticky;
  if (stream.queue.empty())
    return kSuccess;
  OpenMemory open;
  while (!stream.queue.empty()) {
    const Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    if (Result wrong = perform(work)) {
      stream.queue.clear();
      return wrong;
    }
  }
  return kSuccess;
}

Result drainAll() {
  drain(driver().defaultStream);
  for (Stream *stream : driver().streams)
    drain(*stream);
  return driver().sticky;
}

bool capturing() {
  for (Stream *stream : driver().streams)
    if (stream->capture)
      return true;
  return false;
}

bool spoilCaptures() {
  bool any = false;
  for (Stream *stream : driver().streams)
    if (stream->capture)
      any = stream->captureSpoiled = true;
  return any;
}

Result tell(Stream &stream, Work work) {
  if (stream.captureSpoiled)
    return kCaptureInvalidated;
  if (stream.capture) {
    stream.capture->works.push_back(std::move(work));
    return kSuccess;
  }
  if (&stream == &driver().defaultStream) { // which waits for the others, and they for it
    if (spoilCaptures())
      return complain(kCaptureUnsupported, "work in the default stream while another one is captured");
    for (Stream *other : driver().streams)
      if (Result wrong = drain(*other))
        return wrong;
  } else if (Result wrong = drain(driver().defaultStream)) {
    return wrong;
  }
  stream.queue.push_back(std::move(work));
  return machine.mode.late ? kSuccess : drain(stream);
}

TENON_CUDA_API Result cuStreamCreate(void **stream, unsigned) {
  TENON_CUDA_ENTER;
  auto *made = new Stream();
  driver().streams.insert(made);
  *stream = made;
  return kSuccess;
}

TENON_CUDA_API Result cuStreamDestroy_v2(void *handle) {
  TENON_CUDA_ENTER;
  Stream *stream = streamOf(handle);
  if (!handle || !stream)
    return complain(kInvalidHandle, "cuStreamDestroy: this is no stream");
  const Result result = drain(*stream);
  driver().streams.erase(stream);
  delete stream->capture;
  delete stream;
  return result;
}

TENON_CUDA_API Result cuStreamSynchronize(void *handle) {
  TENON_CUDA_ENTER;
  Stream *stream = streamOf(handle);
  if (!stream)
    return complain(kInvalidHandle, "cuStreamSynchronize: this is no stream");
  if (stream->capture || (!handle && capturing())) {
    spoilCaptures();
    return complain(kCaptureUnsupported, "cuStreamSynchronize during a capture");
  }
  return handle ? drain(*stream) : drainAll();
}

TENON_CUDA_API Result cuStreamBeginCapture_v2(void *handle, int mode) {
  TENON_CUDA_ENTER;
  Stream *stream = streamOf(handle);
  if (!stream || mode < 0 || mode > 2)
    return complain(stream ? kInvalidValue : kInvalidHandle, "cuStreamBeginCapture: no stream, or no mode of captures");
  if (!handle)
    return complain(kCaptureUnsupported, "cuStreamBeginCapture: the default stream cannot be captured");
  if (stream->capture)
    return complain(kInvalidValue, "cuStreamBeginCapture: the stream is being captured");
  stream->capture = new Graph();
  stream->captureSpoiled = false;
  return kSuccess;
}

TENON_CUDA_API Result cuStreamEndCapture(void *handle, void **graph) {
  TENON_CUDA_ENTER;
  Stream *stream = streamOf(handle);
  *graph = nullptr;
  if (!stream || !stream->capture)
    return complain(kInvalidValue, "cuStreamEndCapture: the stream is not being captured");
  Graph *made = std::exchange(stream->capture, nullptr);
  if (std::exchange(stream->captureSpoiled, false)) {
    delete made;
    return kCaptureInvalidated;
  }
  driver().graphs.insert(made);
  *graph = made;
  return kSuccess;
}

TENON_CUDA_API Result cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
  TENON_CUDA_ENTER;
  if (!driver().graphs.count(static_cast<Graph *>(graph)))
    return complain(kInvalidValue, "cuGraphInstantiate: this is no graph");
  auto *made = new Graph(*static_cast<Graph *>(graph));
  driver().executables.insert(made);
  *executable = made;
  return kSuccess;
}

TENON_CUDA_API Result cuGraphLaunch(void *executable, void *handle) {
  TENON_CUDA_ENTER;
  Stream *stream = streamOf(handle);
  auto *graph = static_cast<Graph *>(executable);
  if (!stream || !driver().executables.count(graph))
    return complain(kInvalidHandle, "cuGraphLaunch: this is no stream, or no graph that was instantiated");
  for (const Work &work : graph->works)
    if (Result wrong = tell(*stream, work))
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
  if (!driver().executables.erase(static_cast<Graph *>(executable)))
    return complain(kInvalidValue, "cuGraphExecDestroy: this is no graph that was instantiated");
  delete static_cast<Graph *>(executable);
  return kSuccess;
}

} // namespace tenon::emu::cuda
