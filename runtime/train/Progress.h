// What a person sees of a training run on stderr: one line that is redrawn on a terminal, a line every ten seconds elsewhere, a
// terminal that cannot redraw (TERM=dumb) among them. No colour with NO_COLOR.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tenon::train {

struct ProgressPoint {
  uint64_t step = 0, steps = 0; // steps 0: no limit
  double loss = 0;
  std::optional<double> bits = std::nullopt; // per character, where a loss says how many
  double tokensPerSecond = 0;
  double secondsLeft = -1; // -1: unknown
  uint64_t residentBytes = 0;
};

class Progress {
public:
  /// `quiet`: nothing but messages.
  explicit Progress(bool quiet);
  /// Ends a drawn line.
  ~Progress();
  /// Draws if it is time: at most ten times a second on a terminal.
  void update(const ProgressPoint &point, bool force = false);
  /// A line of its own, above the progress line.
  void message(const std::string &text);

private:
  using Clock = std::chrono::steady_clock;
  void clear();
  bool quiet, terminal, color, drawn = false;
  Clock::time_point last;
};

/// "13,067", and "1:23" or "2:01:23".
std::string withCommas(double value);
std::string durationText(double seconds);

/// The text of one point, without colour: "step 120/4000  loss 1.723  2.486 bits/char  4,100 tokens/s  3:21 left  412 MiB".
std::string progressText(const ProgressPoint &point);

} // namespace tenon::train
