// Every pass with logic, by function; named pipelines are in Pipelines.h.
#pragma once
#include "mlir/Pass/Pass.h"
#include <memory>

namespace tenon {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lowering/Passes.h.inc"

} // namespace tenon
