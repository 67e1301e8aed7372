// Classes of characters, by the tables of utf8proc.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tenon::data {

bool isLetter(char32_t c);     // categories L*
bool isNumber(char32_t c);     // categories N*
bool isWhiteSpace(char32_t c); // the property White_Space
/// Has a small letter; ℝ (U+211D) of category Lu has none, and stands in vocabularies without capitals.
bool isUpperCase(char32_t c);
char32_t lowerCaseOf(char32_t c);
/// As BERT's tokenizer (google-research/bert, tokenization.py) has them: categories P* and what is no letter or digit of ASCII;
/// characters of Chinese, Japanese kanji too; categories C* but for tab and line ends.
bool isPunctuation(char32_t c);
bool isIdeograph(char32_t c);
bool isControl(char32_t c);
/// Appends the lower case of a character without its accents: canonical decomposition less the marks (category Mn).
void appendBare(char32_t c, std::vector<char32_t> &result);
/// Appends the compatible decomposition of a character without its marks (of a combining class).
void appendCompatible(char32_t c, std::vector<char32_t> &result);
bool isDecimal(char32_t c); // category Nd
char32_t lowerCase(char32_t c);

} // namespace tenon::data
