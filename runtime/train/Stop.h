// SIGINT and SIGTERM: the first asks for a stop after the step in progress, the second ends the process at once.
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
