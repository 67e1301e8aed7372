#!/usr/bin/env python3
"""Parameters of f64 beside others of f32, in one step: wide_parameters.py [--controls]

rules      the gradient of a step is a row of a frozen table, as in optimizers.py, and exact in every type. p and scale are
           written f64: after each step they are what the rule makes of them in doubles (EXACT), whatever the policy has the
           others in. bias is written f32 and is that of the rule to what f32 rounds (SINGLE), also beside `params = bf16`.
gradients  of a loss in f64: those of the formula in doubles, those of central differences, with words on the parameters and by
           `params = f64`. What reads such a parameter in f32 reads it rounded.
--controls leaves the words out: each must be noticed.
"""
import math
import os
import random
import sys
import tempfile

import optimizers
from optimizer_rules import OPTIMIZERS, SCHEDULES, norm, rate
from optimizers import BATCH, ROWS, WIDTH, Wrong, driver, library, same, step
from rounding import all_to_bf16, to_f32
from tensors import Tensor

EXACT, SINGLE, STEPS = 1e-12, 4e-6, 4
LARGE = """model Large {
  config W = 701, N = 3, V = 256
  dim    B, T
  dim    R = ROWS
  in     ids: index(V)[B, T]
  param  p: f64[W], m: [R, W], table: [V, W] = 0
  let    row = stop_gradient(table[V: ids])
  layer Block(x: [B, T, W]) -> [B, T, W] {
    param scale: f64[W], bias: f32[W] = 0
    return x + scale * row * real(depth + 1) + bias * row * real(depth + 2)
  }
  use    blocks = stack[N] Block
  loss   l = sum[B, T, W](blocks(p * row)) + sum[B, T, R](dot[W](row, m) * (real(iota[R]()) - 8) / 16)
}""".replace("ROWS", str(ROWS))
GROUPS = ('groups = (group("blocks.*", lr = 0.5, gradient = 0.75 ^ (N - 1 - depth)), group("p", lr = 2.0, decay = 0.3))',
          {"p": (2.0, 1, 0.3), **{f"blocks.{d}.{part}": (0.5, 0.75 ** (2 - d), None) for d in range(3)
                                  for part in ("scale", "bias")}})
# Rule, policy, clipping, groups, batches of an update.
CASES = [("sgd(lr = 0.05, momentum = 0.9", "compute = f32", 2.5, ("", {}), 1),
         ("adamw(lr = 0.02)", "compute = bf16", 2.5, GROUPS, 1),
         ("lamb", "compute = f32", 0, ("", {}), 2),
         ("adamw(lr = 0.02)", "params = bf16", 0, GROUPS, 2),
         ("lamb", "compute = bf16", 0, GROUPS, 1),
         ("sgd(lr = 0.05)", "compute = f16, scale = fixed(1024)", 0, GROUPS, 1)]
NETWORK = """model Network {
  config D = 13, C = 5
  dim    B
  in     x: [B, D]
  param  w: f64[D, C] ~ normal(1)
  param  b: f64[C] ~ normal(0.3)
  param  g: f32[C] ~ normal(1)
  let    y: f64[B, C] = (dot[D](x, w) + b) * g
  let    z: f64[B, C] = tanh(y)
  let    squares: f64[B, C] = z ^ 2
  let    size: f64 = mean(squares)
  let    rounded = w * 1
  let    whole: f64[D, C] = w * 1
  out    rounded, whole, y
  loss   l = size
}
train Network as r {
  bind       B = 4
  data       = caller
  loss       = l
  optimizer  = sgd(lr = 0.1)
  numerics   = policy(POLICY)
}
"""
B, D, C = 4, 13, 5


class Judge:
    def __init__(self):
        self.wrong, self.controls = 0, "--controls" in sys.argv

    def check(self, what, run):
        """`run` raises Wrong, which a control has to."""
        try:
            run()
        except Wrong as error:
            print(what, "noticed" if self.controls else f"WRONG: {error}")
            self.wrong += not self.controls
            return
        if self.controls:
            print(what, "overlooked")
            self.wrong += 1


def plain(text):
    return text.replace("f64[", "[").replace("f32[", "[")


def rule_of(text):
    """The first of the table's rules that begins so, and how a recipe says it."""
    name = next(each for each in OPTIMIZERS if each.startswith(text))
    return name, OPTIMIZERS[name]()


def gradients_of(row):
    found = {"p": row, "m": [x * (r - 8) / 16 for r in range(ROWS) for x in row]}
    for d in range(3):
        found[f"blocks.{d}.scale"] = [x * (d + 1) for x in row]
        found[f"blocks.{d}.bias"] = [x * (d + 2) for x in row]
    return found


def is_wide(name):
    return name == "p" or name.endswith("scale")


def follow(number, case, text):
    wanted, policy, bound, (groups, own), batches = case
    name, rule = rule_of(wanted)
    schedule = list(SCHEDULES)[number % len(SCHEDULES)]
    spec = driver.specification(
        f"{text}\ntrain Large as r {{\n{BATCH}  numerics = policy({policy})\n  optimizer = {name}\n"
        f"  schedule = {schedule}\n  {groups}\n  accumulate = {batches}\n"
        + (f"  clip = global_norm({bound})\n" if bound else "") + "}\n", "rule")
    code = [driver.other_tier(), "--quick"] if number % 2 else [driver.best_tier()]
    artifact = driver.compiled(spec, "--recipe", "r", "--entry", "train", "--tier", *code)
    model = library.Model(artifact, "train", {"B": 1, "T": 1})
    rows = [all_to_bf16([(0.1 + 0.1 * r) * math.sin(0.7 * k + 1.3 * r) for k in range(WIDTH)]) for r in range(STEPS)]
    values = {each: [math.cos(0.3 * k + len(each)) for k in range(len(row))] for each, row in gradients_of(rows[0]).items()}
    infos = model.parameters()
    for each, start in values.items():
        if not is_wide(each):
            start[:] = all_to_bf16(start)
        model.set_parameter(each, Tensor("f64" if infos[each].type == 0 else "f32", (len(start),), start))
    model.set_parameter("table", Tensor("f32", (256, WIDTH), [x for row in rows for x in row] + [0.0] * ((256 - STEPS) * WIDTH)))
    for t, row in enumerate(rows):
        for batch in range(batches):
            step(model, t * batches + batch, t)
        given = gradients_of(row)
        factor = min(1, bound / (norm(x for each in given.values() for x in each) + 1e-6)) if bound else 1
        clipped = {each: [factor * x for x in numbers] for each, numbers in given.items()}
        rule.update(values, clipped, rate(SCHEDULES[schedule], t), own)
        for each, want in values.items():
            if each == "m":
                continue
            exactly = EXACT if is_wide(each) else SINGLE
            same(f"{case}\n{each} after step {t}", model.parameter(each).values, want,
                 lambda x, near=exactly: near * max(1, abs(x)))
    model.close()


def formula(x, w, b, g):
    """The loss and the gradients of w and b."""
    loss, of_w, of_b = 0.0, [0.0] * (D * C), [0.0] * C
    for i in range(B):
        for c in range(C):
            z = math.tanh((math.fsum(x[i * D + d] * w[d * C + c] for d in range(D)) + b[c]) * g[c])
            loss += z * z / (B * C)
            inner = 2 * z * (1 - z * z) * g[c] / (B * C)
            of_b[c] += inner
            for d in range(D):
                of_w[d * C + c] += x[i * D + d] * inner
    return loss, of_w, of_b


def network(folder, policy, text):
    draw = random.Random(4)
    x, g = ([to_f32(draw.gauss(0, 1)) for _ in range(count)] for count in (B * D, C))
    w, b = ([draw.gauss(0, 0.5) for _ in range(count)] for count in (D * C, C))
    read = all_to_bf16(g) if "g: bf16[" in text else g
    spec = driver.specification(text.replace("POLICY", policy), "network")
    model = library.Model(driver.compiled(spec, "--recipe", "r", "--entry", "train", "--tier", driver.best_tier()), "train", {})
    infos = model.parameters()

    def put(name, values):
        model.set_parameter(name, Tensor("f64" if infos[name].type == 0 else "f32", infos[name].shape[:infos[name].rank], values))

    def loss_at(weights):
        put("w", weights)
        return model.run(gradients_only=True)["loss"].values[0]
    model.set_input("x", Tensor("f32", (B, D), x))
    put("b", b)
    put("g", g)
    loss, of_w, of_b = formula(x, w, b, read)
    same("loss", [loss_at(w)], [loss], lambda a: 1e-14)
    for name, want in (("w", of_w), ("b", of_b)):
        same(f"gradient of {name}", model.gradient(name).values, want, lambda a: 1e-14)
    h, direction = 1e-6, [draw.gauss(0, 1) for _ in w]
    slope = [loss_at([a + sign * h * u for a, u in zip(w, direction)]) for sign in (1, -1)]
    same("central difference", [(slope[0] - slope[1]) / (2 * h)], [math.fsum(a * u for a, u in zip(of_w, direction))],
         lambda a: 1e-9 * max(1, abs(a)))
    put("w", w)
    path = os.path.join(folder, "network.safetensors")
    model.save(path)
    model.close()
    found = driver.run(folder, spec, {"x": Tensor("f32", (B, D), x)}, ("rounded", "whole"), "--recipe", "r", "--weights", path,
                       "--tier", driver.other_tier())
    same("what f32 reads", found["rounded"].values, [to_f32(a) for a in w], lambda a: 0)
    same("what f64 reads", found["whole"].values, w, lambda a: 0)


def main():
    judge = Judge()
    with tempfile.TemporaryDirectory() as folder:
        large = plain(LARGE) if judge.controls else LARGE
        for number, case in enumerate(CASES[:2] if judge.controls else CASES):
            judge.check(f"{case[0]}, {case[1]}", lambda case=case, number=number: follow(number, case, large))
        bare = NETWORK.replace("w: f64[", "w: [").replace("b: f64[", "b: [")
        forms = {"words": ("compute = f32", NETWORK), "words and bf16": ("compute = bf16", NETWORK),
                 "params": ("params = f64", bare), "params and bf16": ("params = f64, compute = bf16", bare),
                 "params and a word of bf16": ("params = f64", bare.replace("g: f32[", "g: bf16["))}
        if judge.controls:
            forms = {"words": ("compute = f32", bare)}
        for name, (policy, text) in forms.items():
            judge.check(f"gradients, {name}", lambda policy=policy, text=text: network(folder, policy, text))
    if not judge.wrong and not judge.controls:
        print(f"AGREES: {len(CASES)} rules, {len(forms)} networks")
    return judge.wrong > 0


sys.exit(main())
