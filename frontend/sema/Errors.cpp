// Words for messages: types with the sizes of their axes, kinds of values.
#include "frontend/sema/Checker.h"

namespace tenon::sema {

Diagnostic *Checker::error(const char *code, ast::Range range, std::string message, std::string label) {
  failed = true;
  Diagnostic *mistake = session.error(code, range, std::move(message), std::move(label));
  if (!mistake || range.file == session.mainFile->file)
    return mistake;
  if (ast::Range caller = graph.callerOf(range);
      caller.file == session.mainFile->file) // in a library: which line of the author's led there
    mistake->related.push_back({caller, "called here"});
  return mistake;
}

void Checker::errorWith(const char *code, ast::Range range, std::string message, std::string help) {
  if (Diagnostic *mistake = error(code, range, std::move(message)))
    mistake->notes.push_back({"help", std::move(help)});
}

bool Checker::spend(ast::Range place, uint64_t units) {
  failed |= !session.spend(place, units);
  return session.mayGoOn();
}

void Checker::needTruth(ast::Range range, std::string message) {
  errorWith("T0303", range, std::move(message), "a comparison is a truth value: x > 0, or x != 0 of whole numbers");
}

std::string Checker::text(const Size &size) const { return size.text(graph.entry.dims); }
std::string Checker::axisName(AxisId axis) const { return graph.entry.axes[axis].name; }
std::string Checker::sized(AxisId axis) const {
  std::string size = text(graph.size(axis));
  return size == axisName(axis) ? size : axisName(axis) + " = " + size;
}
std::string Checker::text(const std::vector<AxisId> &axes) const {
  std::string list;
  for (AxisId axis : axes)
    list += (list.empty() ? "" : ", ") + sized(axis);
  return "[" + list + "]";
}
std::string Checker::text(NodeId node) const {
  const ValueType &type = graph[node].type;
  std::string element = type.element == Element::Real ? "real" : type.element == Element::Int ? "int" : "bool";
  return element + text(type.axes);
}
std::string Checker::text(const Value &value) const {
  switch (value.kind) {
  case Value::Kind::Int:
    return text(value.integer);
  case Value::Kind::Real: {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%g", value.real);
    return buffer;
  }
  case Value::Kind::Bool:
    return value.truth ? "true" : "false";
  case Value::Kind::String:
    return "\"" + value.text + "\"";
  case Value::Kind::Tensor:
    return text(value.node);
  default:
    return kindOf(value);
  }
}
std::string Checker::product(const std::vector<AxisId> &axes) const {
  std::string list;
  for (AxisId axis : axes)
    list += (list.empty() ? "" : " * ") + sized(axis);
  return list;
}
void Checker::relate(Diagnostic *mistake, AxisId axis) {
  auto place = axisPlaces.find(axis);
  if (!mistake || place == axisPlaces.end() || mistake->related.size() >= 2)
    return;
  for (auto &related : mistake->related)
    if (related.range.begin == place->second.begin && related.range.file == place->second.file)
      return;
  mistake->related.push_back({place->second, axisName(axis) + " is " + text(graph.size(axis))});
}
std::string Checker::kindOf(const Value &value) {
  switch (value.kind) {
  case Value::Kind::Poison:
    return "a wrong value";
  case Value::Kind::Int:
  case Value::Kind::Real:
    return "a number";
  case Value::Kind::Bool:
    return "a truth value";
  case Value::Kind::String:
    return "a text";
  case Value::Kind::Tuple:
    return "a tuple of " + std::to_string(value.elements->size()) + " values";
  case Value::Kind::Tensor:
    return "a tensor";
  case Value::Kind::Layer:
    return "the layer " + value.layer->callable->name.text;
  case Value::Kind::Function:
    return "the function " + value.function->callable->name.text;
  case Value::Kind::Builtin:
    return "the built-in function " + value.text;
  case Value::Kind::Distribution:
    return "a distribution";
  case Value::Kind::Instance:
    return "the used layer " + value.instance->name;
  }
  return "a value";
}

} // namespace tenon::sema
