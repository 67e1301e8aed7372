// Checked mode: bounds, reads of what nobody wrote, and races.
//
// Shared memory has a record per two bytes: who wrote it last and who read it, with the clock of that thread. Two accesses are
// ordered if one's thread had handed its clock on, through barriers, before the other thread took it: the FastTrack scheme
// (Flanagan and Freund 2009). Of readers that are not ordered among each other two are kept, the first and the last one. Global
// memory has the same for the threads of a block, but for accesses of single bytes, and a record per two bytes of the last block
// that wrote and the last that read: blocks are never ordered.
#pragma once
#include "Launch.h"
#include "Machine.h"
#include "Memory.h"
#include "Order.h"

namespace tenon::emu {

/// What the launches behind this touch of global memory, and whether they may write it: everything else is reported. None: they
/// may touch all.
struct Touched {
  Buffer memory;
  bool isWritten;
};
void shadowExpect(std::vector<Touched> touched);

void shadowStartLaunch(const Kernel &kernel, uint32_t dynamicShared);
void shadowStartBlock();

/// Generated code calls it before each access of memory.
void shadowAccess(const Site *site, uint64_t address);
/// Of `bytes` bytes by a model, on behalf of a thread.
void shadowRead(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes);
void shadowWrite(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes);
/// An asynchronous copy: from its issue until it arrives nobody may touch the bytes.
void shadowPending(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes);
void shadowArrived(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes);

/// Bytes of a bulk copy are there for those that its barrier lets go on.
void shadowDelivered(const Site &site, uint64_t address, uint32_t bytes);
/// By the engine of a warp's products (Order.h), which a thread of it has started.
void shadowEngineRead(const Site &site, const Thread &issuer, uint32_t engine, uint64_t address, uint32_t bytes);

/// A buffer that is freed.
void shadowForget(uint64_t buffer);
/// Constants of a program, which kernels may read.
void shadowAddConstants(uint64_t address, uint64_t bytes);

} // namespace tenon::emu
