// Source files and diagnostics: what every stage of the front end reports through. No MLIR, no Boost.
#pragma once
#include "frontend/Ast.h"
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

/// The texts of all files of one compilation; ast::Range::file indexes `files`.
struct SourceFiles {
  struct Position {
    unsigned line = 1, column = 1; // 1-based; column counts UTF-8 code points
  };
  struct Source {
    Source(std::string path, std::string text);
    std::string path;            // as the user wrote it, for messages
    std::string text;            // stays as it was given
    std::vector<Position> marks; // of the first byte, and of one each kMarkBytes
  };
  static constexpr size_t kMarkBytes = 128;
  std::vector<Source> files;
  /// In constant time: every operation of MLIR asks for its own, and a text may be one long line. Behind the end: the end.
  Position position(uint32_t file, uint32_t offset) const;
};

/// One mistake: a code (T0207), a sentence, the place, up to two related places, notes ("example", "help").
struct Diagnostic {
  enum class Severity { Error, Warning } severity = Severity::Error;
  std::string code;
  std::string message;
  ast::Range range;
  std::string label; // text under the carets of `range`; may be empty
  struct Related {
    ast::Range range;
    std::string label;
  };
  std::vector<Related> related;
  std::vector<std::pair<std::string, std::string>> notes; // ("help", "..."), ("example", "...")
};

/// Collects diagnostics in the order of their discovery. One root cause = one error. After kMostMistakes errors one more, T0199,
/// says that the rest is not looked at; what is reported behind it is dropped; warnings likewise. References last until the next
/// one is reported.
class Diagnostics {
public:
  static constexpr unsigned kMostMistakes = 100;
  void report(Diagnostic diagnostic);
  Diagnostic &error(std::string code, ast::Range range, std::string message, std::string label = {});
  Diagnostic &warning(std::string code, ast::Range range, std::string message, std::string label = {});
  bool hasErrors() const { return errors > 0; }
  /// No further mistake will be kept: whoever can, stops.
  bool full() const { return errors > kMostMistakes; }
  const std::vector<Diagnostic> &all() const { return list; }
  /// By their places, those of file `first` before those of others; the order of discovery where places are the same.
  void sort(uint32_t first);

private:
  Diagnostic &add(Diagnostic diagnostic);
  std::vector<Diagnostic> list;
  Diagnostic dropped; // the last one that came when the list was full
  unsigned errors = 0, warnings = 0;
};

/// Elm/Rust style text of all diagnostics; `color` only when the stream is a terminal.
std::string renderText(const SourceFiles &, const Diagnostics &, bool color);
/// One JSON array for tools: code, severity, file, line, column, endLine, endColumn, message, related, notes.
std::string renderJson(const SourceFiles &, const Diagnostics &);
/// Text from outside (names, paths, texts of a specification) as a terminal may have it: control characters, marks that turn the
/// direction of writing, and bytes that are no UTF-8 come as \u001b; a line break does, too, unless `lines` are meant.
std::string printable(std::string_view text, bool lines = false);
/// The nearest of `candidates` by edit distance (at most 2, of words under four letters 1, of single letters 0; ASCII case does
/// not count), for "did you mean"; empty if none.
std::string nearest(const std::string &word, const std::vector<std::string> &candidates);

} // namespace tenon
