// Mode `banks` (with checked): how many passes the accesses of shared memory take, and how many they would if no two lanes read
// or wrote different words of one bank. A warp's access is what its lanes do when they come to a place for the same time. What is
// counted is what LLVM's code says; ptxas may join neighbours.
#pragma once
#include "Machine.h"

namespace tenon::emu {

/// By generated code, or by a copy of the thread.
void countBanks(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes);
/// Rows of 16 bytes, eight in a pass: those of ldmatrix.
void countRows(const Site &site, const uint64_t *addresses, unsigned count);
/// Of a block; what only some lanes came to is counted now.
void endBanks();

} // namespace tenon::emu
