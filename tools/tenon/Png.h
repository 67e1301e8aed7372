// Small pictures with a palette, as text that a page or an SVG can hold.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::driver {

using Colour = std::array<unsigned char, 3>; // red, green, blue

/// A PNG of `width` columns of cells, whose rows of palette indices stand one after the other; each cell is `scale` x `scale`
/// pixels, for not every viewer lets cells keep their edges when it makes them larger. At most 256 colours.
std::string pngOf(size_t width, const std::vector<unsigned char> &indices, const std::vector<Colour> &palette, size_t scale = 1);
/// "data:image/png;base64,..."
std::string dataLink(const std::string &png);

} // namespace tenon::driver
