#include "Banks.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>

namespace tenon::emu {
namespace {

constexpr uint32_t kBanks = 32, kWord = 4, kPass = kBanks * kWord; // bytes that a pass moves at most

struct Access {
  uint32_t mask = 0;
  uint64_t addresses[kWarp] = {};
};

/// Of a place and a warp: accesses that not all lanes have come to yet.
struct Pending {
  uint32_t done[kWarp] = {}, first = 0, bytes = 0;
  std::deque<Access> open;
};

struct Count {
  uint64_t accesses = 0, passes = 0, least = 0;
  void add(const Count &other) {
    accesses += other.accesses;
    passes += other.passes;
    least += other.least;
  }
};

using Place = std::pair<uint32_t, std::string>; // number and text
std::map<std::string, std::map<Place, Count>> counts;
std::map<std::pair<const Site *, uint32_t>, Pending> pending;

unsigned long long number(uint64_t value) { return value; }

/// The places that lose most, of each kernel.
void print() {
  constexpr size_t most = 8;
  for (const auto &[kernel, places] : counts) {
    Count all;
    std::vector<std::pair<uint64_t, const std::string *>> lost;
    for (const auto &[place, count] : places) {
      all.add(count);
      if (count.passes > count.least)
        lost.push_back({count.passes - count.least, &place.second});
    }
    fprintf(stderr, "gpu-emu: %s: shared memory: %llu accesses of warps, %llu passes, %llu without conflicts\n", kernel.c_str(),
            number(all.accesses), number(all.passes), number(all.least));
    std::sort(lost.begin(), lost.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    for (size_t i = 0; i < std::min(most, lost.size()); ++i)
      fprintf(stderr, "gpu-emu: %s: %llu passes more at `%s`\n", kernel.c_str(), number(lost[i].first), lost[i].second->c_str());
  }
}

Count &countOf(const Site &site) {
  if (counts.empty())
    atexit(print);
  return counts[machine.kernel][{site.number, site.text}];
}

/// Lanes are served together as far as they ask for no more than a pass: all with words, 16 with 8 bytes, 8 with 16.
void add(Count &count, const Access &access, uint32_t bytes) {
  const unsigned together = kPass / std::max(bytes, kWord);
  ++count.accesses;
  for (unsigned begin = 0; begin < kWarp; begin += together) {
    std::set<uint64_t> words;
    for (unsigned lane = begin; lane < begin + together; ++lane)
      for (uint32_t at = 0; access.mask >> lane & 1 && at < bytes; at += kWord)
        words.insert((access.addresses[lane] + at) / kWord);
    unsigned inBank[kBanks] = {};
    for (uint64_t word : words)
      ++inBank[word % kBanks];
    count.passes += *std::max_element(inBank, inBank + kBanks);
    count.least += (words.size() + kBanks - 1) / kBanks;
  }
}

} // namespace

void countBanks(const Site &site, const Thread &thread, uint64_t address, uint32_t bytes) {
  Pending &own = pending[{&site, thread.warp}];
  own.bytes = bytes;
  const uint32_t which = own.done[thread.lane]++ - own.first;
  if (which >= own.open.size())
    own.open.resize(which + 1);
  own.open[which].addresses[thread.lane] = address;
  own.open[which].mask |= 1u << thread.lane;
  for (; !own.open.empty() && own.open.front().mask == machine.warps[thread.warp].lanes; ++own.first) {
    add(countOf(site), own.open.front(), bytes);
    own.open.pop_front();
  }
}

void countRows(const Site &site, const uint64_t *addresses, unsigned rows) {
  Access access;
  access.mask = rows == kWarp ? ~0u : (1u << rows) - 1;
  std::copy(addresses, addresses + rows, access.addresses);
  add(countOf(site), access, 16);
}

void endBanks() {
  for (const auto &[key, own] : pending)
    for (const Access &access : own.open)
      add(countOf(*key.first), access, own.bytes);
  pending.clear();
}

} // namespace tenon::emu
