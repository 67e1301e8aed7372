// The emulated GPU: what a launch, its threads and the models of instructions share. One launch at a time, on one thread of the
// host; blocks run one after the other, and the threads of a block take turns (Fiber.h). See README.md.
#pragma once
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::emu {

constexpr unsigned kWarp = 32, kMostThreads = 1024, kBarriers = 16;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// In which order threads run that could run. InOrder: always the lowest one, so that the first warp runs as far ahead as
/// barriers let it; Reverse: always the highest one.
enum class Order { InOrder, Reverse, Random };

/// How kernels are executed; by the user.
struct Mode {
  bool checked = true; // else without shadow memory: bounds, races and uninitialised reads are not looked for
  Order order = Order::InOrder;
  uint64_t seed = 0;                   // of Random
  bool late = true;                    // asynchronous copies arrive when they are waited for, else when they are issued
  unsigned chip = 80;                  // compute capability, times ten
  uint64_t memory = uint64_t(4) << 30; // bytes of the device
  unsigned cuda = 12080;               // version of the driver
  std::string mutant;                  // kernel whose calls that synchronise can be deleted: a test of the tests
  std::vector<unsigned> faults;        // which of a program's faults launches have: calls of `mutant` deleted, or planted ones
  bool faultsTrap = false;             // the calls are not deleted: whoever comes to one faults
  std::string mutants;                 // the stand-in for the driver scores kernels with this in their names ..
  bool scores = false;                 // .. if it does
  std::string host;                    // processor that code is made for; empty: the one there is
  std::string broken;                  // "events": waiting for one does not wait; "graphs": arguments of their kernels stay;
                                       // "waits": their kernels wait for none
  std::string record;                  // folder for launches: of each kernel of a module the first one (Record.h)
  bool counts = false;                 // whether the driver's stand-in says at its end what it did
  bool banks = false;                  // how well shared memory is used (Banks.h)
};

/// "checked|fast,order=in|reverse|random:SEED,copies=late|early,sm=80,cuda=12080,memory=BYTES,mutant=KERNEL:N,mutants[=TEXT],
/// broken=events|graphs|waits,record=FOLDER,counts,banks", in any order and number.
llvm::Expected<Mode> parseMode(llvm::StringRef text);

struct Site;

/// What an instruction does: `arguments` has a slot of 8 bytes for each, `result` room for the type of the call.
using ModelFunction = void (*)(const Site &site, const uint64_t *arguments, void *result);

/// A row of Ops.def.
struct Model {
  const char *pattern; // behind "llvm.nvvm."; a star at its end matches any rest
  ModelFunction function;
  int parameter;
  unsigned traits;
};
enum Traits : unsigned {
  kPlain = 0,
  kMeets = 1,     // threads wait for each other, or their end matters: they need fibers of their own
  kDeletable = 2, // synchronises: the mutation score deletes it
};

/// A place in a kernel: a call of a model, or an access of memory.
struct Site {
  std::string kernel, text; // the function it stands in, and the instruction as LLVM prints it
  const Model *model = nullptr;
  uint32_t number = 0; // of this program, from 1
  // Of an access of memory:
  uint32_t size = 0, align = 1;
  bool writes = false, reads = false, atomic = false;
  char element = 'i'; // of what it accesses: f (f32), d (f64), h (f16), b (bf16), i (bits)
  // Where checked mode found the bytes last, in the arena, in the launch of this number.
  mutable uint32_t launch = 0, regionBegin = 0, regionEnd = 0;
};

/// One GPU thread. Generated code reads `tid` and `lane`.
struct Thread {
  uint32_t tid[3];
  uint32_t lane, warp, index;
  const Site *at; // of the call in which it waits, else null
  const uint64_t *arguments;
  void *result;
  uint32_t mask; // of the warp's lanes that it waits for, 0: it waits for something else
};

/// Registers that all threads of a block share; generated code reads them.
struct BlockRegisters {
  uint32_t ctaid[3], ntid[3], nctaid[3];
  uint32_t dynamicShared, gridNumber, warpSize;
};

/// Lanes of a warp that are on their way to one call.
struct Gather {
  const Site *site;
  uint32_t mask, here;
};

struct Warp {
  std::vector<Gather> gathers;
  uint32_t lanes = 0, exited = 0;      // lanes there are
  uint32_t registers = 0, changes = 0; // of a thread, and how often they changed
};

struct Report {
  std::string kind, text;
  uint64_t count = 1;
};

/// What a fault of a program is in the launch that runs.
enum FaultState : uint8_t { kNotMade, kMade, kTraps };
constexpr unsigned kMostFaults = 1 << 12;

struct Machine {
  Mode mode;
  uint8_t faults[kMostFaults] = {}; // FaultState; kernels ask for it by tenon.fault (Retarget.h)
  Thread *current = nullptr;        // whose code runs; null outside of a launch
  BlockRegisters block = {};
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  uint64_t blockNumber = 0; // of the grid, x first
  std::string kernel;
  std::vector<Report> reports;
  uint64_t products = 0, barriers = 0; // so far: of matrices, by warps; meetings of threads at barriers
  uint64_t random = 1;
  uint32_t draw(); // of mode.seed
};
extern Machine machine;

/// The address of lane j's slot of an argument.
inline Thread &threadOf(uint32_t warp, uint32_t lane) { return machine.threads[warp * kWarp + lane]; }

/// Notes a finding; the same text counts up. The launch goes on, and fails at its end.
void report(const char *kind, const std::string &text);
/// Notes a finding and ends the launch.
[[noreturn]] void fail(const char *kind, const std::string &text);
/// "thread (3,0,0) of block (1,0,0)".
std::string nameOf(const Thread &thread);
/// "`call ..` in kernel".
std::string placeOf(const Site &site);

/// Waits until all lanes of `mask` are at this call; the last one to come computes for all.
void meet(const Site &site, uint32_t mask, const uint64_t *arguments, void *result,
          void (*compute)(const Site &, uint32_t warp, uint32_t mask));

const Model *findModel(llvm::StringRef intrinsic); // "llvm.nvvm..": null if there is none
bool passesUnchanged(llvm::StringRef intrinsic);   // an intrinsic of LLVM that the host has, too
bool isDropped(llvm::StringRef intrinsic);         // one without an effect
/// Where the value of a special register lies: relative to the current thread or in the block's registers. False if there is
/// none.
struct RegisterPlace {
  bool ofThread;
  uint32_t offset;
};
bool findRegister(llvm::StringRef name, RegisterPlace &place); // behind "llvm.nvvm.read.ptx.sreg."

} // namespace tenon::emu
