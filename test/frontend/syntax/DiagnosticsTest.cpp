// How mistakes look: exact texts of renderText and renderJson, positions, suggestions.
#include "frontend/Diagnostics.h"
#include <gtest/gtest.h>

using namespace tenon;

namespace {

SourceFiles oneFile(std::string text) {
  SourceFiles sources;
  sources.files.push_back({"a.tn", std::move(text)});
  return sources;
}

/// The range of the nth occurrence of `what` in file `file`.
ast::Range find(const SourceFiles &sources, const std::string &what, uint32_t file = 0, unsigned nth = 0) {
  size_t at = sources.files[file].text.find(what);
  for (; nth > 0; --nth)
    at = sources.files[file].text.find(what, at + 1);
  return {file, static_cast<uint32_t>(at), static_cast<uint32_t>(at + what.size())};
}

TEST(RenderText, ShowsThePlaceTheOtherPlaceAndTheNotes) {
  SourceFiles sources = oneFile("model M {\n  dim P = S\n\n\n\n\n\n\n  score r[P: i - j]\n}\n");
  Diagnostics diagnostics;
  Diagnostic &error =
      diagnostics.error("X0207", find(sources, "i - j"), "this index can leave axis P", "ranges over 1-T .. M+T-1");
  error.related.push_back({find(sources, "P = S"), "P holds 0 .. M+T-1"});
  error.notes.push_back({"example", "i = 0, j = 3\ngives -3"});
  EXPECT_EQ(renderText(sources, diagnostics, false), "error[X0207]: this index can leave axis P\n"
                                                     "  --> a.tn:9:14\n"
                                                     "   |\n"
                                                     " 2 |   dim P = S\n"
                                                     "   |       ----- P holds 0 .. M+T-1\n"
                                                     " 9 |   score r[P: i - j]\n"
                                                     "   |              ^^^^^ ranges over 1-T .. M+T-1\n"
                                                     "   = example: i = 0, j = 3\n"
                                                     "              gives -3\n"
                                                     "\n");
}

TEST(RenderText, ShowsAtMostThreeRangesAndSeveralOnOneLine) {
  SourceFiles sources = oneFile("let y = a + b + c + d\n");
  Diagnostics diagnostics;
  Diagnostic &warning = diagnostics.warning("X1", find(sources, "c"), "four places", "third");
  warning.related = {{find(sources, "a"), "first"}, {find(sources, "b"), "second"}, {find(sources, "d"), "fourth"}};
  EXPECT_EQ(renderText(sources, diagnostics, false), "warning[X1]: four places\n"
                                                     "  --> a.tn:1:17\n"
                                                     "   |\n"
                                                     " 1 | let y = a + b + c + d\n"
                                                     "   |         - first\n"
                                                     "   |             - second\n"
                                                     "   |                 ^ third\n"
                                                     "\n");
}

TEST(RenderText, ShowsFirstAndLastLineOfALongRange) {
  SourceFiles sources = oneFile("let y = f(a,\n  b,\n  c,\n  d) + 1\n");
  Diagnostics diagnostics;
  diagnostics.error("X1", find(sources, "f(a,\n  b,\n  c,\n  d)"), "long", "all of this");
  EXPECT_EQ(renderText(sources, diagnostics, false), "error[X1]: long\n"
                                                     "  --> a.tn:1:9\n"
                                                     "   |\n"
                                                     " 1 | let y = f(a,\n"
                                                     "   |         ^^^^\n"
                                                     " 4 |   d) + 1\n"
                                                     "   |   ^^ all of this\n"
                                                     "\n");
}

TEST(RenderText, NamesEachFileOfARelatedPlace) {
  SourceFiles sources = oneFile("use b = Block\n");
  sources.files.push_back({"b.tn", "# x\nlayer Block() -> [] { }\n"});
  Diagnostics diagnostics;
  diagnostics.error("X1", find(sources, "Block"), "met twice").related.push_back({find(sources, "Block", 1), "also here"});
  EXPECT_EQ(renderText(sources, diagnostics, false), "error[X1]: met twice\n"
                                                     "  --> a.tn:1:9\n"
                                                     "   |\n"
                                                     " 1 | use b = Block\n"
                                                     "   |         ^^^^^\n"
                                                     "  ::: b.tn:2:7\n"
                                                     "   |\n"
                                                     " 2 | layer Block() -> [] { }\n"
                                                     "   |       ----- also here\n"
                                                     "\n");
}

TEST(RenderText, AlignsTabsAndWideCharacters) {
  SourceFiles sources = oneFile("\tx\t\"\xE6\xBC\xA2\xC3\xA4\" here\r\n");
  Diagnostics diagnostics;
  diagnostics.error("X1", find(sources, "here"), "m", "l");
  EXPECT_EQ(renderText(sources, diagnostics, false), "error[X1]: m\n"
                                                     "  --> a.tn:1:9\n"
                                                     "   |\n"
                                                     " 1 |     x   \"\xE6\xBC\xA2\xC3\xA4\" here\n"
                                                     "   |               ^^^^ l\n"
                                                     "\n");
}

TEST(RenderText, LetsNoControlCharacterThrough) {
  SourceFiles sources = oneFile("let \"\x1b[31m\xff\x01\" x\n");
  Diagnostics diagnostics;
  diagnostics.error("X1", find(sources, "x"), "m");
  std::string text = renderText(sources, diagnostics, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  EXPECT_NE(text.find("\n   |               ^\n"), std::string::npos) << text;
}

TEST(RenderText, CutsLongLinesAroundThePlace) {
  SourceFiles sources = oneFile(std::string(5000, 'a') + " here " + std::string(5000, 'b') + "\n");
  Diagnostics diagnostics;
  diagnostics.error("X1", find(sources, "here"), "m", "l");
  std::string text = renderText(sources, diagnostics, false);
  EXPECT_LT(text.size(), 600u);
  EXPECT_NE(text.find("aaa here bbb"), std::string::npos);
  EXPECT_NE(text.find("1 | ..."), std::string::npos);
  size_t line = text.find(" 1 | "), word = text.find("here", line) - line;
  size_t next = text.find('\n', line) + 1;
  EXPECT_EQ(text.find("^^^^ l", next) - next, word);
}

TEST(RenderText, MarksTheEndOfTheFileAndTextWithoutAFile) {
  SourceFiles sources = oneFile("let x =");
  Diagnostics diagnostics;
  diagnostics.error("X1", {0, 7, 7}, "end");
  diagnostics.error("X2", {9, 0, 0}, "no file of this compilation");
  EXPECT_EQ(renderText(sources, diagnostics, false), "error[X1]: end\n"
                                                     "  --> a.tn:1:8\n"
                                                     "   |\n"
                                                     " 1 | let x =\n"
                                                     "   |        ^\n"
                                                     "\n"
                                                     "error[X2]: no file of this compilation\n"
                                                     "\n");
}

TEST(RenderText, ColoursOnlyWhenAsked) {
  SourceFiles sources = oneFile("let x\n");
  Diagnostics diagnostics;
  diagnostics.error("X1", find(sources, "x"), "m");
  EXPECT_NE(renderText(sources, diagnostics, true).find("\x1b[1;31merror[X1]\x1b[0m"), std::string::npos);
  EXPECT_EQ(renderText(sources, diagnostics, false).find('\x1b'), std::string::npos);
}

TEST(RenderJson, EscapesWhatJsonCannotHold) {
  SourceFiles sources = oneFile("\"\\\n");
  Diagnostics diagnostics;
  diagnostics.error("X1", {0, 0, 1}, "a \"b\" \\ \n \x01 \xff", "").notes.push_back({"help", "h"});
  EXPECT_EQ(renderJson(sources, diagnostics),
            "[\n  {\"code\": \"X1\", \"severity\": \"error\", \"file\": \"a.tn\", \"line\": 1, \"column\": 1, \"endLine\": 1, "
            "\"endColumn\": 2, \"message\": \"a \\\"b\\\" \\\\ \\u000a \\u0001 \xEF\xBF\xBD\", \"label\": \"\", \"related\": [], "
            "\"notes\": [{\"kind\": \"help\", \"text\": \"h\"}]}\n]\n");
}

TEST(Position, CountsCodePoints) {
  SourceFiles sources = oneFile("\xEF\xBB\xBF\xC3\xA4x\n\ty\n");
  EXPECT_EQ(sources.position(0, 3).column, 1u);
  EXPECT_EQ(sources.position(0, 5).column, 2u);
  EXPECT_EQ(sources.position(0, 8).line, 2u);
  EXPECT_EQ(sources.position(0, 8).column, 2u);
  EXPECT_EQ(sources.position(0, 1000).line, 3u); // behind the end: the end
}

/// A third of this text's characters have several bytes; lines are short, empty, and longer than what lies between two marks.
TEST(Position, IsThatOfCountingFromTheStart) {
  std::string text = "\xEF\xBB\xBF";
  for (unsigned i = 0; i < 3000; ++i)
    text += i * i % 97 == 1 || (i > 1000 && i < 1005) ? "\n" : i % 3 == 0 ? "\xE6\xBC\xA2" : "a";
  SourceFiles sources = oneFile(text);
  unsigned line = 1, column = 1;
  for (size_t i = 0; i <= text.size(); ++i) {
    EXPECT_EQ(sources.position(0, i).line, line) << "at byte " << i;
    EXPECT_EQ(sources.position(0, i).column, i < 3 ? 1 : column) << "at byte " << i;
    if (i == text.size() || i < 3)
      continue;
    if (text[i] == '\n')
      ++line, column = 1;
    else if ((text[i] & 0xC0) != 0x80)
      ++column;
  }
  EXPECT_EQ(sources.position(1, 0).line, 1u); // of no file
}

/// Counting from the start, or from the start of the line, would take hours.
TEST(Position, IsFoundInConstantTime) {
  SourceFiles lines = oneFile(std::string(8'000'000, '\n')), line = oneFile(std::string(8'000'000, 'a'));
  for (uint32_t i = 0; i < 8'000'000; i += 16) {
    ASSERT_EQ(lines.position(0, i).line, i + 1);
    ASSERT_EQ(line.position(0, i).column, i + 1);
  }
}

TEST(Nearest, FindsSmallSlipsOnly) {
  EXPECT_EQ(nearest("retrun", {"require", "return"}), "return"); // two letters swapped are one edit
  EXPECT_EQ(nearest("logit", {"logits", "loss"}), "logits");
  EXPECT_EQ(nearest("emebdding", {"embedding"}), "embedding");
  EXPECT_EQ(nearest("abcdef", {"uvwxyz", "abc"}), "");
  EXPECT_EQ(nearest("S", {"T", "B"}), ""); // any letter is one edit from any other
  EXPECT_EQ(nearest("wq", {"wk", "wv"}), "wk");
  EXPECT_EQ(nearest("AdamW", {"adam", "adamw"}), "adamw"); // letters' case is no edit
  EXPECT_EQ(nearest("len", {"ce"}), "");
  EXPECT_EQ(nearest("x", {}), "");
}

} // namespace
