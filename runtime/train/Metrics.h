// metrics.jsonl: one JSON object per line, written with one call, so that a crash leaves at most one broken line at the end, and
// a full disk none.
#pragma once
#include "runtime/base/File.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::train {

/// One line: numbers by key, in order. NaN and infinities are written as null.
class MetricsLine {
public:
  void add(std::string_view key, double value);
  void add(std::string_view key, uint64_t value);
  void addText(std::string_view key, std::string_view value);
  std::string text() const { return line + "}\n"; }
  /// The numbers that were added.
  const std::vector<std::pair<std::string, double>> &values() const { return numbers; }

private:
  void key(std::string_view name);
  std::string line = "{";
  std::vector<std::pair<std::string, double>> numbers;
};

class MetricsFile {
public:
  MetricsFile() = default;
  ~MetricsFile();
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;
  /// Opens for appending. Lines of steps after `lastStep` are dropped first, since they belong to work that is done again, and so
  /// is a last line that is not whole. What else is damaged is left out; the file with it stays under another name, and `notes`
  /// says so.
  runtime::Status open(const std::string &path, uint64_t lastStep, std::vector<std::string> &notes);
  /// Appends the whole line or, where that fails, nothing.
  runtime::Status write(const MetricsLine &line);

private:
  int descriptor = -1;
  std::string path;
  uint64_t end = 0;       // of the last whole line
  bool brokenEnd = false; // a part of a line is behind it, and could not be cut off
};

} // namespace tenon::train
