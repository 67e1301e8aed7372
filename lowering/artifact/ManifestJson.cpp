#include "lowering/artifact/ManifestJson.h"
#include "frontend/Dims.h"
#include "frontend/ElementTypes.h"
#include "lowering/artifact/LossFacts.h"

namespace json = llvm::json;

namespace tenon {

json::Array stringArray(const std::vector<std::string> &texts) {
  json::Array array;
  for (const std::string &text : texts)
    array.push_back(text);
  return array;
}

json::Value sizeJson(const Size &size, const std::vector<std::string> &dims) {
  if (auto constant = size.asConstant())
    return *constant;
  json::Object terms;
  for (auto [dim, coefficient] : size.coefficients())
    terms[dims[dim]] = coefficient;
  return json::Object{{"const", size.constant()}, {"terms", std::move(terms)}};
}

std::string dtypeOf(Element element, const std::string &real, const std::string &written) {
  if (element == Element::Real)
    return written.empty() || isWideReal(real) ? real : written;
  return std::string(runtime::nameOf(element == Element::Int ? runtime::DataType::I32 : runtime::DataType::Bool));
}

json::Object tensorJson(const Entry &entry, const std::string &name, const ValueType &type, const std::string &dtype) {
  json::Array axes, shape;
  for (AxisId axis : type.axes) {
    axes.push_back(entry.axes[axis].name);
    shape.push_back(sizeJson(entry.axes[axis].size, entry.dims));
  }
  return json::Object{{"name", name}, {"dtype", dtype}, {"axes", std::move(axes)}, {"shape", std::move(shape)}};
}

json::Object scalarJson(const std::string &name) {
  return json::Object{{"name", name}, {"dtype", kWideRealWord}, {"axes", json::Array()}, {"shape", json::Array()}};
}

json::Object layoutJson(const Panels &panels) {
  return json::Object{{"form", "panels"},
                      {"leading", panels.leading},
                      {"width", panels.width},
                      {"steps", panels.steps},
                      {"transposed", panels.transposed}};
}

json::Object initializerJson(const Initializer &init) {
  if (init.kind == "table") {
    json::Array along;
    for (bool each : init.along)
      along.push_back(each);
    return json::Object{{"kind", init.kind}, {"values", json::Array(init.table)}, {"along", std::move(along)}};
  }
  // One value per stack element where the text uses `depth`.
  json::Value a = init.perElement.empty() ? json::Value(init.a) : json::Value(json::Array(init.perElement));
  auto [kind, steps] = llvm::StringRef(init.kind).split(' '); // "normal add 1 exp": what is done to each draw
  json::Object object{{"kind", kind}, {"a", std::move(a)}};
  json::Array then;
  while (!steps.empty()) {
    auto [what, rest] = steps.split(' ');
    double number = 0;
    if (what == "add" || what == "times") {
      auto [text, behind] = rest.split(' ');
      text.getAsDouble(number);
      rest = behind;
    }
    then.push_back(json::Object{{"kind", what}, {"number", number}});
    steps = rest;
  }
  if (!then.empty())
    object["then"] = std::move(then);
  return object;
}

json::Array dimsJson(const Entry &entry) {
  json::Array dims;
  for (unsigned i = 0; i < entry.dims.size(); ++i) {
    if (isProduct(entry, i))
      continue;
    auto bound = entry.dimUpperBound.size() > i ? entry.dimUpperBound[i].asConstant() : std::nullopt;
    dims.push_back(json::Object{{"name", entry.dims[i]}, {"max", bound.value_or(-1)}});
    if (int64_t least = leastSize(entry, i); least > 1)
      (*dims.back().getAsObject())["min"] = least;
  }
  return dims;
}

/// What it is compared with may be negative, which no size is.
static json::Value sideJson(const Size &side, const std::vector<std::string> &dims) {
  if (side.isConstant() && side.constant() < 0)
    return json::Object{{"const", side.constant()}, {"terms", json::Object()}};
  return sizeJson(side, dims);
}

json::Array requirementsJson(const Entry &entry) {
  json::Array list;
  auto add = [&](const Requirement &required) {
    json::Object object{{"left", sideJson(required.left, entry.dims)},
                        {"relation", signOf(required.relation)},
                        {"right", sideJson(required.right, entry.dims)},
                        {"condition", required.condition}};
    for (auto [key, text] : {std::pair("text", &required.text), std::pair("place", &required.place)})
      if (!text->empty())
        object[key] = *text;
    list.push_back(std::move(object));
  };
  for (unsigned i = 0; i < entry.dimUpperBound.size(); ++i) // R <= T, which indices rely on
    if (const Size &bound = entry.dimUpperBound[i]; !bound.isConstant())
      add({Requirement::Relation::AtMost, Size::dim(i), bound, entry.dims[i] + " <= " + bound.text(entry.dims), "", ""});
  for (const Requirement &required : entry.requirements)
    add(required);
  return list;
}

json::Array derivedSizesJson(const Entry &entry) {
  json::Array list;
  std::vector<Size> known;
  auto add = [&](const std::string &name, const Size &size) {
    const bool isDim = size.constant() == 0 && size.coefficients().size() == 1 && size.coefficients().begin()->second == 1 &&
                       !isProduct(entry, size.coefficients().begin()->first);
    if (size.isConstant() || isDim || llvm::is_contained(known, size))
      return;
    known.push_back(size);
    list.push_back(json::Object{{"name", name}, {"size", sizeJson(size, entry.dims)}});
  };
  for (const Axis &axis : entry.axes)
    add(axis.name, axis.size);
  for (const StackInfo &stack : entry.stacks)
    add(stack.path, stack.count);
  return list;
}

} // namespace tenon
