// Copies that arrive later than they are issued: cp.async and its groups, bulk copies and their barriers.
#pragma once
#include "Machine.h"

namespace tenon::emu {
void resetAsync();
void resetMbarriers();
/// When a thread has returned: copies that nobody waits for any more.
void exitAsync(const Thread &thread);
/// Lets arrive what nobody has to wait for; false if there was nothing.
bool deliverCopies();
/// When all threads of a block have returned.
void checkEndOfBlock();
} // namespace tenon::emu
