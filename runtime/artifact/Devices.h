// The devices of this runtime, by the names that manifests have.
#pragma once
#include "runtime/device/Device.h"

namespace tenon::runtime {

/// The device that runs code for `name` (Manifest::device), which lives as long as the process. Fails where there is none on this
/// machine, with the reason.
Expected<Device *> deviceFor(std::string_view name);

} // namespace tenon::runtime
