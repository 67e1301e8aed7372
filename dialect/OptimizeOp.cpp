// The optimizer's settings: what they may be, by the table of rules.
#include "dialect/ElementModel.h"
#include "dialect/OptimizeSettings.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace tenon;

static std::optional<double> numberOf(Attribute value) {
  if (auto real = dyn_cast_or_null<FloatAttr>(value))
    return real.getValueAsDouble();
  if (auto whole = dyn_cast_or_null<IntegerAttr>(value); whole && !isa<BoolAttr>(value))
    return double(whole.getInt());
  return std::nullopt;
}
double OptimizeOp::number(StringRef key, double otherwise) { return numberOf(getSettings().get(key)).value_or(otherwise); }
bool OptimizeOp::isSet(StringRef key) {
  auto flag = getSettings().getAs<BoolAttr>(key);
  return flag && flag.getValue();
}
StringRef OptimizeOp::schedule() {
  auto name = getSettings().getAs<StringAttr>("schedule");
  return name ? name.getValue() : StringRef("constant");
}
static StringRef formName(OptimizeOp op) {
  auto name = op.getSettings().getAs<StringAttr>("form");
  return name ? name.getValue() : StringRef();
}

/// The parameter of a table's row that an attribute belongs to.
static const schema::Parameter *findParameter(const std::vector<schema::Parameter> &parameters, StringRef key) {
  for (const schema::Parameter &parameter : parameters)
    if (StringRef(parameter.name) == key || (parameter.type == schema::Type::Betas && (key == "beta1" || key == "beta2")))
      return &parameter;
  return nullptr;
}

const schema::OptimizerRule &tenon::ruleOf(OptimizeOp op) { return *schema::findOptimizer(op.getRule()); }
const schema::OptimizerForm &tenon::formOf(OptimizeOp op) { return *schema::findForm(ruleOf(op), formName(op)); }
const schema::ScheduleRule &tenon::scheduleOf(OptimizeOp op) { return *schema::findSchedule(op.schedule()); }

double tenon::settingOf(OptimizeOp op, StringRef key) {
  const schema::Parameter *parameter = findParameter(ruleOf(op).settings, key);
  if (!parameter)
    parameter = findParameter(scheduleOf(op).settings, key);
  return op.number(key, !parameter ? 0 : key == "beta2" ? parameter->second : parameter->initial);
}
int tenon::momentCount(OptimizeOp op) { return ruleOf(op).momentCount(settingOf(op, "momentum")); }

bool tenon::isTrainedBy(OptimizeOp op, ParameterOp parameter) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto trained = function ? function->getAttrOfType<ArrayAttr>(kTrained) : ArrayAttr();
  return !parameter.getFrozen() && (!trained || llvm::is_contained(trained.getValue(), parameter.getSymNameAttr()));
}

bool tenon::isFrozenAt(ParameterOp parameter, int64_t copy) {
  auto frozen = parameter->getAttrOfType<DenseF64ArrayAttr>("frozen_at");
  return frozen && frozen[frozen.size() == 1 ? 0 : copy] != 0;
}

int64_t tenon::trainedNumbers(OptimizeOp op, ParameterOp parameter) {
  if (!isTrainedBy(op, parameter))
    return 0;
  const int64_t copies = parameter.stackElements();
  int64_t trained = 0;
  for (int64_t copy = 0; copy < copies; ++copy)
    trained += !isFrozenAt(parameter, copy);
  return parameter.getType().getNumElements() / std::max<int64_t>(copies, 1) * trained;
}

double tenon::ownDecay(const schema::OptimizerRule &rule, DictionaryAttr settings, ParameterOp parameter) {
  // The first dimensions of a stacked parameter are those of its stacks.
  const int64_t rank = parameter.getType().getRank() - parameter.depthCount();
  if (rule.decaysMatrices && rank < 2)
    return 0;
  const schema::Parameter *decay = findParameter(rule.settings, rule.decay);
  return numberOf(settings.get(rule.decay)).value_or(decay ? decay->initial : 0);
}

namespace {
class Verifier {
public:
  explicit Verifier(OptimizeOp op) : op(op) {}

  LogicalResult names() {
    const std::string rules = schema::working("optimizer", "or"), schedules = schema::working("schedule", "or");
    rule = schema::findOptimizer(op.getRule());
    if (!rule) // C1
      return op.emitOpError("expects the rule ") << rules << ", got " << op.getRule();
    if (auto given = op.getSettings().get("schedule"); given && !isa<StringAttr>(given))
      return op.emitOpError("expects a name as schedule, got ") << given; // C2
    schedule = schema::findSchedule(op.schedule());
    if (!schedule) // C1
      return op.emitOpError("expects the schedule ") << schedules << ", got " << op.schedule();
    if (!schema::findForm(*rule, formName(op))) // C1
      return op.emitOpError("expects a form of ") << op.getRule() << " that there is, got " << formName(op);
    return success();
  }

  LogicalResult setting(NamedAttribute setting) {
    StringRef key = setting.getName();
    Attribute value = setting.getValue();
    if (key == "schedule")
      return success();
    const schema::Parameter *parameter = findParameter(rule->settings, key);
    if (!parameter)
      parameter = findParameter(schedule->settings, key);
    if (key == "at_start" || (parameter && parameter->type == schema::Type::Bool))
      return isa<BoolAttr>(value) ? success() : expected("a truth value", setting);
    if (key == "form" && rule->forms.size() > 1)
      return isa<StringAttr>(value) ? success() : expected("a name", setting);
    if (!parameter)
      parameter = sharedParameter(key);
    if (!parameter &&
        !llvm::is_contained(
            {"clip", "clip_tensor", "clip_value", "clip_tf", "accumulate", "scale_growth", "scale_backoff", "scale_every"}, key))
      return op.emitOpError("expects settings that there are, got ") << key; // C2
    if (parameter && parameter->type == schema::Type::Wholes)
      return isa<DenseF64ArrayAttr>(value) ? success() : expected("numbers", setting);
    return numberOf(value) ? success() : expected("a number", setting);
  }

  LogicalResult lengths() {
    if (double total = op.number("total", 0), warmup = op.number("warmup", 0);
        (schedule->ends || op.number("cycles", 0) > 0) && !op.isSet("at_start") && !(total > warmup)) // C5
      return op.emitOpError("expects total to be larger than warmup, got ") << total << " and " << warmup;
    for (const schema::Parameter &parameter : schedule->settings)
      if (Attribute given = valueOf(parameter); parameter.required && !isPositive(given)) { // C6
        InFlightDiagnostic error = op.emitOpError("expects ") << StringRef(parameter.name) << " of the schedule "
                                                              << StringRef(schedule->name) << " to be positive";
        if (parameter.type == schema::Type::Wholes)
          error << " and to rise";
        return given ? error << ", got " << given : error << ", got none";
      }
    return oneOf();
  }

private:
  /// C6.
  LogicalResult oneOf() {
    int64_t count = 0;
    for (const schema::Parameter &parameter : schedule->settings)
      count += llvm::is_contained(schedule->oneOf, parameter.name) && isPositive(valueOf(parameter));
    if (schedule->oneOf.empty() || count == 1)
      return success();
    return op.emitOpError("expects one of ") // C6
           << llvm::join(schedule->oneOf, ", ") << " of the schedule " << StringRef(schedule->name) << " to be positive, got "
           << count;
  }
  /// The setting of the schedule that `key` is as a share of the length.
  const schema::Parameter *sharedParameter(StringRef key) {
    const bool isShare =
        key.consume_back("_share") && (key == "warmup" || llvm::is_contained(schedule->spans, std::string_view(key)));
    return isShare ? findParameter(schedule->settings, key) : nullptr;
  }
  Attribute valueOf(const schema::Parameter &parameter) {
    Attribute share = op.getSettings().get((StringRef(parameter.name) + "_share").str());
    return share ? share : op.getSettings().get(parameter.name);
  }
  static bool isPositive(Attribute value) {
    if (auto numbers = dyn_cast_or_null<DenseF64ArrayAttr>(value))
      return !numbers.empty() && numbers[0] > 0 && llvm::is_sorted(numbers.asArrayRef(), std::less_equal<>());
    return numberOf(value).value_or(0) > 0;
  }
  /// C2.
  LogicalResult expected(StringRef kind, NamedAttribute setting) {
    return op.emitOpError("expects ") << kind << " as " << setting.getName().strref() << ", got " << setting.getValue();
  }

  OptimizeOp op;
  const schema::OptimizerRule *rule = nullptr;
  const schema::ScheduleRule *schedule = nullptr;
};
} // namespace

LogicalResult OptimizeOp::verify() {
  Verifier verifier(*this);
  if (failed(verifier.names()))
    return failure();
  for (NamedAttribute setting : getSettings())
    if (failed(verifier.setting(setting)))
      return failure();
  if (!getSettings().get("lr")) // C3
    return emitOpError("expects the setting lr, got ") << getSettings();
  if (double batches = number("accumulate", 1); !(batches >= 1)) // C4
    return emitOpError("expects accumulate to be 1 or more, got ") << batches;
  if (failed(verifier.lengths()))
    return failure();
  const bool any = isScaled() || getSettings().get("scale_backoff") || getSettings().get("scale_every");
  const double growth = number("scale_growth", 0), backoff = number("scale_backoff", 0), every = number("scale_every", 0);
  if (any && !(growth >= 1 && backoff > 0 && backoff <= 1 && every >= 1)) // C8
    return emitOpError("expects scale_growth and scale_every of 1 or more and scale_backoff up to 1, got ")
           << growth << ", " << every << " and " << backoff;
  auto scalar = RankedTensorType::get({}, scalarReal(getContext()));
  for (Value result : getResults())
    if (result.getType() != scalar) // C7
      return emitOpError("expects results of ") << scalar << ", got " << result.getType();
  return success();
}
