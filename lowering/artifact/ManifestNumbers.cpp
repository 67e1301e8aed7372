#include "lowering/artifact/ManifestNumbers.h"
#include "frontend/graph/Averages.h"
#include "lowering/artifact/LossFacts.h"
#include "lowering/artifact/ManifestJson.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace json = llvm::json;

namespace tenon {
namespace {

/// Axes of parts are told by their names: of several with one name the later ones get a number.
std::string axisLabel(const Entry &entry, AxisId axis) {
  const std::string &name = entry.axes[axis].name;
  for (AxisId other = 0; other < axis; ++other)
    if (entry.axes[other].name == name)
      return name + "." + std::to_string(axis);
  return name;
}

const char *operationName(const Average &average) {
  static const std::pair<Op, const char *> along[] = {
      {Op::Sum, "sum_along"}, {Op::Div, "mean_along"}, {Op::ReduceMax, "max_along"}, {Op::ReduceMin, "min_along"}};
  static const std::pair<Op, const char *> names[] = {{Op::Neg, "neg"},      {Op::Exp, "exp"},
                                                      {Op::Log, "log"},      {Op::Sqrt, "sqrt"},
                                                      {Op::Abs, "abs"},      {Op::Add, "add"},
                                                      {Op::Sub, "sub"},      {Op::Mul, "mul"},
                                                      {Op::Div, "div"},      {Op::Pow, "pow"},
                                                      {Op::Max, "max"},      {Op::Min, "min"},
                                                      {Op::Equal, "equal"},  {Op::NotEqual, "not_equal"},
                                                      {Op::Less, "less"},    {Op::LessEqual, "less_equal"},
                                                      {Op::Select, "select"}};
  if (average.kind != Average::Kind::Apply && average.kind != Average::Kind::Along)
    return average.kind == Average::Kind::Rename ? "rename" : average.kind == Average::Kind::Expand ? "expand" : "slice";
  for (auto [op, name] : average.kind == Average::Kind::Along ? llvm::ArrayRef(along) : llvm::ArrayRef(names))
    if (op == average.op)
      return name;
  llvm_unreachable("an average applies one of these operations");
}

/// The formula that makes one number of several batches; docs/artifact.md.
json::Value averageJson(const Entry &entry, const Average &average) {
  using Kind = Average::Kind;
  if (average.kind == Kind::Constant)
    return average.number;
  json::Object result;
  auto list = [&](const char *key, const std::vector<AxisId> &axes) {
    json::Array labels;
    for (AxisId axis : axes)
      labels.push_back(axisLabel(entry, axis));
    if (!labels.empty())
      result[key] = std::move(labels);
  };
  list("axes", average.axes);
  list("to", average.to);
  json::Array sizes, operands;
  for (const Size &size : average.sizes)
    sizes.push_back(sizeJson(size, entry.dims));
  if (!sizes.empty())
    result["sizes"] = std::move(sizes);
  for (const Average &operand : average.operands)
    operands.push_back(averageJson(entry, operand));
  for (auto [kind, name] : {std::pair(Kind::Sum, "sum"), std::pair(Kind::Greatest, "greatest"), std::pair(Kind::Least, "least"),
                            std::pair(Kind::Count, "count"), std::pair(Kind::Value, "mean")})
    if (kind == average.kind) {
      const uint32_t at = average.output;
      result[name] = at < entry.results.size() ? entry.results[at].first : partName(at - entry.results.size());
      return result;
    }
  result[operationName(average)] = std::move(operands);
  return result;
}

} // namespace

json::Array numbersJson(const Entry &entry, const std::string &real) {
  json::Array outputs;
  for (auto [i, result] : llvm::enumerate(entry.results)) {
    outputs.push_back(scalarJson(result.first));
    json::Object &object = *outputs.back().getAsObject();
    object["nats"] = isNats(entry, result.second);
    if (i < entry.averages.size())
      object["average"] = averageJson(entry, entry.averages[i]);
    if (i < entry.averages.size() && entry.averages[i].perBatch)
      object["per_batch"] = true;
    if (i + entry.metrics >= entry.results.size())
      object["metric"] = true;
  }
  for (auto [i, part] : llvm::enumerate(entry.parts)) {
    const ValueType &type = entry.nodes[part].type;
    json::Object object = tensorJson(entry, partName(i), type, dtypeOf(type.element, real));
    json::Array labels;
    for (AxisId axis : type.axes)
      labels.push_back(axisLabel(entry, axis));
    object["axes"] = std::move(labels);
    auto place = [&](AxisId axis) { return int64_t(llvm::find(type.axes, axis) - type.axes.begin()); };
    if (!entry.batchAxes.empty() && llvm::is_contained(type.axes, entry.batchAxes[0]))
      object["rows"] = place(entry.batchAxes[0]);
    if (auto places = sema::placesAmong(entry, type.axes)) {
      object["places"] = place(*places);
      if (auto shift = entry.placeShifts.find(*places); shift != entry.placeShifts.end() && shift->second > 0)
        object["shift"] = shift->second;
    }
    outputs.push_back(std::move(object));
  }
  return outputs;
}

} // namespace tenon
