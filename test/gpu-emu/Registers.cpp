// Registers of threads: whether a block can start with those that its kernel asks for, and setmaxnreg, by which warpgroups leave
// some to others. A processor has four quarters of 16,384, between which the warps of a block are dealt: one of each warpgroup
// for each.
#include "Registers.h"
#include "Models.h"

namespace tenon::emu {

constexpr uint32_t kLaneRegisters = 512, kQuarters = 4; // of a lane of all warps of a quarter

static uint32_t inEights(uint32_t registers) { return (registers + 7) / 8 * 8; }
static uint32_t warpsOfQuarter() { return uint32_t(machine.warps.size() + kQuarters - 1) / kQuarters; }

bool startRegisters(const Kernel &kernel) {
  const uint32_t taken = warpsOfQuarter() * inEights(kernel.mostRegisters);
  if (taken > kLaneRegisters)
    report("out of resources",
           "a block of " + std::to_string(machine.threads.size()) + " threads with " + std::to_string(kernel.mostRegisters) +
               " registers each does not start: " + std::to_string(warpsOfQuarter()) +
               " of its warps share a quarter of the processor, which has " + std::to_string(kLaneRegisters * kWarp));
  return taken <= kLaneRegisters;
}

void resetRegisters(const Kernel &kernel) {
  for (Warp &warp : machine.warps) {
    warp.registers = inEights(kernel.mostRegisters);
    warp.changes = 0;
  }
}

/// A warpgroup that asks for more waits for those that others leave: when all have ended there must have been enough.
void checkRegisters(const Kernel &kernel) {
  const uint32_t all = warpsOfQuarter() * inEights(kernel.mostRegisters);
  uint32_t taken[kQuarters] = {};
  for (size_t i = 0; i < machine.warps.size(); ++i) {
    const Warp &warp = machine.warps[i], &first = machine.warps[i / kQuarters * kQuarters];
    taken[i % kQuarters] += warp.registers;
    if (warp.changes != first.changes || warp.registers != first.registers)
      report("wrong registers", "warps of one warpgroup do not all come to setmaxnreg");
  }
  for (uint32_t quarter : taken)
    if (kernel.mostRegisters && quarter > all)
      report("wrong registers", "warps of a quarter have " + std::to_string(quarter) +
                                    " registers a lane together behind setmaxnreg, " + "where the block started with " +
                                    std::to_string(all));
}

static void change(const Site &site, uint32_t number, uint32_t) {
  Warp &warp = machine.warps[number];
  const uint32_t registers = argument<uint32_t>(threadOf(number, 0).arguments, 0);
  const bool grows = site.model->parameter == kGrows;
  if (!warp.registers)
    fail("wrong registers", "setmaxnreg in a kernel without .maxnreg, at " + placeOf(site));
  if (registers % 8 || registers < 24 || registers > 256 || (grows ? registers < warp.registers : registers > warp.registers))
    fail("wrong registers",
         "from " + std::to_string(warp.registers) + " to " + std::to_string(registers) + " registers, at " + placeOf(site));
  warp.registers = registers;
  ++warp.changes;
}

void opRegisters(const Site &site, const uint64_t *arguments, void *result) { meet(site, ~0u, arguments, result, change); }

} // namespace tenon::emu
