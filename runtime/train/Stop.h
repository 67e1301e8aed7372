// SIGINT, SIGTERM and SIGHUP (a closed terminal): the first asks for a stop after the step in progress, the second ends the
// process at once. A SIGHUP that the caller ignores (nohup) stays ignored. A closed pipe behind the messages (SIGPIPE) asks for a
// stop too, however often.
#pragma once

namespace tenon::train {

/// Installs the handlers for the lifetime; the earlier ones come back afterwards. One at a time.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;
  /// Whether a stop was asked for.
  static bool requested();
};

} // namespace tenon::train
