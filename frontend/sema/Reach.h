// Which losses a gradient can be taken of.
#pragma once
#include "frontend/Program.h"
#include <functional>

namespace tenon::sema {

/// Whether `node` depends on a parameter through differentiable steps only. Parameters that `isFixed` names (by Node::index) do not count.
bool reachesParameter(const Entry &entry, NodeId node, const std::function<bool(uint32_t)> &isFixed);

} // namespace tenon::sema
