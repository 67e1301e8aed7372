#include "tools/tenon/Chart.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tenon::driver {

namespace {

// Lengths in pixels. Two panels a row.
constexpr double kPanelWidth = 520, kPanelHeight = 270, kLeft = 64, kRight = 16, kTop = 40, kBottom = 40, kHead = 48,
                 kLegendLine = 20, kLetter = 7.2;
constexpr double kPlotWidth = kPanelWidth - kLeft - kRight, kPlotHeight = kPanelHeight - kTop - kBottom;
// Okabe and Ito's palette, distinct for all kinds of colour vision, without its yellow and black.
constexpr const char *kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
constexpr size_t kColourCount = std::size(kColours);

std::string number(double value, const char *form) {
  char text[48];
  snprintf(text, sizeof text, form, value);
  return text;
}
std::string pixel(double value) { return number(value, "%.1f"); }

/// 25000 as 25k; where the largest is below 0.01, all with its power of ten: 2e-4, 1.5e-4, 0.5e-4.
std::vector<std::string> tickTexts(const std::vector<double> &ticks) {
  double largest = 0;
  for (double tick : ticks)
    largest = std::max(largest, std::fabs(tick));
  int power = largest > 0 && largest < 1e-2 ? static_cast<int>(std::floor(std::log10(largest) + 1e-9)) : 0;
  double unit = power ? std::pow(10, power) : largest >= 1e6 ? 1e6 : largest >= 1e4 ? 1e3 : 1;
  std::string suffix = power ? "e" + std::to_string(power) : unit == 1e6 ? "M" : unit == 1e3 ? "k" : "";
  std::vector<std::string> texts;
  for (double tick : ticks)
    texts.push_back(tick == 0 ? "0" : number(tick / unit, "%.4g") + suffix);
  return texts;
}

struct Scale {
  double low = 0, high = 1;
  bool logarithmic = false;
  double at(double value) const {
    double from = logarithmic ? std::log10(low) : low, to = logarithmic ? std::log10(high) : high,
           x = logarithmic ? std::log10(value) : value;
    return (x - from) / (to - from);
  }
  bool shows(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
};

Scale scaleOf(const std::vector<Curve> &curves, bool ofX, bool logarithmic) {
  Scale scale{INFINITY, -INFINITY, logarithmic};
  for (const Curve &curve : curves)
    for (const auto &[x, y] : curve.points)
      if (double value = ofX ? x : y; scale.shows(value) && scale.shows(ofX ? value : y)) {
        scale.low = std::min(scale.low, value);
        scale.high = std::max(scale.high, value);
      }
  if (scale.low > scale.high)
    return {logarithmic ? 1.0 : 0.0, logarithmic ? 10.0 : 1.0, logarithmic};
  if (scale.low == scale.high) { // one value: in the middle
    if (logarithmic)
      return {scale.low / 2, scale.high * 2, true};
    return scale.low == 0 ? Scale{-1, 1, false} : Scale{std::min(0.0, 2 * scale.low), std::max(0.0, 2 * scale.low), false};
  }
  double room = ofX ? 0 : 0.06;
  if (logarithmic) {
    double factor = std::pow(scale.high / scale.low, room);
    return {scale.low / factor, scale.high * factor, true};
  }
  double more = room * (scale.high - scale.low);
  return {scale.low >= 0 && scale.low < more ? 0 : scale.low - more, scale.high + more, false};
}

/// Round numbers between low and high, at most `most`; at least one.
std::vector<double> roundTicks(double low, double high, int most) {
  double raw = (high - low) / most, power = std::pow(10, std::floor(std::log10(raw)));
  double step = power * (raw / power <= 1 ? 1 : raw / power <= 2 ? 2 : raw / power <= 5 ? 5 : 10);
  std::vector<double> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k)
    ticks.push_back(k == 0 ? 0 : k * step);
  return ticks;
}

std::vector<double> powerTicks(const Scale &scale) {
  std::vector<double> ticks;
  double decades = std::log10(scale.high / scale.low);
  const std::vector<double> steps = decades > 3   ? std::vector<double>{1}
                                    : decades > 1 ? std::vector<double>{1, 3}
                                                  : std::vector<double>{1, 1.5, 2, 3, 5, 7};
  for (int power = static_cast<int>(std::floor(std::log10(scale.low))); std::pow(10, power) <= scale.high; ++power)
    for (double step : steps)
      if (double value = step * std::pow(10, power); value >= scale.low && value <= scale.high)
        ticks.push_back(value);
  return ticks.size() > 1 ? ticks : roundTicks(scale.low, scale.high, 5);
}

using Points = std::vector<std::pair<double, double>>;

/// Pixels of the runs of points between gaps; of many points in a column of pixels the smallest and the largest stay, in their
/// order.
std::vector<Points> linesOf(const Curve &curve, const Scale &x, const Scale &y) {
  std::vector<Points> lines(1);
  long column = -1;
  std::pair<double, double> least, most;
  bool lastIsMost = false, open = false;
  auto close = [&] {
    if (!open)
      return;
    lines.back().push_back(lastIsMost ? least : most);
    if (least != most)
      lines.back().push_back(lastIsMost ? most : least);
    open = false;
  };
  for (const auto &[step, value] : curve.points) {
    if (!y.shows(value)) {
      close();
      if (!lines.back().empty())
        lines.emplace_back();
      continue;
    }
    std::pair<double, double> place = {kLeft + x.at(step) * kPlotWidth, kTop + (1 - y.at(value)) * kPlotHeight};
    if (long now = std::lround(place.first * 2); now != column || !open) { // half a pixel: what a fine screen shows
      close();
      column = now;
      least = most = place;
      open = true;
      continue;
    }
    if (place.second > least.second) {
      least = place;
      lastIsMost = false;
    }
    if (place.second < most.second) {
      most = place;
      lastIsMost = true;
    }
  }
  close();
  if (lines.back().empty())
    lines.pop_back();
  return lines;
}

std::string drawCurve(const Curve &curve, const Scale &x, const Scale &y) {
  std::string text = "<g class=\"run" + std::to_string(curve.run % kColourCount) + (curve.faint ? " faint" : "") + "\"><title>" +
                     escapeXml(curve.label) + "</title>";
  for (const Points &line : linesOf(curve, x, y)) {
    if (line.size() > 1) {
      text += "<polyline points=\"";
      for (const auto &[left, top] : line)
        text += pixel(left) + "," + pixel(top) + " ";
      text.back() = '"';
      text += "/>";
    }
    if (curve.marks || line.size() == 1)
      for (const auto &[left, top] : line)
        text += "<circle cx=\"" + pixel(left) + "\" cy=\"" + pixel(top) + "\" r=\"2.5\"/>";
    for (const auto &[left, top] : curve.rings ? line : Points())
      text += "<circle class=\"ring\" cx=\"" + pixel(left) + "\" cy=\"" + pixel(top) + "\" r=\"6\"/>";
  }
  return text + "</g>\n";
}

std::string drawText(double left, double top, const char *anchor, const std::string &classes, const std::string &text) {
  return "<text x=\"" + pixel(left) + "\" y=\"" + pixel(top) + "\" text-anchor=\"" + anchor + "\" class=\"" + classes + "\">" +
         escapeXml(text) + "</text>\n";
}

std::string drawLine(double left, double top, double right, double bottom) {
  return "<line x1=\"" + pixel(left) + "\" y1=\"" + pixel(top) + "\" x2=\"" + pixel(right) + "\" y2=\"" + pixel(bottom) +
         "\"/>\n";
}

std::string drawPanel(const Panel &panel, const Scale &x, const std::string &xLabel) {
  Scale y = scaleOf(panel.curves, false, panel.logarithmic);
  std::string text =
      drawText(kLeft, 24, "start", "title", panel.title) + drawText(kPanelWidth - kRight, 24, "end", "unit", panel.unit);
  std::vector<double> ticks = y.logarithmic ? powerTicks(y) : roundTicks(y.low, y.high, 6);
  std::vector<std::string> labels = tickTexts(ticks);
  for (size_t i = 0; i < ticks.size(); ++i) {
    double top = kTop + (1 - y.at(ticks[i])) * kPlotHeight;
    text += drawLine(kLeft, top, kPanelWidth - kRight, top) + drawText(kLeft - 8, top + 4, "end", "tick", labels[i]);
  }
  double labelled = -INFINITY; // the right end of the last label
  ticks = roundTicks(x.low, x.high, 6);
  labels = tickTexts(ticks);
  for (size_t i = 0; i < ticks.size(); ++i) {
    double left = kLeft + x.at(ticks[i]) * kPlotWidth, half = static_cast<double>(labels[i].size()) * kLetter / 2;
    if (left - half < labelled + 4)
      continue;
    labelled = left + half;
    text += drawText(left, kPanelHeight - kBottom + 16, "middle", "tick", labels[i]);
  }
  text += drawText(kLeft + kPlotWidth / 2, kPanelHeight - 6, "middle", "unit", xLabel);
  bool any = false;
  for (const Curve &curve : panel.curves)
    any |= std::any_of(curve.points.begin(), curve.points.end(), [&](const auto &point) { return y.shows(point.second); });
  if (!any)
    text += drawText(kLeft + kPlotWidth / 2, kTop + kPlotHeight / 2, "middle", "unit",
                     panel.curves.empty() ? "nothing recorded" : "no finite value");
  for (bool faint : {true, false})
    for (const Curve &curve : panel.curves)
      if (curve.faint == faint)
        text += drawCurve(curve, x, y);
  return text;
}

std::string style() {
  std::string text = "<style>\nsvg { font: 12px system-ui, sans-serif; background: #ffffff; }\ntext { fill: #1f2933; }\n.title { "
                     "font-size: 14px; font-weight: 600; }\n"
                     ".head { font-size: 17px; font-weight: 600; }\n.unit, .tick { fill: #627080; }\nline { stroke: #e2e7ec; "
                     "stroke-width: 1; }\n"
                     "polyline { fill: none; stroke-width: 1.6; stroke-linejoin: round; }\n.faint polyline { stroke-width: 1; "
                     "}\n.faint { opacity: 0.3; }\n";
  for (size_t i = 0; i < kColourCount; ++i)
    for (const auto &[what, style] :
         {std::pair(" polyline", " { stroke: "), std::pair(" circle", " { fill: "), std::pair(" rect", " { fill: "),
          std::pair(" .ring", " { fill: none; stroke-width: 1.6; stroke: ")})
      text += ".run" + std::to_string(i) + what + style + kColours[i] + "; }" + "\n";
  return text + "@media (prefers-color-scheme: dark) { svg { background: #14181d; } text { fill: #e4e9ee; } .unit, .tick { fill: "
                "#98a5b3; } line { stroke: #2b333c; } "
                "polyline { filter: brightness(1.25); } }\n</style>\n";
}

/// The legend's lines, wrapped to the width; `height` grows by them.
std::string drawLegend(const std::vector<std::string> &names, double width, double &height) {
  std::string text;
  double left = kLeft;
  for (size_t i = 0; i < names.size(); ++i) {
    std::string name = names[i].size() > 60 ? "..." + names[i].substr(names[i].size() - 57) : names[i];
    double space = 30 + name.size() * kLetter;
    if (left + space > width - kRight && left > kLeft) {
      left = kLeft;
      height += kLegendLine;
    }
    text += "<g class=\"run" + std::to_string(i % kColourCount) + "\"><rect x=\"" + pixel(left) + "\" y=\"" + pixel(height - 4) +
            "\" width=\"14\" height=\"4\"/></g>\n" + drawText(left + 20, height + 2, "start", "legend", name);
    left += space;
  }
  height += kLegendLine;
  return text;
}

} // namespace

std::string escapeXml(std::string_view text) {
  std::string result;
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      result += "\xef\xbf\xbd";
    else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
      result += "&#" + std::to_string(byte) + ";";
    else
      result += c;
  }
  return result;
}

std::string drawCharts(const std::string &title, const std::string &xLabel, const std::vector<std::string> &legend,
                       const std::vector<Panel> &panels) {
  std::vector<Curve> all;
  for (const Panel &panel : panels)
    all.insert(all.end(), panel.curves.begin(), panel.curves.end());
  Scale x = scaleOf(all, true, false);
  size_t columns = panels.size() > 1 ? 2 : 1;
  double width = columns * kPanelWidth, height = kHead + 4;
  std::string text = drawText(kLeft, 30, "start", "head", title) + drawLegend(legend, width, height);
  for (size_t i = 0; i < panels.size(); ++i)
    text += "<g transform=\"translate(" + pixel(static_cast<double>(i % columns) * kPanelWidth) + "," +
            pixel(height + static_cast<double>(i / columns) * kPanelHeight) + ")\">\n" + drawPanel(panels[i], x, xLabel) +
            "</g>\n";
  height += static_cast<double>((panels.size() + columns - 1) / columns) * kPanelHeight + 8;
  std::string size = "width=\"" + pixel(width) + "\" height=\"" + pixel(height) + "\" viewBox=\"0 0 " + pixel(width) + " " +
                     pixel(height) + "\"";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size + " role=\"img\">\n<title>" + escapeXml(title) + "</title>\n" +
         style() + text + "</svg>\n";
}

} // namespace tenon::driver
