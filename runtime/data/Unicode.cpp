#include "runtime/data/Unicode.h"
#include <array>
#include <utf8proc.h>

namespace tenon::data {

static utf8proc_category_t categoryOf(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool isLetter(char32_t c) {
  const auto category = categoryOf(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool isNumber(char32_t c) {
  const auto category = categoryOf(c);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool isWhiteSpace(char32_t c) {
  const auto category = categoryOf(c);
  return (c >= 9 && c <= 13) || c == 0x85 || (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP);
}

bool isUpperCase(char32_t c) { return lowerCaseOf(c) != c; }

char32_t lowerCaseOf(char32_t c) { return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))); }

bool isPunctuation(char32_t c) {
  if ((c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126))
    return true;
  const auto category = categoryOf(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool isIdeograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool isControl(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r')
    return false;
  const auto category = categoryOf(c);
  return category == UTF8PROC_CATEGORY_CN || category >= UTF8PROC_CATEGORY_CC;
}

void appendBare(char32_t c, std::vector<char32_t> &result) {
  std::array<utf8proc_int32_t, 32> parts; // the longest canonical decomposition has 4 characters
  int boundary = 0;
  const auto lower = static_cast<utf8proc_int32_t>(lowerCaseOf(c));
  const auto count = utf8proc_decompose_char(lower, parts.data(), parts.size(), UTF8PROC_DECOMPOSE, &boundary);
  for (utf8proc_ssize_t i = 0; i < count; ++i)
    if (const auto part = static_cast<char32_t>(parts[static_cast<size_t>(i)]); categoryOf(part) != UTF8PROC_CATEGORY_MN)
      result.push_back(part);
}

void appendCompatible(char32_t c, std::vector<char32_t> &result) {
  std::array<utf8proc_int32_t, 32> parts; // the longest has 18 characters
  int boundary = 0;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(), parts.size(),
                                             utf8proc_option_t(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT), &boundary);
  for (utf8proc_ssize_t i = 0; i < count; ++i)
    if (const auto part = parts[static_cast<size_t>(i)]; utf8proc_get_property(part)->combining_class == 0)
      result.push_back(static_cast<char32_t>(part));
}

bool isDecimal(char32_t c) { return categoryOf(c) == UTF8PROC_CATEGORY_ND; }

char32_t lowerCase(char32_t c) { return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))); }

} // namespace tenon::data
