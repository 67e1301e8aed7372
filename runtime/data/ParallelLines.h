// Texts of an encoder and of a decoder: files of lines, of which each line of one belongs to the same line of the other.
#pragma once
#include "runtime/data/Task.h"

namespace tenon::data {

/// The lines of one file as symbols.
struct Lines {
  std::string path;
  Tokens tokens;
  std::vector<int64_t> begins = {0}; // one more at the end
  uint64_t count() const { return begins.size() - 1; }
  int64_t length(uint64_t line) const { return begins[line + 1] - begins[line]; }
  int32_t at(uint64_t line, int64_t place) const { return tokens[begins[line] + place]; }
};

/// The symbols behind a text, and of what fills a row up to its length.
struct TextMarks {
  int32_t end = 1, pad = 0;
  std::vector<int32_t> all() const { return {pad, end}; }
};
/// <eos> and <pad> of a vocabulary, called `path` in messages; 1 and 0, which no text has, of bytes and characters. An error
/// where it lacks one, or has one symbol for both.
runtime::Expected<TextMarks> marksOf(const Vocabulary &symbols, const std::string &path);

/// A file of lines. Fails, with file and line, on what the vocabulary cannot say or what stands for one of its `marks`.
Status readLines(const std::string &path, const Vocabulary &symbols, const std::vector<int32_t> &marks, Lines &lines);
/// The files `source` and `target` of a task. Fails as readLines does, and where they have not as many lines as each other.
Status readParallel(const TaskSettings &settings, const Vocabulary &symbols, const std::vector<int32_t> &marks, Lines &source,
                    Lines &target);

} // namespace tenon::data
