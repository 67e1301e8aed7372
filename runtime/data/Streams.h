// A stream cut into rows.
#pragma once
#include <algorithm>
#include <cstdint>

namespace tenon::data {

/// Rows of one length over a stream, which together have each of its places once. Where their number does not divide the places,
/// the later rows are one place shorter, and begin with the last place of the row before instead.
struct EvenRows {
  int64_t places = 0, rows = 1;
  int64_t length() const { return (places + rows - 1) / rows; }
  bool startsEarly(int64_t row) const { return places % rows > 0 && row >= places % rows; }
  int64_t begin(int64_t row) const { return row * (places / rows) + std::min(row, places % rows) - startsEarly(row); }
};

} // namespace tenon::data
