// metrics.jsonl: one JSON object per line, written with one call, so that a crash leaves at most one broken line at the end.
#pragma once
#include "runtime/File.h"
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
  /// Opens for appending. Lines of steps after `lastStep`, and a broken last line, are dropped first: they belong to work that is done again.
  runtime::Status open(const std::string &path, uint64_t lastStep);
  runtime::Status write(const MetricsLine &line);

private:
  int descriptor = -1;
  std::string path;
};

} // namespace tenon::train
