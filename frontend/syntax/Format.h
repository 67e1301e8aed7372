// The one look of specifications: `tenon fmt`.
#pragma once
#include <string>
#include <string_view>

namespace tenon {

/// The text in its one look. What it depends on: the tokens, the comments, where the author ended lines inside of statements and
/// blocks, blank lines (at most one stays), and the columns of comments behind code. Applied to its own result it changes
/// nothing; tokens and comments stay the same in the same order, except that a comment which has no room behind its statement
/// goes above it. Time is linear in the text, times the depth of its braces. `text` has to parse without a mistake.
std::string format(std::string_view text);

/// The comments of a text from `#` on, in their order, without blanks at their ends.
std::string commentsOf(std::string_view text);

} // namespace tenon
