// Texts beside pictures of attention, as much as there is room for.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenon::driver {

/// Lines of symbols with the number of the first of each, for maps that have no room for them. Words have blanks between them,
/// letters and <marks> have none. `first`: the number of the first symbol.
std::vector<std::string> symbolLines(std::span<const std::string> symbols, int64_t first);
/// The end of a path, as much as a title has room for.
std::string endOfPath(const std::string &path);

} // namespace tenon::driver
