// Short forms for the rows of the schema's tables.
#pragma once
#include "frontend/recipes/RecipeSchema.h"
#include <utility>

namespace tenon::schema {

/// Tasks with their settings and the inputs that they make, and the forms that these take (DataTasks.cpp).
std::vector<Function> dataTasks();

inline Parameter required(Parameter parameter) {
  parameter.required = true;
  return parameter;
}
inline Parameter first(Parameter parameter) { // positional and required
  parameter.required = parameter.positional = true;
  return parameter;
}
inline Parameter positional(Parameter parameter) {
  parameter.positional = true;
  return parameter;
}
inline Parameter whole(std::string_view name, double low = 1, double high = kInfinity) {
  return {name, Type::Int, false, false, low, high, false, false, {}, false};
}
inline Parameter wholes(std::string_view name) {
  return {name, Type::Wholes, false, false, 1, kInfinity, false, false, {}, false};
}
inline Parameter real(std::string_view name, double low = 0, double high = kInfinity) {
  return {name, Type::Real, false, false, low, high, false, false, {}, false};
}
inline Parameter positive(std::string_view name) {
  return {name, Type::Real, false, false, 0, kInfinity, true, false, {}, false};
}
inline Parameter probability(std::string_view name) { return real(name, 0, 1); }
/// From 0 to below 1.
inline Parameter fraction(std::string_view name) { return {name, Type::Real, false, false, 0, 1, false, true, {}, false}; }
inline Parameter starting(Parameter parameter, double initial) {
  parameter.initial = initial;
  return parameter;
}
/// Without it something else decides: another setting, the command line, or nothing at all.
inline Parameter open(Parameter parameter) {
  parameter.none = true;
  return parameter;
}
inline Parameter unsupported(Parameter parameter) {
  parameter.works = false;
  return parameter;
}
inline Parameter of(std::string_view name, Type type) {
  return {name, type, false, false, -kInfinity, kInfinity, false, false, {}, false};
}
inline Parameter choice(std::string_view name, std::vector<std::string_view> words) {
  Parameter parameter = of(name, Type::Choice);
  parameter.choices = std::move(words);
  return parameter;
}
inline Parameter call(std::string_view name, std::string_view family, Type type = Type::Call) {
  Parameter parameter = of(name, type);
  parameter.choices = {family};
  return parameter;
}
inline Parameter perDepth(Parameter parameter) {
  parameter.usesDepth = true;
  return parameter;
}

} // namespace tenon::schema
