#include "Shadow.h"
#include "Fiber.h"
#include "Memory.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>

namespace tenon::emu {

/// What a thread knows of the others: for each the clock up to which it is behind it. Shared between threads, and not changed
/// once it is.
struct Clocks {
  uint32_t users = 0;
  std::vector<uint32_t> of;
};

namespace {

constexpr unsigned kClockBits = 21; // an epoch is a thread and its clock
constexpr uint32_t kClockMask = (1u << kClockBits) - 1;
constexpr uint32_t kPendingWrite = ~0u; // an asynchronous copy is on its way
constexpr uint32_t kReported = ~0u - 1; // nobody wrote, and that has been said

struct Cell { // two bytes of shared memory
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
uint16_t launchSerial = 0;
std::vector<const Site *> sites; // by number, of this launch; null where none was reported on yet

std::vector<uint32_t> clocks; // each thread's own
std::vector<Clocks *> known;  // by thread
std::vector<Clocks *> unused; // for use again
std::map<uint64_t, uint64_t> constants;

Clocks *make() {
  Clocks *made = nullptr;
  if (unused.empty()) {
    made = new Clocks();
  } else {
    made = unused.back();
    unused.pop_back();
  }
  made->users = 1;
  made->of.assign(clocks.size(), 0);
  return made;
}

void drop(Clocks *what) {
  if (what && --what->users == 0)
    unused.push_back(what);
}

void join(Clocks &into, const Clocks &other) {
  for (size_t i = 0; i < into.of.size(); ++i)
    into.of[i] = std::max(into.of[i], other.of[i]);
}

uint32_t epochOf(uint32_t thread) { return thread << kClockBits | clocks[thread]; }

bool ordered(uint32_t epoch, uint32_t thread) {
  const uint32_t other = epoch >> kClockBits;
  return epoch == 0 || epoch == kReported || other == thread || known[thread]->of[other] >= (epoch & kClockMask);
}

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
  const uint32_t offset = address - sharedArena();
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
    where = "shared address " + std::to_string(address - sharedArena());
    for (const SharedRegion &region : kernel->shared)
      if (address - sharedArena() >= region.offset)
        where = "byte " + std::to_string(address - sharedArena() - region.offset) + " of shared variable " + region.name +
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
  std::string where = "shared byte " + std::to_string(address - sharedArena());
  if (const SharedRegion *region = regionOf(address, 1))
    where = "shared variable " + region->name;
  say("race", where + ": " + kind + " at " + placeOf(site) + " is not ordered with the access at " + siteText(otherSite));
}

Cell &cellAt(uint64_t address) {
  Cell &cell = cells[(address - sharedArena()) / 2];
  if (cell.block != blockSerial) {
    cell = Cell();
    cell.block = blockSerial;
  }
  return cell;
}

void noteRead(Cell &cell, uint32_t thread, const Site &site) {
  const uint32_t epoch = epochOf(thread);
  cell.readSite = site.number;
  if (cell.reads[0] == 0 || cell.reads[0] >> kClockBits == thread || (cell.reads[1] == 0 && ordered(cell.reads[0], thread)))
    cell.reads[0] = epoch;
  else
    cell.reads[1] = epoch;
}

void readShared(const Site &site, const Thread &thread, uint64_t address, bool atomic) {
  Cell &cell = cellAt(address);
  if (cell.write == 0) {
    const SharedRegion *region = regionOf(address, 1);
    say("uninitialised read", "of shared variable " + (region ? region->name : std::string("?")) + " at " + placeOf(site));
    cell.write = kReported;
  } else if (cell.write == kPendingWrite) {
    say("unfinished copy",
        "its bytes are read at " + placeOf(site) + " before the wait for the copy at " + siteText(cell.writeSite));
  } else if (!(atomic && cell.atomic) && !ordered(cell.write, thread.index)) {
    race("the read", site, cell.writeSite, address);
  }
  if (!atomic)
    noteRead(cell, thread.index, site);
}

void writeShared(const Site &site, const Thread &thread, uint64_t address, bool atomic) {
  Cell &cell = cellAt(address);
  if (cell.write == kPendingWrite)
    say("unfinished copy",
        "its bytes are written at " + placeOf(site) + " before the wait for the copy at " + siteText(cell.writeSite));
  else if (!(atomic && cell.atomic) && !ordered(cell.write, thread.index))
    race("the write", site, cell.writeSite, address);
  if (!ordered(cell.reads[0], thread.index) || !ordered(cell.reads[1], thread.index))
    race("the write", site, cell.readSite, address);
  cell.write = epochOf(thread.index);
  cell.writeSite = site.number;
  cell.atomic = atomic;
  cell.reads[0] = cell.reads[1] = 0;
}

// Global memory: per two bytes the serial of the launch (16 bits), the last block that wrote and the last that read (24 each,
// from 1), with two more values.
constexpr uint32_t kSeveral = 0xffffff, kAtomics = 0xfffffe;

std::unordered_map<uint64_t, std::unique_ptr<uint64_t[]>> globalRecords; // by the begin of a buffer
const Buffer *lastBuffer = nullptr;
uint64_t *lastRecords = nullptr;

/// The records of the buffer that holds the bytes; null if none does.
uint64_t *recordsOf(uint64_t address, uint32_t bytes) {
  if (lastBuffer && lastBuffer->contains(address, bytes))
    return lastRecords;
  const Buffer *buffer = bufferAt(address);
  if (!buffer || !buffer->contains(address, bytes))
    return nullptr;
  auto &records = globalRecords[buffer->begin];
  if (!records)
    records = std::make_unique<uint64_t[]>(buffer->bytes / 2 + 1);
  lastBuffer = buffer;
  lastRecords = records.get();
  return lastRecords;
}

void accessGlobal(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes, bool reads, bool writes,
                  bool atomic) {
  uint64_t *records = recordsOf(address, bytes);
  if (!records)
    outside(site, thread, address, bytes, writes ? "writes" : "reads");
  const uint32_t self = machine.blockNumber + 1;
  const uint64_t first = (address - lastBuffer->begin) / 2, last = (address + bytes - 1 - lastBuffer->begin) / 2;
  for (uint64_t i = first; i <= last; ++i) {
    uint64_t record = records[i];
    if (record >> 48 != launchSerial)
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
    records[i] = uint64_t(launchSerial) << 48 | uint64_t(writer) << 24 | reader;
  }
}

bool inConstants(uint64_t address, uint32_t bytes) {
  auto next = constants.upper_bound(address);
  return next != constants.begin() && std::prev(next)->first + std::prev(next)->second >= address + bytes;
}

} // namespace

void Sync::add(uint32_t thread) {
  Clocks *its = emu::known[thread];
  if (!known) {
    known = make();
    known->of = its->of;
  } else {
    if (known->users > 1) { // somebody took it
      Clocks *copy = make();
      copy->of = known->of;
      drop(known);
      known = copy;
    }
    if (its != last)
      join(*known, *its);
  }
  if (its != last) {
    drop(last);
    last = its;
    ++its->users;
  }
  known->of[thread] = clocks[thread];
  if (++clocks[thread] > kClockMask)
    fail("too long", "a thread synchronises more than 2 million times, for which the checked mode has no clocks");
}

void Sync::take(uint32_t thread, bool added) const {
  Clocks *&own = emu::known[thread];
  if (!known || own == known)
    return;
  Clocks *after = known;
  if (!added) {
    after = make();
    after->of = own->of;
    join(*after, *known);
    --after->users;
  }
  ++after->users;
  drop(own);
  own = after;
}

void Sync::clear() {
  drop(known);
  drop(last);
  known = last = nullptr;
}

void shadowStartLaunch(const Kernel &launched, uint64_t blocks, uint32_t dynamicShared) {
  kernel = &launched;
  dynamicBytes = dynamicShared;
  lastBuffer = nullptr;
  sites.clear();
  if (++launchSerial == 0) {
    globalRecords.clear();
    launchSerial = 1;
  }
}

void shadowStartBlock() {
  if (++blockSerial == 0) {
    for (Cell &cell : cells)
      cell = Cell();
    blockSerial = 1;
  }
  for (Clocks *each : known)
    drop(each);
  clocks.assign(machine.threads.size(), 1);
  Clocks *nothing = make();
  nothing->users = clocks.size();
  known.assign(clocks.size(), nothing);
}

void shadowAccess(const Site *site, uint64_t address) {
  said = false;
  const Thread &thread = *machine.current;
  if (address % site->align)
    fail("misaligned", nameOf(thread) + " accesses an address that is no multiple of " + std::to_string(site->align) + ", at " +
                           placeOf(*site));
  if (inArena(address)) {
    if (!regionOf(address, site->size))
      outside(*site, thread, address, site->size, site->writes ? "writes" : "reads");
    remember(*site);
    for (uint32_t at = 0; at < site->size; at += 2) {
      if (site->reads)
        readShared(*site, thread, address + at, site->atomic);
      if (site->writes)
        writeShared(*site, thread, address + at, site->atomic);
    }
  } else if (!inStacks(address) && !inConstants(address, site->size)) {
    accessGlobal(*site, thread, address, site->size, site->reads, site->writes, site->atomic);
  }
}

void shadowRead(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes) {
  said = false;
  if (inArena(address)) {
    if (!regionOf(address, bytes))
      outside(site, thread, address, bytes, "reads");
    remember(site);
    for (uint32_t at = 0; at < bytes; at += 2)
      readShared(site, thread, address + at, false);
  } else if (!inStacks(address) && !inConstants(address, bytes)) {
    accessGlobal(site, thread, address, bytes, true, false, false);
  }
}

void shadowWrite(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes) {
  said = false;
  if (inArena(address)) {
    if (!regionOf(address, bytes))
      outside(site, thread, address, bytes, "writes");
    remember(site);
    for (uint32_t at = 0; at < bytes; at += 2)
      writeShared(site, thread, address + at, false);
  } else if (!inStacks(address)) {
    accessGlobal(site, thread, address, bytes, false, true, false);
  }
}

void shadowPending(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes) {
  if (!inArena(address))
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

void shadowForget(uint64_t buffer) { globalRecords.erase(buffer); }

void shadowAddConstants(uint64_t address, uint64_t bytes) { constants[address] = bytes; }

} // namespace tenon::emu
