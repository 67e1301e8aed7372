// libsentencepiece, which segments texts by the models of public files. It is a shared library that a system may lack, so only
// libtenon-sentencepiece.so needs it, which is opened where a vocabulary is such a model.
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::data {

using runtime::inputError;
using runtime::Status;

/// What libtenon-sentencepiece.so exports as `tenon_piece_library`; of the same build as what opens it, which `version` tells.
struct PieceLibrary {
  static constexpr uint64_t kVersion = 1;
  static constexpr const char *kFile = "libtenon-sentencepiece.so", *kSymbol = "tenon_piece_library";
  struct Piece {
    int32_t id;
    uint32_t begin, end; // bytes of the text that it comes from; none of a blank in front of the text
    std::string spelling;
  };

  uint64_t version;
  /// A model of the bytes of a file, owned by the caller; null with one sentence in `failure`. No function throws.
  const void *(*open)(std::string_view file, std::string &failure);
  void (*close)(const void *model);
  /// The pieces of a text. May be called by several threads. False with one sentence in `failure`.
  bool (*encode)(const void *model, std::string_view text, std::vector<Piece> &pieces, std::string &failure);

  /// Opened once per process: from beside the library or command that asks, from its ../lib, or where $TENON_SENTENCEPIECE says.
  static Status find(const PieceLibrary *&library);
};

} // namespace tenon::data
