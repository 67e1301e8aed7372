#include "SpecMutator.h"
#include "frontend/syntax/Lexer.h"
#include <algorithm>
#include <iterator>

namespace tenon::fuzz {
namespace {

using syntax::Lexeme;
using syntax::LexemeKind;

LexemeKind kindOf(const std::string &token) { return syntax::lex(token.data(), token.data() + token.size()).kind; }
bool isName(const std::string &token) { return kindOf(token) == LexemeKind::Word && !syntax::isKeyword(token); }

/// Positions of tokens that start a statement where a whole statement can be cut out: [begin, end) up to the next one.
std::vector<std::pair<size_t, size_t>> statements(const std::vector<std::string> &tokens) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (syntax::startsStatement(tokens[i]) && tokens[i] != "layer" && tokens[i] != "fn" &&
        (i + 1 == tokens.size() || tokens[i + 1] != "="))
      starts.push_back(i);
  std::vector<std::pair<size_t, size_t>> result;
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    // Only statements without blocks: a brace between two starts belongs to something larger.
    bool plain = true;
    for (size_t k = starts[i]; k < starts[i + 1]; ++k)
      plain = plain && tokens[k] != "{" && tokens[k] != "}" && tokens[k] != "layer" && tokens[k] != "fn";
    if (plain)
      result.push_back({starts[i], starts[i + 1]});
  }
  return result;
}

size_t pick(Random &random, const std::vector<std::string> &tokens, bool (*accept)(const std::string &)) {
  size_t start = random.below(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i)
    if (accept(tokens[(start + i) % tokens.size()]))
      return (start + i) % tokens.size();
  return tokens.size();
}

} // namespace

void SpecMutator::addWhole(const std::string &text) {
  const size_t before = items.size();
  addFile(text);
  std::vector<std::string> all;
  for (size_t i = before; i < items.size(); ++i)
    all.insert(all.end(), items[i].begin(), items[i].end());
  items.resize(before);
  items.push_back(std::move(all));
  whole = true;
}

void SpecMutator::addFile(const std::string &text) {
  const char *end = text.data() + text.size();
  std::vector<std::string> item;
  int depth = 0;
  for (Lexeme l = syntax::lex(text.data(), end); l.kind != LexemeKind::End; l = syntax::lex(l.end, end)) {
    std::string token(l.text());
    depth += l.is("{") ? 1 : l.is("}") ? -1 : 0;
    bool import = item.size() == 1 && item.front() == "import";
    item.push_back(token);
    (l.kind == LexemeKind::Word     ? words
     : l.kind == LexemeKind::Number ? numbers
     : l.kind == LexemeKind::String ? strings
                                    : others)
        .push_back(token);
    if (import || (depth == 0 && l.is("}"))) {
      items.push_back(std::move(item));
      item.clear();
    }
  }
}

/// A change after which a specification is still one.
void SpecMutator::keep(Random &random, std::vector<std::string> &tokens) const {
  auto spans = statements(tokens);
  switch (random.below(6)) {
  case 0:
  case 1: { // another name
    size_t at = pick(random, tokens, isName);
    const std::string &word = words[random.below(words.size())];
    if (at < tokens.size() && isName(word))
      tokens[at] = word;
    break;
  }
  case 2: { // another number
    size_t at = pick(random, tokens, [](const std::string &t) { return kindOf(t) == LexemeKind::Number; });
    if (at < tokens.size())
      tokens[at] = numbers[random.below(numbers.size())];
    break;
  }
  case 3: // a statement left out
    if (!spans.empty()) {
      auto [begin, end] = spans[random.below(spans.size())];
      tokens.erase(tokens.begin() + begin, tokens.begin() + end);
    }
    break;
  case 4: // a statement twice, the second time elsewhere
    if (!spans.empty()) {
      auto [begin, end] = spans[random.below(spans.size())];
      std::vector<std::string> copy(tokens.begin() + begin, tokens.begin() + end);
      tokens.insert(tokens.begin() + spans[random.below(spans.size())].first, copy.begin(), copy.end());
    }
    break;
  case 5: { // an operator for another of the same kind
    static const char *const same[] = {"+", "-", "*", "/", "mod", "div", "^"};
    size_t at =
        pick(random, tokens, [](const std::string &t) { return t == "/" || t == "^" || t == "div" || t == "mod" || t == "-"; });
    if (at < tokens.size() && at > 0 && (isName(tokens[at - 1]) || tokens[at - 1] == ")"))
      tokens[at] = same[random.below(std::size(same))];
    break;
  }
  }
}

/// The bracket at or behind `from`, to its end.
static std::pair<size_t, size_t> bracketFrom(const std::vector<std::string> &tokens, size_t from) {
  size_t open = from;
  while (open < tokens.size() && tokens[open] != "(" && tokens[open] != "[")
    ++open;
  size_t close = open;
  for (int depth = 0; close < tokens.size(); ++close) {
    depth += tokens[close] == "(" || tokens[close] == "[" ? 1 : tokens[close] == ")" || tokens[close] == "]" ? -1 : 0;
    if (depth == 0)
      break;
  }
  return {open, std::min(close + 1, tokens.size())};
}

static void replaceBracket(Random &random, std::vector<std::string> &tokens) {
  auto [toBegin, toEnd] = bracketFrom(tokens, random.below(tokens.size()));
  auto [fromBegin, fromEnd] = bracketFrom(tokens, random.below(tokens.size()));
  std::vector<std::string> copy(tokens.begin() + fromBegin, tokens.begin() + fromEnd);
  if (toBegin < toEnd && !copy.empty() && copy.front() == tokens[toBegin]) {
    tokens.erase(tokens.begin() + toBegin, tokens.begin() + toEnd);
    tokens.insert(tokens.begin() + toBegin, copy.begin(), copy.end());
  }
}

static void swapStatements(Random &random, std::vector<std::string> &tokens) {
  auto spans = statements(tokens);
  if (spans.size() < 2)
    return;
  auto [begin, middle] = spans[random.below(spans.size())];
  auto next = std::find_if(spans.begin(), spans.end(), [&](auto &span) { return span.first == middle; });
  if (next != spans.end())
    std::rotate(tokens.begin() + begin, tokens.begin() + middle, tokens.begin() + next->second);
}

static void repeatStatement(Random &random, std::vector<std::string> &tokens) {
  auto spans = statements(tokens);
  if (spans.empty())
    return;
  auto [begin, end] = spans[random.below(spans.size())];
  std::vector<std::string> copy(tokens.begin() + begin, tokens.begin() + end);
  if (copy.size() > 2 && isName(copy[1]))
    copy[1] += "2";
  tokens.insert(tokens.begin() + end, copy.begin(), copy.end());
}

/// A term around the name at `at`, where an operand stands.
static void wrapOperand(Random &random, std::vector<std::string> &tokens, size_t at) {
  static const std::pair<const char *, const char *> shells[] = {{"( -", ")"},
                                                                 {"exp (", ")"},
                                                                 {"( if depth mod 2 == 0 then", "else 1 )"},
                                                                 {"clip (", ", 0 , 3 )"},
                                                                 {"( 2 *", ")"},
                                                                 {"stop_gradient (", ")"},
                                                                 {"(", "mod 3 )"},
                                                                 {"(", "div 2 )"},
                                                                 {"where ( true ,", ", 0 )"},
                                                                 {"( if training then", "else 0 )"}};
  auto [open, close] = shells[random.below(std::size(shells))];
  if (at < tokens.size() && at > 0 && (tokens[at - 1] == "(" || tokens[at - 1] == "+" || tokens[at - 1] == "*"))
    tokens[at] = std::string(open) + " " + tokens[at] + " " + close;
}

/// A stack for a loop, or the other way round.
static void changeLoop(Random &random, std::vector<std::string> &tokens) {
  for (size_t i = random.below(tokens.size()); i < tokens.size(); ++i)
    if (tokens[i] == "stack" || tokens[i] == "loop") {
      tokens[i] = tokens[i] == "stack" ? "loop" : "stack";
      return;
    }
}

/// A change made of what the text itself has: its names, sizes, statements and terms.
void SpecMutator::keepNames(Random &random, std::vector<std::string> &tokens) const {
  const size_t at = pick(random, tokens, isName), other = pick(random, tokens, isName);
  switch (random.below(8)) {
  case 0: // another name of this text
    if (at < tokens.size())
      tokens[at] = std::string(tokens[other]);
    break;
  case 1: { // an axis or name, everywhere
    if (at == tokens.size())
      break;
    const std::string from = tokens[at], to = random.chance(50) ? from + "2" : tokens[other];
    std::replace(tokens.begin(), tokens.end(), from, to);
    break;
  }
  case 2: { // a size at a limit
    static const char *const sizes[] = {
        "0", "1", "2", "3", "7", "64", "1000000", "2147483647", "2147483648", "9223372036854775807", "0.5", "1e300"};
    size_t number = pick(random, tokens, [](const std::string &t) { return kindOf(t) == LexemeKind::Number; });
    if (number < tokens.size())
      tokens[number] = sizes[random.below(std::size(sizes))];
    break;
  }
  case 3:
    return swapStatements(random, tokens);
  case 4:
    return replaceBracket(random, tokens);
  case 5:
    return wrapOperand(random, tokens, at);
  case 6:
    return repeatStatement(random, tokens);
  case 7:
    return changeLoop(random, tokens);
  }
}

/// A change that ignores the grammar.
void SpecMutator::wreck(Random &random, std::vector<std::string> &tokens) const {
  if (tokens.empty())
    return;
  size_t at = random.below(tokens.size());
  switch (random.below(9)) {
  case 0:
    tokens.erase(tokens.begin() + at);
    break;
  case 1: {
    std::string copy = tokens[at];
    tokens.insert(tokens.begin() + at, copy);
    break;
  }
  case 2:
    std::swap(tokens[at], tokens[random.below(tokens.size())]);
    break;
  case 3: {
    const auto &pool = random.chance(50) ? others : words;
    tokens[at] = pool[random.below(pool.size())];
    break;
  }
  case 4: { // cut a range out
    size_t count = std::min(tokens.size() - at, random.below(40));
    tokens.erase(tokens.begin() + at, tokens.begin() + at + count);
    break;
  }
  case 5: { // move a range
    size_t count = std::min(tokens.size() - at, random.below(20));
    std::vector<std::string> part(tokens.begin() + at, tokens.begin() + at + count);
    tokens.erase(tokens.begin() + at, tokens.begin() + at + count);
    size_t to = random.below(tokens.size() + 1);
    tokens.insert(tokens.begin() + to, part.begin(), part.end());
    break;
  }
  case 6: { // bytes
    static const char *const odd[] = {"\"",       "\xff", "\xe6\xbc", "#",  "1__", "9999999999999999999999",
                                      "1e9999",   "3x",   "&&",       "'",  "\r",  "\t",
                                      "\xc3\xa4", "1e",   ".",        "..."};
    tokens.insert(tokens.begin() + at, random.chance(10) ? std::string(1, '\0') : std::string(odd[random.below(std::size(odd))]));
    break;
  }
  case 7: { // a byte inside a token
    std::string &token = tokens[at];
    token[random.below(token.size())] = static_cast<char>(random.next());
    break;
  }
  case 8:
    nest(random, tokens);
    break;
  }
}

/// Many brackets, signs, operators or blocks inside each other, some beyond the limit of the language.
void SpecMutator::nest(Random &random, std::vector<std::string> &tokens) const {
  static const std::pair<const char *, const char *> shells[] = {{"(", ")"},
                                                                 {"f(", ")"},
                                                                 {"x[T: ", "]"},
                                                                 {"- ", ""},
                                                                 {"1 + ", ""},
                                                                 {"2 ^ ", ""},
                                                                 {"if a then b else ", ""},
                                                                 {"attend(j: S) { score ", " }"},
                                                                 {"(", ""},
                                                                 {"scan(t: T) { yield ", " }"},
                                                                 {"a and ", ""},
                                                                 {"", ".b"},
                                                                 {"not ", ""}};
  auto [open, close] = shells[random.below(std::size(shells))];
  size_t levels = random.chance(1)    ? 100000
                  : random.chance(5)  ? 5000
                  : random.chance(30) ? 200 + random.below(120)
                                      : random.below(60);
  std::string text;
  for (size_t i = 0; i < levels; ++i)
    text += open;
  text += "x";
  for (size_t i = 0; i < levels; ++i)
    text += close;
  size_t at = pick(random, tokens, isName);
  if (at < tokens.size())
    tokens[at] = text;
}

std::string SpecMutator::make(Random &random, bool &broken) const {
  std::vector<std::string> tokens = items[random.below(items.size())];
  if (!whole && random.chance(20)) {
    const auto &second = items[random.below(items.size())];
    tokens.insert(tokens.end(), second.begin(), second.end());
  }
  for (size_t i = whole ? 1 + random.below(2) : random.below(6); i-- > 0;)
    whole &&random.chance(80) ? keepNames(random, tokens) : keep(random, tokens);
  broken = random.chance(whole ? 10 : 40);
  if (broken)
    for (size_t i = 1 + random.below(3); i-- > 0;)
      wreck(random, tokens);
  std::string text;
  for (const std::string &token : tokens) {
    bool line = syntax::startsStatement(token) || token == "}" || random.chance(5);
    text += line ? (random.chance(3) ? "\n# a comment\n  " : "\n  ") : " ";
    text += token;
  }
  return text;
}

} // namespace tenon::fuzz
