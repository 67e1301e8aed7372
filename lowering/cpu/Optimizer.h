// Parts of tenon.optimize that read the context.
#pragma once
#include "lowering/code/HostNumbers.h"
#include "lowering/code/LossScale.h"
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

LossScale readLossScale(FunctionCode &code);
/// Calls of libm from this code.
LibraryCall libraryOf(FunctionCode &code);

} // namespace tenon::cpu
