// What a launch waits for, by the memory that each touches.
#pragma once
#include "runtime/cuda/Graphs.h"
#include <vector>

namespace tenon::runtime::cuda {

/// Per launch the earlier ones that it has to wait for: those that touch memory in common with it of which either writes some,
/// and of a large one the large ones; without those that one of the others waits for. One launch in kMostApart waits for all
/// before it, and all behind it for that one, so that the time for n launches grows with n.
std::vector<std::vector<uint32_t>> dependenciesOf(const LaunchList &list);

} // namespace tenon::runtime::cuda
