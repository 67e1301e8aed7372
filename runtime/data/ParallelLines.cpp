#include "runtime/data/ParallelLines.h"
#include "runtime/data/ArrayFile.h"
#include <algorithm>

namespace tenon::data {

using runtime::concat;

runtime::Expected<TextMarks> marksOf(const Vocabulary &symbols, const std::string &path) {
  const bool marked = !symbols.isOfCharacters();
  const std::optional<int32_t> pad = symbols.special("pad"), end = symbols.special("eos");
  if (marked && !pad)
    return inputError("the vocabulary '", path,
                      "' has no symbol to fill rows with, whose places a loss leaves out; translation needs <pad>, best in the "
                      "first line: losses that compare the label with 0 need it there");
  if (marked && !end)
    return inputError("the vocabulary '", path, "' has no symbol for the end of a text; translation needs <eos>");
  const TextMarks marks = {end.value_or(TextMarks().end), pad.value_or(TextMarks().pad)};
  if (marks.end == marks.pad)
    return inputError("the vocabulary '", path, "' has one symbol, ", marks.end,
                      ", for the end of a text and for what fills a row; translation needs two, <eos> and <pad>");
  return marks;
}

Status readLines(const std::string &path, const Vocabulary &symbols, const std::vector<int32_t> &marks, Lines &lines) {
  std::string text;
  if (Status status = readMarkedFile(path, text); status.failed())
    return status;
  lines.path = path;
  lines.tokens = Tokens(symbols.size());
  std::vector<int32_t> ids;
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, newline - begin);
    begin = newline + 1;
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    ids.clear();
    Status status = symbols.encode(line, ids);
    const auto mark = std::find_first_of(ids.begin(), ids.end(), marks.begin(), marks.end());
    if (status.ok() && mark != ids.end())
      status = inputError("the text has the symbol ", *mark, ", which stands for the end of a text, or for none");
    if (status.failed())
      return status.in(concat(path, ":", lines.count() + 1));
    lines.tokens.append(ids);
    lines.begins.push_back(lines.begins.back() + static_cast<int64_t>(ids.size()));
  }
  return {};
}

Status readParallel(const TaskSettings &settings, const Vocabulary &symbols, const std::vector<int32_t> &marks, Lines &source,
                    Lines &target) {
  Status status = readLines(pathIn(settings.folder, settings.sourceText), symbols, marks, source);
  if (status.ok())
    status = readLines(pathIn(settings.folder, settings.targetText), symbols, marks, target);
  if (status.ok() && source.count() != target.count())
    status = inputError("line i of '", target.path, "' belongs to line i of '", source.path, "', and they have ", target.count(),
                        " and ", runtime::counted(source.count(), "line"));
  return status;
}

} // namespace tenon::data
