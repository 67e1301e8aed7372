// Barriers of a block: 16, each with a count.
#pragma once

namespace tenon::emu {
void resetBarriers();
} // namespace tenon::emu
