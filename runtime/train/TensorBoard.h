// Event files that TensorBoard reads (tensorflow/core/util/event.proto, tensorflow/core/lib/io/record_writer.cc): a record per
// line of the metrics.
#pragma once
#include "runtime/base/File.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::train {

class EventFile {
public:
  EventFile() = default;
  ~EventFile();
  EventFile(const EventFile &) = delete;
  EventFile &operator=(const EventFile &) = delete;
  /// Makes DIRECTORY/events.out.tfevents.SECONDS.HOST.PID: every command that trains has a file of its own, as TensorBoard
  /// expects it.
  runtime::Status open(const std::string &directory);
  bool isOpen() const { return descriptor >= 0; }
  /// Numbers of one step by tag. NaN and infinities are written as they are.
  runtime::Status write(uint64_t step, const std::vector<std::pair<std::string, double>> &values);

private:
  runtime::Status append(const std::string &event);
  int descriptor = -1;
  std::string path;
};

} // namespace tenon::train
