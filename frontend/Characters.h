// Characters of texts from outside, and what a terminal may have of them.
#pragma once
#include <cstdint>
#include <string>

namespace tenon {

/// The code point of the `length` bytes at `p`, which are right UTF-8.
uint32_t codePoint(const char *p, unsigned length);
/// Characters that command a terminal or, as marks of direction, show a text in another order than it has (Boucher and Anderson
/// 2021).
bool commandsTerminal(uint32_t c);
/// \u001b
std::string escapedCharacter(uint32_t c);
/// "tenon: error: MESSAGE" on stderr, printable: for what has no place in a specification, which is all that is not in
/// `Diagnostics`.
void complain(const std::string &message);

} // namespace tenon
