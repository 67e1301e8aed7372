// The words for element types: those of the table of types (runtime/base/DataType.h) that compiled code has, and two that say
// none of them.
#pragma once
#include "frontend/Program.h"
#include "runtime/base/DataType.h"
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

struct ElementWord {
  std::string_view name;
  Element element;
  std::optional<runtime::DataType> written = {}; // none: as the policy says, or what places are kept in
};
constexpr Element elementOf(runtime::NumberKind kind) {
  return kind == runtime::NumberKind::Real ? Element::Real : kind == runtime::NumberKind::Whole ? Element::Int : Element::Bool;
}
inline constexpr auto kElementWords = [] {
  constexpr size_t inCode = size_t(std::ranges::count_if(runtime::kDataTypes, &runtime::DataTypeRow::isInCode));
  std::array<ElementWord, inCode + 2> words{{{"real", Element::Real}, {"index", Element::Int}}};
  size_t next = 2;
  for (const runtime::DataTypeRow &row : runtime::kDataTypes)
    if (row.isInCode)
      words[next++] = {row.name, elementOf(row.kind), row.type};
  return words;
}();
constexpr const ElementWord *findElement(std::string_view name) {
  for (const ElementWord &word : kElementWords)
    if (word.name == name)
      return &word;
  return nullptr;
}
/// The type of reals that the name says; none: it says no such type.
constexpr std::optional<runtime::DataType> writtenReal(std::string_view name) {
  const ElementWord *word = findElement(name);
  return word && word->element == Element::Real ? word->written : std::nullopt;
}
constexpr bool saysReal(std::string_view name, bool (*holds)(runtime::DataType)) {
  const std::optional<runtime::DataType> type = writtenReal(name);
  return type && holds(*type);
}
/// Whether the name says in which numbers reals are (ValueType::pinned).
constexpr bool isWrittenReal(std::string_view name) { return writtenReal(name).has_value(); }
/// The bits of one of these; 0: it says no type of reals.
constexpr unsigned writtenBits(std::string_view name) {
  return isWrittenReal(name) ? 8 * unsigned(runtime::byteSize(*writtenReal(name))) : 0;
}
/// In which reals lie in memory and are computed unless a policy or a text says so.
constexpr runtime::DataType kUsualReal = runtime::DataType::F32;
/// In which everything is computed with --f64, and numbers of which a step or a tensor has one (scalarReal of the dialect).
constexpr runtime::DataType kWidestReal = runtime::DataType::F64;
inline const std::string kUsualRealWord{runtime::nameOf(kUsualReal)};
/// What `--f64` makes of every real, and what numbers are that each step has one of.
inline const std::string kWideRealWord{runtime::nameOf(kWidestReal)};
constexpr bool isUsualReal(std::string_view name) { return writtenReal(name) == kUsualReal; }
/// Whether it is another one.
constexpr bool isOtherReal(std::string_view name) { return isWrittenReal(name) && !isUsualReal(name); }
/// What is stored in 16 bits and computed in f32.
constexpr bool isShortReal(std::string_view name) { return saysReal(name, runtime::isStoredReal); }
/// What is computed in more digits than the policy's f32.
constexpr bool isWideReal(std::string_view name) { return saysReal(name, runtime::isWideReal); }
/// What ends before the f32 that it is computed in.
constexpr bool needsScale(std::string_view name) { return saysReal(name, runtime::needsScale); }

} // namespace tenon
