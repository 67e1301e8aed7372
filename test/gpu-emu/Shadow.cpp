#include "Shadow.h"
#include "Banks.h"
#include "Fiber.h"
#include "Memory.h"
#include "Order.h"
#include "Record.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>

namespace tenon::emu {

namespace {

constexpr uint32_t kPendingWrite = ~0u; // an asynchronous copy is on its way
constexpr uint32_t kReported = ~0u - 1; // nobody wrote, and that has been said

struct Cell { // two bytes of shared memory, or of global memory as a block sees it
  uint32_t block = 0;
  uint32_t write = 0; // epoch; 0: nobody
  uint32_t reads[2] = {0, 0};
  uint32_t writeSite = 0, readSite = 0;
  bool atomic = false; // the last write was
};

Cell cells[kArena / 2];
uint32_t blockSerial = 0;
const Kernel *kernel = nullptr;
uint32_t dynamicBytes = 0;
uint32_t launchSerial = 0;
uintptr_t arena = 0;
std::vector<const Site *> sites; // by number, of this launch; null where none was reported on yet

std::map<uint64_t, uint64_t> constants;

void remember(const Site &site) {
  if (sites.size() <= site.number)
    sites.resize(site.number + 1);
  sites[site.number] = &site;
}

std::string siteText(uint32_t number) {
  return number < sites.size() && sites[number] ? placeOf(*sites[number]) : "an unknown place";
}

/// The shared variable that bytes of the arena lie in; null outside of all.
const SharedRegion *regionOf(uint64_t address, uint32_t bytes) {
  const uint32_t offset = address - arena;
  for (const SharedRegion &region : kernel->shared) {
    const uint32_t size = region.dynamic ? dynamicBytes : region.bytes;
    if (offset >= region.offset && offset - region.offset + bytes <= size)
      return &region;
  }
  return nullptr;
}

void outside(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes, const char *what) {
  std::string where;
  if (inArena(address)) {
    where = "shared address " + std::to_string(address - arena);
    for (const SharedRegion &region : kernel->shared)
      if (address - arena >= region.offset)
        where = "byte " + std::to_string(address - arena - region.offset) + " of shared variable " + region.name +
                ", which has " + std::to_string(region.dynamic ? dynamicBytes : region.bytes);
  } else if (const Buffer *buffer = bufferAt(address); buffer && isDeviceAddress(address)) {
    where = "byte " + std::to_string(address - buffer->begin) + " of a buffer that has " + std::to_string(buffer->bytes);
  } else {
    char text[32];
    snprintf(text, sizeof text, "address 0x%llx", static_cast<unsigned long long>(address));
    where = std::string(text) + ", which is no buffer's";
  }
  fail("out of bounds",
       nameOf(thread) + " " + what + " " + std::to_string(bytes) + " bytes at " + where + ", at " + placeOf(site));
}

bool said = false; // about the access that is looked at

/// Reports once per access, not for each two bytes.
void say(const char *kind, const std::string &text) {
  if (!std::exchange(said, true))
    report(kind, text);
}

void race(const char *kind, const Site &site, uint32_t otherSite, uint64_t address) {
  std::string where = "shared byte " + std::to_string(address - arena);
  if (!inArena(address))
    where = "byte " + std::to_string(address - bufferAt(address)->begin) + " of a buffer";
  else if (const SharedRegion *region = regionOf(address, 1))
    where = "shared variable " + region->name;
  say("race", where + ": " + kind + " at " + placeOf(site) + " is not ordered with the access at " + siteText(otherSite));
}

/// As the block that runs has it.
Cell &fresh(Cell &cell) {
  if (cell.block != blockSerial) {
    cell = Cell();
    cell.block = blockSerial;
  }
  return cell;
}

Cell &cellAt(uint64_t address) { return fresh(cells[(address - arena) / 2]); }

/// One access by a thread, of shared memory or of what its block knows of global memory.
class Access {
public:
  Access(const Site &site, uint32_t thread, bool atomic)
      : site(site), self(thread), atomic(atomic), epoch(epochOf(thread)), of(knownBy(thread)) {}

  void read(uint64_t address) {
    Cell &cell = cellAt(address);
    if (cell.write == 0 || cell.write == kPendingWrite)
      readNothing(cell, address);
    readWritten(cell, address);
  }

  void readWritten(Cell &cell, uint64_t address) {
    if (!after(cell.write) && !(atomic && cell.atomic))
      race("the read", site, cell.writeSite, address);
    if (atomic)
      return;
    cell.readSite = site.number;
    if (cell.reads[0] >> kClockBits == self || cell.reads[0] == 0 || (cell.reads[1] == 0 && after(cell.reads[0])))
      cell.reads[0] = epoch;
    else
      cell.reads[1] = epoch;
  }

  void write(uint64_t address) { write(cellAt(address), address); }

  void write(Cell &cell, uint64_t address) {
    if (cell.write == kPendingWrite)
      say("unfinished copy",
          "its bytes are written at " + placeOf(site) + " before the wait for the copy at " + siteText(cell.writeSite));
    else if (!after(cell.write) && !(atomic && cell.atomic))
      race("the write", site, cell.writeSite, address);
    if (!after(cell.reads[0]) || !after(cell.reads[1]))
      race("the write", site, cell.readSite, address);
    cell.write = epoch;
    cell.writeSite = site.number;
    cell.atomic = atomic;
    cell.reads[0] = cell.reads[1] = 0;
  }

private:
  /// Whether what happened at an epoch is ordered before this.
  bool after(uint32_t other) const {
    const uint32_t thread = other >> kClockBits;
    return thread == self || other == 0 || other >= kReported || of[thread] >= (other & kClockMask);
  }

  void readNothing(Cell &cell, uint64_t address) {
    if (cell.write == kPendingWrite)
      return say("unfinished copy",
                 "its bytes are read at " + placeOf(site) + " before the wait for the copy at " + siteText(cell.writeSite));
    const SharedRegion *region = regionOf(address, 1);
    say("uninitialised read", "of shared variable " + (region ? region->name : std::string("?")) + " at " + placeOf(site));
    cell.write = kReported;
  }

  const Site &site;
  const uint32_t self;
  const bool atomic;
  const uint32_t epoch;
  const uint32_t *of;
};

/// Of the arena: within one variable, or the launch ends. The site keeps which.
void bound(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes, const char *what) {
  const uint32_t offset = address - arena;
  if (site.launch == launchSerial && offset >= site.regionBegin && offset + bytes <= site.regionEnd)
    return;
  const SharedRegion *region = regionOf(address, bytes);
  if (!region)
    outside(site, thread, address, bytes, what);
  site.launch = launchSerial;
  site.regionBegin = region->offset;
  site.regionEnd = region->offset + (region->dynamic ? dynamicBytes : region->bytes);
  remember(site);
}

// Global memory: per two bytes the serial of the launch (16 bits), the last block that wrote and the last that read (24 each,
// from 1), with two more values.
constexpr uint32_t kSeveral = 0xffffff, kAtomics = 0xfffffe;

/// What is known of a buffer: of blocks, and of the threads of the one that runs, a page of cells at a time.
struct Records {
  explicit Records(uint64_t bytes)
      : blocks(std::make_unique<uint64_t[]>(bytes / 2 + 1)),
        threads(std::make_unique<std::unique_ptr<Cell[]>[]>(bytes / 2 / kPage + 1)) {}
  Cell &cell(uint64_t i) {
    auto &page = threads[i / kPage];
    if (!page)
      page = std::make_unique<Cell[]>(kPage);
    return fresh(page[i % kPage]);
  }
  static constexpr uint64_t kPage = 1024;
  std::unique_ptr<uint64_t[]> blocks;
  std::unique_ptr<std::unique_ptr<Cell[]>[]> threads;
};

std::unordered_map<uint64_t, std::unique_ptr<Records>> globalRecords; // by the begin of a buffer
const Buffer *lastBuffer = nullptr;
Records *lastRecords = nullptr;

/// The records of the buffer that holds the bytes; null if none does.
Records *recordsOf(uint64_t address, uint32_t bytes) {
  if (lastBuffer && lastBuffer->contains(address, bytes))
    return lastRecords;
  const Buffer *buffer = bufferAt(address);
  if (!buffer || !buffer->contains(address, bytes))
    return nullptr;
  auto &records = globalRecords[buffer->begin];
  if (!records)
    records = std::make_unique<Records>(buffer->bytes);
  lastBuffer = buffer;
  lastRecords = records.get();
  return lastRecords;
}

std::vector<Touched> expected;

void checkExpected(const Site &site, uint64_t address, uint32_t bytes, bool writes) {
  auto isIn = [&](const Touched &one) { return (one.isWritten || !writes) && one.memory.contains(address, bytes); };
  if (!expected.empty() && std::none_of(expected.begin(), expected.end(), isIn))
    say("unknown access", std::to_string(bytes) + " bytes that are " + (writes ? "written" : "read") + " at " + placeOf(site) +
                              " are in none of the tensors of the launch");
}

void accessGlobal(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes, bool reads, bool writes,
                  bool atomic) {
  Records *records = recordsOf(address, bytes);
  if (!records)
    outside(site, thread, address, bytes, writes ? "writes" : "reads");
  if (writes)
    Recorder::noteWrite(site, address, bytes);
  checkExpected(site, address, bytes, writes);
  remember(site);
  const uint32_t self = machine.blockNumber + 1;
  Access access(site, thread.index, atomic);
  const uint64_t first = (address - lastBuffer->begin) / 2, last = (address + bytes - 1 - lastBuffer->begin) / 2;
  for (uint64_t i = first; i <= last; ++i) {
    uint64_t record = records->blocks[i];
    if (record >> 48 != uint16_t(launchSerial))
      record = 0;
    uint32_t writer = record >> 24 & 0xffffff, reader = record & 0xffffff;
    const bool writtenByOther = writer != 0 && writer != self && !(atomic && writer == kAtomics);
    const bool readByOther = writes && reader != 0 && reader != self && !atomic;
    if (bytes > 1 && (writtenByOther || readByOther))
      say("race between blocks",
          "block " + std::to_string(machine.blockNumber) + (writes ? " writes" : " reads") + " at " + placeOf(site) +
              " what block " +
              (writtenByOther       ? (writer == kAtomics ? "s change by atomics" : std::to_string(writer - 1) + " writes")
               : reader == kSeveral ? "s read"
                                    : std::to_string(reader - 1) + " reads"));
    if (writes)
      writer = atomic ? kAtomics : self;
    if (reads && !atomic)
      reader = reader == 0 || reader == self ? self : kSeveral;
    records->blocks[i] = uint64_t(uint16_t(launchSerial)) << 48 | uint64_t(writer) << 24 | reader;
    if (bytes == 1) // shares its cell with the neighbour
      continue;
    if (reads)
      access.readWritten(records->cell(i), lastBuffer->begin + 2 * i);
    if (writes)
      access.write(records->cell(i), lastBuffer->begin + 2 * i);
  }
}

bool inConstants(uint64_t address, uint32_t bytes) {
  auto next = constants.upper_bound(address);
  return next != constants.begin() && std::prev(next)->first + std::prev(next)->second >= address + bytes;
}

} // namespace

void shadowStartLaunch(const Kernel &launched, uint32_t dynamicShared) {
  kernel = &launched;
  dynamicBytes = dynamicShared;
  lastBuffer = nullptr;
  arena = sharedArena();
  sites.clear();
  if ((++launchSerial & 0xffff) == 0) { // records have so many bits of it
    globalRecords.clear();
    ++launchSerial;
  }
}

void shadowStartBlock() {
  if (++blockSerial == 0) {
    for (Cell &cell : cells)
      cell = Cell();
    blockSerial = 1;
  }
  startOrder(machine.threads.size());
}

void shadowAccess(const Site *site, uint64_t address) {
  said = false;
  const Thread &thread = *machine.current;
  const char *what = site->writes ? "writes" : "reads";
  if (address & (site->align - 1))
    fail("misaligned", nameOf(thread) + " accesses an address that is no multiple of " + std::to_string(site->align) + ", at " +
                           placeOf(*site));
  if (address - arena < kArena) {
    bound(*site, thread, address, site->size, what);
    if (machine.mode.banks)
      countBanks(*site, thread, address, site->size);
    Access access(*site, thread.index, site->atomic);
    for (uint32_t at = 0; at < site->size; at += 2) {
      if (site->reads)
        access.read(address + at);
      if (site->writes)
        access.write(address + at);
    }
  } else if (isDeviceAddress(address) || (!inStacks(address) && !inConstants(address, site->size))) {
    accessGlobal(*site, thread, address, site->size, site->reads, site->writes, site->atomic);
  }
}

void shadowRead(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes) {
  said = false;
  if (address - arena < kArena) {
    bound(site, thread, address, bytes, "reads");
    Access access(site, thread.index, false);
    for (uint32_t at = 0; at < bytes; at += 2)
      access.read(address + at);
  } else if (isDeviceAddress(address) || (!inStacks(address) && !inConstants(address, bytes))) {
    accessGlobal(site, thread, address, bytes, true, false, false);
  }
}

void shadowWrite(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes) {
  said = false;
  if (address - arena < kArena) {
    bound(site, thread, address, bytes, "writes");
    Access access(site, thread.index, false);
    for (uint32_t at = 0; at < bytes; at += 2)
      access.write(address + at);
  } else if (!inStacks(address)) {
    accessGlobal(site, thread, address, bytes, false, true, false);
  }
}

void shadowPending(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes) {
  if (address - arena >= kArena)
    outside(site, thread, address, bytes, "copies to shared memory");
  shadowWrite(site, thread, address, bytes);
  for (uint32_t at = 0; at < bytes; at += 2)
    cellAt(address + at).write = kPendingWrite;
}

void shadowArrived(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes) {
  for (uint32_t at = 0; at < bytes; at += 2) {
    Cell &cell = cellAt(address + at);
    cell.write = epochOf(thread.index);
    cell.writeSite = site.number;
  }
}

void shadowEngineRead(const Site &site, const Thread &issuer, uint32_t engine, uint64_t address, uint32_t bytes) {
  said = false;
  if (address - arena >= kArena)
    outside(site, issuer, address, bytes, "multiplies in shared memory");
  bound(site, issuer, address, bytes, "multiplies");
  Access access(site, engine, false);
  for (uint32_t at = 0; at < bytes; at += 2) {
    const Cell &cell = cellAt(address + at);
    if (cell.write && cell.write < kReported && !engineSees(cell.write, issuer.index))
      say("proxy", "what is read at " + placeOf(site) + " was written without a fence.proxy.async behind it, at " +
                       siteText(cell.writeSite));
    access.read(address + at);
  }
}

void shadowDelivered(const Site &site, uint64_t address, uint32_t bytes) {
  for (uint32_t at = 0; at < bytes; at += 2) {
    Cell &cell = cellAt(address + at);
    cell.write = epochOf(copyEngine());
    cell.writeSite = site.number;
  }
}

void shadowExpect(std::vector<Touched> touched) { expected = std::move(touched); }

void shadowForget(uint64_t buffer) { globalRecords.erase(buffer); }

void shadowAddConstants(uint64_t address, uint64_t bytes) { constants[address] = bytes; }

} // namespace tenon::emu
