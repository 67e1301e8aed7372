// Contents of checkpoints for tests: every byte is a function of step and place.
#pragma once
#include "runtime/files/Checkpoint.h"
#include "test/runtime/Support.h"

namespace tenon::runtime::test {

inline CheckpointContents contentsOf(uint64_t step, uint64_t bytes = 9'000'000) {
  CheckpointContents contents;
  contents.step = step;
  contents.metadata = concat("{\"seed\": 5, \"position\": ", step * 10, "}");
  for (const char *name : {"params.safetensors", "states.safetensors"}) {
    uint64_t size = name[0] == 'p' ? bytes : 1000;
    contents.files.push_back({name, size, [=](ByteSink &sink) -> Status {
                                std::string chunk;
                                for (uint64_t i = 0; i < size; i += chunk.size()) {
                                  chunk.assign(std::min<uint64_t>(size - i, size / 13 + 1), static_cast<char>(step * 31 + i));
                                  if (Status status = sink.write(chunk.data(), chunk.size()); status.failed())
                                    return status;
                                }
                                return {};
                              }});
  }
  return contents;
}

} // namespace tenon::runtime::test
