#include "runtime/train/Stop.h"
#include <csignal>
#include <iterator>
#include <unistd.h>

namespace tenon::train {

namespace {
volatile sig_atomic_t signals = 0, pipeClosed = 0;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
struct sigaction earlier[std::size(kSignals)];

void onSignal(int number) {
  // The messages that follow meet the closed pipe again: it must not count twice.
  if (signals && number != SIGPIPE)
    _exit(128 + number);
  signals = 1;
  pipeClosed |= number == SIGPIPE;
}
} // namespace

StopSignals::StopSignals() {
  signals = 0;
  struct sigaction action{};
  action.sa_handler = onSignal;
  sigemptyset(&action.sa_mask);
  // Writes of a checkpoint go on where the signal met them.
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &action, &earlier[i]);
    if (kSignals[i] == SIGHUP && earlier[i].sa_handler == SIG_IGN)
      sigaction(SIGHUP, &earlier[i], nullptr);
  }
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &earlier[i], nullptr);
  if (pipeClosed) // what is said after the end must not change the exit status
    signal(SIGPIPE, SIG_IGN);
}

bool StopSignals::requested() { return signals != 0; }

} // namespace tenon::train
