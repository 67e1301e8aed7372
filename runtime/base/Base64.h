// Bytes as text (RFC 4648, section 4).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tenon::runtime {

std::string toBase64(std::string_view bytes);
/// Nullopt where `text` is not what `toBase64` writes.
std::optional<std::string> fromBase64(std::string_view text);

} // namespace tenon::runtime
