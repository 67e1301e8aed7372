#include "runtime/cuda/Driver.h"
#include <cstdlib>
#include <dlfcn.h>

namespace tenon::runtime::cuda {

namespace {

/// Calls `find` with the place of each function and its name.
template <typename Find> void findAll(Driver &driver, Find find) {
#define TENON_FIND(function) find(driver.function, #function)
  TENON_FIND(cuInit);
  TENON_FIND(cuDriverGetVersion);
  TENON_FIND(cuDeviceGetCount);
  TENON_FIND(cuDeviceGet);
  TENON_FIND(cuDeviceGetName);
  TENON_FIND(cuDeviceGetAttribute);
  TENON_FIND(cuDevicePrimaryCtxRetain);
  TENON_FIND(cuCtxSetCurrent);
  TENON_FIND(cuMemGetInfo_v2);
  TENON_FIND(cuStreamCreate);
  TENON_FIND(cuStreamSynchronize);
  TENON_FIND(cuMemAlloc_v2);
  TENON_FIND(cuMemFree_v2);
  TENON_FIND(cuMemHostAlloc);
  TENON_FIND(cuMemcpyHtoDAsync_v2);
  TENON_FIND(cuMemcpyDtoHAsync_v2);
  TENON_FIND(cuMemcpyDtoDAsync_v2);
  TENON_FIND(cuMemsetD8Async);
  TENON_FIND(cuEventCreate);
  TENON_FIND(cuEventRecord);
  TENON_FIND(cuEventSynchronize);
  TENON_FIND(cuEventDestroy_v2);
  TENON_FIND(cuEventElapsedTime);
  TENON_FIND(cuLinkCreate_v2);
  TENON_FIND(cuLinkAddData_v2);
  TENON_FIND(cuLinkComplete);
  TENON_FIND(cuLinkDestroy);
  TENON_FIND(cuModuleLoadDataEx);
  TENON_FIND(cuModuleUnload);
  TENON_FIND(cuModuleGetFunction);
  TENON_FIND(cuLaunchKernel);
  TENON_FIND(cuFuncSetAttribute);
  TENON_FIND(cuGraphCreate);
  TENON_FIND(cuGraphAddKernelNode);
  TENON_FIND(cuGraphInstantiateWithFlags);
  TENON_FIND(cuGraphExecKernelNodeSetParams);
  TENON_FIND(cuGraphLaunch);
  TENON_FIND(cuGraphDestroy);
  TENON_FIND(cuGraphExecDestroy);
  TENON_FIND(cuGetErrorName);
  TENON_FIND(cuGetErrorString);
#undef TENON_FIND
}

Expected<const Driver *> load() {
  const char *given = std::getenv("TENON_LIBCUDA");
  const char *const name = given && *given ? given : "libcuda.so.1";
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    return resourceError("this machine has no NVIDIA driver: ", reason ? reason : name);
  }
  static Driver driver;
  std::string lacking;
  auto find = [&](auto &function, const char *symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (!function && lacking.empty())
      lacking = symbol;
  };
  findAll(driver, find);
  driver.cuTensorMapEncodeTiled =
      reinterpret_cast<decltype(driver.cuTensorMapEncodeTiled)>(dlsym(library, "cuTensorMapEncodeTiled"));
  if (lacking.empty())
    return &driver;
  dlclose(library);
  return resourceError("the NVIDIA driver of this machine is too old: ", name, " has no ", lacking);
}

} // namespace

Expected<const Driver *> Driver::open() {
  static const Expected<const Driver *> opened = load();
  return opened;
}

std::string Driver::textOf(Result error) const {
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(error, &name);
  cuGetErrorString(error, &text);
  return concat(name ? name : "an unknown error", ": ", text ? text : concat("number ", error));
}

} // namespace tenon::runtime::cuda
