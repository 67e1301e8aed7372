#include "frontend/names/Names.h"
#include <algorithm>
#include <cctype>
#include <charconv>

namespace tenon {

namespace {

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> steps(1);
  for (char c : text)
    if (c == '.')
      steps.emplace_back();
    else
      steps.back() += c;
  return steps;
}

std::string joined(const std::vector<std::string> &steps, size_t from, size_t to) {
  std::string text;
  for (size_t i = from; i < to; ++i)
    text += (i > from ? "." : "") + steps[i];
  return text;
}

/// One step against one step of a pattern; every * captures, the first ones as much as they can. A lone * wants at least one
/// character.
bool matchStep(const std::string &pattern, size_t at, const std::string &text, size_t from, std::vector<std::string> &captures) {
  if (at == pattern.size())
    return from == text.size();
  if (pattern[at] != '*')
    return from < text.size() && text[from] == pattern[at] && matchStep(pattern, at + 1, text, from + 1, captures);
  const size_t least = pattern == "*" ? 1 : 0;
  for (size_t length = text.size() - from + 1; length-- > least;) {
    captures.push_back(text.substr(from, length));
    if (matchStep(pattern, at + 1, text, from + length, captures))
      return true;
    captures.pop_back();
  }
  return false;
}

std::optional<std::vector<std::string>> match(const std::string &pattern, const std::string &path) {
  const std::vector<std::string> wanted = split(pattern), steps = split(path);
  if (wanted.size() != steps.size())
    return std::nullopt;
  std::vector<std::string> captures;
  for (size_t i = 0; i < steps.size(); ++i)
    if (!matchStep(wanted[i], 0, steps[i], 0, captures))
      return std::nullopt;
  return captures;
}

struct Placeholder {
  size_t length = 0;  // in the template
  size_t capture = 0; // from 1; 0: the next one in order
  std::optional<int64_t> offset;
};

/// The `{k}` or `{k+d}` that starts at `at`; nullopt if it is malformed.
std::optional<Placeholder> placeholder(const std::string &text, size_t at) {
  const size_t end = text.find('}', at);
  if (end == std::string::npos)
    return std::nullopt;
  Placeholder found{end + 1 - at, 0, std::nullopt};
  const char *first = text.data() + at + 1, *last = text.data() + end;
  auto [next, error] = std::from_chars(first, last, found.capture);
  if (error != std::errc() || found.capture == 0)
    return std::nullopt;
  if (next == last)
    return found;
  int64_t offset = 0;
  auto [rest, offsetError] = std::from_chars(next + 1, last, offset);
  if (*next != '+' || offsetError != std::errc() || rest != last || next[1] == '-' || offset > 1'000'000)
    return std::nullopt;
  found.offset = offset;
  return found;
}

std::string fill(const std::string &pattern, const std::vector<std::string> &captures) {
  std::string text;
  size_t next = 0;
  for (size_t i = 0; i < pattern.size();) {
    if (pattern[i] == '*') {
      text += captures.at(next++);
      ++i;
    } else if (pattern[i] == '{') {
      const Placeholder found = *placeholder(pattern, i); // checked when the table was read
      std::string capture = captures.at(found.capture - 1);
      int64_t number = 0;
      auto [end, error] = std::from_chars(capture.data(), capture.data() + capture.size(), number);
      if (found.offset && error == std::errc() && end == capture.data() + capture.size())
        capture = std::to_string(number + *found.offset);
      text += capture;
      i += found.length;
    } else {
      text += pattern[i++];
    }
  }
  return text;
}

/// "" if the template only speaks of captures that exist.
std::string templateMistake(const std::string &text, size_t captures) {
  size_t stars = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    stars += text[i] == '*';
    if (text[i] == '}')
      return "this } closes nothing";
    if (text[i] != '{')
      continue;
    std::optional<Placeholder> found = placeholder(text, i);
    if (!found)
      return "a captured step is written {2} or {2+1}";
    if (found->capture > captures)
      return "{" + std::to_string(found->capture) + "} but the pattern captures " + std::to_string(captures);
    i += found->length - 1;
  }
  return stars > captures ? std::to_string(stars) + " times * but the pattern captures " + std::to_string(captures) : "";
}

bool goodPattern(const std::string &pattern) {
  const std::vector<std::string> steps = split(pattern);
  for (const std::string &step : steps)
    if (step.empty() ||
        !std::all_of(step.begin(), step.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '*'; }))
      return false;
  return true;
}

/// Whether it is a way to publish a parameter; reports one that is none.
bool isKnown(const ast::Expr &function, Diagnostics &diagnostics) {
  const std::vector<std::string> known = {"copy", "flatten", "part", "stacked", "transpose"};
  if (std::find(known.begin(), known.end(), function.text) != known.end())
    return true;
  Diagnostic &error =
      diagnostics.error("T0652", function.range, "`" + function.text + "` is no way to publish a parameter", "unknown");
  const std::string near = nearest(function.text, known);
  error.notes.emplace_back("help",
                           near.empty() ? "known: copy, flatten, part, stacked, transpose" : "did you mean `" + near + "`?");
  return false;
}

} // namespace

bool matchesStep(const std::string &pattern, const std::string &step) {
  std::vector<std::string> captures;
  return matchStep(pattern, 0, step, 0, captures);
}

/// `copy(NAME)`: NAME is any other right side.
std::optional<PublicName> NameTables::copied(const ast::Expr &call, size_t captures, Diagnostics &diagnostics) {
  if (call.arguments.size() != 1 || call.arguments[0].keyword || !call.arguments[0].value) {
    diagnostics.error("T0656", call.range, "`copy` takes one public name, as in copy(\"policy\")", "wrong arguments");
    return std::nullopt;
  }
  std::optional<PublicName> result = target(call.arguments[0].value, captures, diagnostics);
  if (result && result->copy) {
    diagnostics.error("T0656", call.arguments[0].value->range, "this is a copy of a copy", "copy(..) once says it");
    return std::nullopt;
  }
  if (result)
    result->copy = true;
  return result;
}

std::optional<PublicName> NameTables::target(const ast::ExprPtr &value, size_t captures, Diagnostics &diagnostics) {
  using Kind = ast::Expr::Kind;
  if (!value)
    return std::nullopt; // the parser reported it
  PublicName result;
  const ast::Expr *text = value.get();
  if (value->kind == Kind::Call && value->operands[0]->kind == Kind::Name) {
    const std::string &function = value->operands[0]->text;
    const size_t wanted = function == "part" ? 3 : 1;
    if (!isKnown(*value->operands[0], diagnostics))
      return std::nullopt;
    if (function == "copy")
      return copied(*value, captures, diagnostics);
    bool good = value->arguments.size() == wanted;
    for (size_t i = 0; good && i < wanted; ++i)
      good = !value->arguments[i].keyword && value->arguments[i].value &&
             value->arguments[i].value->kind == (i == 0 ? Kind::String : Kind::Int);
    if (!good) {
      diagnostics.error("T0656", value->range,
                        function == "part" ? "`part` takes a name and two numbers, as in part(\"in_proj_weight\", 0, 3)"
                                           : "`" + function + "` takes one name in quotes",
                        "wrong arguments");
      return std::nullopt;
    }
    result.transform = function;
    text = value->arguments[0].value.get();
    if (function == "part") {
      result.part = value->arguments[1].value->integer;
      result.parts = value->arguments[2].value->integer;
      if (result.parts < 1 || result.part < 0 || result.part >= result.parts) {
        diagnostics.error("T0656", value->arguments[1].value->range,
                          "there is no part " + std::to_string(result.part) + " of " + std::to_string(result.parts),
                          "parts are counted from 0");
        return std::nullopt;
      }
    }
    if (function == "stacked" && std::count(text->text.begin(), text->text.end(), '#') != 1) {
      diagnostics.error("T0656", text->range, "a stacked name has one # for the index", "one tensor per index of the first axis");
      return std::nullopt;
    }
  }
  if (text->kind != Kind::String) {
    diagnostics.error("T0652", value->range,
                      "a public name is a text in quotes, or part(..), flatten(..), stacked(..), transpose(..), copy(..) of one",
                      "not a name");
    return std::nullopt;
  }
  if (std::string mistake = templateMistake(text->text, captures); !mistake.empty()) {
    diagnostics.error("T0653", text->range, "this name asks for more than its pattern gives: " + mistake, "cannot be filled in");
    return std::nullopt;
  }
  result.name = text->text;
  return result;
}

void NameTables::add(const ast::Recipe &recipe, const std::vector<std::string> &owners, Diagnostics &diagnostics) {
  if (std::find(owners.begin(), owners.end(), recipe.owner.text) == owners.end()) {
    Diagnostic &error =
        diagnostics.error("T0650", recipe.owner.range, "there is no model or layer `" + recipe.owner.text + "`", "unknown");
    if (std::string near = nearest(recipe.owner.text, owners); !near.empty())
      error.notes.emplace_back("help", "did you mean `" + near + "`?");
    return;
  }
  for (const Table &other : tables)
    if (other.owner == recipe.owner.text && other.scheme == recipe.name.text) {
      Diagnostic &error =
          diagnostics.error("T0654", recipe.name.range,
                            "`" + recipe.owner.text + "` has two tables of scheme `" + recipe.name.text + "`", "second table");
      error.related.push_back({other.range, "first table"});
      return;
    }
  Table table{recipe.owner.text, recipe.name.text, {}, recipe.name.range};
  for (const ast::Setting &setting : recipe.settings) {
    if (setting.isBind) {
      diagnostics.error("T0651", setting.range, "a names table has rules only, as in \"up.*\" = \"dense.*\"", "not a rule");
      continue;
    }
    const std::string &pattern = setting.key.text;
    if (!goodPattern(pattern)) {
      diagnostics.error("T0651", setting.key.range, "\"" + pattern + "\" is not a pattern of parameter paths",
                        "names, digits and * between dots");
      continue;
    }
    auto twin = std::find_if(table.rules.begin(), table.rules.end(), [&](const Rule &rule) { return rule.pattern == pattern; });
    if (twin != table.rules.end()) {
      Diagnostic &error = diagnostics.error("T0655", setting.key.range, "two rules for \"" + pattern + "\"", "never used");
      error.related.push_back({twin->range, "the first one wins"});
      continue;
    }
    const size_t captures = size_t(std::count(pattern.begin(), pattern.end(), '*'));
    if (std::optional<PublicName> made = target(setting.value, captures, diagnostics))
      table.rules.push_back({pattern, *made, setting.key.range});
  }
  tables.push_back(std::move(table));
}

std::vector<std::string> NameTables::schemes() const {
  std::vector<std::string> result;
  for (const Table &table : tables)
    if (std::find(result.begin(), result.end(), table.scheme) == result.end())
      result.push_back(table.scheme);
  return result;
}

const NameTables::Table *NameTables::find(const std::string &owner, const std::string &scheme) const {
  const Table *first = nullptr;
  for (const Table &table : tables) {
    if (table.owner != owner)
      continue;
    if (table.scheme == scheme && !table.rules.empty())
      return &table;
    first = first ? first : &table;
  }
  return first; // a layer without a table of the scheme uses its first
}

PublicName NameTables::translate(const std::string &scheme, const std::string &owner, const Path &path, size_t start,
                                 std::vector<UsedRule> &used) const {
  const Table *table = find(owner, scheme);
  const size_t end = path.steps.size();
  static const std::vector<Rule> none;
  const std::vector<Rule> &rules = table ? table->rules : none;
  const std::string uses = joined(path.steps, start, end), rest = uses.empty() ? path.leaf : uses + "." + path.leaf;
  for (const Rule &rule : rules)
    if (auto captures = match(rule.pattern, rest)) {
      used.push_back({rule.range, table->range, rule.target.copy});
      PublicName result = rule.target;
      result.name = fill(rule.target.name, *captures);
      return result;
    }
  if (start == end)
    return {path.leaf, "", 0, 1};
  for (size_t cut = end; cut > start; --cut) // the longest prefix of whole uses that has a rule
    for (const Rule &rule : rules) {
      if (!rule.target.transform.empty())
        continue;
      if (auto captures = match(rule.pattern, joined(path.steps, start, cut))) {
        used.push_back({rule.range, table->range, rule.target.copy});
        PublicName inner = translate(scheme, path.chain[cut - 1].layer, path, cut, used);
        inner.copy |= rule.target.copy;
        if (!rule.target.name.empty()) // an empty value drops the step
          inner.name = fill(rule.target.name, *captures) + "." + inner.name;
        return inner;
      }
    }
  PublicName inner = translate(scheme, path.chain[start].layer, path, start + 1, used);
  inner.name = path.steps[start] + "." + inner.name;
  return inner;
}

std::vector<PublicName> NameTables::publicNames(const std::string &scheme, const std::string &model,
                                                const std::vector<UseStep> &chain, const std::string &leaf,
                                                const std::vector<int64_t> &stackCounts,
                                                std::vector<std::vector<UsedRule>> *rules) const {
  std::vector<PublicName> result;
  std::vector<int64_t> index(stackCounts.size());
  for (int64_t count : stackCounts)
    if (count <= 0)
      return result;
  while (true) {
    Path path{{}, chain, leaf};
    size_t stack = 0;
    for (const UseStep &step : chain)
      path.steps.push_back(step.stacked ? step.use + "." + std::to_string(index.at(stack++)) : step.use);
    std::vector<UsedRule> used;
    result.push_back(translate(scheme, model, path, 0, used));
    if (rules)
      rules->push_back(used);
    size_t digit = index.size();
    while (digit > 0 && ++index[digit - 1] == stackCounts[digit - 1])
      index[--digit] = 0;
    if (digit == 0)
      return result;
  }
}

} // namespace tenon
