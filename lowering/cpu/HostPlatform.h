// Linux on x86-64, as the machine that runs artifacts: of the CPU's all of them, of a GPU's their entries.
#pragma once
#include "lowering/target/Target.h"

namespace tenon::cpu {

const HostPlatform &hostPlatform();

} // namespace tenon::cpu
