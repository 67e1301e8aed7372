// Symbols of a vocabulary by their spelling, and marks such as [SEP] by what they are for.
#include "runtime/data/Vocabulary.h"
#include <algorithm>

namespace tenon::data {

std::optional<int32_t> Vocabulary::find(std::string_view symbol) const {
  auto found = ids.find(std::string(symbol));
  if (found == ids.end())
    return std::nullopt;
  return found->second;
}

std::optional<int32_t> Vocabulary::special(std::string_view name) const {
  std::string lower(name), upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
  if (auto id = find("<" + lower + ">"))
    return id;
  if (kind == Unit::BytePairs || kind == Unit::SentencePieces)
    for (const auto &[asked, symbol] : {std::pair("cls", "<s>"),
                                        {"sep", "</s>"},
                                        {"eod", "</s>"}, // of RoBERTa and BART, which have GPT-2's as a symbol beside it
                                        {"eod", "<|endoftext|>"},
                                        {"eos", "</s>"},
                                        {"eos", "<|endoftext|>"}})
      if (auto id = name == asked ? find(symbol) : std::nullopt)
        return id;
  return find("[" + upper + "]");
}

std::optional<int32_t> Vocabulary::mark(std::string_view symbol) const {
  const std::optional<int32_t> found = find(symbol);
  const bool isInBrackets =
      (symbol.starts_with('[') && symbol.ends_with(']')) || (symbol.starts_with('<') && symbol.ends_with('>'));
  if (found || !isInBrackets || symbol.size() < 3)
    return found;
  std::string name(symbol.substr(1, symbol.size() - 2));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return special(name);
}

bool Vocabulary::isSpecial(int32_t id) const {
  if (kind == Unit::BytePairs)
    return pairs.isSpecial(id);
  if (kind == Unit::SentencePieces)
    return sentence.isSpecial(id);
  if (kind != Unit::Words)
    return id >= firstSpecial;
  const std::string &symbol = symbols[static_cast<size_t>(id)];
  if (symbol.size() < 3)
    return false;
  return (symbol.front() == '<' && symbol.back() == '>') || (symbol.front() == '[' && symbol.back() == ']');
}

} // namespace tenon::data
