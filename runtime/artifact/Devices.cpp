#include "runtime/artifact/Devices.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/HostDevice.h"

namespace tenon::runtime {

Expected<Device *> deviceFor(std::string_view name) {
  if (name != "cuda")
    return static_cast<Device *>(&hostDevice()); // which says what it does not run
  auto device = cuda::CudaDevice::open();
  if (!device.ok())
    return device.status();
  return static_cast<Device *>(*device);
}

} // namespace tenon::runtime
