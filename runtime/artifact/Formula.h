// Formulas of the manifest: sizes and counts over the dims of an entry, as text.
#pragma once
#include "runtime/base/Status.h"
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// The value for given dims. Grammar: sums and differences of products of numbers, dims, `max(a, b, ...)`, `ceil(a / n)`,
/// `floor(a / n)`, `mod(a, n)` and sums in brackets; before it `%3 = a; ` for each %3 in it. nullopt: larger than 2^63. Errors:
/// the text is no formula, or names a dim that is not there.
Expected<std::optional<int64_t>> evaluateFormula(std::string_view text, const std::map<std::string, int64_t, std::less<>> &dims);

} // namespace tenon::runtime
