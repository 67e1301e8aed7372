#include "test/fuzz/TypedSpec.h"
#include "frontend/syntax/Lexer.h"
#include <algorithm>
#include <iterator>

namespace tenon::fuzz {

namespace {

std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// A name that nothing has.
std::string fresh(Random &random) { return "fz" + std::to_string(random.next() >> 32); }

template <typename List> auto *pickFrom(Random &random, List &list) {
  return list.empty() ? nullptr : &list[random.below(list.size())];
}

bool contains(const ast::Range &outer, const ast::Range &inner) { return outer.begin <= inner.begin && inner.end <= outer.end; }

} // namespace

bool TypedSpec::isWithin(int inner, int outer) const {
  while (inner >= 0 && inner != outer)
    inner = bodies[size_t(inner)].parent;
  return inner == outer;
}

const TypedSpec::Place *TypedSpec::pickReal(Random &random) const {
  for (int i = 0; i < 20; ++i)
    if (const Place *place = pickFrom(random, places); place && place->isReal)
      return place;
  return nullptr;
}

/// An expression for another of the same type that stands before it.
TypedSpec::Edits TypedSpec::substitute(Random &random) const {
  const Place *place = random.chance(80) ? pickReal(random) : pickFrom(random, places);
  if (!place)
    return {};
  std::vector<const Place *> candidates;
  for (const Place &other : places)
    if (other.types == place->types && other.expression->range.begin < place->expression->range.end &&
        isWithin(place->body, other.body) && textOf(other.expression->range) != textOf(place->expression->range))
      candidates.push_back(&other);
  const auto *chosen = pickFrom(random, candidates);
  const ast::Range &range = place->expression->range;
  return chosen ? Edits{{range.begin, range.end, "(" + textOf((*chosen)->expression->range) + ")"}} : Edits();
}

/// An expression inside another one that keeps its type.
TypedSpec::Edits TypedSpec::wrap(Random &random) const {
  static const char *const forms[] = {"($ + 0 * $)",
                                      "where(true, $, 0)",
                                      "(if training then $ else $)",
                                      "stop_gradient($)",
                                      "max($, $)",
                                      "tanh($)",
                                      "(-$)",
                                      "sin($)",
                                      "dropout($, 0.1)",
                                      "clip($, -1, 1)",
                                      "($ * 0.5)",
                                      "gelu($)",
                                      "min($, 3)",
                                      "abs($)",
                                      "exp(min($, 1))",
                                      "where($ > 0, $, 1)",
                                      "($ / (1 + $ ^ 2))",
                                      "(2 * $ - $)",
                                      "(if size[@]() > 3 then $ else 2 * $)"};
  static const char *const axisForms[] = {"softmax[@]($)",
                                          "log_softmax[@]($)",
                                          "normalize[@]($, eps = 0.1)",
                                          "($ - mean[@]($))",
                                          "flip[@]($)",
                                          "cumsum[@]($)",
                                          "($ / (1 + sum[@]($ ^ 2)))",
                                          "($ + max[@]($))",
                                          "dropout[@]($, 0.2)",
                                          "where(iota[@]() < 2, $, 0)",
                                          "($ * real(size[@]()))",
                                          "expand[@](sum[@]($))",
                                          "($ * real(iota[@]() mod 3))"};
  const Place *place = pickReal(random);
  if (!place)
    return {};
  const ast::Range &range = place->expression->range;
  const bool isAlongAxis = !place->axes.empty() && random.chance(40);
  std::string form =
      isAlongAxis ? axisForms[random.below(std::size(axisForms))] : forms[random.below(std::size(forms) - place->axes.empty())];
  if (!place->axes.empty())
    form = replaceAll(form, "@", place->axes[random.below(place->axes.size())]);
  return {{range.begin, range.end, replaceAll(form, "$", "(" + textOf(range) + ")")}};
}

TypedSpec::Edits TypedSpec::exchangeOperator(Random &random) const {
  static const std::vector<std::string> kinds[] = {{"+", "-", "*"}, {"<", "<=", ">", ">=", "==", "!="}, {"and", "or"}};
  for (int i = 0; i < 20; ++i) {
    const Place *place = pickFrom(random, places);
    if (!place || place->expression->kind != ast::Expr::Kind::Binary)
      continue;
    const ast::Expr &node = *place->expression;
    for (const auto &kind : kinds)
      if (std::find(kind.begin(), kind.end(), node.text) != kind.end())
        return {{node.opRange.begin, node.opRange.end, kind[random.below(kind.size())]}};
  }
  return {};
}

TypedSpec::Edits TypedSpec::exchangeFunction(Random &random) const {
  static const std::vector<std::string> same = {"tanh", "sigmoid",  "relu",          "gelu",  "gelu_tanh", "leaky_relu",
                                                "sin",  "cos",      "atan",          "erf",   "abs",       "exp",
                                                "silu", "softplus", "stop_gradient", "round", "floor",     "ceil"};
  std::vector<const Call *> candidates;
  for (const Call &call : calls)
    if (std::find(same.begin(), same.end(), call.name) != same.end())
      candidates.push_back(&call);
  const auto *call = pickFrom(random, candidates);
  return call ? Edits{{(*call)->range.begin, (*call)->range.end, same[random.below(same.size())]}} : Edits();
}

/// A layer of another specification, with its definitions, applied to a value.
TypedSpec::Edits TypedSpec::borrow(Random &random, const std::vector<LentLayer> &lent) const {
  const Place *place = pickReal(random);
  const LentLayer *layer = pickFrom(random, lent);
  if (!place || !layer || place->axes.empty())
    return {};
  int body = place->body;
  while (bodies[size_t(body)].kind == Body::Kind::Binders)
    body = bodies[size_t(body)].parent;
  const bool clashes = std::any_of(layer->definitions.begin(), layer->definitions.end(),
                                   [&](const std::string &name) { return declared.count(name) > 0; });
  if (bodies[size_t(body)].kind == Body::Kind::Function || clashes)
    return {};
  const std::string name = fresh(random), &axis = place->axes[random.below(place->axes.size())];
  const ast::Range &range = place->expression->range;
  const std::string repeat = random.chance(25) ? (random.chance(70) ? "stack[2] " : "loop[2] ") : "";
  Edits edits = {{place->statement.begin, place->statement.begin,
                  "use " + name + " = " + repeat + layer->name + replaceAll(layer->arguments, "@", axis) + "\n  "},
                 {range.begin, range.end, name + "(" + textOf(range) + ")"}};
  if (!layer->text.empty())
    edits.push_back({uint32_t(text.size()), uint32_t(text.size()), "\n" + layer->text + "\n"});
  return edits;
}

/// A layer twice, under two names; one of its uses takes the copy.
TypedSpec::Edits TypedSpec::copyLayer(Random &random) const {
  const auto *chosen = pickFrom(random, layers);
  if (!chosen)
    return {};
  const ast::Callable &layer = **chosen;
  std::vector<const Declaration *> candidates;
  for (const Declaration &use : uses)
    if (use.statement->layer.text == layer.name.text && !contains(layer.range, use.statement->range))
      candidates.push_back(&use);
  const auto *use = pickFrom(random, candidates);
  if (!use)
    return {};
  const std::string name = fresh(random);
  const std::string copy = text.substr(layer.range.begin, layer.name.range.begin - layer.range.begin) + name +
                           text.substr(layer.name.range.end, layer.range.end - layer.name.range.end);
  const ast::Range &taken = (*use)->statement->layer.range;
  return {{layer.range.begin, layer.range.begin, copy + "\n"}, {taken.begin, taken.end, name}};
}

/// One more layer of the same kind, for one of the calls.
TypedSpec::Edits TypedSpec::copyUse(Random &random) const {
  const Declaration *use = pickFrom(random, uses);
  if (!use || textOf(use->statement->range).rfind("use", 0) != 0)
    return {};
  std::vector<const Call *> candidates;
  for (const Call &call : calls)
    if (call.name == use->statement->name.text && isWithin(call.body, use->body))
      candidates.push_back(&call);
  const auto *call = pickFrom(random, candidates);
  if (!call)
    return {};
  const std::string statement = textOf(use->statement->range), name = fresh(random);
  return {{use->statement->range.begin, use->statement->range.begin,
           "use " + name + " " + statement.substr(std::min(statement.size(), statement.find('='))) + "\n  "},
          {(*call)->range.begin, (*call)->range.end, name}};
}

TypedSpec::Edits TypedSpec::splitLet(Random &random) const {
  const Declaration *let = pickFrom(random, lets);
  if (!let)
    return {};
  const ast::Name &old = let->statement->names[0];
  const std::string name = fresh(random);
  return {{old.range.begin, old.range.end, name},
          {let->statement->range.end, let->statement->range.end, "\n  let " + old.text + " = " + name + "\n"}};
}

TypedSpec::Edits TypedSpec::swapAxes(Random &random) const {
  const auto *list = pickFrom(random, axisLists);
  if (!list)
    return {};
  const size_t first = random.below(list->size()), second = (first + 1 + random.below(list->size() - 1)) % list->size();
  const ast::Range &a = (*list)[first], &b = (*list)[second];
  return {{a.begin, a.end, textOf(b)}, {b.begin, b.end, textOf(a)}};
}

/// What follows from it follows again.
TypedSpec::Edits TypedSpec::changeSize(Random &random) const {
  const ast::Range *range = pickFrom(random, sizes);
  if (!range)
    return {};
  const uint64_t old = std::strtoull(replaceAll(textOf(*range), "_", "").c_str(), nullptr, 10),
                 choices[] = {old * 2, old + 1, old / 2, 1, 2, old * 3, 0, 1 + random.below(100)};
  return {{range->begin, range->end, std::to_string(choices[random.below(std::size(choices))])}};
}

/// A value of the model that is put out, or a loss or metric of it.
TypedSpec::Edits TypedSpec::addResult(Random &random) const {
  const auto *value = pickFrom(random, results);
  const ast::Model *model = nullptr;
  for (const ast::Item &item : file->items)
    model = item.model ? item.model.get() : model;
  if (!value || !model)
    return {};
  const uint32_t end = model->range.end - 1; // before the brace
  static const char *const forms[] = {"out @ = $", "loss @ = mean($)", "metric @ = sum($) / 2", "loss @ = sum($ * $)",
                                      "metric @ = mean(real($ > 0))"};
  static const char *const scalars[] = {"loss @ = $", "metric @ = $", "loss @ = 2 * $ - 1"};
  const std::string form = value->second ? scalars[random.below(std::size(scalars))] : forms[random.below(std::size(forms))];
  return {{end, end, "\n  " + replaceAll(replaceAll(form, "@", fresh(random)), "$", value->first) + "\n"}};
}

/// Something that the file declares, everywhere under another name.
std::string TypedSpec::rename(Random &random, const std::string &changed) const {
  std::vector<std::string> candidates;
  for (const std::string &name : declared)
    if (!foreign.count(name) && !syntax::isKeyword(name) && !syntax::startsAttendItem(name))
      candidates.push_back(name);
  const std::string *from = pickFrom(random, candidates);
  if (!from)
    return changed;
  const std::string to = random.chance(50) ? fresh(random) : "_" + *from;
  std::string result;
  const char *end = changed.data() + changed.size(), *copied = changed.data();
  for (syntax::Lexeme each = syntax::lex(changed.data(), end); each.kind != syntax::LexemeKind::End;
       each = syntax::lex(each.end, end))
    if (each.kind == syntax::LexemeKind::Word && each.text() == *from) {
      result.append(copied, each.begin);
      result += to;
      copied = each.end;
    }
  return result.append(copied, end);
}

void TypedSpec::lend(std::vector<LentLayer> &lent) const {
  std::map<std::string, const ast::Callable *> own;
  for (const ast::Item &item : file->items)
    if (item.callable)
      own[item.callable->name.text] = item.callable.get();
  for (const auto &[name, layer] : own) {
    auto isAlong = [&](const ast::Type &type) {
      return type.element == "real" && type.axes.size() == 2 && type.axes[0].text == ".." &&
             type.axes[1].text == layer->formals[0].name.text;
    };
    if (!layer->isLayer || layer->formals.size() != 1 || layer->formals[0].output || layer->parameters.size() != 1 ||
        layer->results.size() != 1 || !isAlong(layer->parameters[0].type) || !isAlong(layer->results[0]))
      continue;
    LentLayer result{name, "[@]", "", {}};
    std::vector<std::string> open = {name};
    while (!open.empty()) {
      const std::string next = open.back();
      open.pop_back();
      if (!result.definitions.insert(next).second)
        continue;
      const std::string definition = textOf(own[next]->range);
      result.text += definition + "\n";
      const char *end = definition.data() + definition.size();
      for (syntax::Lexeme each = syntax::lex(definition.data(), end); each.kind != syntax::LexemeKind::End;
           each = syntax::lex(each.end, end))
        if (own.count(std::string(each.text())))
          open.emplace_back(each.text());
    }
    lent.push_back(std::move(result));
  }
}

std::string TypedSpec::change(Random &random, const std::vector<LentLayer> &lent) const {
  Edits all;
  for (size_t wanted = 1 + random.below(4), tries = 0; tries < 20 && wanted > 0; ++tries) {
    static const unsigned shares[] = {20, 40, 46, 50, 60, 66, 72, 80, 88, 94, 100};
    const unsigned draw = unsigned(random.below(100));
    Edits edits;
    switch (std::upper_bound(std::begin(shares), std::end(shares), draw) - std::begin(shares)) {
    case 0:
      edits = substitute(random);
      break;
    case 1:
      edits = wrap(random);
      break;
    case 2:
      edits = exchangeOperator(random);
      break;
    case 3:
      edits = exchangeFunction(random);
      break;
    case 4:
      edits = borrow(random, lent);
      break;
    case 5:
      edits = copyLayer(random);
      break;
    case 6:
      edits = copyUse(random);
      break;
    case 7:
      edits = splitLet(random);
      break;
    case 8:
      edits = swapAxes(random);
      break;
    case 9:
      edits = changeSize(random);
      break;
    default:
      edits = addResult(random);
      break;
    }
    const bool overlaps = std::any_of(edits.begin(), edits.end(), [&](const Edit &edit) {
      return std::any_of(all.begin(), all.end(), [&](const Edit &known) {
        return edit.begin == known.begin || (edit.begin < known.end && known.begin < edit.end);
      });
    });
    if (edits.empty() || overlaps)
      continue;
    all.insert(all.end(), edits.begin(), edits.end());
    --wanted;
  }
  std::sort(all.begin(), all.end(), [](const Edit &a, const Edit &b) { return a.begin > b.begin; });
  std::string result = text;
  for (const Edit &edit : all)
    result.replace(edit.begin, edit.end - edit.begin, edit.text);
  return random.chance(30) ? rename(random, result) : result;
}

} // namespace tenon::fuzz
