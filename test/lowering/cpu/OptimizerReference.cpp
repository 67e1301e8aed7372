// tenon.optimize: schedule, clipping and the rules of the optimizers, element by element and tensor by tensor in f64. Rules and
// schedules go by their names here, not by the table that the compiler reads.
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
std::string word(OptimizeOp op, StringRef key, const char *otherwise) {
  auto text = dyn_cast_or_null<StringAttr>(op.getSettings().get(key));
  return text ? text.getValue().str() : otherwise;
}

double scheduled(OptimizeOp op, uint64_t step) {
  const std::string kind = word(op, "schedule", "constant");
  const double s = double(step), w = setting(op, "warmup", 0), total = setting(op, "total", 1), floor = setting(op, "floor", 0);
  if (kind == "noam")
    return setting(op, "factor", 1) * std::pow(setting(op, "size", 1), -0.5) *
           std::min(std::pow(s + 1, -0.5), (s + 1) * std::pow(w, -1.5));
  if (kind == "steps")
    return std::pow(setting(op, "factor", 1), std::floor(s / setting(op, "every", 1)));
  if (s < w)
    return s / w;
  const double progress = std::min((s - w) / (total - w), 1.0);
  if (kind == "linear" || kind == "xlnet_linear")
    return floor + (1 - floor) * (1 - progress);
  if (kind == "cosine")
    return floor + (1 - floor) * 0.5 * (1 + std::cos(M_PI * progress));
  if (kind == "bert_linear")
    return std::pow(1 - std::min(s / total, 1.0), setting(op, "power", 1));
  if (kind != "constant")
    fail(op, "the reference has no such schedule");
  return 1;
}

double norm(const Numbers &values) {
  double squares = 0;
  for (double x : values)
    squares += x * x;
  return std::sqrt(squares);
}
double clipOf(double bound, double norm, double epsilon = 1e-6) {
  return bound > 0 ? std::min(1.0, bound / (norm + epsilon)) : 1;
}

/// One tensor of a parameter, which in a stack is one layer: its part of everything that has the parameter's layout.
struct Tensor {
  Numbers p, g, m, v;
  double rate, decay;
};

class Update {
public:
  Update(OptimizeOp op, uint64_t step)
      : op(op), rule(op.getRule()), form(word(op, "form", "")), b1(setting(op, "beta1", 0.9)),
        b2(setting(op, "beta2", rule == "lion" ? 0.99 : 0.999)),
        eps(setting(op, "eps", rule == "bert_adam" || rule == "lamb" ? 1e-6 : 1e-8)), t(double(step) + 1),
        c1(1 - std::pow(b1, t)), c2(1 - std::pow(b2, t)) {}

  void run(Tensor &x) {
    if (rule == "bert_adam") {
      const double clip = clipOf(setting(op, "clip_each", 0), norm(x.g));
      for (double &g : x.g)
        g *= clip;
    }
    if (rule == "lamb")
      return lamb(x);
    for (size_t i = 0; i < x.p.size(); ++i)
      rule == "sgd" ? sgd(x, i) : rule == "lion" ? lion(x, i) : rule == "adamax" || rule == "adamaxw" ? adamax(x, i) : adam(x, i);
  }

private:
  void sgd(Tensor &x, size_t i) {
    double g = x.g[i] + x.decay * x.p[i];
    if (double mu = setting(op, "momentum", 0); mu > 0) {
      x.m[i] = mu * x.m[i] + (t == 1 ? 1 : 1 - setting(op, "dampening", 0)) * g;
      g = op.isSet("nesterov") ? g + mu * x.m[i] : x.m[i];
    }
    x.p[i] -= x.rate * g;
  }
  void lion(Tensor &x, size_t i) {
    const double mean = b1 * x.m[i] + (1 - b1) * x.g[i];
    x.p[i] = x.p[i] * (1 - x.rate * x.decay) - (mean > 0 ? x.rate : mean < 0 ? -x.rate : 0);
    x.m[i] = b2 * x.m[i] + (1 - b2) * x.g[i];
  }
  void adamax(Tensor &x, size_t i) {
    const double g = rule == "adamax" ? x.g[i] + x.decay * x.p[i] : x.g[i];
    x.m[i] = b1 * x.m[i] + (1 - b1) * g;
    x.v[i] = std::max(b2 * x.v[i], std::fabs(g) + eps);
    if (rule == "adamaxw")
      x.p[i] *= 1 - x.rate * x.decay;
    x.p[i] -= x.rate * x.m[i] / c1 / x.v[i];
  }
  void adam(Tensor &x, size_t i) {
    const bool isInGradient = rule == "adam" || rule == "adam_tf" || (rule == "radam" && form != "decoupled");
    const double g = isInGradient ? x.g[i] + x.decay * x.p[i] : x.g[i];
    x.m[i] = b1 * x.m[i] + (1 - b1) * g;
    x.v[i] = b2 * x.v[i] + (1 - b2) * g * g;
    const double plain = x.m[i] / (std::sqrt(x.v[i]) + eps), hat = std::sqrt(c2) / c1,
                 torch = x.m[i] / c1 / (std::sqrt(x.v[i] / c2) + eps), p = x.p[i];
    if (rule == "bert_adam")
      x.p[i] -= x.rate * (plain + x.decay * p);
    else if (rule == "gpt1_adam")
      x.p[i] -= x.rate * hat * (plain + x.decay * p);
    else if (rule == "adam_paddle" || form == "fairseq")
      x.p[i] -= x.rate * (hat * plain + x.decay * p);
    else if (rule == "adam_tf")
      x.p[i] -= x.rate * hat * plain;
    else if (form == "hf")
      x.p[i] = (p - x.rate * hat * plain) * (1 - x.rate * x.decay);
    else if (rule == "adamw")
      x.p[i] = p * (1 - x.rate * x.decay) - x.rate * torch;
    else if (rule == "adam")
      x.p[i] -= x.rate * torch;
    else if (rule == "radam")
      x.p[i] = (form == "decoupled" ? p * (1 - x.rate * x.decay) : p) - x.rate * rectified(x.m[i], hat * plain);
    else
      fail(op, "the reference has no such rule");
  }
  /// Liu et al. 2020, algorithm 2, with the threshold of PyTorch.
  double rectified(double m, double adapted) {
    const double longest = 2 / (1 - b2) - 1, n = longest - 2 * t * std::pow(b2, t) / c2;
    return n > 5 ? adapted * std::sqrt((n - 4) / (longest - 4) * (n - 2) / (longest - 2) * longest / n) : m / c1;
  }
  void lamb(Tensor &x) {
    const bool corrected = form == "nvidia_tf" || form == "nvlamb" || form == "huawei";
    Numbers direction, other;
    for (size_t i = 0; i < x.p.size(); ++i) {
      x.m[i] = b1 * x.m[i] + (1 - b1) * x.g[i];
      x.v[i] = b2 * x.v[i] + (1 - b2) * x.g[i] * x.g[i];
      const double m = corrected ? x.m[i] / c1 : x.m[i], v = corrected ? x.v[i] / c2 : x.v[i];
      direction.push_back(m / (std::sqrt(v) + eps) + x.decay * x.p[i]);
      other.push_back(m / std::sqrt(v + eps) + setting(op, "decay", 0.01) * x.p[i]);
    }
    const double size = norm(x.p), length = norm(direction);
    double ratio = size > 0 && length > 0 ? (form == "pytorch" ? std::min(size, 10.0) : size) / length : 1;
    if ((form == "albert" || form == "nvlamb") && x.decay == 0)
      ratio = 1;
    if (form == "huawei")
      ratio = size > 0 && norm(x.g) > 0 ? std::min(size / norm(other), 10.0) : 1;
    for (size_t i = 0; i < x.p.size(); ++i)
      x.p[i] -= x.rate * ratio * direction[i];
  }

  OptimizeOp op;
  const StringRef rule;
  const std::string form;
  const double b1, b2, eps, t, c1, c2;
};

/// The tensors of one parameter, cut out and put back.
void updateParameter(OptimizeOp op, ParameterOp parameter, Machine &machine, double rate, double clip, double unscale) {
  const std::string name = parameter.getSymName().str();
  Numbers *all[] = {&machine.parameters[name], &machine.gradients[name], &machine.firstMoments[name],
                    &machine.secondMoments[name]};
  const int64_t copies = parameter.stackElements();
  const size_t size = all[0]->size() / size_t(copies);
  const bool isMatrix = parameter.getType().getRank() - parameter.depthCount() > 1;
  const double own = op.getRule() == "gpt1_adam" ? (isMatrix ? setting(op, "l2", 0) : 0)
                                                 : setting(op, "decay", op.getRule() == "lamb" ? 0.01 : 0);
  for (int64_t copy = 0; copy < copies; ++copy) {
    auto factor = [&](StringRef key, double otherwise) {
      auto values = parameter->getAttrOfType<DenseF64ArrayAttr>(key);
      return !values ? otherwise : values[values.size() == 1 ? 0 : copy];
    };
    Tensor x{{}, {}, {}, {}, rate * factor("lr", 1), factor("decay", own)};
    Numbers *parts[] = {&x.p, &x.g, &x.m, &x.v};
    for (int k = 0; k < 4; ++k)
      if (!all[k]->empty())
        parts[k]->assign(all[k]->begin() + copy * size, all[k]->begin() + (copy + 1) * size);
    for (double &g : x.g)
      g *= unscale;
    const double bound = setting(op, "clip_value", 0), ofTensor = clipOf(setting(op, "clip_tensor", 0), norm(x.g));
    for (double &g : x.g) {
      g *= clip * ofTensor;
      g = (bound > 0 ? std::clamp(g, -bound, bound) : g) * factor("gradient", 1);
    }
    Update(op, machine.step).run(x);
    for (int k : {0, 2, 3})
      std::copy(parts[k]->begin(), parts[k]->end(), all[k]->begin() + copy * size);
  }
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
  const double norm = std::sqrt(squares) / scale, rate = setting(op, "lr", 0) * scheduled(op, machine.step);
  tensors[op.getNorm()] = {norm};
  tensors[op.getRate()] = {rate};
  for (auto &entry : machine.parameters)
    if (ParameterOp parameter = parameterOf(entry.first); !parameter.getFrozen())
      updateParameter(op, parameter, machine, rate, clipOf(setting(op, "clip", 0), norm), 1 / scale);
  if (!op.getSettings().get("scale_growth"))
    return;
  const bool grows = machine.goodUpdates + 1 >= setting(op, "scale_every", 1);
  machine.lossScale *= !std::isfinite(norm) ? setting(op, "scale_backoff", 1) : grows ? setting(op, "scale_growth", 1) : 1;
  machine.goodUpdates = grows || !std::isfinite(norm) ? 0 : machine.goodUpdates + 1;
}

} // namespace tenon::test
