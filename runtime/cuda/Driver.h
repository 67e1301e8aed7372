// NVIDIA's driver, opened while the program runs: a machine that has none runs everything else. What is used of its interface is
// declared here; no toolkit is needed to build. TENON_LIBCUDA: another library in its place.
#pragma once
#include "runtime/base/Status.h"
#include <cstddef>
#include <cstdint>

namespace tenon::runtime::cuda {

using Result = int; // CUresult
using Handle = struct Opaque *;
using Address = unsigned long long; // CUdeviceptr

constexpr Result kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100, kNoBinary = 209, kBadPtx = 218, kPtxTooNew = 222;
constexpr int kComputeMajor = 75, kComputeMinor = 76;  // CUdevice_attribute
constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6; // CUjit_option
constexpr int kInputPtx = 1;                           // CUjitInputType
constexpr unsigned kEventWithoutTime = 2;              // CU_EVENT_DISABLE_TIMING
constexpr int kMostDynamicShared = 8;                  // CUfunction_attribute
// CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
constexpr int kElements16 = 1, kSwizzle128 = 3, kPromote256 = 3;

/// CUDA_KERNEL_NODE_PARAMS_v1, which the functions without a version in their names take.
struct KernelNode {
  Handle function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, shared;
  void **arguments;
  void **extra;
};

/// CUtensorMap.
struct alignas(128) EncodedMap {
  uint64_t words[16];
};

/// The functions, by the names that the library exports.
struct Driver {
  Result (*cuInit)(unsigned flags);
  Result (*cuDriverGetVersion)(int *version);
  Result (*cuDeviceGetCount)(int *count);
  Result (*cuDeviceGet)(int *device, int ordinal);
  Result (*cuDeviceGetName)(char *name, int length, int device);
  Result (*cuDeviceGetAttribute)(int *value, int attribute, int device);
  Result (*cuDevicePrimaryCtxRetain)(Handle *context, int device);
  Result (*cuCtxSetCurrent)(Handle context);
  Result (*cuMemGetInfo_v2)(size_t *available, size_t *total);
  Result (*cuStreamCreate)(Handle *stream, unsigned flags);
  Result (*cuStreamSynchronize)(Handle stream);
  Result (*cuMemAlloc_v2)(Address *address, size_t bytes);
  Result (*cuMemFree_v2)(Address address);
  Result (*cuMemHostAlloc)(void **address, size_t bytes, unsigned flags);
  Result (*cuMemcpyHtoDAsync_v2)(Address to, const void *from, size_t bytes, Handle stream);
  Result (*cuMemcpyDtoHAsync_v2)(void *to, Address from, size_t bytes, Handle stream);
  Result (*cuMemcpyDtoDAsync_v2)(Address to, Address from, size_t bytes, Handle stream);
  Result (*cuMemsetD8Async)(Address to, unsigned char value, size_t bytes, Handle stream);
  Result (*cuEventCreate)(Handle *event, unsigned flags);
  Result (*cuEventRecord)(Handle event, Handle stream);
  Result (*cuEventSynchronize)(Handle event);
  Result (*cuEventDestroy_v2)(Handle event);
  Result (*cuEventElapsedTime)(float *milliseconds, Handle from, Handle to);
  Result (*cuLinkCreate_v2)(unsigned count, int *options, void **values, Handle *link);
  Result (*cuLinkAddData_v2)(Handle link, int type, void *data, size_t bytes, const char *name, unsigned count, int *options,
                             void **values);
  Result (*cuLinkComplete)(Handle link, void **image, size_t *bytes);
  Result (*cuLinkDestroy)(Handle link);
  Result (*cuModuleLoadDataEx)(Handle *module, const void *image, unsigned count, int *options, void **values);
  Result (*cuModuleUnload)(Handle module);
  Result (*cuModuleGetFunction)(Handle *function, Handle module, const char *name);
  Result (*cuFuncSetAttribute)(Handle function, int attribute, int value);
  Result (*cuLaunchKernel)(Handle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                           unsigned blockZ, unsigned shared, Handle stream, void **arguments, void **extra);
  Result (*cuTensorMapEncodeTiled)(EncodedMap *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                                   const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides, int interleave,
                                   int swizzle, int promotion, int fill); // null in drivers before CUDA 12
  Result (*cuGraphCreate)(Handle *graph, unsigned flags);
  Result (*cuGraphAddKernelNode)(Handle *node, Handle graph, const Handle *before, size_t count, const KernelNode *kernel);
  Result (*cuGraphInstantiateWithFlags)(Handle *executable, Handle graph, unsigned long long flags);
  Result (*cuGraphExecKernelNodeSetParams)(Handle executable, Handle node, const KernelNode *kernel);
  Result (*cuGraphLaunch)(Handle executable, Handle stream);
  Result (*cuGraphDestroy)(Handle graph);
  Result (*cuGraphExecDestroy)(Handle executable);
  Result (*cuGetErrorName)(Result error, const char **name);
  Result (*cuGetErrorString)(Result error, const char **text);

  /// The one of the process, which is opened once. Fails where there is none, or one that lacks a function, with the reason.
  static Expected<const Driver *> open();
  /// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
  std::string textOf(Result error) const;
};

} // namespace tenon::runtime::cuda
