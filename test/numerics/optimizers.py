#!/usr/bin/env python3
"""Compiled optimizers and schedules against published values (optimizers.json) and against the rules written out here, in f64.

usage: optimizers.py published|rules [--spoil]

The gradient of a step is whatever the test wants: the loss is the sum of parameter times a row of a frozen table, and the input
picks the row. Steps are made through the C interface, so that a schedule can be asked at any step number.
  published  three steps of every rule in f64 and f32, and rates at the steps that the reference lists
             --spoil: the second gradient is another one
  rules      rules x schedules x groups x clipping, twelve steps over tensors that cross tiles, with a step whose gradient is not
             finite
             --spoil: each rule here decays by a millionth more
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

# One row: `l2` is for tensors of more than one dimension.
SMALL = """
model Small {
  config W = 3, V = 256
  dim    B, T
  dim    R = 1
  in     ids: index(V)[B, T]
  param  p: [R, W], table: [V, W] = 0
  loss   l = sum[B, T, R](dot[W](stop_gradient(table[V: ids]), p))
}"""
# `depth` chooses another share of the row, so that every copy of a stack has gradients of its own; m takes more than a tile.
LARGE = """
model Large {
  config W = 701, N = 3, V = 256
  dim    B, T
  dim    R = 24
  in     ids: index(V)[B, T]
  param  p: [W], m: [R, W], table: [V, W] = 0
  let    row = stop_gradient(table[V: ids])
  layer Block(x: [B, T, W]) -> [B, T, W] {
    param scale: [W], bias: [W] = 0
    return x + scale * row * real(depth + 1) + bias * row / real(depth + 2)
  }
  use    blocks = stack[N] Block
  loss   l = sum[B, T, W](blocks(p * row)) + sum[B, T, R](dot[W](row, m) * (real(iota[R]()) - 8) / 16)
}"""
ROWS = 24
BATCH = '  bind B = 1, T = 1\n  data = byte_stream(text = "none.txt", held_out = 0.1, every = 1)\n  loss = l\n  steps = 1\n'


class Wrong(Exception):
    pass


def artifact(folder, model, name, settings, number, tier, kind):
    spec = os.path.join(folder, f"m{number}.tn")
    with open(spec, "w", encoding="utf-8") as file:
        file.write(f"{model}\ntrain {name} as r {{\n{BATCH}  {settings}\n}}\n")
    made = os.path.join(folder, f"a{number}")
    driver.tenon("compile", spec, "--recipe", "r", *(["--f64"] if kind == "f64" else []), "--tier", tier, "-o", made)
    return made


def opened(folder, model, name, settings, number, kind="f64"):
    tier = driver.other_tier() if number % 2 else driver.best_tier()  # each rule meets both
    return library.Model(artifact(folder, model, name, settings, number, tier, kind), "train", {"B": 1, "T": 1})


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
        for kind, tolerance in (("f64", nine_digits), ("f32", lambda b: 2e-6 * max(1, abs(b)))):
            model = opened(folder, SMALL, "Small", f"optimizer = {case['optimizer']}", number, kind)
            model.set_parameter("p", Tensor(kind, (1, 3), values["p0"]))
            model.set_parameter("table", Tensor(kind, (256, 3), flat))
            for t, want in enumerate(case["trajectory"]):
                step(model, t, t)
                same(f"{case['case']}, {case['optimizer']}, {kind}, after step {t}", model.parameter("p").values, want, tolerance)
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
    """Factor of the rate after s updates (docs/recipes.md)."""
    defaults = {"kind": "constant", "warmup": 0, "total": 1, "floor": 0.0, "power": 1}
    kind, w, total, floor, power = (schedule.get(key, default) for key, default in defaults.items())
    t, done = s + 1, min(s / total, 1)
    if kind == "noam":
        return schedule.get("factor", 1) * schedule["size"] ** -0.5 * min(t ** -0.5, t * w ** -1.5)
    if kind == "paddle_noam":
        return w ** 0.5 * min(t ** -0.5, t * w ** -1.5)
    if kind == "txl_inverse_sqrt":
        return min(s ** -0.5, s * w ** -1.5) if s else 0.0
    if kind in ("electra_linear", "gpt1_linear"):
        return (min(1, s / w) if w else 1) * (1 - done)
    if kind == "gpt1_cosine":
        return s / w if s <= w else 0.5 * (1 + math.cos(math.pi * done))
    if kind == "fairseq_polynomial" and s <= w:
        return max(s, 1) / w
    if kind == "txl_cosine" and s == 0:
        return 1.0
    if kind == "steps":
        return schedule["factor"] ** (s // schedule["every"])
    if s < w:
        return s / w
    if kind == "inverse_sqrt":
        return math.sqrt(w / s)
    if kind == "bert_linear":
        return (1 - done) ** power
    if kind == "txl_cosine":
        return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * done))
    p = min((s - w) / (total - w), 1) if kind != "constant" else 0
    return floor + (1 - floor) * (0.5 * (1 + math.cos(math.pi * p)) if kind == "cosine" else (1 - p) ** power)


def norm(values):
    return math.sqrt(math.fsum(x * x for x in values))


class Rule:
    """One optimizer over named tensors with factors of their own."""

    def __init__(self, kind, lr, decay=0.0, momentum=0.0, nesterov=False, betas=(0.9, 0.999), eps=1e-8, dampening=0.0, form="",
                 each=0.0):
        self.kind, self.lr, self.decay, self.momentum, self.form = kind, lr, decay, momentum, form
        self.nesterov, self.betas, self.eps, self.dampening, self.each = nesterov, betas, eps, dampening, each
        self.first, self.second, self.updates = {}, {}, 0

    def update(self, values, gradients, factor, own):
        """own[name]: rate, gradient and decay of the tensor."""
        self.updates += 1
        for name, p in values.items():
            times, share, decay = own.get(name, (1, 1, None))
            if decay is None:
                decay = 0.0 if self.kind == "gpt1_adam" and name != "m" else self.decay
            g = [x * share for x in gradients[name]]
            if self.each:
                clip = min(1.0, self.each / (norm(g) + 1e-6))
                g = [x * clip for x in g]
            m, v = self.first.setdefault(name, [0.0] * len(p)), self.second.setdefault(name, [0.0] * len(p))
            if self.kind == "sgd":
                self.sgd(p, g, m, self.lr * factor * times, decay)
            elif self.kind == "lamb":
                self.lamb(p, g, m, v, self.lr * factor * times, decay)
            else:
                self.adam(p, g, m, v, self.lr * factor * times, decay)

    def sgd(self, p, g, m, lr, decay):
        for k, x in enumerate(g):
            x += decay * p[k]
            if self.momentum:
                m[k] = x if self.updates == 1 else self.momentum * m[k] + (1 - self.dampening) * x
                x = x + self.momentum * m[k] if self.nesterov else m[k]
            p[k] -= lr * x

    def adam(self, p, g, m, v, lr, decay):
        (b1, b2), eps = self.betas, self.eps
        c1, c2 = 1 - b1 ** self.updates, 1 - b2 ** self.updates
        for k, x in enumerate(g):
            if self.kind in ("adam", "adam_tf", "adamax"):
                x += decay * p[k]
            m[k] = b1 * m[k] + (1 - b1) * x
            if self.kind in ("adamax", "adamaxw"):
                v[k] = max(b2 * v[k], abs(x) + eps)
                if self.kind == "adamaxw":
                    p[k] *= 1 - lr * decay
                p[k] -= lr / c1 * m[k] / v[k]
                continue
            v[k] = b2 * v[k] + (1 - b2) * x * x
            torch, hat = m[k] / c1 / (math.sqrt(v[k] / c2) + eps), math.sqrt(c2) / c1 * m[k] / (math.sqrt(v[k]) + eps)
            if self.kind == "bert_adam":
                p[k] -= lr * (m[k] / (math.sqrt(v[k]) + eps) + decay * p[k])
            elif self.kind == "gpt1_adam":
                p[k] -= lr * (hat + math.sqrt(c2) / c1 * decay * p[k])
            elif self.kind == "adam_paddle" or self.form == "fairseq":
                p[k] -= lr * hat + lr * decay * p[k]
            elif self.form == "hf":
                p[k] -= lr * hat
                p[k] -= lr * decay * p[k]
            elif self.kind == "adamw":
                p[k] = p[k] * (1 - lr * decay) - lr * torch
            else:
                p[k] -= lr * (torch if self.kind == "adam" else hat)

    def lamb(self, p, g, m, v, lr, decay):
        (b1, b2), eps = self.betas, self.eps
        corrected = self.form in ("nvidia_tf", "nvlamb", "huawei")
        c1, c2 = (1 - b1 ** self.updates, 1 - b2 ** self.updates) if corrected else (1, 1)
        for k, x in enumerate(g):
            m[k], v[k] = b1 * m[k] + (1 - b1) * x, b2 * v[k] + (1 - b2) * x * x
        r = [a / c1 / (math.sqrt(b / c2) + eps) + decay * x for a, b, x in zip(m, v, p)]
        of_p, of_r = norm(p), norm(r)
        ratio = of_p / of_r if of_p and of_r else 1.0
        if self.form == "pytorch" and of_p and of_r:
            ratio = min(of_p, 10) / of_r
        elif self.form in ("albert", "nvlamb") and decay == 0:
            ratio = 1.0
        elif self.form == "huawei":
            other = norm(a / c1 / math.sqrt(b / c2 + eps) + self.decay * x for a, b, x in zip(m, v, p))
            ratio = min(of_p / other, 10) if of_p and norm(g) else 1.0
        for k, x in enumerate(r):
            p[k] -= lr * ratio * x


OPTIMIZERS = {
    "sgd(lr = 0.05)": lambda: Rule("sgd", 0.05),
    "sgd(lr = 0.05, momentum = 0.8, nesterov = true, decay = 0.02)": lambda: Rule("sgd", 0.05, 0.02, 0.8, True),
    "sgd(lr = 0.05, momentum = 0.9, dampening = 0.3)": lambda: Rule("sgd", 0.05, 0.0, 0.9, dampening=0.3),
    "adam(lr = 0.02, betas = (0.8, 0.95), eps = 1e-6, decay = 0.03)": lambda: Rule("adam", 0.02, 0.03, betas=(0.8, 0.95),
                                                                                   eps=1e-6),
    "adam_tf(lr = 0.02, eps = 1e-3, decay = 0.03)": lambda: Rule("adam_tf", 0.02, 0.03, eps=1e-3),
    "adamw(lr = 0.02)": lambda: Rule("adamw", 0.02, 0.01),
    "adamw(lr = 0.02, betas = (0.9, 0.95), decay = 0.1)": lambda: Rule("adamw", 0.02, 0.1, betas=(0.9, 0.95)),
    "adamw(lr = 0.02, eps = 1e-3, decay = 0.1, form = hf)": lambda: Rule("adamw", 0.02, 0.1, eps=1e-3, form="hf"),
    "adamw(lr = 0.02, eps = 1e-3, decay = 0.1, form = fairseq)": lambda: Rule("adamw", 0.02, 0.1, eps=1e-3, form="fairseq"),
    "bert_adam(lr = 0.01, decay = 0.05)": lambda: Rule("bert_adam", 0.01, 0.05, eps=1e-6),
    "bert_adam(lr = 0.01, decay = 0.05, eps = 1e-2, clip_each = 0.5)": lambda: Rule("bert_adam", 0.01, 0.05, eps=1e-2, each=0.5),
    "gpt1_adam(lr = 0.01, l2 = 0.05)": lambda: Rule("gpt1_adam", 0.01, 0.05),
    "adamax(lr = 0.02, betas = (0.8, 0.95), eps = 1e-6, decay = 0.03)": lambda: Rule("adamax", 0.02, 0.03, betas=(0.8, 0.95),
                                                                                     eps=1e-6),
    "adamaxw(lr = 0.02, decay = 0.03)": lambda: Rule("adamaxw", 0.02, 0.03),
    "adam_paddle(lr = 0.02, decay = 0.03)": lambda: Rule("adam_paddle", 0.02, 0.03),
    **{f"lamb(lr = 0.01, decay = 0.04, eps = {eps}, form = {form})":
        (lambda form=form, eps=eps: Rule("lamb", 0.01, 0.04, eps=eps, form=form))
       for form, eps in (("v3", 1e-3), ("pytorch", 1e-3), ("albert", 1e-3), ("nvidia_tf", 1e-3), ("nvlamb", 1e-3),
                         ("huawei", 1e-3), ("huawei", 0.3))},  # a large eps makes ratios above 10
}
SCHEDULES = {
    "constant()": {},
    "constant(warmup = 4)": {"warmup": 4},
    "linear(warmup = 3, total = 9)": {"kind": "linear", "warmup": 3, "total": 9},
    "cosine(warmup = 2, total = 11, floor = 0.1)": {"kind": "cosine", "warmup": 2, "total": 11, "floor": 0.1},
    "noam(size = 64, warmup = 5, factor = 3.0)": {"kind": "noam", "size": 64, "warmup": 5, "factor": 3.0},
    "bert_linear(warmup = 4, total = 10)": {"kind": "bert_linear", "warmup": 4, "total": 10},
    "xlnet_linear(warmup = 4, total = 10, floor = 0.02)": {"kind": "xlnet_linear", "warmup": 4, "total": 10, "floor": 0.02},
    "polynomial(warmup = 2, total = 10, end = 0, power = 2)": {"kind": "polynomial", "warmup": 2, "total": 10, "power": 2},
    "bert_linear(warmup = 3, total = 11, power = 0.5)": {"kind": "bert_linear", "warmup": 3, "total": 11, "power": 0.5},
    "nezha_linear(warmup = 3, total = 13)": {"kind": "nezha_linear", "warmup": 3, "total": 13},
    "bertadam_linear(warmup = 0.3, total = 11)": {"kind": "bertadam_linear", "warmup": 3.3, "total": 11},
    "electra_linear(warmup = 0.25, total = 11)": {"kind": "electra_linear", "warmup": 2.75, "total": 11},
    "gpt1_linear(total = 14)": {"kind": "gpt1_linear", "total": 14},
    "gpt1_cosine(warmup = 3, total = 12)": {"kind": "gpt1_cosine", "warmup": 3, "total": 12},
    "txl_cosine(warmup = 3, total = 10, floor = 0.1)": {"kind": "txl_cosine", "warmup": 3, "total": 10, "floor": 0.1},
    "txl_inverse_sqrt(warmup = 5)": {"kind": "txl_inverse_sqrt", "warmup": 5},
    "paddle_noam(warmup = 5)": {"kind": "paddle_noam", "warmup": 5},
    "inverse_sqrt(warmup = 5)": {"kind": "inverse_sqrt", "warmup": 5},
    "fairseq_polynomial(warmup = 3, total = 10, power = 2)": {"kind": "fairseq_polynomial", "warmup": 3, "total": 10, "power": 2},
    "plateau(warmup = 3)": {"warmup": 3},  # nobody counts evaluations here
    "steps(every = 4, factor = 0.1)": {"kind": "steps", "every": 4, "factor": 0.1},
}
CLIPS = [("", 0), ("global_norm", 2.5), ("each", 0.5), ("value", 0.04), ("global_norm", "2.5, form = tf")]
# Patterns: the first one that gives a key holds.
GROUPS = {
    "": {},
    'groups = (group("*.bias", decay = 0), group("blocks.*", lr = 0.5, gradient = 0.75 ^ (N - 1 - depth)), group("p", lr = 2.0, '
    'decay = 0.3))':
        {"p": (2.0, 1, 0.3), **{f"blocks.{d}.scale": (0.5, 0.75 ** (2 - d), None) for d in range(3)},
         **{f"blocks.{d}.bias": (0.5, 0.75 ** (2 - d), 0.0) for d in range(3)}},
}
WIDTH, STEPS, BROKEN, EMPTY = 701, 12, 6, 9


def table():
    """A row per step; row BROKEN is not finite, row EMPTY 0. From small to large, so that clipping acts in some steps only."""
    rows = [[(0.002 + 0.01 * r) * math.sin(0.7 * k + 1.3 * r) for k in range(WIDTH)] for r in range(STEPS)]
    rows[BROKEN][5] = math.inf
    rows[EMPTY] = [0.0] * WIDTH
    return rows


def gradients_of(row):
    found = {"p": row, "m": [x * (r - 8) / 16 for r in range(ROWS) for x in row]}
    for d in range(3):
        found[f"blocks.{d}.scale"] = [x * (d + 1) for x in row]
        found[f"blocks.{d}.bias"] = [x / (d + 2) for x in row]
    return found


def rules(folder, spoil):
    rows = table()
    flat = Tensor("f64", (256, WIDTH), [x for row in rows for x in row] + [0.0] * ((256 - STEPS) * WIDTH))
    schedules, number, noticed = list(SCHEDULES), 0, 0
    for text, make in OPTIMIZERS.items():
        for groups, own in GROUPS.items():
            schedule, clip = schedules[number % len(schedules)], CLIPS[(number + number // 4) % len(CLIPS)]
            if clip[0] == "value" and "clip_each" in text:
                clip = CLIPS[1]
            settings = f"optimizer = {text}\n  schedule = {schedule}\n  {groups}\n  "
            settings += f"clip = {clip[0]}({clip[1]})" if clip[0] else ""
            try:
                follow(opened(folder, LARGE, "Large", settings, number), make(), SCHEDULES[schedule], own, clip, rows, flat,
                       settings, spoil)
            except Wrong:
                if not spoil:
                    raise
                noticed += 1
            number += 1
    if spoil or number < 2 * len(schedules):  # each schedule twice
        raise Wrong(f"{noticed} of {number} wrong rules are noticed")
    print(f"{number} combinations, {STEPS} steps each")


def clipped(given, clip):
    """The gradients as they are used, and how many numbers of them are others. A form of tf adds nothing to norms."""
    kind, bound, epsilon = clip[0], float(str(clip[1]).split(",")[0]), 0 if "tf" in str(clip[1]) else 1e-6
    if kind == "value":
        used = {name: [min(max(x, -bound), bound) for x in row] for name, row in given.items()}
    else:
        whole = norm(x for row in given.values() for x in row)
        factor = {name: min(1.0, bound / ((norm(row) if kind == "each" else whole) + epsilon)) if kind else 1.0
                  for name, row in given.items()}
        used = {name: [factor[name] * x for x in row] for name, row in given.items()}
    return used, sum(a != b for name, row in given.items() for a, b in zip(row, used[name]))


def follow(model, rule, schedule, own, clip, rows, flat, what, spoil):
    rule.decay += 1e-6 if spoil else 0
    sizes = {name: len(row) for name, row in gradients_of(rows[0]).items()}
    values = {name: [math.cos(0.3 * k + len(name)) for k in range(size)] for name, size in sizes.items()}
    values["blocks.1.bias"] = [0.0] * WIDTH  # a tensor without a norm
    for name, start in values.items():
        model.set_parameter(name, Tensor("f64", (len(start),), start))
    model.set_parameter("table", flat)
    changed = 0
    for t in range(STEPS):
        found = step(model, t, t)
        given = gradients_of(rows[t])
        same(f"{what}\nrate of step {t}", found["learning_rate"].values, [rule.lr * rate(schedule, t)], lambda b: 1e-15 +
             1e-14 * abs(b))
        if t == BROKEN:
            if math.isfinite(found["grad_norm"].values[0]):
                raise Wrong(f"{what}\nthe norm of a gradient that is not finite is {found['grad_norm'].values[0]}")
            rule.updates += 1  # corrections count steps, and this was one
        else:
            whole = norm(x for row in given.values() for x in row)
            same(f"{what}\nnorm of step {t}", found["grad_norm"].values, [whole], lambda b: 1e-13 * abs(b))
            used, count = clipped(given, clip)
            changed += count
            rule.update(values, used, rate(schedule, t), own)
        for name, want in values.items():
            same(f"{what}\n{name} after step {t}", model.parameter(name).values, want, lambda b: 1e-12 * max(1, abs(b)))
    if clip[0] and not 0 < changed < (STEPS - 2) * sum(sizes.values()):
        raise Wrong(f"{what}\n{changed} numbers were clipped: the test shows nothing")
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
