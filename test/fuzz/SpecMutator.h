// Makes inputs for fuzzing out of sample specifications. Most changes keep the text a specification (names for names, statements
// repeated or left out), so that what lies behind the grammar is reached; the others break it in every way.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::fuzz {

/// splitmix64: the same numbers everywhere for one seed.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  size_t below(size_t bound) { return bound ? next() % bound : 0; }
  bool chance(unsigned percent) { return below(100) < percent; }

private:
  uint64_t state;
};

class SpecMutator {
public:
  /// Cuts a file into its top-level items; each is a seed.
  void addFile(const std::string &text);
  /// A file that is one seed: its names are known to each other, so that a change can leave it right.
  void addWhole(const std::string &text);
  size_t seeds() const { return items.size(); }
  /// One or two seeds with a few changes. `broken` says whether changes were made that ignore the grammar.
  std::string make(Random &random, bool &broken) const;

private:
  void keep(Random &random, std::vector<std::string> &tokens) const;
  void keepNames(Random &random, std::vector<std::string> &tokens) const;
  void wreck(Random &random, std::vector<std::string> &tokens) const;
  void nest(Random &random, std::vector<std::string> &tokens) const;

  std::vector<std::vector<std::string>> items;
  bool whole = false; // items are files
  std::vector<std::string> words, numbers, strings, others;
};

} // namespace tenon::fuzz
