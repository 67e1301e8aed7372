#include "lowering/artifact/ManifestJson.h"
#include "frontend/ElementTypes.h"

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
  return element == Element::Int ? "i32" : "bool";
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
  return json::Object{{"name", name}, {"dtype", "f64"}, {"axes", json::Array()}, {"shape", json::Array()}};
}

json::Object layoutJson(const Panels &panels) {
  return json::Object{{"form", "panels"},
                      {"leading", panels.leading},
                      {"width", panels.width},
                      {"steps", panels.steps},
                      {"transposed", panels.transposed}};
}

} // namespace tenon
