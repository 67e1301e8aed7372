// Line charts as one self-contained SVG text: panels under each other, one legend, colours for light and dark backgrounds.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tenon::driver {

struct Curve {
  std::string label;                             // for the pointer's title
  size_t run = 0;                                // which colour
  std::vector<std::pair<double, double>> points; // in order of x; a y that is not finite breaks the line
  bool marks = false;                            // few points: each gets a dot
  bool faint = false;                            // behind the others: what a smoothed curve stands for
  bool rings = false;                            // each point has a ring: what is to be found among others
};

struct Panel {
  std::string title, unit; // "held-out", "nats"
  std::vector<Curve> curves;
  bool logarithmic = false; // y; values that are not positive are left out
};

/// `legend`: one name per run, in the order of the colours. Texts are escaped. Long curves are thinned to what the width can
/// show: the smallest and the largest value of each column stay.
std::string drawCharts(const std::string &title, const std::string &xLabel, const std::vector<std::string> &legend,
                       const std::vector<Panel> &panels);

/// `&`, `<`, `>` and quotes for XML; control characters become U+FFFD.
std::string escapeXml(std::string_view text);

} // namespace tenon::driver
