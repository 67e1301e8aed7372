#include "tools/tenon/HeatMap.h"
#include "tools/tenon/Chart.h"
#include "tools/tenon/Png.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tenon::driver {

namespace {

// Lengths in pixels.
constexpr double kMargin = 24, kHead = 44, kLine = 18, kScale = 62, kRowHead = 44, kTitle = 18, kGap = 22, kLetter = 5.5,
                 kLabelLine = 11;
constexpr size_t kLongestLabel = 12;

// Indices of the palette: exactly 0, the square roots of weights up to 1, and what is no number.
constexpr int kLow = 1, kHigh = 254, kNotANumber = 255;

/// White to dark blue (ColorBrewer's Blues), grey for 0.
std::vector<Colour> palette() {
  static constexpr Colour stops[] = {{255, 255, 255}, {198, 219, 239}, {107, 174, 214}, {33, 113, 181}, {8, 48, 107}};
  std::vector<Colour> colours(256);
  colours[0] = {232, 232, 228};
  for (int i = kLow; i <= kHigh; ++i) {
    const double at = (i - kLow) * 4.0 / (kHigh - kLow);
    const int from = std::min(3, static_cast<int>(at));
    for (size_t part = 0; part < 3; ++part)
      colours[static_cast<size_t>(i)][part] =
          static_cast<unsigned char>(std::lround(stops[from][part] + (at - from) * (stops[from + 1][part] - stops[from][part])));
  }
  colours[kNotANumber] = {213, 94, 0};
  return colours;
}

unsigned char indexOf(double weight) {
  if (!std::isfinite(weight))
    return kNotANumber;
  if (weight <= 0)
    return 0;
  return static_cast<unsigned char>(std::lround(kLow + std::sqrt(std::min(1.0, weight)) * (kHigh - kLow)));
}

std::string pixel(double value) {
  char text[48];
  snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string drawText(double left, double top, const char *anchor, const char *classes, const std::string &text,
                     bool upright = false) {
  return "<text x=\"" + pixel(left) + "\" y=\"" + pixel(top) + "\" text-anchor=\"" + anchor + "\" class=\"" + classes + "\"" +
         (std::string_view(classes) == "symbols" ? " xml:space=\"preserve\"" : "") +
         (upright ? " transform=\"rotate(-90 " + pixel(left) + " " + pixel(top) + ")\"" : "") + ">" + escapeXml(text) +
         "</text>\n";
}

std::string drawImage(double left, double top, double width, double height, const std::string &png) {
  return "<image x=\"" + pixel(left) + "\" y=\"" + pixel(top) + "\" width=\"" + pixel(width) + "\" height=\"" + pixel(height) +
         "\" preserveAspectRatio=\"none\" href=\"" + dataLink(png) + "\"/>\n";
}

/// Characters of a UTF-8 text.
size_t lettersOf(const std::string &text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string shortened(const std::string &text) {
  if (lettersOf(text) <= kLongestLabel)
    return text;
  size_t end = 0, letters = 0;
  while (end < text.size() && ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80 || letters++ < kLongestLabel - 1))
    ++end;
  return text.substr(0, end) + "\xe2\x80\xa6";
}

/// What stands along one side of a map.
struct Side {
  std::vector<std::string> labels; // one per place; empty: numbers
  int64_t first = 0;               // the number of the first place
  size_t count = 0, letters = 1;   // of the longest label
};

Side sideOf(const std::vector<std::string> &symbols, size_t before, double cell) {
  Side side{{}, -static_cast<int64_t>(before), symbols.size(), 1};
  if (cell < 9) {
    side.letters = std::to_string(before > 0 ? side.first : static_cast<int64_t>(symbols.size())).size();
    return side;
  }
  for (const std::string &symbol : symbols) {
    side.labels.push_back(shortened(symbol));
    side.letters = std::max(side.letters, lettersOf(side.labels.back()));
  }
  return side;
}

/// Numbers that lie so far apart that their texts do not touch.
int64_t stepOf(const Side &side, double cell, double length) {
  int64_t step = 1;
  while (static_cast<double>(step) * cell < length + 6)
    step *= step == 1 ? 4 : 2;
  return side.labels.empty() ? step : 1;
}

class Grid {
public:
  explicit Grid(const std::vector<HeatMapRow> &rows) : rows(rows), colours(palette()) {
    size_t longest = 1;
    for (const HeatMapRow &row : rows)
      longest = std::max({longest, row.rows.size(), row.columns.size()});
    const double places = static_cast<double>(longest);
    cell = longest <= kMostLabelled ? std::clamp(std::floor(280 / places), 9.0, 16.0) : std::max(2.0, std::floor(256 / places));
    for (const HeatMapRow &row : rows)
      left = std::max(left, kMargin + static_cast<double>(sideOf(row.rows, 0, cell).letters) * kLetter + 8);
  }

  double width() const {
    double widest = 0;
    for (const HeatMapRow &row : rows)
      widest = std::max(widest, left + static_cast<double>(row.maps.size()) * (mapWidth(row) + kGap));
    return widest;
  }

  /// Moves `top` on by what it draws.
  std::string draw(const HeatMapRow &row, double &top) const {
    const Side side = sideOf(row.rows, 0, cell), above = sideOf(row.columns, row.memory, cell);
    const bool upright = !above.labels.empty() && above.letters > 1;
    const double labels = upright ? static_cast<double>(above.letters) * kLetter + 4 : kLabelLine + 2;
    std::string text =
        drawText(kMargin, top + 20, "start", "title", row.title) + drawText(kMargin, top + 36, "start", "unit", row.note);
    const double mapTop = top + kRowHead + kTitle + labels;
    for (size_t i = 0; i < side.count; i += static_cast<size_t>(stepOf(side, cell, kLabelLine)))
      text += drawText(left - 5, mapTop + (static_cast<double>(i) + 0.5) * cell + 3, "end", "label",
                       side.labels.empty() ? std::to_string(i) : side.labels[i]);
    for (size_t i = 0; i < row.maps.size(); ++i)
      text += drawMap(row, row.maps[i], left + static_cast<double>(i) * (mapWidth(row) + kGap), mapTop, labels, above, upright);
    top = mapTop + static_cast<double>(row.rows.size()) * cell + kGap;
    return text;
  }

  /// The colours with the weights that they stand for.
  std::string drawScale(double top) const {
    constexpr double kWidth = 330;
    std::vector<unsigned char> indices;
    for (int i = kLow; i <= kHigh; ++i)
      indices.push_back(static_cast<unsigned char>(i));
    std::string text =
        drawText(kMargin, top + 12, "start", "unit",
                 "The share of a row's attention that goes to a column: rows look, columns are looked at. Grey: exactly 0.") +
        drawImage(kMargin, top + 20, kWidth, 12, pngOf(indices.size(), indices, colours));
    for (const auto &[weight, name] :
         {std::pair(0.0, "0"), std::pair(0.01, "0.01"), std::pair(0.05, "0.05"), std::pair(0.1, "0.1"), std::pair(0.25, "0.25"),
          std::pair(0.5, "0.5"), std::pair(1.0, "1")})
      text += drawText(kMargin + std::sqrt(weight) * kWidth, top + 45, "middle", "label", name);
    return text;
  }

  double smallest() const { return kMargin * 2 + 640; } // what the head of the picture needs

private:
  const std::vector<HeatMapRow> &rows;
  const std::vector<Colour> colours;
  double cell = 2, left = 0;

  double mapWidth(const HeatMapRow &row) const { return std::max(static_cast<double>(row.columns.size()) * cell, 60.0); }

  std::string drawMap(const HeatMapRow &row, const HeatMap &map, double at, double top, double labels, const Side &above,
                      bool upright) const {
    std::vector<unsigned char> indices;
    for (double weight : map.weights)
      indices.push_back(indexOf(weight));
    const double wide = static_cast<double>(row.columns.size()) * cell, high = static_cast<double>(row.rows.size()) * cell;
    std::string text =
        "<g class=\"map\"><title>" + escapeXml(row.title + (map.title.empty() ? "" : ", " + map.title)) + "</title>\n";
    text += drawText(at, top - labels - 5, "start", "head-of-map", map.title);
    text += drawImage(at, top, wide, high, pngOf(row.columns.size(), indices, colours, static_cast<size_t>(cell)));
    text +=
        "<rect x=\"" + pixel(at) + "\" y=\"" + pixel(top) + "\" width=\"" + pixel(wide) + "\" height=\"" + pixel(high) + "\"/>\n";
    if (const double border = at + static_cast<double>(row.memory) * cell; row.memory > 0)
      text += "<line x1=\"" + pixel(border) + "\" y1=\"" + pixel(top - 3) + "\" x2=\"" + pixel(border) + "\" y2=\"" +
              pixel(top + high) + "\"/>\n";
    const int64_t step = stepOf(above, cell, static_cast<double>(above.letters) * kLetter);
    for (size_t i = 0; i < above.count; ++i) {
      const int64_t number = above.first + static_cast<int64_t>(i);
      if (number % step != 0)
        continue;
      const double middle = at + (static_cast<double>(i) + 0.5) * cell;
      const std::string label = above.labels.empty() ? std::to_string(number) : above.labels[i];
      const bool turned = upright && lettersOf(label) > 1;
      text += drawText(turned ? middle + 3 : middle, top - 4, turned ? "start" : "middle", "label", label, turned);
    }
    return text + "</g>\n";
  }
};

std::string style() {
  return "<style>\nsvg { font: 12px system-ui, sans-serif; background: #ffffff; }\ntext { fill: #1f2933; }\nimage { "
         "image-rendering: optimizeSpeed; image-rendering: pixelated; }\n"
         ".head { font-size: 17px; font-weight: 600; }\n.title { font-size: 14px; font-weight: 600; }\n.unit, .head-of-map { "
         "fill: #627080; }\n"
         ".label, .symbols { font: 9px ui-monospace, \"DejaVu Sans Mono\", monospace; fill: #627080; }\n.symbols { font-size: "
         "12px; white-space: pre; }\n"
         "rect { fill: none; stroke: #98a5b3; stroke-width: 0.5; }\nline { stroke: #d55e00; stroke-width: 1; }\n"
         "@media (prefers-color-scheme: dark) { svg { background: #14181d; } text { fill: #e4e9ee; } .unit, .head-of-map, "
         ".label, .symbols { fill: #98a5b3; } }\n</style>\n";
}

} // namespace

std::string drawHeatMaps(const std::string &title, const std::vector<std::string> &lines, const std::vector<std::string> &symbols,
                         const std::vector<HeatMapRow> &rows) {
  const Grid grid(rows);
  std::string text = drawText(kMargin, 30, "start", "head", title);
  double top = kHead;
  for (const auto &[list, form] : {std::pair(&lines, "unit"), std::pair(&symbols, "symbols")})
    for (const std::string &line : *list) {
      text += drawText(kMargin, top + 12, "start", form, line);
      top += kLine;
    }
  text += grid.drawScale(top + 6);
  top += kScale;
  for (const HeatMapRow &row : rows)
    text += grid.draw(row, top);
  const double width = std::max(grid.width(), grid.smallest());
  const std::string size =
      "width=\"" + pixel(width) + "\" height=\"" + pixel(top) + "\" viewBox=\"0 0 " + pixel(width) + " " + pixel(top) + "\"";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size + " role=\"img\">\n<title>" + escapeXml(title) + "</title>\n" +
         style() + text + "</svg>\n";
}

} // namespace tenon::driver
