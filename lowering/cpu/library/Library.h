// The library kernels of all tiers, as part of the program that links this.
#pragma once
#include "lowering/target/KernelLibrary.h"

namespace tenon::cpu {

const KernelLibrary &kernelLibrary();

} // namespace tenon::cpu
