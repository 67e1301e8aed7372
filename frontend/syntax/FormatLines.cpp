#include "frontend/syntax/FormatLines.h"
#include <algorithm>

namespace tenon::syntax {

void FormatLines::addComment(std::string_view text, unsigned column) {
  lines.back().comment = text;
  lines.back().column = static_cast<int>(column);
}

void FormatLines::addOwnComment(int indent, std::string_view text, bool blankBefore) {
  lines.push_back({std::string(static_cast<size_t>(indent), ' ').append(text), {}, 0, blankBefore, false, false});
}

void FormatLines::liftComments() {
  std::vector<Line> result;
  for (Line &line : lines) {
    int comment = static_cast<int>(widthOf(line.comment)), code = static_cast<int>(widthOf(line.code));
    size_t start = line.code.find_first_not_of(' ');
    if (comment > 0 && line.alone && line.code[start] != '}' && code + 2 + comment > kFormatColumns &&
        static_cast<int>(start) + comment <= kFormatColumns) {
      result.push_back({line.code.substr(0, start).append(line.comment), {}, 0, line.blankBefore, false, false});
      line.comment = {};
      line.blankBefore = false;
    }
    result.push_back(std::move(line));
  }
  lines = std::move(result);
}

void FormatLines::alignComments() {
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = begin;
    int least = 0, most = kFormatColumns;
    for (; end < lines.size() && !lines[end].comment.empty() && (end == begin || !lines[end].blankBefore); ++end) {
      least = std::max(least, static_cast<int>(widthOf(lines[end].code)) + 2);
      most = std::min(most, kFormatColumns - static_cast<int>(widthOf(lines[end].comment)));
    }
    // The author's column counts where it has room on every line, so that it is the same when it is read again.
    int column = end == begin ? 0 : std::max(least, std::min(lines[begin].column, most));
    for (size_t i = begin; i < end; ++i) {
      int own = static_cast<int>(widthOf(lines[i].code)) + 2;
      bool fits = column + static_cast<int>(widthOf(lines[i].comment)) <= kFormatColumns;
      lines[i].column = fits ? column : own;
    }
    begin = std::max(end, begin + 1);
  }
}

std::string FormatLines::text() {
  liftComments();
  alignComments();
  std::string result;
  for (const Line &line : lines) {
    if (line.blankBefore)
      result += '\n';
    result += line.code;
    if (!line.comment.empty())
      result.append(static_cast<size_t>(line.column - static_cast<int>(widthOf(line.code))), ' ').append(line.comment);
    result += '\n';
  }
  return result;
}

} // namespace tenon::syntax
