// How GPT-2 cuts a text before its byte pairs.
#pragma once
#include <cstddef>
#include <string_view>

namespace tenon::data {

/// The end of the piece that begins at `begin`, by the expression of openai/gpt-2, encoder.py:
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// A byte that belongs to no character counts as U+FFFD, which is none of these classes.
size_t endOfPreToken(std::string_view text, size_t begin);

} // namespace tenon::data
