#include "runtime/train/Progress.h"
#include "runtime/base/Printable.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tenon::train {

std::string withCommas(double value) {
  std::string digits = std::to_string(static_cast<long long>(std::llround(value)));
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string durationText(double seconds) {
  long long s = std::llround(seconds);
  char buffer[48];
  if (s >= 3600)
    snprintf(buffer, sizeof buffer, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  else
    snprintf(buffer, sizeof buffer, "%lld:%02lld", s / 60, s % 60);
  return buffer;
}

std::string progressText(const ProgressPoint &point) {
  char buffer[64];
  std::string text = "step " + std::to_string(point.step);
  if (point.steps > 0)
    text += "/" + std::to_string(point.steps);
  snprintf(buffer, sizeof buffer, "  loss %.4f", point.loss);
  text += buffer;
  if (point.bits) {
    snprintf(buffer, sizeof buffer, "  %.3f bits/char", *point.bits);
    text += buffer;
  }
  text += "  " + withCommas(point.tokensPerSecond) + " tokens/s";
  if (point.secondsLeft >= 0)
    text += "  " + durationText(point.secondsLeft) + " left";
  return text + "  " + std::to_string(point.residentBytes >> 20) + " MiB";
}

namespace {

/// Whether a line on stderr can be drawn again.
bool canRedraw() {
  const char *kind = getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && kind && *kind && std::string_view(kind) != "dumb";
}

/// Columns of the terminal; where it does not say, as many as every terminal has.
size_t columns() {
  struct winsize window{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 ? window.ws_col : 80;
}

} // namespace

Progress::Progress(bool quiet)
    : quiet(quiet), terminal(canRedraw()), color(terminal && !(getenv("NO_COLOR") && *getenv("NO_COLOR"))),
      last(Clock::now() - std::chrono::hours(1)) {}

Progress::~Progress() {
  if (drawn)
    fputc('\n', stderr);
}

void Progress::clear() {
  if (drawn)
    fputs("\r\033[K", stderr);
  drawn = false;
}

void Progress::update(const ProgressPoint &point, bool force) {
  if (quiet)
    return;
  Clock::time_point now = Clock::now();
  auto interval = terminal ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000);
  if (!force && now - last < interval)
    return;
  last = now;
  std::string text = progressText(point);
  if (!terminal) {
    fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  if (text.size() >= columns()) // a second line would stay when the first is drawn again
    text.resize(columns() - 1);
  fprintf(stderr, "\r\033[K%s%s%s", color ? "\033[36m" : "", text.c_str(), color ? "\033[0m" : "");
  fflush(stderr);
  drawn = true;
}

void Progress::message(const std::string &text) {
  clear();
  fprintf(stderr, "%s\n", runtime::printable(text).c_str());
}

} // namespace tenon::train
