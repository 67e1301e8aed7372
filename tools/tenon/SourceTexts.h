// tenon generate --sources: lines of a file as what an entry reads beside the text that it makes: by an encoder, src[B, S] and
// src_len[B], as the data task translation makes them; or in front of the text, whose prompt they are then, with prefix[B] and
// gap[B], as the data task seq2seq makes rows.
#pragma once
#include "runtime/context/Context.h"
#include "runtime/data/Masking.h"
#include "runtime/data/ParallelLines.h"
#include "tools/tenon/Call.h"

namespace tenon::driver {

class SourceTexts {
public:
  /// `inputs`: of the entry, besides the text that is made. `mostPrompt`: symbols that a text may begin with, where they are
  /// bounded; what stands in front is cut to it. Errors: an entry that reads neither form; an empty file; a line that is longer
  /// than S may be, that the vocabulary cannot say or that has its marks; no room in front of the text.
  static Expected<SourceTexts> read(const std::string &path, const runtime::EntryInfo &entry,
                                    const std::vector<runtime::TensorInfo> &inputs, const data::Vocabulary &vocabulary,
                                    std::optional<int64_t> mostPrompt);
  bool gives(const std::string &input) const;
  /// Whether there are texts that it gives this input of.
  static bool mayGive(const std::string &input);
  /// Whether they are what the texts begin with.
  bool standInFront() const { return dim.empty(); }
  int64_t count() const { return static_cast<int64_t>(lines.count()); }
  /// The size of S for these lines: that of the longest of them, with its end.
  Status addSizes(int64_t first, int64_t count, std::map<std::string, int64_t> &dims) const;
  /// One of the inputs that it gives, for these lines.
  void fill(const runtime::BoundTensor &input, int64_t first, int64_t count, int32_t *values) const;
  /// Of those in front: [CLS] line [SEP], and what fills them up to one length.
  std::vector<std::vector<int32_t>> prompts(int64_t first, int64_t count) const;
  /// How many were cut, or nothing.
  std::string note() const;

private:
  Status readForEncoder(const std::string &path, const runtime::EntryInfo &entry, const runtime::TensorInfo &source,
                        const data::Vocabulary &vocabulary);
  Status readInFront(const std::string &path, const data::Vocabulary &vocabulary, std::optional<int64_t> mostPrompt);
  /// With what is put around them.
  int64_t places(int64_t line) const;
  int64_t longest(int64_t first, int64_t count) const;
  void fillSymbols(int64_t line, int64_t room, int32_t *values) const;

  data::Lines lines;
  data::TextMarks ends;   // for an encoder
  data::Marks marks;      // in front
  int64_t most = 0;       // symbols of a line that there is room for in front
  runtime::SizeForm size; // of S
  std::string dim;        // its name; empty: in front
};

} // namespace tenon::driver
