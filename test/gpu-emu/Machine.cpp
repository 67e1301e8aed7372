#include "Machine.h"
#include "Fiber.h"
#include "Models.h"
#include "llvm/ADT/StringExtras.h"
#include <cstddef>

namespace tenon::emu {

Machine machine;

uint32_t Machine::draw() { // splitmix64
  uint64_t z = random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return uint32_t((z ^ z >> 31) >> 32);
}

static bool readNumber(llvm::StringRef text, uint64_t &number) { return !text.empty() && !text.getAsInteger(10, number); }

/// One word of a mode; false if it is none.
static bool readWord(llvm::StringRef key, llvm::StringRef value, Mode &mode) {
  uint64_t number = 0;
  if (key == "checked" || key == "fast")
    return mode.checked = key == "checked", value.empty();
  if (key == "counts")
    return mode.counts = true, value.empty();
  if (key == "banks")
    return mode.banks = true, value.empty();
  if (key == "order") {
    const auto [name, seed] = value.split(':');
    mode.order = name == "in" ? Order::InOrder : name == "reverse" ? Order::Reverse : Order::Random;
    return name == "random" ? readNumber(seed, mode.seed) : (name == "in" || name == "reverse") && seed.empty();
  }
  if (key == "copies")
    return mode.late = value == "late", value == "late" || value == "early";
  if (key == "sm")
    return readNumber(value.take_until([](char c) { return c == 'a'; }), number) && number >= 50 && number < 130 &&
           (mode.chip = number, true);
  if (key == "memory")
    return readNumber(value, mode.memory) && mode.memory < (uint64_t(1) << 38);
  if (key == "cuda")
    return readNumber(value, number) && number >= 10000 && number < 20000 && (mode.cuda = number, true);
  if (key == "mutants")
    return mode.scores = true, mode.mutants = value.str(), true;
  if (key == "broken")
    return mode.broken = value.str(), value == "events" || value == "graphs" || value == "waits";
  if (key == "record")
    return mode.record = value.str(), !value.empty();
  if (key == "mutant") {
    const auto [kernel, call] = value.rsplit(':');
    mode.mutant = kernel.str();
    return readNumber(call, number) && number < kMostFaults && (mode.faults = {unsigned(number)}, true);
  }
  return false;
}

llvm::Expected<Mode> parseMode(llvm::StringRef text) {
  Mode mode;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ',', -1, false);
  for (llvm::StringRef word : words) {
    const auto [key, value] = word.trim().split('=');
    if (!readWord(key, value, mode))
      return llvm::createStringError("'" + word.trim() +
                                     "' is no mode of the emulator: checked or fast, order=in, reverse or random:SEED, "
                                     "copies=late or early, sm=80, cuda=12080, memory=BYTES, mutant=KERNEL:N, mutants[=TEXT], "
                                     "broken=events, graphs or waits, record=FOLDER, counts, banks");
  }
  return mode;
}

void report(const char *kind, const std::string &text) {
  constexpr size_t kMost = 20; // different ones
  for (Report &known : machine.reports)
    if (known.kind == kind && known.text == text) {
      ++known.count;
      return;
    }
  if (machine.reports.size() < kMost)
    machine.reports.push_back({kind, text, 1});
  else if (machine.reports.size() == kMost)
    machine.reports.push_back({"more", "findings that are not listed", 1});
  else
    ++machine.reports.back().count;
}

void fail(const char *kind, const std::string &text) {
  report(kind, text);
  stopFibers();
}

std::string nameOf(const Thread &thread) {
  const auto triple = [](const uint32_t *at) {
    return "(" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," + std::to_string(at[2]) + ")";
  };
  return "thread " + triple(thread.tid) + " of block " + triple(machine.block.ctaid);
}

std::string placeOf(const Site &site) {
  return "`" + site.text + "`" + (site.kernel == machine.kernel ? "" : " of " + site.kernel) + " (" +
         std::to_string(site.number) + ")";
}

static std::string maskText(uint32_t mask) { return "0x" + llvm::utohexstr(mask, /*LowerCase=*/true); }

void meet(const Site &site, uint32_t mask, const uint64_t *arguments, void *result,
          void (*compute)(const Site &, uint32_t, uint32_t)) {
  Thread &thread = *machine.current;
  Warp &warp = machine.warps[thread.warp];
  const uint32_t self = 1u << thread.lane;
  if (!(mask & self) || (mask & ~warp.lanes) || (mask & warp.exited))
    fail("wrong mask", nameOf(thread) + " waits for lanes " + maskText(mask) + ", which " +
                           (!(mask & self)         ? "leave it out"
                            : (mask & ~warp.lanes) ? "its warp does not have"
                                                   : "have ended in part: " + maskText(warp.exited)) +
                           ", at " + placeOf(site));
  size_t found = warp.gathers.size();
  for (size_t i = 0; i < warp.gathers.size(); ++i)
    if (warp.gathers[i].mask & mask)
      found = i;
  if (found == warp.gathers.size()) {
    warp.gathers.push_back({&site, mask, 0});
  } else if (warp.gathers[found].site != &site || warp.gathers[found].mask != mask) {
    const Gather &other = warp.gathers[found];
    fail("divergent collective", nameOf(thread) + " is at " + placeOf(site) + " for lanes " + maskText(mask) +
                                     " while lanes of its warp wait at " + placeOf(*other.site) + " for lanes " +
                                     maskText(other.mask));
  }
  Gather &gather = warp.gathers[found];
  thread.arguments = arguments;
  thread.result = result;
  gather.here |= self;
  if (gather.here != mask) {
    thread.at = &site;
    park();
    return;
  }
  warp.gathers.erase(warp.gathers.begin() + found);
  compute(site, thread.warp, mask);
  for (uint32_t rest = mask & ~self; rest; rest &= rest - 1) {
    Thread &other = threadOf(thread.warp, __builtin_ctz(rest));
    other.at = nullptr;
    wake(other.index);
  }
  if (machine.mode.order == Order::Random)
    yieldFiber();
}

namespace {
constexpr Model kModels[] = {
#define MODEL(pattern, function, parameter, traits) {pattern, function, parameter, traits},
#include "Ops.def"
};
constexpr const char *kHost[] = {
#define HOST(pattern) pattern,
#include "Ops.def"
};
constexpr const char *kDropped[] = {
#define DROP(pattern) pattern,
#include "Ops.def"
};
constexpr struct {
  const char *name;
  RegisterPlace place;
} kRegisters[] = {
#define REGISTER(name, place, field) {name, {std::is_same_v<place, Thread>, offsetof(place, field)}},
#include "Ops.def"
};

bool fits(llvm::StringRef pattern, llvm::StringRef name) {
  return pattern.consume_back("*") ? name.starts_with(pattern) : name == pattern;
}
} // namespace

const Model *findModel(llvm::StringRef intrinsic) {
  if (intrinsic.consume_front("llvm.nvvm."))
    for (const Model &model : kModels)
      if (fits(model.pattern, intrinsic))
        return &model;
  return nullptr;
}

static bool listed(llvm::ArrayRef<const char *> patterns, llvm::StringRef intrinsic) {
  return intrinsic.consume_front("llvm.") && llvm::any_of(patterns, [&](const char *each) { return fits(each, intrinsic); });
}

bool passesUnchanged(llvm::StringRef intrinsic) { return listed(kHost, intrinsic); }
bool isDropped(llvm::StringRef intrinsic) { return listed(kDropped, intrinsic); }

bool findRegister(llvm::StringRef name, RegisterPlace &place) {
  for (const auto &row : kRegisters)
    if (name == row.name) {
      place = row.place;
      return true;
    }
  return false;
}

} // namespace tenon::emu
