// tenon plot RUN --attention: what the attends of a run's model see in a text.
#pragma once
#include "tools/tenon/Command.h"

namespace tenon::driver {

struct AttentionOptions {
  std::string run, output;
  std::string prompt, text; // one of them, or none: the first window of what `eval` reads
  std::string checkpoint;
  std::string task;    // of a recipe with several
  int64_t length = 0;  // places of the text; 0: at most kMostSymbols
  uint64_t window = 0; // of `text`: so many before it fill the memory
  bool promptGiven = false;
};

/// Compiles the run's specification with its maps, runs one window and writes the picture.
Status plotAttention(const AttentionOptions &options);

} // namespace tenon::driver
