// The words for element types, in one table: what a text may write, and what each is.
#pragma once
#include "frontend/Program.h"
#include <string_view>

namespace tenon {

struct ElementWord {
  std::string_view name;
  Element element;
  unsigned bits; // of a real that is said to have so many; 0: as many as the policy says, or no real
};
inline constexpr ElementWord kElementWords[] = {
    {"real", Element::Real, 0},  {"f64", Element::Real, 64}, {"f32", Element::Real, 32},
    {"bf16", Element::Real, 16}, {"f16", Element::Real, 16}, {"index", Element::Int, 0},
    {"i32", Element::Int, 0},    {"i64", Element::Int, 0},   {"bool", Element::Bool, 0},
};
constexpr const ElementWord *findElement(std::string_view name) {
  for (const ElementWord &word : kElementWords)
    if (word.name == name)
      return &word;
  return nullptr;
}
constexpr unsigned writtenBits(std::string_view name) {
  const ElementWord *word = findElement(name);
  return word ? word->bits : 0;
}
/// Whether the name says in which numbers reals are (ValueType::pinned).
constexpr bool isWrittenReal(std::string_view name) { return writtenBits(name) > 0; }
/// Whether it is another one than the f32 in which reals lie in memory unless a policy or a text says so.
constexpr bool isOtherReal(std::string_view name) { return isWrittenReal(name) && writtenBits(name) != 32; }
/// What is stored in 16 bits and computed in f32.
constexpr bool isShortReal(std::string_view name) { return writtenBits(name) == 16; }
/// What is computed in more digits than the policy's f32.
constexpr bool isWideReal(std::string_view name) { return writtenBits(name) == 64; }

} // namespace tenon
