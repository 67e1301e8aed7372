// Grids of heat maps as one self-contained SVG text: weights between 0 and 1, rows of maps under each other, one scale of colours
// for all.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::driver {

struct HeatMap {
  std::string title;
  std::vector<double> weights; // rows x columns
};

/// Maps that stand beside each other and share what their rows and columns are.
struct HeatMapRow {
  std::string title, note;
  std::vector<std::string> rows, columns; // what each is, a symbol; not empty
  size_t memory = 0; // so many first columns come before the places of the rows: they are numbered from below 0
  std::vector<HeatMap> maps;
};

/// `lines` stand below the title, and `symbols` below them in letters of one width. Symbols label rows and columns where there is
/// room, else their numbers do. All texts are escaped.
std::string drawHeatMaps(const std::string &title, const std::vector<std::string> &lines, const std::vector<std::string> &symbols,
                         const std::vector<HeatMapRow> &rows);

/// Places along a side up to which each has its label.
constexpr size_t kMostLabelled = 32;

} // namespace tenon::driver
