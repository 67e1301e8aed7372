// Diagnostics as text for people and as JSON for tools.
#include "frontend/Characters.h"
#include "frontend/Diagnostics.h"
#include "frontend/explain/Explain.h"
#include "frontend/syntax/Lexer.h"
#include <algorithm>
#include <map>
#include <tuple>

namespace tenon {
namespace {

using Severity = Diagnostic::Severity;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD"; // U+FFFD
constexpr unsigned kTabWidth = 4;
constexpr size_t kLineWidth = 160;  // longer lines are cut around the marked place
constexpr size_t kLineBytes = 4096; // no more of a line is looked at, half of it before the first marked place

/// Columns on a terminal: 0 for combining marks, 2 for East Asian wide characters and emoji.
unsigned columns(uint32_t c) {
  if ((c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F))
    return 0;
  bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
              (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
              (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
  return wide ? 2 : 1;
}

/// One source line as a terminal shows it. columnOf[i] is the column at which byte i of the line starts.
struct DisplayLine {
  std::string shown;
  std::vector<size_t> columnOf;
  std::vector<size_t> byteAt; // byteAt[column]: where that column starts in `shown`
};

DisplayLine display(std::string_view line) {
  DisplayLine result;
  const char *end = line.data() + line.size();
  for (const char *p = line.data(); p != end;) {
    unsigned length = syntax::utf8Length(p, end);
    std::string cell(p, length ? length : 1);
    unsigned width = length ? columns(codePoint(p, length)) : 1;
    uint32_t c = length ? codePoint(p, length) : 0;
    if (c == '\t') {
      width = kTabWidth - result.byteAt.size() % kTabWidth;
      cell = std::string(width, ' ');
    } else if (commandsTerminal(c)) {
      cell = kReplacement;
      width = 1;
    }
    size_t column = result.byteAt.size();
    for (unsigned i = 0; i < std::max(1u, length); ++i)
      result.columnOf.push_back(column);
    for (unsigned i = 0; i < width; ++i)
      result.byteAt.push_back(c == '\t' ? result.shown.size() + i : result.shown.size());
    result.shown += cell;
    p += std::max(1u, length);
  }
  result.columnOf.push_back(result.byteAt.size());
  result.byteAt.push_back(result.shown.size());
  return result;
}

struct Mark {
  ast::Range range;
  std::string label;
  bool primary = false;
};
/// A part of a mark on one line, in bytes of that line.
struct Stroke {
  size_t from, to;
  std::string label;
  bool primary;
};

class TextRenderer {
public:
  TextRenderer(const SourceFiles &sources, bool color) : sources(sources), color(color) {}

  std::string text;

  void diagnostic(const Diagnostic &diagnostic) {
    bool isError = diagnostic.severity == Severity::Error;
    std::string code = diagnostic.code.empty() ? "" : "[" + diagnostic.code + "]";
    text += paint(isError ? "1;31" : "1;33", (isError ? "error" : "warning") + code) +
            paint("1", ": " + printable(diagnostic.message)) + "\n";
    std::vector<Mark> marks{{diagnostic.range, diagnostic.label, true}};
    for (const Diagnostic::Related &related : diagnostic.related)
      if (marks.size() < 3)
        marks.push_back({related.range, related.label, false});
    places(marks);
    std::string margin(gutter + 1, ' ');
    for (const auto &[kind, note] : diagnostic.notes)
      text += margin + paint("1;34", "=") + " " + kind + ": " + indented(printable(note, true), gutter + kind.size() + 5) + "\n";
    if (!explanation(diagnostic.code).empty())
      text += margin + paint("1;34", "=") + " more: tenon explain " + diagnostic.code + "\n";
    text += "\n";
  }

private:
  std::string paint(const char *style, const std::string &content) const {
    return color ? "\x1b[" + std::string(style) + "m" + content + "\x1b[0m" : content;
  }
  static std::string indented(const std::string &note, size_t width) {
    std::string result;
    for (char c : note)
      result += c == '\n' ? "\n" + std::string(width, ' ') : std::string(1, c);
    return result;
  }

  void places(const std::vector<Mark> &marks) {
    unsigned last = 1;
    for (const Mark &mark : marks)
      if (known(mark.range))
        last = std::max(last, sources.position(mark.range.file, mark.range.end).line);
    gutter = std::max<size_t>(2, std::to_string(last).size());
    std::vector<uint32_t> files;
    for (const Mark &mark : marks)
      if (known(mark.range) && std::find(files.begin(), files.end(), mark.range.file) == files.end())
        files.push_back(mark.range.file);
    for (uint32_t file : files)
      snippet(file, marks);
  }
  bool known(const ast::Range &range) const { return range.file < sources.files.size(); }

  void snippet(uint32_t file, const std::vector<Mark> &marks) {
    std::map<unsigned, std::vector<Stroke>> lines;
    const Mark *head = nullptr;
    for (const Mark &mark : marks)
      if (mark.range.file == file) {
        head = head ? head : &mark;
        strokes(lines, mark);
      }
    SourceFiles::Position at = sources.position(file, head->range.begin);
    text += std::string(gutter, ' ') + paint("1;34", head->primary ? "-->" : ":::") + " " + printable(sources.files[file].path) +
            ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + "\n";
    text += std::string(gutter + 1, ' ') + paint("1;34", "|") + "\n";
    for (auto &[line, list] : lines)
      row(file, line, list);
  }

  void strokes(std::map<unsigned, std::vector<Stroke>> &lines, const Mark &mark) const {
    const std::string &source = sources.files[mark.range.file].text;
    size_t begin = std::min<size_t>(mark.range.begin, source.size());
    size_t end = std::min<size_t>(std::max(mark.range.begin, mark.range.end), source.size());
    unsigned first = sources.position(mark.range.file, static_cast<uint32_t>(begin)).line;
    size_t lineBegin = startOfLine(source, begin), lineEnd = endOfLine(source, begin);
    if (end <= lineEnd) {
      lines[first].push_back({begin - lineBegin, end - lineBegin, mark.label, mark.primary});
      return;
    }
    // A range over several lines: its first and its last line are shown, the label stands at the end.
    lines[first].push_back({begin - lineBegin, lineEnd - lineBegin, "", mark.primary});
    unsigned last = sources.position(mark.range.file, static_cast<uint32_t>(end)).line;
    size_t lastBegin = startOfLine(source, end);
    size_t text = std::min(end, source.find_first_not_of(" \t", lastBegin));
    lines[last].push_back({text - lastBegin, end - lastBegin, mark.label, mark.primary});
  }

  static size_t startOfLine(const std::string &source, size_t offset) {
    size_t found = offset == 0 ? std::string::npos : source.rfind('\n', offset - 1);
    return found == std::string::npos ? 0 : found + 1;
  }
  static size_t endOfLine(const std::string &source, size_t offset) {
    size_t end = std::min(source.find('\n', offset), source.size());
    return end > offset && source[end - 1] == '\r' ? end - 1 : end;
  }

  void row(uint32_t file, unsigned line, std::vector<Stroke> &list) {
    const std::string &source = sources.files[file].text;
    size_t begin = 0;
    for (unsigned i = 1; i < line; ++i)
      begin = source.find('\n', begin) + 1;
    std::string_view content(source.data() + begin, endOfLine(source, begin) - begin);
    std::sort(list.begin(), list.end(),
              [](const Stroke &a, const Stroke &b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
    size_t skipped = content.size() > kLineBytes && list.front().from > kLineBytes / 2 ? list.front().from - kLineBytes / 2 : 0;
    while (skipped > 0 && skipped < content.size() && (static_cast<uint8_t>(content[skipped]) & 0xC0) == 0x80)
      ++skipped;
    bool more = content.size() - skipped > kLineBytes;
    content = content.substr(skipped, kLineBytes);
    DisplayLine shown = display(content);
    auto column = [&](size_t byte) {
      return shown.columnOf[std::min(byte - std::min(byte, skipped), shown.columnOf.size() - 1)];
    };
    size_t width = shown.byteAt.size() - 1, cut = 0, stop = width;
    if (width > kLineWidth) {
      size_t centre = column(list.front().from);
      cut = centre > kLineWidth / 2 ? centre - kLineWidth / 2 : 0;
      stop = std::min(width, cut + kLineWidth);
    }
    std::string number = std::to_string(line);
    std::string visible = shown.shown.substr(shown.byteAt[cut], shown.byteAt[stop] - shown.byteAt[cut]);
    bool before = cut > 0 || skipped > 0;
    if (before)
      visible = "..." + visible;
    text += paint("1;34", std::string(gutter - number.size(), ' ') + number + " |") + (visible.empty() ? "" : " " + visible) +
            (stop < width || more ? "..." : "") + "\n";
    for (const Stroke &stroke : list) {
      size_t from = std::clamp(column(stroke.from), cut, stop), to = std::clamp(column(stroke.to), cut, stop);
      std::string line = std::string(std::max<size_t>(1, to > from ? to - from : 1), stroke.primary ? '^' : '-');
      if (!stroke.label.empty())
        line += " " + printable(stroke.label);
      text += std::string(gutter + 1, ' ') + paint("1;34", "|") + std::string(1 + from - cut + (before ? 3 : 0), ' ') +
              paint(stroke.primary ? "1;31" : "1;34", line) + "\n";
    }
  }

  const SourceFiles &sources;
  bool color;
  size_t gutter = 2;
};

std::string jsonText(const std::string &value) {
  std::string result = "\"";
  const char *end = value.data() + value.size();
  for (const char *p = value.data(); p != end;) {
    unsigned length = syntax::utf8Length(p, end);
    auto byte = static_cast<uint8_t>(*p);
    if (length == 0)
      result += kReplacement;
    else if (byte == '"' || byte == '\\')
      result += std::string("\\") + *p;
    else if (uint32_t c = codePoint(p, length); commandsTerminal(c))
      result += escapedCharacter(c);
    else
      result.append(p, length);
    p += std::max(1u, length);
  }
  return result + "\"";
}

std::string jsonPlace(const SourceFiles &sources, const ast::Range &range) {
  if (range.file >= sources.files.size())
    return "\"file\": null";
  SourceFiles::Position begin = sources.position(range.file, range.begin), end = sources.position(range.file, range.end);
  return "\"file\": " + jsonText(sources.files[range.file].path) + ", \"line\": " + std::to_string(begin.line) +
         ", \"column\": " + std::to_string(begin.column) + ", \"endLine\": " + std::to_string(end.line) +
         ", \"endColumn\": " + std::to_string(end.column);
}

} // namespace

std::string renderText(const SourceFiles &sources, const Diagnostics &diagnostics, bool color) {
  TextRenderer renderer(sources, color);
  for (const Diagnostic &diagnostic : diagnostics.all())
    renderer.diagnostic(diagnostic);
  return renderer.text;
}

std::string renderJson(const SourceFiles &sources, const Diagnostics &diagnostics) {
  std::string result = "[";
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    result += result.size() == 1 ? "\n  {" : ",\n  {";
    result += "\"code\": " + jsonText(diagnostic.code) +
              ", \"severity\": " + (diagnostic.severity == Severity::Error ? "\"error\"" : "\"warning\"") + ", " +
              jsonPlace(sources, diagnostic.range) + ", \"message\": " + jsonText(diagnostic.message) +
              ", \"label\": " + jsonText(diagnostic.label) + ", \"related\": [";
    for (size_t i = 0; i < diagnostic.related.size(); ++i)
      result += std::string(i ? ", {" : "{") + jsonPlace(sources, diagnostic.related[i].range) +
                ", \"label\": " + jsonText(diagnostic.related[i].label) + "}";
    result += "], \"notes\": [";
    for (size_t i = 0; i < diagnostic.notes.size(); ++i)
      result += std::string(i ? ", {" : "{") + "\"kind\": " + jsonText(diagnostic.notes[i].first) +
                ", \"text\": " + jsonText(diagnostic.notes[i].second) + "}";
    result += "]}";
  }
  return result + (result.size() == 1 ? "]\n" : "\n]\n");
}

} // namespace tenon
