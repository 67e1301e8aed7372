// `use`: a layer with its axes, keywords and number of steps, which is called by its name.
#include "frontend/sema/Checker.h"
#include <algorithm>

namespace tenon::sema {

using Kind = ast::Stmt::Kind;

void Checker::useStatement(Scope *scope, const ast::Stmt &statement, Keywords *given) {
  for (size_t i = 0; given && i < given->size(); ++i)
    if ((*given)[i].name == statement.name.text) {
      defineValue(scope, statement.name, (*given)[i].value, Kind::Use);
      given->erase(given->begin() + i);
      return;
    }
  define(scope, statement.name, [=, this, &statement] { return makeInstance(scope, statement); }, Kind::Use);
}

/// A layer with its axes, as `use` writes it: Linear[I -> O].
static std::string form(const ast::Callable &layer) {
  std::string axes;
  for (const ast::Formal &formal : layer.formals)
    axes += (axes.empty() ? "" : ", ") + formal.name.text + (formal.output ? " -> " + formal.output->text : "");
  return layer.name.text + "[" + axes + "]";
}

/// The keywords of a `use`; false: its axes are missing.
bool Checker::useKeywords(Scope *scope, const ast::Stmt &statement, LayerReference &layer) {
  for (auto &argument : statement.arguments) {
    if (!argument.keyword) {
      auto *mistake = error("T0307", argument.value->range,
                            "`use` takes keyword arguments only; tensors are given where the layer is called");
      if (mistake && statement.axisOps.empty() && !layer.callable->formals.empty())
        mistake->notes.push_back({"help", "its axes stand in brackets: " + form(*layer.callable)});
      if (statement.axisOps.empty()) // the axes are missing because they were taken for arguments
        return false;
      continue;
    }
    Keyword keyword{argument.keyword->text, evaluate(scope, argument.value), argument.keyword->range};
    auto &list = layer.keywords;
    auto old = std::find_if(list.begin(), list.end(), [&](auto &other) { return other.name == keyword.name; });
    if (old != list.end())
      *old = keyword;
    else
      list.push_back(keyword);
  }
  return true;
}

/// How often a layer is applied.
std::optional<Size> Checker::repeatCount(Scope *scope, const ast::Stmt &statement) {
  auto count = wholeSize(evaluate(scope, statement.count), statement.count->range, "the number of steps");
  if (!count || (!count->isConstant() && mayBeNegative(*count, "T0414", statement.count->range, "the number of steps", "it")))
    return std::nullopt;
  constexpr int64_t kMostSteps = 1'000'000; // each has parameters with names of their own
  if (count->isConstant() && (count->constant() < 0 || count->constant() > kMostSteps)) {
    error("T0414", statement.count->range,
          "the number of steps is " + text(*count) +
              (count->constant() < 0 ? "; it is never negative" : "; at most 1000000 are possible"));
    return std::nullopt;
  }
  if (statement.repeat == ast::Stmt::Repeat::Stack && !count->isConstant()) {
    error("T0414", statement.count->range,
          "the number of layers of a stack must be known at compile time, this is " + text(*count));
    return std::nullopt;
  }
  int64_t layers = count->constant(); // of all stacks around it together
  std::string factors = text(*count);
  const size_t around = statement.repeat == ast::Stmt::Repeat::Stack ? scope->frame->stackCounts.size() : 0;
  for (size_t i = around; i-- > 0 && layers <= kMostSteps;) {
    factors = std::to_string(scope->frame->stackCounts[i]) + " * " + factors;
    layers *= scope->frame->stackCounts[i]; // both at most 10^6
  }
  if (layers > kMostSteps) {
    error("T0414", statement.count->range,
          "with the stacks around it this one has " + factors + " = " + std::to_string(layers) +
              " layers; at most 1000000 are possible");
    return std::nullopt;
  }
  return *count;
}

Value Checker::makeInstance(Scope *scope, const ast::Stmt &statement) {
  Value layer = lookup(scope, statement.layer);
  if (layer.isPoison())
    return poison();
  if (layer.kind != Value::Kind::Layer) {
    error("T0105", statement.layer.range, statement.layer.text + " is no layer, it is " + kindOf(layer));
    return poison();
  }
  auto instance = std::make_shared<Instance>();
  instance->layer = std::make_shared<LayerReference>(*layer.layer);
  if (!useKeywords(scope, statement, *instance->layer))
    return poison();
  instance->repeat = statement.repeat;
  if (statement.repeat != ast::Stmt::Repeat::None) {
    const std::optional<Size> count = repeatCount(scope, statement);
    if (!count)
      return poison();
    instance->count = *count;
  }
  instance->axisArguments = &statement.axisOps;
  instance->owner = scope;
  instance->name = statement.name.text;
  instance->range = statement.layer.range;
  if (!statement.axisOps.empty()) {
    instance->range.begin = statement.axisOps.front().range.begin;
    instance->range.end = statement.axisOps.back().range.end;
  }
  Value value;
  value.kind = Value::Kind::Instance;
  value.instance = instance;
  return value;
}

} // namespace tenon::sema
