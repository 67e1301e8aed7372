// What a manifest says of the optimizer: its moments, the loss scale, the length of its schedule.
#include "dialect/ElementModel.h"
#include "dialect/FactoredMoments.h"
#include "frontend/recipes/OptimizerRules.h"
#include "lowering/OptimizerSettings.h"
#include "lowering/artifact/ManifestJson.h"

using namespace mlir;
namespace json = llvm::json;

namespace tenon {

/// What the arena of the first moments holds where it is not laid out as parameters are; null where it is.
static json::Value meansJson(const Program &program, ModuleOp module, const Setting &optimizer, StringRef real) {
  int64_t least = 1;
  for (auto &[name, value] : optimizer.keywords)
    least = name == "min_dim_size_to_factor" ? value->integer : least;
  const std::vector<FactoredMoment> moments = factoredMoments(module, least);
  json::Array tensors;
  for (const FactoredMoment &moment : moments) {
    ParameterOp op = moment.parameter;
    const auto param = llvm::find_if(program.params, [&](const Param &each) { return op.getSymName() == each.path; });
    auto add = [&](const char *suffix, size_t from, size_t to, int64_t offset) {
      auto part = [&](const auto &all) { return std::decay_t<decltype(all)>(all.begin() + from, all.begin() + to); };
      json::Object tensor{{"name", param->path + suffix},           {"stack", json::Array(param->stackCounts)},
                          {"axes", stringArray(part(param->axes))}, {"shape", json::Array(part(param->shape))},
                          {"offset", moment.offset + offset},       {"stride", moment.stride}};
      if (StringRef own = elementModel(op.getType().getElementType()).name(); own != real)
        tensor["dtype"] = own;
      if (!param->present.empty())
        tensor["present"] = json::Array(param->present);
      tensors.push_back(std::move(tensor));
    };
    const size_t rank = param->shape.size();
    if (moment.columns == 0) {
      add("", 0, rank, 0);
      continue;
    }
    add(".rows", 0, moment.rowDimensions, 0);
    add(".columns", moment.rowDimensions, rank, moment.columnsOffset);
  }
  return json::Object{{"bytes", bytesOf(moments)}, {"tensors", std::move(tensors)}};
}

json::Object optimizerJson(const Program &program, const CheckedRecipe &recipe, ModuleOp module, StringRef real) {
  const Setting &optimizer = *recipe.find("optimizer"), *accumulate = recipe.find("accumulate");
  const schema::OptimizerRule &rule = *schema::findOptimizer(optimizer.text);
  double momentum = 0;
  for (auto &[name, value] : optimizer.keywords)
    if (name == "momentum")
      momentum = value->real;
  json::Object object{
      {"kind", optimizer.text}, {"moments", rule.momentCount(momentum)}, {"accumulate", accumulate ? accumulate->integer : 1}};
  if (rule.isFactored())
    object["means"] = meansJson(program, module, optimizer, real);
  if (auto scale = lossScaleOf(recipe, narrowType(module)))
    object["loss_scale"] = json::Object{
        {"initial", scale->initial}, {"growth", scale->growth}, {"backoff", scale->backoff}, {"every", scale->every}};
  if (auto epochs = scheduleEpochs(recipe))
    object["epochs"] = *epochs;
  return object;
}

} // namespace tenon
