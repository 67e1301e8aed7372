// tenon generate --sources: lines of a file as what an encoder reads, src[B, S] and src_len[B], as the data task translation
// makes them.
#pragma once
#include "runtime/context/Context.h"
#include "runtime/data/ParallelLines.h"
#include "tools/tenon/Call.h"

namespace tenon::driver {

class SourceTexts {
public:
  /// `inputs`: of the entry, besides the text that is made. Errors: an entry without src; an empty file; a line that is longer
  /// than S may be, that the vocabulary cannot say or that has its marks.
  static Expected<SourceTexts> read(const std::string &path, const runtime::EntryInfo &entry,
                                    const std::vector<runtime::TensorInfo> &inputs, const data::Vocabulary &vocabulary);
  bool gives(const std::string &input) const;
  int64_t count() const { return static_cast<int64_t>(lines.count()); }
  /// The size of S for these lines: that of the longest of them, with its end.
  Status addSizes(int64_t first, int64_t count, std::map<std::string, int64_t> &dims) const;
  /// One of the inputs that it gives, for these lines.
  void fill(const runtime::BoundTensor &input, int64_t first, int64_t count, int32_t *values) const;

private:
  int64_t places(int64_t line) const { return lines.length(static_cast<uint64_t>(line)) + 1; }
  int64_t longest(int64_t first, int64_t count) const;
  data::Lines lines;
  data::TextMarks marks;
  runtime::SizeForm size; // of S
  std::string dim;
};

} // namespace tenon::driver
