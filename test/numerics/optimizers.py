#!/usr/bin/env python3
"""Compiled optimizers and schedules against published values (optimizers.json) and against the rules written out here, in f64.

usage: optimizers.py published|rules [--spoil]

The gradient of a step is whatever the test wants: the loss is the sum of parameter times a row of a frozen table, and the input
picks the row. Steps are made through the C interface, so that a schedule can be asked at any step number.
  published  three steps of every rule, and rates at the steps that the reference lists
             --spoil: the second gradient is another one
  rules      rules x schedules x groups x clipping, twelve steps over tensors that cross tiles, with a step whose gradient is not
             finite
             --spoil: the rule here decays by a millionth more
"""
import argparse
import json
import math
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
from tensors import Tensor, tensor  # noqa: E402

SMALL = """
model Small {
  config W = 3, V = 256
  dim    B, T
  in     ids: index(V)[B, T]
  param  p: [W], table: [V, W] = 0
  loss   l = sum[B, T, W](p * stop_gradient(table[V: ids]))
}"""
# `depth` chooses another share of the row, so that every copy of a stack has gradients of its own.
LARGE = """
model Large {
  config W = 701, N = 3, V = 256
  dim    B, T
  in     ids: index(V)[B, T]
  param  p: [W], table: [V, W] = 0
  let    row = stop_gradient(table[V: ids])
  layer Block(x: [B, T, W]) -> [B, T, W] {
    param scale: [W], bias: [W] = 0
    return x + scale * row * real(depth + 1) + bias * row / real(depth + 2)
  }
  use    blocks = stack[N] Block
  loss   l = sum[B, T, W](blocks(p * row))
}"""
BATCH = '  bind B = 1, T = 1\n  data = byte_stream(text = "none.txt")\n  loss = l\n  steps = 1\n'


class Wrong(Exception):
    pass


def opened(folder, model, name, settings, number):
    """Every second one on the other tier: each rule meets both."""
    spec = os.path.join(folder, f"m{number}.tn")
    with open(spec, "w", encoding="utf-8") as file:
        file.write(f"{model}\ntrain {name} as r {{\n{BATCH}  {settings}\n}}\n")
    artifact = os.path.join(folder, f"a{number}")
    driver.tenon("compile", spec, "--recipe", "r", "--f64", "--tier", driver.other_tier() if number % 2 else driver.best_tier(),
                 "-o", artifact)
    return library.Model(artifact, "train", {"B": 1, "T": 1})


def step(model, number, row):
    """Outputs of the step, whose gradients are this row of the table."""
    model.set_input("ids", tensor("i32", [[row]]))
    return model.run(step=number)


def same(what, got, want, tolerance):
    for k, (a, b) in enumerate(zip(got, want)):
        if not abs(a - b) <= tolerance(b):
            raise Wrong(f"{what}: {a!r} instead of {b!r} at [{k}]")
    if len(got) != len(want):
        raise Wrong(f"{what}: {len(got)} values instead of {len(want)}")


def nine_digits(value):
    """Half a unit of the ninth digit that the reference keeps."""
    return 5.001e-9 * 10 ** math.floor(math.log10(abs(value))) if value else 1e-18


def published(folder, spoil):
    with open(os.path.join(HERE, "optimizers.json"), encoding="utf-8") as file:
        values = json.load(file)
    rows = [list(row) for row in values["grads"]]
    if spoil:
        rows[1][0] += 1e-6
    flat = [x for row in rows for x in row] + [0.0] * (256 * 3 - 9)
    for number, case in enumerate(values["optimizers"]):
        model = opened(folder, SMALL, "Small", f"optimizer = {case['optimizer']}", number)
        model.set_parameter("p", Tensor("f64", (3,), values["p0"]))
        model.set_parameter("table", Tensor("f64", (256, 3), flat))
        for t, want in enumerate(case["trajectory"]):
            step(model, t, t)
            same(f"{case['case']}, after step {t}", model.parameter("p").values, want, nine_digits)
        model.close()
    for number, case in enumerate(values["schedules"]):
        model = opened(folder, SMALL, "Small", f"optimizer = sgd(lr = {case['lr']})\n  schedule = {case['schedule']}",
                       100 + number)
        for t, want in zip(case["steps"], case["rates"]):
            same(f"{case['case']}, at {t}", step(model, t - case["first"], 0)["learning_rate"].values, [want], nine_digits)
        model.close()
    print(f"{len(values['optimizers'])} trajectories, {len(values['schedules'])} schedules")


# ---- the rules, written out: (first words of the recipe, what they mean)
def rate(schedule, s):
    """Factor of the rate after s updates (docs: tenon.optimize)."""
    defaults = {"kind": "constant", "warmup": 0, "total": 0, "floor": 0.0}
    kind, w, total, floor = (schedule.get(key, default) for key, default in defaults.items())
    if kind == "noam":
        t = s + 1
        return schedule.get("factor", 1) * schedule["size"] ** -0.5 * min(t ** -0.5, t * w ** -1.5)
    if s < w:
        return s / w
    if kind == "constant":
        return 1.0
    if kind == "bert_linear":
        return max(1 - s / total, 0)
    p = min((s - w) / (total - w), 1)
    return floor + (1 - floor) * (0.5 * (1 + math.cos(math.pi * p)) if kind == "cosine" else 1 - p)


class Rule:
    """One optimizer over named tensors with factors of their own."""

    def __init__(self, kind, lr, decay=0.0, momentum=0.0, nesterov=False, betas=(0.9, 0.999), eps=1e-8):
        self.kind, self.lr, self.decay, self.momentum = kind, lr, decay, momentum
        self.nesterov, self.betas, self.eps = nesterov, betas, eps
        self.first, self.second, self.updates = {}, {}, 0

    def update(self, values, gradients, factor, own):
        """own[name]: rate, gradient and decay of the tensor."""
        self.updates += 1
        b1, b2 = self.betas
        for name, p in values.items():
            times, share, decay = own.get(name, (1, 1, None))
            lr, decay = self.lr * factor * times, self.decay if decay is None else decay
            m, v = self.first.setdefault(name, [0.0] * len(p)), self.second.setdefault(name, [0.0] * len(p))
            for k, g in enumerate(gradients[name]):
                g *= share
                if self.kind == "sgd":
                    g += decay * p[k]
                    m[k] = self.momentum * m[k] + g
                    p[k] -= lr * (g + self.momentum * m[k] if self.nesterov else m[k])
                    continue
                if self.kind in ("adam", "adamax"):
                    g += decay * p[k]
                m[k] = b1 * m[k] + (1 - b1) * g
                if self.kind == "adamax":
                    v[k] = max(b2 * v[k], abs(g) + self.eps)
                    p[k] -= lr / (1 - b1 ** self.updates) * m[k] / v[k]
                    continue
                v[k] = b2 * v[k] + (1 - b2) * g * g
                if self.kind == "bert_adam":
                    p[k] -= lr * (m[k] / (math.sqrt(v[k]) + self.eps) + decay * p[k])
                    continue
                if self.kind == "adamw":
                    p[k] *= 1 - lr * decay
                p[k] -= lr * m[k] / (1 - b1 ** self.updates) / (math.sqrt(v[k] / (1 - b2 ** self.updates)) + self.eps)


OPTIMIZERS = {
    "sgd(lr = 0.05)": lambda: Rule("sgd", 0.05),
    "sgd(lr = 0.05, momentum = 0.8, nesterov = true, decay = 0.02)": lambda: Rule("sgd", 0.05, 0.02, 0.8, True),
    "sgd(lr = 0.05, momentum = 0.9)": lambda: Rule("sgd", 0.05, 0.0, 0.9),
    "adam(lr = 0.02, betas = (0.8, 0.95), eps = 1e-6, decay = 0.03)": lambda: Rule("adam", 0.02, 0.03, betas=(0.8, 0.95),
                                                                                   eps=1e-6),
    "adamw(lr = 0.02)": lambda: Rule("adamw", 0.02, 0.01),
    "adamw(lr = 0.02, betas = (0.9, 0.95), decay = 0.1)": lambda: Rule("adamw", 0.02, 0.1, betas=(0.9, 0.95)),
    "bert_adam(lr = 0.01, decay = 0.05)": lambda: Rule("bert_adam", 0.01, 0.05, eps=1e-6),
    "adamax(lr = 0.02, betas = (0.8, 0.95), eps = 1e-6, decay = 0.03)": lambda: Rule("adamax", 0.02, 0.03, betas=(0.8, 0.95),
                                                                                     eps=1e-6),
}
SCHEDULES = {
    "constant()": {},
    "constant(warmup = 4)": {"warmup": 4},
    "linear(warmup = 3, total = 9)": {"kind": "linear", "warmup": 3, "total": 9},
    "cosine(warmup = 2, total = 11, floor = 0.1)": {"kind": "cosine", "warmup": 2, "total": 11, "floor": 0.1},
    "noam(size = 64, warmup = 5, factor = 3.0)": {"kind": "noam", "size": 64, "warmup": 5, "factor": 3.0},
    "bert_linear(warmup = 4, total = 10)": {"kind": "bert_linear", "warmup": 4, "total": 10},
    "xlnet_linear(warmup = 4, total = 10, floor = 0.02)": {"kind": "xlnet_linear", "warmup": 4, "total": 10, "floor": 0.02},
}
# Patterns: the first one that gives a key holds.
GROUPS = {
    "": {},
    'groups = (group("*.bias", decay = 0), group("blocks.*", lr = 0.5, gradient = 0.75 ^ (N - 1 - depth)), group("p", lr = 2.0, '
    'decay = 0.3))':
        {"p": (2.0, 1, 0.3), **{f"blocks.{d}.scale": (0.5, 0.75 ** (2 - d), None) for d in range(3)},
         **{f"blocks.{d}.bias": (0.5, 0.75 ** (2 - d), 0.0) for d in range(3)}},
}
WIDTH, STEPS, BROKEN = 701, 12, 6


def table():
    """A row per step; row BROKEN is not finite. From small to large, so that clipping acts in some steps only."""
    rows = [[(0.002 + 0.01 * r) * math.sin(0.7 * k + 1.3 * r) for k in range(WIDTH)] for r in range(STEPS)]
    rows[BROKEN][5] = math.inf
    return rows


def gradients_of(row):
    found = {"p": row}
    for d in range(3):
        found[f"blocks.{d}.scale"] = [x * (d + 1) for x in row]
        found[f"blocks.{d}.bias"] = [x / (d + 2) for x in row]
    return found


def rules(folder, spoil):
    rows = table()
    flat = Tensor("f64", (256, WIDTH), [x for row in rows for x in row] + [0.0] * ((256 - STEPS) * WIDTH))
    schedules, number = list(SCHEDULES), 0
    for text, make in OPTIMIZERS.items():
        for groups, own in GROUPS.items():
            schedule, clip = schedules[number % len(schedules)], 1.5 if number % 3 else 0
            settings = f"optimizer = {text}\n  schedule = {schedule}\n  {groups}\n  " + (f"clip = global_norm({clip})"
                                                                                         if clip else "")
            follow(opened(folder, LARGE, "Large", settings, number), make(), SCHEDULES[schedule], own, clip, rows, flat,
                   settings, spoil)
            number += 1
    print(f"{number} combinations, {STEPS} steps each")


def follow(model, rule, schedule, own, clip, rows, flat, what, spoil):
    rule.decay += 1e-6 if spoil else 0
    values = {name: [math.cos(0.3 * k + len(name)) for k in range(WIDTH)] for name in gradients_of(rows[0])}
    for name, start in values.items():
        model.set_parameter(name, Tensor("f64", (WIDTH,), start))
    model.set_parameter("table", flat)
    clipped = 0
    for t in range(STEPS):
        found = step(model, t, t)
        given = gradients_of(rows[t])
        norm = math.sqrt(math.fsum(x * x for row in given.values() for x in row))
        same(f"{what}\nrate of step {t}", found["learning_rate"].values, [rule.lr * rate(schedule, t)], lambda b: 1e-15 +
             1e-14 * abs(b))
        if t == BROKEN:
            if math.isfinite(found["grad_norm"].values[0]):
                raise Wrong(f"{what}\nthe norm of a gradient that is not finite is {found['grad_norm'].values[0]}")
            rule.updates += rule.kind in ("adam", "adamw", "adamax")  # the corrections count steps, and this was one
        else:
            same(f"{what}\nnorm of step {t}", found["grad_norm"].values, [norm], lambda b: 1e-13 * abs(b))
            factor = min(1.0, clip / (norm + 1e-6)) if clip else 1.0
            clipped += factor < 1
            rule.update(values, {name: [factor * x for x in row] for name, row in given.items()}, rate(schedule, t), own)
        for name, want in values.items():
            same(f"{what}\n{name} after step {t}", model.parameter(name).values, want, lambda b: 1e-12 * max(1, abs(b)))
    if clip and not 0 < clipped < STEPS - 1:
        raise Wrong(f"{what}\n{clipped} steps were clipped: the test shows nothing")
    model.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["published", "rules"])
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            (published if options.part == "published" else rules)(folder, options.spoil)
        except Wrong as error:
            print(f"WRONG: {error}")
            return 1
    print("AGREES")
    return 0


if __name__ == "__main__":
    sys.exit(main())
