// States: how they start, which value they have next.
#include "frontend/Dims.h"
#include "frontend/ElementTypes.h"
#include "frontend/sema/Checker.h"
#include <cmath>

namespace tenon::sema {

uint32_t Checker::stateOf(Scope *scope, const ast::Stmt &statement) {
  std::string path = scope->frame->path();
  path += (path.empty() ? "" : ".") + statement.name.text;
  auto found = stateIndex.find(path);
  return found == stateIndex.end() ? ~0u : found->second;
}

/// How many values it has; the initial one is among them.
bool Checker::boundState(Scope *scope, const ast::Stmt &statement, const Value &initial, double number, State &state) {
  auto limit = wholeSize(evaluate(scope, statement.type->bound),
                         statement.type->bound ? statement.type->bound->range : statement.type->range, "the bound of an index");
  if (!limit)
    return false;
  state.bound = *limit;
  if (number == std::floor(number) && number >= 0 && number < 1e9 &&
      provablyAtMost(Size(int64_t(number) + 1), *limit, graph.entry))
    return true;
  error("T0207", statement.value->range,
        "state " + statement.name.text + " starts at " + text(initial) + ", which is no index(" + text(*limit) + ")");
  return false;
}

/// As a parameter or another state of the model, of the same sizes, in the same stacks: what a file gives that one, or is drawn
/// for it. One that starts as a state which starts as a third one names the third.
std::optional<Initializer> Checker::valuesOf(const Node &node, const ast::Stmt &statement, const State &state,
                                             const std::vector<AxisId> &axes) {
  const bool isParam = node.op == Op::Param;
  const Param *param = isParam ? &session.parameters[node.index].param : nullptr;
  const State *other = isParam ? nullptr : &graph.entry.states[node.index];
  const std::string path = isParam ? param->path : other->path;
  const std::string start = "state " + statement.name.text + " starts as " + (isParam ? "param " : "state ") + path;
  if (other && (!other->ofModel || other->element != Element::Real)) {
    errorWith("T0311", statement.value->range, start + ", which is not one of reals that belongs to the model",
              "let it start at 0, and set it by `next " + statement.name.text + " = ..`");
    return std::nullopt;
  }
  bool same = node.type.axes.size() == axes.size();
  for (size_t i = 0; same && i < axes.size(); ++i)
    same = graph.size(node.type.axes[i]) == graph.size(axes[i]);
  if (!same) {
    error("T0202", statement.value->range, start + ", which has axes " + text(node.type.axes) + ", declared are " + text(axes));
    return std::nullopt;
  }
  if ((isParam ? param->stackCounts : other->stackCounts) != state.stackCounts) {
    errorWith("T0311", statement.value->range, start + ", which does not belong to the same stacks",
              std::string("declare the state in the layer that has the ") + (isParam ? "param" : "other"));
    return std::nullopt;
  }
  Initializer init = isParam ? param->init : other->init;
  if (isParam || init.as.empty())
    init.as = path;
  return init;
}

/// One of a run is a number, the same everywhere; one of the model starts as parameters do, or as one of them or another state.
std::optional<Initializer> Checker::initialOf(Scope *scope, const ast::Stmt &statement, State &state,
                                              const std::vector<AxisId> &axes) {
  const ast::Range range = statement.value->range;
  const Value initial = evaluate(scope, statement.value);
  if (initial.isPoison())
    return std::nullopt;
  if (auto number = initial.asReal()) {
    const bool isIndex = statement.type->element == "index";
    if (state.element == Element::Int && !isIndex &&
        fit(scope, initial, *statement.type, "the initial value of " + statement.name.text, range).isPoison())
      return std::nullopt;
    if (isIndex && !boundState(scope, statement, initial, *number, state))
      return std::nullopt;
    return Initializer{"constant", *number, {}, {}, {}, {}};
  }
  if (!state.ofModel || state.element != Element::Real) {
    const std::string which = state.ofModel ? " of whole numbers or truth values" : " with an axis of run time";
    errorWith("T0309", range,
              "the initial value of a state" + which + " must be a number known at compile time, this is " + text(initial),
              "let it start at 0, and set it by `next " + statement.name.text + " = ..`");
    return std::nullopt;
  }
  NodeId source = initial.isTensor() ? initial.node : kNoNode;
  while (source != kNoNode && graph[source].op == Op::Rename) // a used layer's axes
    source = graph[source].operands[0];
  if (source != kNoNode && (graph[source].op == Op::Param || graph[source].op == Op::State))
    return valuesOf(graph[source], statement, state, axes);
  return initializer(scope, statement, state.stackCounts, declaredSizes(scope, *statement.type), axes);
}

Value Checker::stateValue(Scope *scope, const ast::Stmt &statement) {
  auto axes = typeAxes(scope, *statement.type);
  auto element = elementOf(*statement.type);
  if (!axes || !element)
    return poison();
  Frame &frame = *scope->frame;
  State state;
  std::string path = frame.path();
  state.path = path + (path.empty() ? "" : ".") + statement.name.text;
  state.stackCounts = frame.stackCounts;
  state.element = *element;
  state.stored = isOtherReal(statement.type->element) ? statement.type->element : "";
  state.ofModel = true;
  for (AxisId axis : *axes) {
    state.axes.push_back(axisName(axis));
    state.shape.push_back(graph.size(axis));
    state.ofModel &= !graph.axisRuntime[axis];
  }
  auto init = initialOf(scope, statement, state, *axes);
  if (!init)
    return recovered(scope, *statement.type);
  state.init = *init;
  if (state.ofModel)
    session.modelStates.try_emplace(state.path, StatePath{frame.steps, statement.name.text, frame.stackCounts});
  auto [place, isNew] = stateIndex.try_emplace(state.path, uint32_t(graph.entry.states.size()));
  if (isNew)
    graph.entry.states.push_back(state);
  else if (graph.entry.states[place->second].shape != state.shape) {
    error("T0408", statement.name.range, "state " + statement.name.text + " would have different axes in two calls of its layer");
    return recovered(scope, *statement.type);
  }
  Node node = makeNode(Op::State, {*element, *axes, state.stored});
  node.index = place->second;
  node.range = statement.name.range;
  NodeId made = kNoNode;
  if (auto home = homeOf(scope, statement, node.index)) {
    const std::vector<uint32_t> &owned = home->owned;
    for (size_t level = owned.size(); level-- > 0;) // inner ones first, each in front
      if (const uint32_t body = owned[owned.size() - 1 - level]; body != home->body && graph.within(body, home->body))
        node.type.axes.insert(node.type.axes.begin(), axisOfDepths(node.index, level, body));
    home->read = graph.add(node, home->body);
    made = carriedState(scope->body, *home, statement.name.range);
  } else {
    made = graph.add(node, frame.parameterBody);
  }
  if (state.bound)
    hints.bounds.try_emplace(made, *state.bound); // every `next` is proved to keep it, and a call checks what it is given
  return Value::ofTensor(made);
}

void Checker::nextStatement(Scope *scope, const ast::Stmt &statement, const Value &with) {
  const std::string &name = statement.name.text;
  auto state = scope->frame->states.find(name);
  if (state == scope->frame->states.end()) {
    if (auto *mistake = error("T0407", statement.name.range, "there is no state " + name + " here")) {
      std::vector<std::string> names;
      for (auto &[known, declaration] : scope->frame->states)
        names.push_back(known);
      std::string near = nearest(name, names);
      mistake->notes.push_back(
          {"help", near.empty() ? "declare it: state " + name + ": [..] = 0" : "did you mean " + near + "?"});
    }
    return;
  }
  Value old = lookup(scope, statement.name);
  Value value =
      fit(scope, evaluate(scope, statement.value), *state->second->type, "the next value of " + name, statement.value->range);
  if (value.isPoison() || old.isPoison() || value.node == old.node)
    return;
  const uint32_t index = stateOf(scope, *state->second);
  if (index == ~0u) // refused where it is declared
    return;
  if (graph.entry.states[index].ofModel && !request.training) {
    errorWith("T0417", statement.range,
              "state " + name + " has no run-time axis, so it belongs to the model: outside of training it may not change",
              "`next " + name + " = if training then .. else " + name +
                  "` changes it in training; what a text or a stream goes on "
                  "with has a run-time axis, such as that of the rows: state " +
                  name + ": [B, ..]");
    return;
  }
  NodeId node = graph.expand(value.node, graph.axes(old.node), statement.value->range);
  if (setInLoop(scope->body, old.node, node, statement.range))
    return;
  NextValue next{index, node, scope->body, {}, statement.range};
  if (with.isTensor())
    next.with.push_back(with.node);
  if (with.kind == Value::Kind::Tuple)
    for (auto &element : *with.elements)
      if (element.isTensor())
        next.with.push_back(element.node);
  nextValues.push_back(next);
}

} // namespace tenon::sema
