#include "runtime/data/Corruption.h"
#include <algorithm>
#include <cmath>

namespace tenon::data {

/// To even at halves, as TensorFlow's.
static int64_t rounded(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

CorruptionSize CorruptionSize::of(int64_t symbols, double rate, double meanSpan) {
  symbols = std::max<int64_t>(symbols, 2);
  const int64_t noise = std::clamp<int64_t>(rounded(static_cast<double>(symbols) * rate), 1, symbols - 1);
  // No more spans than symbols of either kind, which a part for each needs.
  const int64_t spans = std::clamp<int64_t>(rounded(static_cast<double>(noise) / meanSpan), 1, std::min(noise, symbols - noise));
  return {symbols, spans, symbols - noise + spans + 1, noise + spans + 1};
}

CorruptionSize CorruptionSize::thatFits(int64_t places, double rate, double meanSpan) {
  CorruptionSize size;
  const int64_t most = 1000 * places; // where nearly all is noise
  for (CorruptionSize next = of(2, rate, meanSpan); next.source <= places && next.symbols <= most;
       next = of(size.symbols + 1, rate, meanSpan))
    size = next;
  return size;
}

/// Lengths of `parts` parts of `count`.
static std::vector<int64_t> cut(int64_t count, int64_t parts, RandomStream &random) {
  std::vector<uint8_t> begins(static_cast<size_t>(count - 1)); // whether a part begins at the place behind it
  std::fill_n(begins.begin(), parts - 1, uint8_t{1});
  random.shuffle(begins);
  std::vector<int64_t> lengths = {1};
  for (uint8_t begin : begins)
    if (begin)
      lengths.push_back(1);
    else
      ++lengths.back();
  return lengths;
}

std::vector<NoiseSpan> drawSpans(int64_t symbols, double rate, double meanSpan, RandomStream &random) {
  const CorruptionSize size = CorruptionSize::of(symbols, rate, meanSpan);
  const int64_t noise = size.target - size.spans - 1;
  const std::vector<int64_t> lengths = cut(noise, size.spans, random), others = cut(size.symbols - noise, size.spans, random);
  std::vector<NoiseSpan> spans;
  for (size_t i = 0; i < lengths.size(); ++i)
    spans.push_back({others[i], lengths[i]});
  return spans;
}

} // namespace tenon::data
