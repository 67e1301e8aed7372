#include "Async.h"
#include "Banks.h"
#include "Models.h"
#include "Shadow.h"
#include <deque>

namespace tenon::emu {
namespace {

struct Copy {
  const Site *site;
  char *to;
  const char *from;
  uint32_t bytes, fromSource; // the rest of the bytes becomes zero
};
using Group = std::vector<Copy>;
struct Queue {
  Group open;
  std::deque<Group> committed;
};
std::vector<Queue> queues; // of threads
bool used = false;

void move(const Copy &copy) {
  memcpy(copy.to, copy.from, copy.fromSource);
  memset(copy.to + copy.fromSource, 0, copy.bytes - copy.fromSource);
}

void arrive(const Group &group) {
  for (const Copy &copy : group) {
    if (machine.mode.late)
      move(copy);
    if (machine.mode.checked)
      shadowArrived(*copy.site, *machine.current, reinterpret_cast<uint64_t>(copy.to), copy.bytes);
  }
}

Queue &ownQueue() { return queues[machine.current->index]; }

} // namespace

void resetAsync() {
  resetMbarriers();
  resetProducts();
  if (!used && queues.size() == machine.threads.size())
    return;
  queues.assign(machine.threads.size(), Queue());
  used = false;
}

void exitAsync(const Thread &thread) {
  exitProducts(thread);
  if (!used)
    return;
  Queue &queue = queues[thread.index];
  const Copy *lost = queue.open.empty() ? nullptr : &queue.open.front();
  for (const Group &group : queue.committed)
    if (!group.empty())
      lost = &group.front();
  if (lost)
    report("unfinished copy", "a thread ends without a wait for its copy at " + placeOf(*lost->site));
}

void opCopy(const Site &site, const uint64_t *arguments, void *) {
  const uint32_t bytes = site.model->parameter & 31;
  const uint64_t to = arguments[0], from = arguments[1];
  const Thread &thread = *machine.current;
  uint32_t fromSource = bytes;
  if (site.model->parameter & kWithSize)
    fromSource = argument<uint32_t>(arguments, 2);
  if (fromSource > bytes)
    fail("wrong copy", nameOf(thread) + " copies " + std::to_string(fromSource) + " of " + std::to_string(bytes) + " bytes at " +
                           placeOf(site));
  if (to % bytes || from % bytes)
    fail("misaligned", nameOf(thread) + " copies " + std::to_string(bytes) + " bytes " + (to % bytes ? "to" : "from") +
                           " an address that is no multiple of that, at " + placeOf(site));
  used = true;
  if (machine.mode.checked) {
    if (fromSource)
      shadowRead(site, thread, from, fromSource);
    shadowPending(site, thread, to, bytes);
  }
  if (machine.mode.banks)
    countBanks(site, thread, to, bytes);
  const Copy copy = {&site, reinterpret_cast<char *>(to), reinterpret_cast<const char *>(from), bytes, fromSource};
  if (machine.mode.late)
    memset(copy.to, 0xff, bytes);
  else
    move(copy);
  ownQueue().open.push_back(copy);
}

void opCommit(const Site &, const uint64_t *, void *) {
  Queue &queue = ownQueue();
  queue.committed.push_back(std::move(queue.open));
  queue.open.clear();
}

void opWaitGroup(const Site &, const uint64_t *arguments, void *) {
  Queue &queue = ownQueue();
  while (queue.committed.size() > argument<uint32_t>(arguments, 0)) {
    arrive(queue.committed.front());
    queue.committed.pop_front();
  }
}

void opWaitAll(const Site &, const uint64_t *, void *) {
  Queue &queue = ownQueue();
  for (const Group &group : queue.committed)
    arrive(group);
  arrive(queue.open);
  queue.committed.clear();
  queue.open.clear();
}

} // namespace tenon::emu
