// The device, its context, and the names of results.
#include "../Memory.h"
#include "Driver.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

namespace tenon::emu::cuda {

namespace {
thread_local bool hasContext = false; // the primary one
char contextHandle;

constexpr struct {
  Result result;
  const char *name, *text;
} kResults[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kNoBinary, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {kUnsupportedPtx, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {kFileNotFound, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {kLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {kCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
};

/// At the end of the process, where the mode says `counts`.
void printCounts() {
  const Driver &state = driver();
  uint64_t launches = 0;
  double seconds = 0;
  for (const auto &[name, count] : state.counts) {
    launches += count.launches;
    seconds += count.seconds;
    fprintf(stderr, "gpu-emu: %s: %llu launches, %.1f ms\n", name.c_str(), static_cast<unsigned long long>(count.launches),
            1e3 * count.seconds);
  }
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  fprintf(stderr, "gpu-emu: %llu launches of %zu kernels, %.1f ms; %llu copies, %llu bytes\n", number(launches),
          state.counts.size(), 1e3 * seconds, number(state.copies), number(state.copiedBytes));
  fprintf(stderr, "gpu-emu: %llu texts compiled; %llu graphs launched, %llu kernels of them changed\n", number(state.compiled),
          number(state.graphLaunches), number(state.graphChanges));
}

/// An A100 or a later chip, as far as a program asks. Numbers of attributes: CUdevice_attribute.
bool attributeOf(int attribute, int &value) {
  const bool hopper = machine.mode.chip >= 90;
  const std::map<int, int> values = {
      {1, kMostThreads}, // threads per block
      {2, 1024},         // .. in x, y, z
      {3, 1024},
      {4, 64},
      {5, 0x7fffffff}, // blocks in x, y, z
      {6, 65535},
      {7, 65535},
      {8, 48 << 10}, // shared memory per block
      {10, kWarp},
      {12, 65536},                       // registers per block
      {13, 1410000},                     // kHz
      {16, hopper ? 132 : 108},          // multiprocessors
      {18, 0},                           // integrated
      {38, 40 << 20},                    // L2 cache
      {39, 2048},                        // threads per multiprocessor
      {41, 1},                           // unified addressing
      {75, int(machine.mode.chip / 10)}, // compute capability
      {76, int(machine.mode.chip % 10)},
      {81, (hopper ? 228 : 164) << 10}, // shared memory per multiprocessor
      {82, 65536},                      // registers per multiprocessor
      {97, (hopper ? 227 : 163) << 10}, // shared memory per block, opted in
      {115, 1},                         // memory pools
  };
  const auto found = values.find(attribute);
  if (found == values.end())
    return false;
  value = found->second;
  return true;
}
} // namespace

Driver &driver() {
  static Driver *state = new Driver();
  return *state;
}

Result entryCheck() {
  if (!driver().initialized)
    return complain(kNotInitialized, "cuInit has not been called");
  if (driver().sticky)
    return driver().sticky;
  if (!hasContext)
    return complain(kInvalidContext, "this thread has no current context (cuCtxSetCurrent)");
  return kSuccess;
}

Result complain(Result result, const std::string &text) {
  fprintf(stderr, "gpu-emu: %s\n", text.c_str());
  return result;
}

TENON_CUDA_API Result cuInit(unsigned) {
  std::lock_guard lock(driver().mutex);
  if (driver().initialized)
    return kSuccess;
  const char *text = getenv("TENON_GPU_EMU");
  auto mode = parseMode(text ? text : "");
  if (!mode)
    return complain(kInvalidValue, "TENON_GPU_EMU: " + llvm::toString(mode.takeError()));
  machine.mode = *mode;
  driver().initialized = true;
  if (mode->counts)
    atexit(printCounts);
  if (mode->scores)
    atexit([] { driver().scores.print(); });
  return kSuccess;
}

TENON_CUDA_API Result cuDriverGetVersion(int *version) {
  *version = machine.mode.cuda;
  return kSuccess;
}

TENON_CUDA_API Result cuDeviceGetCount(int *count) {
  *count = 1;
  return driver().initialized ? kSuccess : kNotInitialized;
}

TENON_CUDA_API Result cuDeviceGet(int *device, int ordinal) {
  if (!driver().initialized)
    return kNotInitialized;
  *device = 0;
  return ordinal == 0 ? kSuccess : kInvalidDevice;
}

TENON_CUDA_API Result cuDeviceGetName(char *name, int bytes, int device) {
  if (!driver().initialized)
    return kNotInitialized;
  if (device != 0 || bytes < 1)
    return device ? kInvalidDevice : kInvalidValue;
  snprintf(name, bytes, "Tenon emulator (sm_%u)", machine.mode.chip);
  return kSuccess;
}

TENON_CUDA_API Result cuDeviceGetAttribute(int *value, int attribute, int device) {
  if (!driver().initialized)
    return kNotInitialized;
  if (device != 0)
    return kInvalidDevice;
  return attributeOf(attribute, *value)
             ? kSuccess
             : complain(kInvalidValue, "cuDeviceGetAttribute: attribute " + std::to_string(attribute) + " is not known");
}

TENON_CUDA_API Result cuDeviceTotalMem_v2(size_t *bytes, int device) {
  if (!driver().initialized)
    return kNotInitialized;
  *bytes = machine.mode.memory;
  return device == 0 ? kSuccess : kInvalidDevice;
}

TENON_CUDA_API Result cuDevicePrimaryCtxRetain(void **context, int device) {
  std::lock_guard lock(driver().mutex);
  if (!driver().initialized)
    return kNotInitialized;
  if (device != 0)
    return kInvalidDevice;
  ++driver().retained;
  *context = &contextHandle;
  return driver().sticky;
}

TENON_CUDA_API Result cuDevicePrimaryCtxRelease_v2(int device) {
  std::lock_guard lock(driver().mutex);
  if (device != 0)
    return kInvalidDevice;
  if (driver().retained == 0)
    return complain(kInvalidContext, "cuDevicePrimaryCtxRelease: the context is not retained");
  if (--driver().retained == 0) {
    drainAll();
    if (allocatedBytes())
      complain(kSuccess, "the context ends with " + std::to_string(allocatedBytes()) + " bytes of the device that are not freed");
  }
  return kSuccess;
}

TENON_CUDA_API Result cuCtxSetCurrent(void *context) {
  std::lock_guard lock(driver().mutex);
  if (context && (context != &contextHandle || driver().retained == 0))
    return complain(kInvalidContext, "cuCtxSetCurrent: this is no context that is retained");
  hasContext = context != nullptr;
  return kSuccess;
}

TENON_CUDA_API Result cuGetErrorName(int result, const char **name) {
  *name = nullptr;
  for (const auto &row : kResults)
    if (row.result == result)
      *name = row.name;
  return *name ? kSuccess : kInvalidValue;
}

TENON_CUDA_API Result cuGetErrorString(int result, const char **text) {
  *text = nullptr;
  for (const auto &row : kResults)
    if (row.result == result)
      *text = row.text;
  return *text ? kSuccess : kInvalidValue;
}

} // namespace tenon::emu::cuda
