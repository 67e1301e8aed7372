// Streams, captures and events. Work waits until somebody waits for it, as it may on a device: who reads too early reads what was
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

Result drain(Stream &stream, const Event *until) {
  if (driver().sticky)
    return driver().sticky;
  if (stream.queue.empty())
    return kSuccess;
  OpenMemory open;
  while (!stream.queue.empty() && !(until && until->reached == until->told)) {
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
    auto &nodes = stream.capture->nodes;
    auto node = std::make_unique<GraphNode>();
    node->work = std::move(work);
    if (!nodes.empty())
      node->before = {nodes.back().get()};
    nodes.push_back(std::move(node));
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

TENON_CUDA_API Result cuEventCreate(void **event, unsigned flags) {
  TENON_CUDA_ENTER;
  constexpr unsigned kWithoutTime = 2;
  auto *made = new Event();
  made->isTimed = !(flags & kWithoutTime);
  driver().events.insert(made);
  *event = made;
  return kSuccess;
}

TENON_CUDA_API Result cuEventDestroy_v2(void *handle) {
  TENON_CUDA_ENTER;
  if (!driver().events.erase(static_cast<Event *>(handle)))
    return complain(kInvalidHandle, "cuEventDestroy: this is no event");
  drainAll(); // who comes by it notes that
  delete static_cast<Event *>(handle);
  return kSuccess;
}

TENON_CUDA_API Result cuEventRecord(void *handle, void *streamHandle) {
  TENON_CUDA_ENTER;
  auto *event = static_cast<Event *>(handle);
  Stream *stream = streamOf(streamHandle);
  if (!driver().events.count(event) || !stream)
    return complain(kInvalidHandle, "cuEventRecord: this is no event, or no stream");
  const uint64_t number = ++event->told;
  return tell(*stream, [event, number] {
    event->reached = number;
    event->time = std::chrono::steady_clock::now();
    return kSuccess;
  });
}

TENON_CUDA_API Result cuEventSynchronize(void *handle) {
  TENON_CUDA_ENTER;
  auto *event = static_cast<Event *>(handle);
  if (!driver().events.count(event))
    return complain(kInvalidHandle, "cuEventSynchronize: this is no event");
  if (machine.mode.broken == "events")
    return kSuccess;
  for (Stream *stream : driver().streams)
    if (Result wrong = event->reached == event->told ? kSuccess : drain(*stream, event))
      return wrong;
  return kSuccess;
}

TENON_CUDA_API Result cuEventElapsedTime(float *milliseconds, void *fromHandle, void *toHandle) {
  TENON_CUDA_ENTER;
  auto *from = static_cast<Event *>(fromHandle), *to = static_cast<Event *>(toHandle);
  for (Event *event : {from, to}) {
    if (!driver().events.count(event) || !event->isTimed || !event->told)
      return complain(kInvalidHandle, "cuEventElapsedTime: this is no event with a time that was recorded");
    if (event->reached != event->told)
      return kNotReady;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return kSuccess;
}

} // namespace tenon::emu::cuda
