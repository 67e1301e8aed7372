// What the fuzzers of untrusted files share: a random sequence, mutations, and limits of time and memory per input.
#pragma once
#include <cstdint>
#include <string>

namespace tenon::fuzz {

/// splitmix64: a fixed sequence for a seed, whatever the library.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t limit) { return limit ? next() % limit : 0; }
};

/// One to four changes of bytes, numbers and pieces; knows the tokens of the formats, so that many inputs get past the first
/// check.
void mutate(std::string &text, Random &random);
/// Ends the program where that cannot be done.
void writeAll(const std::string &path, const std::string &bytes);

// The files of a run, from FuzzRuns.cpp. Each makes an input under `folder` and reads it; whether it was accepted.
bool tryCheckpoint(Random &random, const std::string &folder);
bool trySettings(Random &random, const std::string &folder);
bool tryMetrics(Random &random, const std::string &folder);
bool tryVocabulary(Random &random, const std::string &folder);
bool tryText(Random &random, const std::string &folder);

// Own data, from FuzzData.cpp, likewise.
bool tryArrays(Random &random, const std::string &folder);
bool tryJsonl(Random &random, const std::string &folder);
// Texts in rows, from FuzzRows.cpp, likewise.
bool tryRows(Random &random, const std::string &folder);
bool tryPictures(Random &random, const std::string &folder);

// Packed pictures, from FuzzPacked.cpp: of these sides and any kind, damaged before or behind the packing.
std::string makePng(Random &random, uint64_t width, uint64_t height, bool isDamaged);
std::string makeJpeg(Random &random, uint64_t width, uint64_t height, bool isDamaged);

/// Ends the program with a finding where the property of accepted inputs does not hold.
void require(bool holds, const char *property);

} // namespace tenon::fuzz
