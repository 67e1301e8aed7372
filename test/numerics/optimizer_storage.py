#!/usr/bin/env python3
"""Every rule again where something around it differs: its steps are those of the plain one.

usage: optimizer_storage.py [--spoil | --upper]

For each rule, in f32 over tensors that cross tiles, three steps:
  threads     3 threads: the same bits
  short       params = bf16: parameters are those of f32, rounded once per step; both go on from there with their own moments
  halves      compute = bf16, which keeps parameters as a bf16 and a remainder: the same bits, also with accumulate
  accumulate  two batches, then one update: that of a batch whose gradient is their mean, exactly, for sums of two rows that are
              equal; with halves by code of the other tier
  frozen      freeze takes a layer of a stack and a tensor out of everything, norms too: the others are those of a run in which
              the gradients of both are 0, and the frozen ones keep their bits
--spoil: parameters of the first model start elsewhere by a millionth
--upper: after each step the remainders are thrown away
"""
import array
import functools
import math
import struct
import sys

import optimizers
from optimizers import LARGE, ROWS, WIDTH, Wrong, driver, library
from rounding import all_to_bf16
from tensors import Tensor

CLIPPED = {"sgd(lr = 0.05, momentum = 0.9)": "each(0.5)", "adamw(lr = 0.02)": "value(0.04)"}
RULES = {**{text: "" for text in optimizers.OPTIMIZERS}, **CLIPPED}
FROZEN = ("m", "blocks.1.scale")


HALVES = "numerics = policy(compute = bf16)"


@functools.cache
def beginning():
    """By name; numbers of 16 bits, so that every type has the same ones."""
    values = {name: all_to_bf16([math.cos(0.3 * k + len(name)) for k in range(size)])
              for name, size in [("p", WIDTH), ("m", ROWS * WIDTH), *((f"blocks.{d}.{part}", WIDTH) for d in range(3)
                                                                      for part in ("scale", "bias"))]}
    rows = [all_to_bf16([(0.1 + 0.1 * r) * math.sin(0.7 * k + 1.3 * r) for k in range(WIDTH)]) for r in (0, 1, 2)]
    values["table"] = array.array("f", [x for row in rows for x in row] + [0.0] * (253 * WIDTH))
    return {name: Tensor("f32", (len(each),), each) for name, each in values.items()}


def start(model, spoil=0.0):
    for name, values in beginning().items():
        if spoil and name != "table":
            values = Tensor("f32", values.shape, [x + spoil for x in values.values])
        model.set_parameter(name, values)


def values_of(model):
    return {name: array.array("f", model.parameter(name).values) for name in model.parameters() if name != "table"}


def compare(what, got, want):
    for name, values in want.items():
        if got[name].tobytes() != values.tobytes():
            k = next(k for k, (a, b) in enumerate(zip(got[name], values)) if a != b)
            raise Wrong(f"{what}: {name}[{k}] is {got[name][k]!r} instead of {values[k]!r}")


def built(text, more="", tier=None):
    """The artifact of a rule with further settings."""
    clip = f"clip = {RULES[text]}" if RULES[text] else ""
    quick = bool(more or tier)  # what is held against the plain one
    settings = f"optimizer = {text}\n  {clip}\n  {more}"
    return optimizers.artifact(LARGE, "Large", settings, tier or driver.best_tier(), "f32", quick)


def upper(x):
    """The upper half alone: to the nearest, ties away from zero."""
    bits, = struct.unpack("<I", struct.pack("<f", x))
    return struct.unpack("<f", struct.pack("<I", (bits + 0x8000) & 0xFFFF0000))[0]


def opened(path, threads=1):
    return library.Model(path, "train", {"B": 1, "T": 1}, threads=threads)


def check(text, spoil, drops):
    plain = built(text)
    ours, halves = opened(plain), opened(built(text, HALVES), threads=2)
    models = {"3 threads": opened(plain, 3), "two halves": halves}
    both = opened(built(text, f"accumulate = 2\n  {HALVES}", tier=driver.other_tier()))
    twice = opened(built(text, "accumulate = 2"))
    narrow = opened(built(text, "numerics = policy(params = bf16)"))
    rounded = opened(plain)
    for model in (*models.values(), twice, both, narrow, rounded):
        start(model)
    start(ours, 1e-6 if spoil else 0.0)
    for t in range(3):
        optimizers.step(ours, t, t)
        want = values_of(ours)
        for what, model in models.items():
            optimizers.step(model, t, t)
            compare(f"{text}, {what}, step {t}", values_of(model), want)
        for what, model in (("accumulate", twice), ("accumulate in two halves", both)):
            for half in (0, 1):
                optimizers.step(model, 2 * t + half, t)
            compare(f"{text}, {what}, step {t}", values_of(model), want)
        if drops:
            for name, values in want.items():
                halves.set_parameter(name, Tensor("f32", (len(values),), [upper(x) for x in values]))
        optimizers.step(narrow, t, t)
        optimizers.step(rounded, t, t)
        want = {name: all_to_bf16(values) for name, values in values_of(rounded).items()}
        compare(f"{text}, params = bf16, step {t}", values_of(narrow), want)
        for name, values in want.items():
            rounded.set_parameter(name, Tensor("f32", (len(values),), values))
    for model in (ours, twice, both, narrow, rounded, *models.values()):
        model.close()


def frozen(text):
    names = ", ".join(f'"{name}"' for name in FROZEN)
    without = opened(built(text, f"freeze = ({names})"))
    still = opened(built(text, f"groups = (group({names}, gradient = 0, lr = 0))"))
    start(without)
    start(still)
    before = values_of(without)
    for t in range(3):
        optimizers.step(without, t, t)
        optimizers.step(still, t, t)
        got, want = values_of(without), values_of(still)
        compare(f"{text}, frozen, step {t}", {name: got[name] for name in FROZEN}, {name: before[name] for name in FROZEN})
        compare(f"{text}, the others, step {t}", got, {name: want[name] for name in want if name not in FROZEN})
        if any(got[name] == before[name] for name in got if name not in FROZEN):
            raise Wrong(f"{text}: step {t} leaves a tensor as it is")
    without.close()
    still.close()


def main():
    spoil, drops = "--spoil" in sys.argv, "--upper" in sys.argv
    try:
        for text in RULES:
            check(text, spoil, drops)
            frozen(text)
    except Wrong as error:
        print(f"WRONG: {error}")
        return 1
    print(f"{len(RULES)} rules\nAGREES")
    return 0


if __name__ == "__main__":
    sys.exit(main())
