// What may be meant by a word that is not known.
#pragma once
#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon {

/// Edits that make one word of the other: a letter more, less, or another.
inline size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t corner = row[0]++;
    for (size_t j = 0; j < to.size(); ++j)
      corner = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, corner + (from[i] != to[j])}));
  }
  return row.back();
}

/// The one that the word begins, else the nearest of the words, or nothing where none is near.
inline std::string nearestOf(const std::string &word, const std::vector<std::string> &words) {
  std::string nearest;
  const size_t letters = word.size() - word.find_first_not_of('-') * word.starts_with('-');
  for (const std::string &candidate : words)
    if (letters >= 3 && letters <= word.size() && candidate.starts_with(word) &&
        (nearest.empty() || candidate.size() < nearest.size()))
      nearest = candidate;
  if (!nearest.empty())
    return nearest;
  size_t least = std::min<size_t>(3, word.size() - word.starts_with("--") * 2); // as many edits as letters make anything
  for (const std::string &candidate : words)
    if (size_t edits = editDistance(word, candidate); edits < least) {
      least = edits;
      nearest = candidate;
    }
  return nearest;
}

} // namespace tenon
