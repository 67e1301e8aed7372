// The optimizer's settings: what they may be. The table is in StructureOps.td.
#include "dialect/TenonDialect.h"
#include "frontend/recipes/RecipeSchema.h"

using namespace mlir;
using namespace tenon;

double OptimizeOp::number(StringRef key, double otherwise) {
  Attribute value = getSettings().get(key);
  if (auto real = dyn_cast_or_null<FloatAttr>(value))
    return real.getValueAsDouble();
  if (auto whole = dyn_cast_or_null<IntegerAttr>(value))
    return double(whole.getInt());
  return otherwise;
}
bool OptimizeOp::isSet(StringRef key) {
  auto flag = getSettings().getAs<BoolAttr>(key);
  return flag && flag.getValue();
}
StringRef OptimizeOp::schedule() {
  auto name = getSettings().getAs<StringAttr>("schedule");
  return name ? name.getValue() : StringRef("constant");
}

/// C2.
static LogicalResult verifySetting(OptimizeOp op, NamedAttribute setting) {
  StringRef key = setting.getName();
  Attribute value = setting.getValue();
  if (key == "schedule")
    return isa<StringAttr>(value) ? success() : LogicalResult(op.emitOpError("expects a name as schedule, got ") << value); // C2
  if (llvm::is_contained({"nesterov", "at_start"}, key))
    return isa<BoolAttr>(value) ? success()
                                : LogicalResult(op.emitOpError("expects a truth value as ") << key << ", got " << value); // C2
  if (!llvm::is_contained({"lr", "beta1", "beta2", "eps", "decay", "momentum", "warmup", "total", "floor", "size", "factor",
                           "clip", "accumulate", "warmup_share", "scale_growth", "scale_backoff", "scale_every"},
                          key))
    return op.emitOpError("expects settings that there are, got ") << key; // C2
  const bool isNumber = isa<FloatAttr>(value) || (isa<IntegerAttr>(value) && !isa<BoolAttr>(value));
  return isNumber ? success() : LogicalResult(op.emitOpError("expects a number as ") << key << ", got " << value); // C2
}

LogicalResult OptimizeOp::verify() {
  const std::string rules = schema::working("optimizer", "or"), schedules = schema::working("schedule", "or");
  if (!schema::works("optimizer", getRule())) // C1
    return emitOpError("expects the rule ") << rules << ", got " << getRule();
  for (NamedAttribute setting : getSettings())
    if (failed(verifySetting(*this, setting)))
      return failure();
  if (!schema::works("schedule", schedule())) // C1
    return emitOpError("expects the schedule ") << schedules << ", got " << schedule();
  if (!getSettings().get("lr")) // C3
    return emitOpError("expects the setting lr, got ") << getSettings();
  if (double batches = number("accumulate", 1); !(batches >= 1)) // C4
    return emitOpError("expects accumulate to be 1 or more, got ") << batches;
  if (double total = number("total", 0), warmup = number("warmup", 0);
      schema::decays(schedule()) && !isSet("at_start") && !(total > warmup)) // C5
    return emitOpError("expects total to be larger than warmup, got ") << total << " and " << warmup;
  if (double size = number("size", 0), warmup = number("warmup", 0); schedule() == "noam" && !(size > 0 && warmup > 0)) // C6
    return emitOpError("expects size and warmup of the schedule noam to be positive, got ") << size << " and " << warmup;
  const bool any = isScaled() || getSettings().get("scale_backoff") || getSettings().get("scale_every");
  const double growth = number("scale_growth", 0), backoff = number("scale_backoff", 0), every = number("scale_every", 0);
  if (any && !(growth >= 1 && backoff > 0 && backoff <= 1 && every >= 1)) // C8
    return emitOpError("expects scale_growth and scale_every of 1 or more and scale_backoff up to 1, got ")
           << growth << ", " << every << " and " << backoff;
  auto scalar = RankedTensorType::get({}, Float64Type::get(getContext()));
  for (Value result : getResults())
    if (result.getType() != scalar) // C7
      return emitOpError("expects results of ") << scalar << ", got " << result.getType();
  return success();
}
