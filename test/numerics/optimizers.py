#!/usr/bin/env python3
"""Compiled optimizers and schedules against published values (optimizers.json) and against the rules written out here, in f64.

usage: optimizers.py published|rules|covered [--spoil]

The gradient of a step is whatever the test wants: the loss is the sum of parameter times a row of a frozen table, and the input
picks the row. Steps are made through the C interface, so that a schedule can be asked at any step number.
  published  steps of every rule in f64 and f32, and rates at the steps that the reference lists
             --spoil: the second gradient is another one
  rules      rules x schedules x groups x clipping, twelve steps over tensors that cross tiles, with a step whose gradient is not
             finite
             --spoil: each rule here decays by a millionth more
  covered    every optimizer of the table that checker and compiler read has a case in optimizers.json and one in
             optimizer_rules.py, every schedule one in either
             --spoil: without the cases of one of them after the other
"""
import argparse
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
from optimizer_rules import OPTIMIZERS, SCHEDULES, norm, rate  # noqa: E402
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
  dim    R = 9
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
ROWS = 9
BATCH = '  bind B = 1, T = 1\n  data = byte_stream(text = "none.txt", held_out = 0.1, every = 1)\n  loss = l\n  steps = 1\n'


class Wrong(Exception):
    pass


def artifact(model, name, settings, tier, kind, quick):
    spec = driver.specification(f"{model}\ntrain {name} as r {{\n{BATCH}  {settings}\n}}\n", "rule")
    words = ["--f64"] if kind == "f64" else []
    return driver.compiled(spec, "--recipe", "r", "--entry", "train", *words, *(["--quick"] if quick else []), "--tier", tier)


def opened(model, name, settings, number, kind="f64"):
    tier = driver.other_tier() if number % 2 else driver.best_tier()  # each rule meets both
    return library.Model(artifact(model, name, settings, tier, kind, kind == "f64"), "train", {"B": 1, "T": 1})


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


def published(spoil):
    with open(os.path.join(HERE, "optimizers.json"), encoding="utf-8") as file:
        values = json.load(file)
    rows = [list(row) for row in values["grads"]]
    if spoil:
        rows[1][0] += 1e-6
    flat = [x for row in rows for x in row] + [0.0] * (256 * 3 - 9)
    for number, case in enumerate(values["optimizers"]):
        for kind, tolerance in (("f64", nine_digits), ("f32", lambda b: 2e-6 * max(1, abs(b)))):
            model = opened(SMALL, "Small", f"optimizer = {case['optimizer']}", number, kind)
            model.set_parameter("p", Tensor(kind, (1, 3), values["p0"]))
            model.set_parameter("table", Tensor(kind, (256, 3), flat))
            for t, want in enumerate(case["trajectory"]):
                step(model, t, t)
                same(f"{case['case']}, {case['optimizer']}, {kind}, after step {t}", model.parameter("p").values, want, tolerance)
            model.close()
    for number, case in enumerate(values["schedules"]):
        model = opened(SMALL, "Small", f"optimizer = sgd(lr = {case['lr']})\n  schedule = {case['schedule']}",
                       100 + number)
        for t, want in zip(case["steps"], case["rates"]):
            same(f"{case['case']}, at {t}", step(model, t - case["first"], 0)["learning_rate"].values, [want], nine_digits)
        model.close()
    print(f"{len(values['optimizers'])} trajectories, {len(values['schedules'])} schedules")


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


def rules(spoil):
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
                follow(opened(LARGE, "Large", settings, number), make(), SCHEDULES[schedule], own, clip, rows, flat,
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
    rule.shapes["m"] = (ROWS, WIDTH)
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


def covered(spoil):
    with open(os.path.join(HERE, "optimizers.json"), encoding="utf-8") as file:
        values = json.load(file)
    published_rates = [case["schedule"] for case in values["schedules"]]
    cases = {"optimizer": {"optimizers.json": [case["optimizer"] for case in values["optimizers"]],
                           "optimizer_rules.py": list(OPTIMIZERS)},
             "schedule": {"optimizers.json or optimizer_rules.py": published_rates + list(SCHEDULES)}}
    names = {family: {where: {text.split("(")[0] for text in texts} for where, texts in lists.items()}
             for family, lists in cases.items()}
    known = [line.split("\t") for line in subprocess.check_output(["tenon-recipe-forms"], text=True).splitlines()]
    known = [(family, form.split("(")[0]) for family, works, form, _ in known if works == "1" and family in cases]
    asked = [(family, name, where) for family, name in known for where in cases[family]]
    if spoil:
        noticed = 0
        for family, name, where in asked:
            names[family][where].remove(name)
            noticed += [row for row in asked if row[1] not in names[row[0]][row[2]]] == [(family, name, where)]
            names[family][where].add(name)
        raise Wrong(f"{noticed} of {len(asked)} missing cases are noticed")
    for family, name, where in asked:
        if name not in names[family][where]:
            raise Wrong(f"{family} {name}: no case in {where}")
    print(f"{len(known)} optimizers and schedules have cases")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["published", "rules", "covered"])
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    try:
        {"published": published, "rules": rules, "covered": covered}[options.part](options.spoil)
    except Wrong as error:
        print(f"WRONG: {error}")
        return 1
    print("AGREES")
    return 0


if __name__ == "__main__":
    sys.exit(main())
