"""Values written f64 in a program of f32: wide.py [--controls]

Inputs and values are written f64, parameters are f32. --f64, which sets the words aside, is the reference: every output agrees to
SAME (relative L2), and a gradient is the nearest f32 to that of the reference but for INEXACT of its elements (of the sum of two
paths, each of which is rounded where it meets the parameter). Under `compute = bf16` the same holds: nothing of it is contracted
in 16 bits. A layer that a policy names in `f64 = ..` is as one whose values are written so.

--controls writes f32 instead: each output must differ by NOTICED, and gradients, too.
"""
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
import driver  # noqa: E402
import tensors  # noqa: E402
import tiers  # noqa: E402

SAME, NOTICED, INEXACT, UNTYPED = 1e-14, 1e-9, 0.02, 0.2

TEXT = """model Wide {
  config D = 13, C = 5, N = 3
  dim    B, T
  dim    S = T
  in     x: f64[B, T, D], y: [B, T, D], label: index(C)[B, T]
  param  w: [D, C] ~ normal(1)
  layer  Grow(a: f64[B, T, D]) -> f64[B, T, D] {
    param  gain: [D] ~ normal(0.3)
    return a + tanh(a * gain) * 0.1
  }
  use    grow = stack[N] Grow
  let    chain: f64[B, T, D] = exp(sin(x * 0.7)) / 3
  let    total: f64[B, T] = sum[D](chain)
  let    mean_of: f64[B, T] = mean[D](y)
  let    logits: f64[B, T, C] = dot[D](chain, w)
  let    share: f64[B, T, C] = softmax[C](logits)
  let    even: f64[B, T, D] = normalize[D](chain, eps = 1e-5)
  let    deep: f64[B, T, D] = grow(chain)
  let    running: f64[B, T] = cumsum[T](total)
  let    carried: f64[B, T, D] = scan(t: T) {
    carry c: f64[B, D] = full[B, D](0.1)
    let   n: f64[B, D] = c * 0.7 + chain[T: t]
    next  c = n
    yield n
  }
  let    seen: f64[B, T, D] = attend(i: T, j: S) {
    score dot[D](even, chain[T -> S])
    scale 0.3
    mask  j <= i
    value deep[T -> S]
  }
  let    lesser: f64[B, T, D] = where(even < chain, even, chain)
  let    best: f64[B, T] = max[D](lesser)
  out    chain, total, mean_of, logits, share, even, deep, running, carried, seen, best
  let    row: f64[B, T] = cross_entropy[C](logits, label)
  let    surprise: f64 = mean(row)
  let    squares: f64[B, T, D] = seen ^ 2
  let    square: f64 = mean(squares)
  loss   nll = surprise
  loss   size = square
}
train Wide as small {
  bind       B = 2, T = 7
  data       = caller
  loss       = nll + size
  optimizer  = sgd(lr = 0.1)
  numerics   = POLICY
}
"""
OUTPUTS = ("chain", "total", "mean_of", "logits", "share", "even", "deep", "running", "carried", "seen", "best")
LAYER = """model Named {
  config D = 13, C = 5
  dim    B
  in     x: f64[B, D]
  use    head = Linear[D -> C]
  let    z: TYPE[B, C] = head(x)
  out    z
  loss   size = mean(z ^ 2)
}
train Named as small {
  bind       B = 2
  data       = caller
  optimizer  = sgd(lr = 0.1)
  numerics   = POLICY
}
"""
B, T, D, C, N = 2, 7, 13, 5, 3


def far(got, wanted):
    """Relative L2."""
    off = sum((a - b) ** 2 for a, b in zip(got.values, wanted.values, strict=True))
    return (off / sum(b ** 2 for b in wanted.values)) ** 0.5


def inexact(got, wanted):
    """The share of elements that are not the nearest f32."""
    nearest = tensors.Tensor("f32", wanted.shape, wanted.values)
    return sum(a != b for a, b in zip(got.values, nearest.values, strict=True)) / len(got.values)


class Report:
    def __init__(self):
        self.wrong, self.controls = 0, "--controls" in sys.argv

    def judge(self, what, is_same):
        if self.controls:
            print(what, "overlooked" if is_same else "noticed")
        self.wrong += is_same == self.controls
        if not self.controls and not is_same:
            print(what, "is another one than with --f64")


def drawn(draw, kind, shape):
    single = tensors.Tensor("f32", shape, [draw.gauss(0, 1) for _ in range(tensors.count(shape))])
    return tensors.Tensor(kind, shape, single.values)


def compare(report, folder, tier, policy):
    draw = random.Random(8)
    inputs = {"x": drawn(draw, "f64", (B, T, D)), "y": drawn(draw, "f32", (B, T, D))}
    weights = os.path.join(folder, "weights.safetensors")
    tensors.save_safetensors(weights, {"w": drawn(draw, "f32", (D, C))} |
                             {f"grow.{i}.gain": drawn(draw, "f32", (D,)) for i in range(N)})
    wide = driver.specification(TEXT.replace("POLICY", policy), "wide")
    spec = driver.specification(TEXT.replace("f64", "f32").replace("POLICY", policy), "narrow") if report.controls else wide
    words = ("--weights", weights, "--recipe", "small")
    given = {**inputs, "y": tensors.Tensor("f64", (B, T, D), inputs["y"].values)}
    label = tensors.Tensor("i32", (B, T), [draw.randrange(C) for _ in range(B * T)])
    wanted = driver.run(folder, wide, given, OUTPUTS, *words, "--f64", "--tier", driver.reference_tier())
    own = {**inputs, "x": tensors.Tensor("f32", (B, T, D), inputs["x"].values)} if report.controls else inputs
    got = driver.run(folder, spec, own, OUTPUTS, *words, "--tier", tier)
    for name in OUTPUTS:
        report.judge(f"{name} {tier} {policy}", got[name].kind == "f64" and far(got[name], wanted[name]) <= SAME)
    losses, gradients = driver.gradients(folder, spec, {"x": own["x"], "label": label}, *words, environment={"TENON_TIER": tier})
    exact, of_f64 = driver.gradients(folder, wide, {"x": given["x"], "label": label}, *words, "--f64",
                                     environment={"TENON_TIER": driver.reference_tier()})
    if not report.controls:
        for name in losses:
            report.judge(f"loss {name} {tier} {policy}", abs(losses[name] - exact[name]) <= SAME * abs(exact[name]))
    shares = [inexact(gradients[name], of_f64[name]) for name in of_f64 if not name.startswith("loss.")]
    if report.controls != (max(shares) > (UNTYPED if report.controls else INEXACT)):
        print("gradients", tier, policy, shares)
        report.wrong += 1


def named(report, folder, tier):
    """A layer that the policy names is as if its value were written f64."""
    draw = random.Random(9)
    x, weights = drawn(draw, "f64", (B, D)), os.path.join(folder, "named.safetensors")
    tensors.save_safetensors(weights, {"head.weight": drawn(draw, "f32", (C, D)), "head.bias": drawn(draw, "f32", (C,))})
    found = {}
    for kind, policy in (("", 'policy(f64 = "head.*")'), ("", "policy(compute = f64)"), ("f64", "policy(compute = bf16)"),
                         ("", "policy(compute = f32)")):
        spec = driver.specification(LAYER.replace(": TYPE[", f": {kind}[").replace("POLICY", policy), "named")
        _, found[kind, policy] = driver.gradients(folder, spec, {"x": x}, "--weights", weights, "--recipe", "small",
                                                  environment={"TENON_TIER": tier})
    (of_layer, of_all, of_word, plain) = (each["head.weight"].values for each in found.values())
    if of_layer != of_all:
        print("with compute = f64 a layer is another one than with f64 for it on", tier)
        report.wrong += 1
    if far(tensors.Tensor("f32", (C, D), of_layer), tensors.Tensor("f32", (C, D), of_word)) > 1e-6 or of_layer == plain:
        print("the layer that a policy names is not computed in f64 on", tier)
        report.wrong += 1


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        for tier in tiers.runnable()[:1 if report.controls else None]:
            for policy in ("policy(compute = f32)",) if report.controls else ("policy(compute = f32)", "policy(compute = bf16)"):
                compare(report, folder, tier, policy)
            if not report.controls:
                named(report, folder, tier)
    return report.wrong > 0


sys.exit(main())
