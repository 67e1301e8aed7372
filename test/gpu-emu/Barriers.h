// Barriers of a block: 16, each with a count.
#pragma once

namespace tenon::emu {
void resetBarriers();
void exitBarriers(); // of a block: reports what nobody came to wait for
} // namespace tenon::emu
