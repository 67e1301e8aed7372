// Which symbols of a piece of text are noise: T5's random spans (t5/data/preprocessors.py).
#pragma once
#include "runtime/data/Random.h"

namespace tenon::data {

/// How long a piece of text is whose source has room in so many places, and its target.
struct CorruptionSize {
  int64_t symbols = 0, spans = 0, source = 0, target = 0; // source and target: with sentinels and an end
  /// Of so many symbols (random_spans_noise_mask): at least one is noise, and one is not.
  static CorruptionSize of(int64_t symbols, double rate, double meanSpan);
  /// The longest piece that fits (random_spans_helper).
  static CorruptionSize thatFits(int64_t places, double rate, double meanSpan);
};

/// A span of noise, and how many symbols stand before it and behind the one before.
struct NoiseSpan {
  int64_t before, noise;
};
/// Noise and the rest are each cut into as many parts of at least one symbol, all ways to cut being as likely. Together the spans
/// have `symbols`, at least 2.
std::vector<NoiseSpan> drawSpans(int64_t symbols, double rate, double meanSpan, RandomStream &random);

} // namespace tenon::data
