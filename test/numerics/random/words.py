"""What random specifications are made of: sizes, settings of recipes, layers, expressions."""
# Lengths, heads, their widths and memories of every second specification: they end inside tiles of the kernels, with memories
# longer and shorter.
LARGE = [(300, 1, 64, 41), (67, 2, 24, 131), (131, 2, 41, 17), (197, 2, 40, 67), (17, 3, 41, 150), (1, 2, 64, 17),
         (300, 2, 24, 7), (2, 2, 40, 33), (131, 1, 64, 197), (67, 3, 41, 5), (197, 1, 24, 300)]
OPTIMIZERS = ["sgd(lr = 0.05, momentum = 0.9, nesterov = true)", "adam(lr = 0.01, eps = 0.01)",
              "adamw(lr = 0.01, decay = 0.1, eps = 0.01)",
              "bert_adam(lr = 0.01, decay = 0.05, eps = 0.01)", "adamax(lr = 0.01, eps = 0.01)",
              "sgd(lr = 0.05, momentum = 0.9, dampening = 0.5)", "adam_tf(lr = 0.01, eps = 0.01)",
              "adamw(lr = 0.01, eps = 0.01, form = hf)", "adamw(lr = 0.01, eps = 0.01, form = fairseq)",
              "bert_adam(lr = 0.01, eps = 0.01, clip_each = 0.5)", "gpt1_adam(lr = 0.01, eps = 0.01, l2 = 0.05)",
              "adamaxw(lr = 0.01, eps = 0.01, decay = 0.05)", "adam_paddle(lr = 0.01, eps = 0.01, decay = 0.05)",
              "radam(lr = 0.01, eps = 0.01)", "radam(lr = 0.01, eps = 0.01, decay = 0.05, form = decoupled)",
              "adafactor(lr = 0.01, eps = 0.01)", "adafactor(lr = 0.01, eps = 0.1, form = torch)",
              *(f"lamb(lr = 0.01, eps = 0.01, form = {form})" for form in ("v3", "pytorch", "albert", "nvidia_tf", "nvlamb",
                                                                           "huawei"))]
SCHEDULES = ["constant()", "linear(warmup = 2, total = 9)", "cosine(warmup = 1, total = 8, floor = 0.1)",
             "polynomial(warmup = 2, total = 30, power = 2)", "noam(size = 4, warmup = 5)",
             "bert_linear(warmup = 2, total = 30, power = 0.5)", "xlnet_linear(warmup = 3, total = 30, floor = 0.1)",
             "nezha_linear(warmup = 2, total = 30)", "bertadam_linear(warmup = 2, total = 30)",
             "electra_linear(warmup = 2, total = 30)", "gpt1_linear(warmup = 2, total = 30)",
             "gpt1_cosine(warmup = 2, total = 30)", "txl_cosine(warmup = 2, total = 30)", "txl_inverse_sqrt(warmup = 3)",
             "paddle_noam(warmup = 3)", "inverse_sqrt(warmup = 3)", "fairseq_polynomial(warmup = 3, total = 30)",
             "steps(every = 7, factor = 0.5)", "rsqrt(constant = 3)", "milestones(at = (2, 5), factor = 0.5)",
             "cosine_restarts(period = 2, growth = 2)"]
CLIPS = ["global_norm(1.0)", "each(0.5)", "value(0.1)"]
LAYERS = """
layer Plain[I -> O](x: [.., I]) -> [.., O] {
  config factor = 2, act = tanh, Inner = Linear(bias = false)
  param  gain: [O] ~ normal(1)
  use    inner = Inner[I -> O]
  return act(inner(x)) * gain * factor
}
layer Step[D](x: [.., D], t: [D]) -> [.., D] {
  param  w: [D] ~ normal(1)
  use    mix = Linear[D -> D]
  return tanh(mix(x) * w + t) + x * (depth + 1) / (depth + 4)
}
layer Two[D](x: [.., D], y: [.., D]) -> ([.., D], [.., D]) {
  use    norm = LayerNorm[D]
  return sin(y) + 0.5 * x, norm(x * y + y)
}
layer Nested[D](x: [.., D]) -> [.., D] {
  param  w: [D] ~ normal(1)
  use    inner = stack[2] One[D]
  return inner(x * w)
}
layer One[D](x: [.., D]) -> [.., D] {
  param  v: [D] ~ normal(1)
  return sin(x + v) * (1 + depth)
}
layer Holds[D](x: [.., D]) -> [.., D] {
  param  v: [D] ~ normal(1)
  state  held: [.., D] = 0.25
  next   held = 0.5 * held + 0.25 * sin(x * v)
  return sin(x + v) + held
}
layer Differs[D](x: [.., D]) -> [.., D] {
  param  w: [D] ~ normal(1)
  use    first = Linear[D -> D]
  let    h = if depth == 0 then first(x) else x * w
  return if depth mod 2 == 1 then tanh(h) else gelu(h)
}
fn half(x: [..]) -> [..] { return x / 2 }
fn sees(i: i32[..], j: i32[..]) -> bool[..] { return j <= i }
"""
UNARY = ["exp(min($, 1))", "log(abs($) + 0.5)", "sqrt(abs($) + 0.1)", "abs($)", "sin($)", "cos($)", "atan($)", "erf($)",
         "tanh($)", "sigmoid($)", "relu($)", "leaky_relu($)", "gelu($)", "gelu_tanh($)", "-$", "clip($, -0.4, 0.6)",
         "($ + 3) ^ 1.5 / 4", "2 ^ (0.5 * $)", "stop_gradient($) * 0.7", "half($)",
         "$ + round(clip($, -0.9, 0.9)) / 2", "$ - floor($ + 0.3) / 3", "$ * ceil($ - 0.4)"]  # no step at 0, where many are
BINARY = ["$ + $", "$ - $", "$ * $", "$ / (abs($) + 1.5)", "max($, $)", "min($, $)", "(abs($) + 0.5) ^ 0.75 + 0 * $",
          "where($ < $, $, 0.5)", "where($ >= 0.25, $, -1.0)"]
