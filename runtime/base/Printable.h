// Text from outside on its way to a person.
#pragma once
#include <string>
#include <string_view>

namespace tenon::runtime {

/// What may stand in a message on a terminal, whatever file or manifest it comes from: control characters, marks that turn the
/// direction of writing and bytes that are no UTF-8 come as \u001b, which JSON reads as the same character. Line breaks stay.
std::string printable(std::string_view text);

} // namespace tenon::runtime
