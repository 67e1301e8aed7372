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

json::Array dimsJson(const Entry &entry) {
  json::Array dims;
  for (unsigned i = 0; i < entry.dims.size(); ++i) {
    if (isProduct(entry, i))
      continue;
    auto bound = entry.dimUpperBound.size() > i ? entry.dimUpperBound[i].asConstant() : std::nullopt;
    dims.push_back(json::Object{{"name", entry.dims[i]}, {"max", bound.value_or(-1)}});
    if (!bound && entry.dimUpperBound.size() > i) // R <= T, which indices rely on
      (*dims.back().getAsObject())["bound"] = sizeJson(entry.dimUpperBound[i], entry.dims);
    if (int64_t least = leastSize(entry, i); least > 1)
      (*dims.back().getAsObject())["min"] = least;
  }
  return dims;
}

} // namespace tenon
