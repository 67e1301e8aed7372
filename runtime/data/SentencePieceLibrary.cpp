// libtenon-sentencepiece.so: libsentencepiece behind the table of PieceLibrary.h.
#include "runtime/data/PieceLibrary.h"
#include <exception>
#include <memory>
#include <sentencepiece_processor.h>

using sentencepiece::SentencePieceProcessor;
using tenon::data::PieceLibrary;

namespace sentencepiece::logging {
__attribute__((weak)) void SetMinLogLevel(int level); // exported, but in none of the headers that are installed
}

namespace {

/// The library's sentences name its sources in front: "Internal: src/model_interface.cc(120) [..] reason".
std::string reasonOf(const sentencepiece::util::Status &status) {
  const std::string text = status.error_message();
  const size_t end = text.rfind("] ");
  return end == std::string::npos || end + 2 == text.size() ? text : text.substr(end + 2);
}

const void *open(std::string_view file, std::string &failure) {
  constexpr int kSilent = 4; // above all levels: what goes wrong is said by whoever called
  try {
    if (sentencepiece::logging::SetMinLogLevel)
      sentencepiece::logging::SetMinLogLevel(kSilent);
    auto model = std::make_unique<SentencePieceProcessor>();
    const auto status = model->LoadFromSerializedProto(file);
    if (status.ok())
      return model.release();
    failure = reasonOf(status);
  } catch (const std::exception &error) {
    failure = error.what();
  }
  return nullptr;
}

void close(const void *model) { delete static_cast<const SentencePieceProcessor *>(model); }

bool encode(const void *model, std::string_view text, std::vector<PieceLibrary::Piece> &pieces, std::string &failure) {
  try {
    sentencepiece::ImmutableSentencePieceText found;
    const auto status = static_cast<const SentencePieceProcessor *>(model)->Encode(text, found.mutable_proto());
    if (!status.ok()) {
      failure = reasonOf(status);
      return false;
    }
    pieces.clear();
    pieces.reserve(found.pieces_size());
    for (size_t i = 0; i < found.pieces_size(); ++i) {
      const auto piece = found.pieces(static_cast<int>(i));
      pieces.push_back({static_cast<int32_t>(piece.id()), piece.begin(), piece.end(), piece.piece()});
    }
    return true;
  } catch (const std::exception &error) {
    failure = error.what();
    return false;
  }
}

} // namespace

extern "C" __attribute__((visibility("default"))) const PieceLibrary tenon_piece_library;
const PieceLibrary tenon_piece_library = {PieceLibrary::kVersion, open, close, encode};
