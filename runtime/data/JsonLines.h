// The lines of text files, read one by one: in memory is where each begins.
#pragma once
#include "runtime/base/File.h"
#include <vector>

namespace tenon::data {

/// Files of lines that are not blank. Thread-safe once open.
class JsonLines {
public:
  /// Files or patterns. Errors: what cannot be read, a line of more than 64 MiB.
  runtime::Status open(const std::vector<std::string> &patterns);
  uint64_t size() const { return all.size(); }
  /// "reviews.jsonl:17"
  std::string placeOf(uint64_t line) const;
  runtime::Status read(uint64_t line, std::string &text) const;

private:
  struct Line {
    uint64_t begin, number; // from 1
    uint32_t bytes, file;
  };
  runtime::Status add(const std::string &path);

  std::vector<runtime::File> files;
  std::vector<Line> all;
};

} // namespace tenon::data
