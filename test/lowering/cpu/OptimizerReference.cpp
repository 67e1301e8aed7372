// tenon.optimize: schedule, clipping and the rules of the optimizers, element by element in f64.
#include "test/lowering/cpu/Reference.h"
#include <cmath>

using namespace mlir;

namespace tenon::test {
namespace {

double setting(OptimizeOp op, StringRef key, double otherwise) {
  Attribute value = op.getSettings().get(key);
  if (auto real = dyn_cast_or_null<FloatAttr>(value))
    return real.getValueAsDouble();
  if (auto whole = dyn_cast_or_null<IntegerAttr>(value))
    return double(whole.getInt());
  return otherwise;
}
double scheduled(OptimizeOp op, uint64_t step) {
  auto name = dyn_cast_or_null<StringAttr>(op.getSettings().get("schedule"));
  std::string kind = name ? name.getValue().str() : "constant";
  const double s = double(step), w = setting(op, "warmup", 0), total = setting(op, "total", 1), floor = setting(op, "floor", 0);
  if (kind == "noam")
    return setting(op, "factor", 1) * std::pow(setting(op, "size", 1), -0.5) *
           std::min(std::pow(s + 1, -0.5), (s + 1) * std::pow(w, -1.5));
  if (s < w)
    return s / w;
  const double progress = std::min((s - w) / (total - w), 1.0);
  if (kind == "linear" || kind == "xlnet_linear")
    return floor + (1 - floor) * (1 - progress);
  if (kind == "cosine")
    return floor + (1 - floor) * 0.5 * (1 + std::cos(M_PI * progress));
  if (kind == "bert_linear")
    return 1 - std::min(s / total, 1.0);
  return 1;
}
void update(OptimizeOp op, ParameterOp parameter, size_t i, Numbers &p, Numbers &gs, Numbers &ms, Numbers &vs, double rate,
            double clip, uint64_t step) {
  auto factor = [&](StringRef name, double otherwise) {
    auto values = parameter->getAttrOfType<DenseF64ArrayAttr>(name);
    if (!values)
      return otherwise;
    return values.size() == 1 ? values[0] : values[i / (p.size() / values.size())];
  };
  rate *= factor("lr", 1);
  double g = gs[i] * clip * factor("gradient", 1);
  const double decay = factor("decay", setting(op, "decay", 0)), b1 = setting(op, "beta1", 0.9), b2 = setting(op, "beta2", 0.999),
               t = double(step) + 1;
  const StringRef rule = op.getRule();
  if (rule == "sgd") {
    g += decay * p[i];
    if (double mu = setting(op, "momentum", 0); mu > 0)
      g = ms[i] = mu * ms[i] + g;
    p[i] -= rate * g;
    return;
  }
  if (rule == "adam" || rule == "adamax")
    g += decay * p[i];
  const double eps = setting(op, "eps", rule == "bert_adam" ? 1e-6 : 1e-8);
  ms[i] = b1 * ms[i] + (1 - b1) * g;
  if (rule == "adamax") {
    vs[i] = std::max(b2 * vs[i], std::fabs(g) + eps);
    p[i] -= rate * ms[i] / (1 - std::pow(b1, t)) / vs[i];
    return;
  }
  vs[i] = b2 * vs[i] + (1 - b2) * g * g;
  if (rule == "bert_adam") {
    p[i] -= rate * (ms[i] / (std::sqrt(vs[i]) + eps) + decay * p[i]);
    return;
  }
  if (rule == "adamw")
    p[i] *= 1 - rate * decay;
  p[i] -= rate * (ms[i] / (1 - std::pow(b1, t))) / (std::sqrt(vs[i] / (1 - std::pow(b2, t))) + eps);
}

} // namespace

void evaluateOptimize(OptimizeOp op, Machine &machine, Tensors &tensors) {
  auto module = op->getParentOfType<ModuleOp>();
  auto parameterOf = [&](const std::string &name) { return module.lookupSymbol<ParameterOp>(name); };
  const double scale = op.getSettings().get("scale_growth") ? machine.lossScale : 1; // gradients are too large by it
  double squares = 0;
  for (auto &[name, g] : machine.gradients)
    if (!parameterOf(name).getFrozen())
      for (double x : g)
        squares += x * x;
  const double norm = std::sqrt(squares) / scale, rate = setting(op, "lr", 0) * scheduled(op, machine.step),
               bound = setting(op, "clip", 0);
  tensors[op.getNorm()] = {norm};
  tensors[op.getRate()] = {rate};
  const double clip = bound > 0 ? std::min(1.0, bound / (norm + 1e-6)) : 1;
  for (auto &[name, p] : machine.parameters)
    if (!parameterOf(name).getFrozen())
      for (size_t i = 0; i < p.size(); ++i)
        update(op, parameterOf(name), i, p, machine.gradients[name], machine.firstMoments[name], machine.secondMoments[name],
               rate, clip / scale, machine.step);
  if (!op.getSettings().get("scale_growth"))
    return;
  const bool grows = machine.goodUpdates + 1 >= setting(op, "scale_every", 1);
  machine.lossScale *= !std::isfinite(norm) ? setting(op, "scale_backoff", 1) : grows ? setting(op, "scale_growth", 1) : 1;
  machine.goodUpdates = grows || !std::isfinite(norm) ? 0 : machine.goodUpdates + 1;
}

} // namespace tenon::test
