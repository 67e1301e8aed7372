#include "lowering/cpu/Optimizer.h"
#include <cmath>
#include <map>

using namespace mlir;

namespace tenon::cpu {

double OptimizerSettings::number(StringRef key, double otherwise) const {
  Attribute value = op.getSettings().get(key);
  if (auto real = dyn_cast_or_null<FloatAttr>(value))
    return real.getValueAsDouble();
  if (auto whole = dyn_cast_or_null<IntegerAttr>(value))
    return double(whole.getInt());
  return otherwise;
}
bool OptimizerSettings::isSet(StringRef key) const {
  auto flag = dyn_cast_or_null<BoolAttr>(op.getSettings().get(key));
  return flag && flag.getValue();
}
StringRef OptimizerSettings::schedule() const {
  auto name = dyn_cast_or_null<StringAttr>(op.getSettings().get("schedule"));
  return name ? name.getValue() : StringRef("constant");
}

LogicalResult OptimizerSettings::check() const {
  if (!llvm::is_contained({"sgd", "adam", "adamw", "bert_adam"}, op.getRule()))
    return op.emitError("not supported yet: optimizer ") << op.getRule();
  if (!llvm::is_contained({"constant", "linear", "cosine", "noam", "bert_linear", "xlnet_linear"}, schedule()))
    return op.emitError("not supported yet: schedule ") << schedule();
  for (NamedAttribute setting : op.getSettings())
    if (!llvm::is_contained({"lr", "beta1", "beta2", "eps", "decay", "momentum", "nesterov", "schedule", "warmup", "total",
                             "floor", "size", "factor", "clip", "accumulate", "at_start", "warmup_share"},
                            setting.getName().getValue()))
      return op.emitError("unknown setting ") << setting.getName();
  if (!op.getSettings().get("lr"))
    return op.emitError("expects the setting lr");
  if (accumulate() < 1)
    return op.emitError("expects accumulate to be at least 1");
  const bool decays = llvm::is_contained({"linear", "cosine", "bert_linear", "xlnet_linear"}, schedule());
  if (decays && !lengthAtStart() && number("total", 0) <= number("warmup", 0))
    return op.emitError("expects total to be larger than warmup");
  if (schedule() == "noam" && (number("size", 0) <= 0 || number("warmup", 0) <= 0))
    return op.emitError("expects size and warmup of the schedule noam");
  return success();
}

bool OptimizerSegment::continues(const OptimizerSegment &before, int64_t bytes) const {
  return before.offset + before.count * bytes == offset && before.rate == rate && before.gradient == gradient &&
         before.decay == decay && before.norm == norm;
}

namespace {

class Tabulator {
public:
  Tabulator(OptimizeOp op, const OptimizerSettings &settings) : op(op), settings(settings) {
    table.bounds.push_back(settings.number("clip", 0));
  }

  LogicalResult add(ParameterOp parameter) {
    auto type = cast<RankedTensorType>(parameter.getType());
    if (table.element && table.element != type.getElementType())
      return parameter.emitError("not supported yet: parameters of different element types in one optimizer");
    table.element = type.getElementType();
    if (!table.element.isF32() && !table.element.isF64())
      return parameter.emitError("not supported yet: an optimizer for ") << table.element;
    int64_t copies = 1;
    for (int64_t size : type.getShape().take_front(parameter.getStacked() ? parameter.getLevels() : 0))
      copies *= size;
    const int64_t count = type.getNumElements() / copies;
    for (StringRef name : {"lr", "gradient", "decay", "clip", "frozen_at"})
      if (auto values = parameter->getAttrOfType<DenseF64ArrayAttr>(name); values && values.size() > 1 && values.size() != copies)
        return parameter.emitError("expects one or ") << copies << " values of " << name;
    for (int64_t copy = 0; copy < copies; ++copy) {
      if (factor(parameter, "frozen_at", copy, 0) != 0)
        continue;
      OptimizerSegment next{int64_t(parameter.getOffset()) + copy * int64_t(parameter.getStride()), count, factor(parameter, "lr", copy, 1),
                            factor(parameter, "gradient", copy, 1), factor(parameter, "decay", copy, settings.number("decay", 0)),
                            normOf(parameter, copy)};
      if (copy > 0 && !table.segments.empty() && next.continues(table.segments.back(), elementBytes(table.element)))
        table.segments.back().count += count;
      else
        table.segments.push_back(next);
    }
    return success();
  }

  OptimizerTable table;

private:
  static double factor(ParameterOp parameter, StringRef name, int64_t copy, double otherwise) {
    auto values = parameter->getAttrOfType<DenseF64ArrayAttr>(name);
    return !values || values.empty() ? otherwise : values[values.size() == 1 ? 0 : copy];
  }
  /// Parameters of one group share a norm; where the bound differs by depth, each bound has its own.
  int64_t normOf(ParameterOp parameter, int64_t copy) {
    const double bound = factor(parameter, "clip", copy, std::nan(""));
    if (std::isnan(bound))
      return 0;
    auto [place, isNew] = norms.try_emplace({factor(parameter, "clip_group", copy, 0), bound}, int64_t(table.bounds.size()));
    if (isNew)
      table.bounds.push_back(bound);
    return place->second;
  }

  OptimizeOp op;
  const OptimizerSettings &settings;
  std::map<std::pair<double, double>, int64_t> norms;
};

} // namespace

FailureOr<OptimizerTable> tabulate(OptimizeOp op, const OptimizerSettings &settings, KernelSequence &sequence) {
  std::map<int64_t, ParameterOp> byOffset;
  for (auto &entry : sequence.allParameters()) {
    ParameterOp parameter = entry.second;
    if (!parameter.getFrozen())
      byOffset[parameter.getOffset()] = parameter;
  }
  Tabulator tabulator(op, settings);
  for (auto &[offset, parameter] : byOffset)
    if (failed(tabulator.add(parameter)))
      return failure();
  if (tabulator.table.segments.empty())
    return op.emitError("there is no parameter to train");
  return std::move(tabulator.table);
}

} // namespace tenon::cpu
