#include "runtime/train/Stop.h"
#include <csignal>
#include <unistd.h>

namespace tenon::train {

namespace {
volatile sig_atomic_t signals = 0;
struct sigaction oldInterrupt, oldTerminate;

void onSignal(int number) {
  if (signals)
    _exit(128 + number);
  signals = 1;
}
} // namespace

StopSignals::StopSignals() {
  signals = 0;
  struct sigaction action {};
  action.sa_handler = onSignal;
  sigemptyset(&action.sa_mask);
  // Writes of a checkpoint go on where the signal met them.
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &oldInterrupt);
  sigaction(SIGTERM, &action, &oldTerminate);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &oldInterrupt, nullptr);
  sigaction(SIGTERM, &oldTerminate, nullptr);
}

bool StopSignals::requested() { return signals != 0; }

} // namespace tenon::train
