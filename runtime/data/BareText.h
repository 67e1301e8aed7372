// Texts as XLNet and ALBERT change them before their pieces (zihangdai/xlnet, prepro_utils.py: preprocess_text).
#pragma once
#include "runtime/data/Utf8.h"
#include <string>
#include <string_view>
#include <vector>

namespace tenon::data {

struct BareText {
  std::string text;             // UTF-8
  std::vector<TextPlace> bytes; // for each byte of it the bytes of the text that it comes from
};

/// One blank for every run of white space, none at the ends; `` and '' as "; characters decomposed, without accents; on wish in
/// lower case.
BareText bareText(std::string_view text, bool lower);

} // namespace tenon::data
