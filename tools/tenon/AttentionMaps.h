// The maps that an entry compiled with --attention-maps has left in its states, as rows of heat maps.
#pragma once
#include "runtime/context/Context.h"
#include "runtime/data/Vocabulary.h"
#include "tools/tenon/HeatMap.h"

namespace tenon::driver {

constexpr int64_t kMostPlaces = 256; // along a side of a map that is drawn
constexpr size_t kMostMaps = 400;

/// What the places of a window are, read from the inputs of its context.
struct Symbols {
  int main = -1;                 // the input that is the text: `ids`, else the first of indices with two axes; -1: there is none
  std::vector<std::string> text; // of its first row
  std::vector<std::string> earlier;                       // of windows before, oldest first
  std::map<std::string, std::vector<std::string>> byAxis; // of all inputs with such symbols
};
int mainInput(const runtime::EntryInfo &entry);
/// `vocabulary`: null or empty where symbols are numbers.
Symbols symbolsOf(const runtime::Context &context, const data::Vocabulary *vocabulary);

struct DrawnMaps {
  std::vector<HeatMapRow> rows;
  std::vector<std::string> limits; // what was left out, in sentences
};
/// Rows by stack and depth, maps by head, of the first row of the batch. `places`: so many of the text count; -1: all.
runtime::Expected<DrawnMaps> mapsOf(const runtime::Context &context, const Symbols &symbols, int64_t places);

} // namespace tenon::driver
