#include "lowering/OptimizerSettings.h"
#include "dialect/ElementModel.h"
#include "dialect/OptimizeSettings.h"
#include "frontend/mlirgen/MlirGen.h"
#include "frontend/recipes/OptimizerRules.h"
#include <cmath>

using namespace mlir;

namespace tenon {

static const Setting *keyword(const Setting &call, StringRef name) {
  for (auto &[key, value] : call.keywords)
    if (key == name)
      return value.get();
  return nullptr;
}
static double numberOf(const Setting &setting) {
  return setting.kind == Setting::Kind::Int ? double(setting.integer) : setting.real;
}

namespace {
class SettingsBuilder {
public:
  explicit SettingsBuilder(MLIRContext *context) : builder(context) {}
  void real(StringRef name, double value) { settings.set(name, builder.getF64FloatAttr(value)); }
  void text(StringRef name, StringRef value) { settings.set(name, builder.getStringAttr(value)); }
  void reals(StringRef name, ArrayRef<double> values) { settings.set(name, builder.getDenseF64ArrayAttr(values)); }
  void truth(StringRef name, bool value) { settings.set(name, builder.getBoolAttr(value)); }
  NamedAttrList settings;

private:
  Builder builder;
};
} // namespace

static void addRule(const Setting &optimizer, SettingsBuilder &out) {
  for (const schema::Parameter &parameter : schema::findOptimizer(optimizer.text)->settings) {
    if (parameter.type == schema::Type::Betas) {
      out.real("beta1", parameter.initial);
      out.real("beta2", parameter.second);
    } else if (parameter.type == schema::Type::Real && !parameter.required && !parameter.none) {
      out.real(StringRef(parameter.name), parameter.initial);
    }
  }
  for (auto &[name, value] : optimizer.keywords) {
    if (value->kind == Setting::Kind::Tuple) {
      out.real("beta1", numberOf(*value->elements[0]));
      out.real("beta2", numberOf(*value->elements[1]));
    } else if (value->kind == Setting::Kind::Bool) {
      out.truth(name, value->truth);
    } else if (value->kind == Setting::Kind::Word || value->kind == Setting::Kind::Text) {
      out.text(name, value->text);
    } else {
      out.real(name, numberOf(*value));
    }
  }
}

std::optional<double> scheduleEpochs(const CheckedRecipe &recipe) {
  const Setting *schedule = recipe.find("schedule"), *run = recipe.find("epochs");
  if (!schedule || keyword(*schedule, "total"))
    return std::nullopt;
  if (const Setting *epochs = keyword(*schedule, "epochs"))
    return numberOf(*epochs);
  const Setting *warmup = keyword(*schedule, "warmup");
  const bool matters = warmup && warmup->kind == Setting::Kind::Real; // a share of the run
  return run && matters ? std::optional<double>(numberOf(*run)) : std::nullopt;
}

static void addSchedule(const CheckedRecipe &recipe, SettingsBuilder &out, Diagnostics &diagnostics) {
  const Setting *schedule = recipe.find("schedule");
  if (!schedule)
    return;
  const Setting *steps = recipe.find("steps"), *total = keyword(*schedule, "total");
  double length = total ? numberOf(*total) : steps ? numberOf(*steps) : 0;
  const bool inEpochs = scheduleEpochs(recipe).has_value();
  const schema::ScheduleRule &rule = *schema::findSchedule(schedule->text);
  const Setting *epochs = inEpochs ? keyword(*schedule, "epochs") : nullptr;
  out.text("schedule", schedule->text);
  for (auto &[name, value] : schedule->keywords) {
    if (name == "epochs")
      continue;
    const bool inPasses = epochs && llvm::is_contained(rule.spans, name); // over the data, both
    const double unit = inPasses ? numberOf(*epochs) : 1;
    const std::string key = inPasses ? name + "_share" : name;
    if (value->kind == Setting::Kind::Tuple) {
      SmallVector<double> numbers;
      for (const SettingValue &element : value->elements)
        numbers.push_back(numberOf(*element) / unit);
      out.reals(key, numbers);
      continue;
    }
    double number = numberOf(*value) / unit;
    const bool isShare = name == "warmup" && value->kind == Setting::Kind::Real; // of the run
    if (isShare && !inEpochs && length == 0)
      diagnostics.error("T0901", value->range, "`warmup` is a share of the run, whose length the recipe does not say",
                        "add steps = .. or epochs = .. to the recipe, or write a number of steps");
    if (isShare && !inEpochs)
      number = rule.wholeWarmup ? std::floor(number * length) : number * length;
    out.real(isShare && inEpochs ? "warmup_share" : key, number);
  }
  if (inEpochs)
    out.truth("at_start", true);
  if (!total && !inEpochs && length > 0 && rule.ends)
    out.real("total", length);
}

std::optional<LossScaleSettings> lossScaleOf(const CheckedRecipe &recipe, Type compute) {
  if (!compute || !needsScale(compute))
    return std::nullopt;
  const Setting *policy = recipe.find("numerics"), *scale = policy ? keyword(*policy, "scale") : nullptr;
  const std::string rule = scale ? scale->text : "dynamic";
  auto valueOf = [&](StringRef name) {
    if (const Setting *given = scale ? keyword(*scale, name) : nullptr)
      return numberOf(*given);
    for (const schema::Parameter &parameter : schema::find("loss scale", rule)->parameters)
      if (StringRef(parameter.name) == name)
        return parameter.initial;
    return 1.0;
  };
  if (rule == "fixed")
    return LossScaleSettings{valueOf("scale")};
  return LossScaleSettings{valueOf("initial"), valueOf("growth"), valueOf("backoff"), int64_t(valueOf("every"))};
}

void describeOptimizer(func::FuncOp function, const CheckedRecipe &recipe, const SourceFiles &sources, Diagnostics &diagnostics) {
  SettingsBuilder out(function.getContext());
  const Setting *optimizer = recipe.find("optimizer");
  if (!optimizer) {
    diagnostics.error("T0901", recipe.range, "this recipe has no optimizer", "add optimizer = adamw(lr = 1e-3), for example");
    return;
  }
  addRule(*optimizer, out);
  addSchedule(recipe, out, diagnostics);
  if (const Setting *clip = recipe.find("clip"))
    out.real(clip->text == "value"  ? "clip_value"
             : clip->text == "each" ? "clip_tensor"
                                    : "clip",
             numberOf(*clip->keywords[0].second));
  if (const Setting *clip = recipe.find("clip"))
    if (const Setting *form = keyword(*clip, "form"); form && form->text == "tf")
      out.real("clip_tf", 1);
  if (const Setting *batches = recipe.find("accumulate"))
    out.real("accumulate", numberOf(*batches));
  if (auto scale = lossScaleOf(recipe, narrowType(function->getParentOfType<ModuleOp>()))) {
    out.real("scale_growth", scale->growth);
    out.real("scale_backoff", scale->backoff);
    out.real("scale_every", double(scale->every));
  }
  Builder builder(function.getContext());
  const auto trains = [](func::FuncOp each) {
    auto kind = each->getAttrOfType<StringAttr>("tenon.kind");
    return kind && kind.getValue() == "train";
  };
  auto module = function->getParentOfType<ModuleOp>();
  if (llvm::count_if(module.getOps<func::FuncOp>(), trains) > 1) // tenon-differentiate finds which parameters are whose
    function->setAttr(kTrained, builder.getArrayAttr({}));
  function->setAttr(
      "tenon.optimizer",
      builder.getDictionaryAttr(
          {builder.getNamedAttr("rule", builder.getStringAttr(optimizer->text)),
           builder.getNamedAttr("settings", out.settings.getDictionary(function.getContext())),
           builder.getNamedAttr("location", LocationAttr(locationOf(optimizer->range, sources, function.getContext())))}));
}

} // namespace tenon
