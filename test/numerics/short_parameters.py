#!/usr/bin/env python3
"""Updates of parameters that are kept in 16 bits, against the rules of optimizers.py in doubles: read, widened, computed, rounded
once.

usage: short_parameters.py bf16|f16 [--masters | --cut]

The gradient of a step is a row of a frozen table, as in optimizers.py. What a step makes of a parameter that has 16 bits is the
number of 16 bits nearest to what the rule says; where the rule's number lies so near the middle of two that f32 may round to
either (SLACK), either. The next step starts from what was stored. Some updates are less than half a last place and are lost.
  --masters  the numbers here are kept unrounded between the steps: noticed
  --cut      the numbers here are cut off instead of rounded: noticed
"""
import argparse
import math
import struct
import sys

import optimizers
from bf16 import SHORT
from optimizers import BATCH, GROUPS, LARGE, OPTIMIZERS, SCHEDULES, WIDTH, Wrong, driver, gradients_of, library, rate, same, step
from tensors import Tensor

STEPS, SLACK = 8, 2e-6  # SLACK: of the parameter and of its update, for what f32 rounds on the way
RULES = [text for text in OPTIMIZERS if "form" not in text or "v3" in text]  # the rest: optimizer_storage.py
COMPUTED = ("", ", compute = bf16", ", compute = f16, scale = fixed(1)")


def opened(settings, policy, number):
    spec = driver.specification(f"{LARGE}\ntrain Large as r {{\n{BATCH}  numerics = policy({policy})\n  {settings}\n}}\n", "rule")
    code = [driver.other_tier(), "--quick"] if number % 2 else [driver.best_tier()]
    artifact = driver.compiled(spec, "--recipe", "r", "--entry", "train", "--tier", *code)
    return library.Model(artifact, "train", {"B": 1, "T": 1})


def cut(to_short, kind):
    """Towards zero."""
    real, whole, last = ("<f", "<I", 1 << 16) if kind == "bf16" else ("<e", "<H", 1)

    def function(x):
        near = to_short(x)
        if abs(near) <= abs(x):
            return near
        bits, = struct.unpack(whole, struct.pack(real, near))
        return struct.unpack(real, struct.pack(whole, bits - last))[0]
    return function


def vectors_of(row):
    """Without the matrix: its rows would take most of the time, and show nothing more."""
    return {name: values for name, values in gradients_of(row).items() if name != "m"}


def follow(model, rule, schedule, own, rows, to_short, what, masters):
    """How many updates were lost, and how many lay in the middle."""
    values = {name: [to_short(math.cos(0.3 * k + len(name))) for k in range(WIDTH)] for name in vectors_of(rows[0])}
    for name, start in values.items():
        model.set_parameter(name, Tensor("f32", (WIDTH,), [x * (1 + 2.0 ** -13) for x in start]))  # rounded when it is set
        same(f"{what}\n{name} as it was set", model.parameter(name).values, start, lambda b: 0)
    lost = middles = 0
    for t, row in enumerate(rows):
        step(model, t, t)
        before = {name: list(numbers) for name, numbers in values.items()}
        rule.update(values, vectors_of(row), rate(schedule, t), own)
        for name, exact in values.items():
            found = model.parameter(name).values
            for k, (got, was, new) in enumerate(zip(found, before[name], exact, strict=True)):
                slack = SLACK * (abs(was) + abs(new - was))
                least, most = to_short(new - slack), to_short(new + slack)
                if not least <= got <= most:
                    raise Wrong(f"{what}\n{name}[{k}] after step {t} is {got!r}: from {was!r} the rule comes to {new!r}, "
                                f"rounded {to_short(new)!r}")
                lost += got == was != new
                middles += least < most
                if not masters:
                    exact[k] = got
    return lost, middles


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("type", choices=list(SHORT))
    parser.add_argument("--masters", action="store_true")
    parser.add_argument("--cut", action="store_true")
    options = parser.parse_args()
    to_short = SHORT[options.type][0]
    rows = [[to_short(x) for x in row] for row in optimizers.table()[:STEPS]]
    rows[optimizers.BROKEN] = rows[1]
    flat = Tensor("f32", (256, WIDTH), [x for row in rows for x in row] + [0.0] * ((256 - STEPS) * WIDTH))
    count = lost = middles = number = 0
    try:
        for text in RULES:
            for groups, own in GROUPS.items():
                schedule = list(SCHEDULES)[number % len(SCHEDULES)]
                policy = f"params = {options.type}{COMPUTED[number % len(COMPUTED)]}"
                settings = f"optimizer = {text}\n  schedule = {schedule}\n  {groups}"
                model = opened(settings, policy, number)
                model.set_parameter("table", flat)
                more = follow(model, OPTIMIZERS[text](), SCHEDULES[schedule], own, rows,
                              cut(to_short, options.type) if options.cut else to_short, f"{policy}\n{settings}",
                              options.masters)
                model.close()
                number, lost, middles = number + 1, lost + more[0], middles + more[1]
                count += STEPS * WIDTH * len(vectors_of(rows[0]))
        if not 0.01 * count < lost < 0.9 * count or middles > 0.02 * count:
            raise Wrong(f"of {count} updates {lost} were lost and {middles} lay in the middle: the test shows nothing")
    except Wrong as error:
        print(f"WRONG: {error}")
        return 1
    print(f"{number} combinations, {STEPS} steps each; of {count} updates {lost / count:.0%} are lost, {middles / count:.2%} lie "
          "in the middle")
    print("AGREES")
    return 0


sys.exit(main())
