#include "runtime/data/TextRows.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace tenon::data {

using runtime::concat;

namespace {

constexpr std::string_view kDocument = "-DOCSTART-";

std::string_view withoutBlanks(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Of a line without tabs: what its columns may be separated by instead.
std::string separatorOf(std::string_view line) {
  for (const auto &[separator, name] : {std::pair(',', "commas"), std::pair(';', "semicolons")})
    if (line.find(separator) != std::string_view::npos)
      return concat("; ", name, " separate none");
  return {};
}

/// In front of a row of `tags`, as in CoNLL-U ("# text = ..") and MultiCoNER ("# id ..").
bool isComment(std::string_view line) {
  return line.starts_with("# ") && (line.find(" = ") != std::string_view::npos || line.starts_with("# id ") ||
                                    line.starts_with("# newdoc") || line.starts_with("# newpar"));
}

Status splitLine(std::string_view line, size_t columns, const std::string &place, TextRow &row) {
  for (size_t begin = 0;;) {
    const size_t tab = line.find('\t', begin);
    row.columns.emplace_back(line.substr(begin, tab == std::string_view::npos ? tab : tab - begin));
    if (tab == std::string_view::npos)
      break;
    begin = tab + 1;
  }
  row.columns.front() = withoutBlanks(row.columns.front());
  return row.columns.size() == columns ? Status()
                                       : inputError(place, ": expected ",
                                                    columns == 2   ? std::string("a label, a tab and a text")
                                                    : columns == 3 ? std::string("a label and two texts, with tabs between them")
                                                                   : concat("the number of the right candidate, a text and ",
                                                                            columns - 2, " candidates, with tabs between them"),
                                                    ", got ", runtime::counted(row.columns.size(), "column"),
                                                    row.columns.size() == 1 ? separatorOf(line) : std::string());
}

Status splitWord(std::string_view line, const std::string &place, TextRow &row) {
  if (std::count(line.begin(), line.end(), '\t') == 9 && line.front() >= '0' && line.front() <= '9')
    return inputError(place,
                      ": a line of CoNLL-U, whose word is in column 2 and whose tag of a part of speech in column 4; `tags` "
                      "reads the first and the last column: cut -f 2,4");
  std::istringstream words{std::string(line)};
  std::string first, last;
  words >> first;
  for (std::string word; words >> word;)
    last = word;
  if (last.empty())
    return inputError(place, ": expected a word and its tag, got '", first, "'");
  row.columns.push_back(first);
  row.columns.push_back(last);
  return {};
}

} // namespace

Status readTextRows(const std::string &path, size_t columns, std::vector<TextRow> &rows) {
  std::string text;
  if (Status status = readMarkedFile(path, text); status.failed())
    return status;
  if (text.find('\n') == std::string::npos && text.find('\r') + 1 < text.size())
    return inputError(path, ": its lines end in carriage returns alone: tr '\\r' '\\n' < '", path, "' > NEW");
  bool open = false; // tags: the last row goes on
  uint64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, newline - begin);
    begin = newline + 1;
    ++number;
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    const bool isEmpty = line.find_first_not_of(" \t") == std::string_view::npos;
    // CoNLL: "-DOCSTART- -X- O O" begins a document, and is no word.
    if (const bool begins = columns == 0 && line.starts_with(kDocument); isEmpty || begins) {
      open = false;
      continue;
    }
    if (columns == 0 && !open && isComment(line))
      continue;
    if (columns > 0 || !open)
      rows.push_back({number, {}});
    open = true;
    const std::string place = concat(path, ":", number);
    if (Status status = columns > 0 ? splitLine(line, columns, place, rows.back()) : splitWord(line, place, rows.back());
        status.failed())
      return status;
  }
  return {};
}

Status TextForm::parse(const std::string &form, size_t texts, const Vocabulary &vocabulary, TextForm &result) {
  const auto cls = vocabulary.special("cls"), sep = vocabulary.special("sep");
  if (form.empty() && cls && sep) {
    result = ofMarks(*cls, *sep, texts);
    return {};
  }
  if (form.empty() && texts == 2)
    return inputError("the vocabulary has no <cls> and <sep>, so say how both texts stand in a row: form = \"a <symbol> b\"");
  result.parts.clear();
  std::istringstream words(form.empty() ? "a" : form);
  size_t seen[2] = {};
  for (std::string word; words >> word;) {
    if (word == "a" || (word == "b" && texts == 2)) {
      ++seen[word == "b"];
      result.parts.push_back(word == "a" ? kFirst : kSecond);
      continue;
    }
    for (size_t end; !vocabulary.find(word) && (end = word.find("><")) != std::string::npos; word.erase(0, end + 1))
      if (const auto symbol = vocabulary.find(word.substr(0, end + 1))) // "</s></s>"
        result.parts.push_back(*symbol);
      else
        break;
    const auto symbol = vocabulary.find(word);
    if (!symbol)
      return inputError("form: the vocabulary has no symbol '", word, "'; ",
                        texts == 2 ? "a and b stand for the texts" : "a stands for the text",
                        ", all else are symbols with blanks between them");
    result.parts.push_back(*symbol);
  }
  return seen[0] == 1 && seen[1] == texts - 1
             ? Status()
             : inputError("form: '", form, "' must have ", texts == 2 ? "a and b" : "a", " once");
}

TextForm TextForm::ofMarks(int32_t cls, int32_t sep, size_t texts) {
  TextForm form;
  form.parts = {cls, kFirst, sep};
  if (texts == 2)
    form.parts.insert(form.parts.end(), {kSecond, sep});
  return form;
}

size_t TextForm::marks() const {
  return static_cast<size_t>(std::count_if(parts.begin(), parts.end(), [](int32_t part) { return part >= 0; }));
}

std::optional<size_t> TextForm::placeOf(int32_t symbol, size_t a, size_t b) const {
  size_t place = 0;
  for (int32_t part : parts) {
    if (part == symbol)
      return place;
    place += part == kFirst ? a : part == kSecond ? b : 1;
  }
  return std::nullopt;
}

bool TextForm::join(std::vector<int32_t> a, std::vector<int32_t> b, size_t most,
                    std::vector<std::pair<int32_t, int32_t>> &row) const {
  const size_t room = most > marks() ? most - marks() : 0;
  const bool cut = a.size() + b.size() > room;
  while (a.size() + b.size() > room)
    (a.size() > b.size() ? a : b).pop_back();
  int32_t segment = 0, texts = 0;
  row.clear();
  for (int32_t part : parts) {
    if (part >= 0) {
      row.emplace_back(part, segment);
      continue;
    }
    segment = texts++;
    for (int32_t id : part == kFirst ? a : b)
      row.emplace_back(id, segment);
  }
  if (row.size() > most) // marks alone are more than there is room for
    row.resize(most);
  return cut;
}

std::optional<double> numberOf(const std::string &label) {
  double value = 0;
  const auto [end, failed] = std::from_chars(label.data(), label.data() + label.size(), value);
  const bool whole = failed == std::errc() && end == label.data() + label.size() && std::isfinite(value);
  return whole ? std::optional<double>(value) : std::nullopt;
}

} // namespace tenon::data
