#!/usr/bin/env python3
"""Universal Transformer, whose places halt after rounds of their own, symbol by symbol.

usage: halting.py [--spoil] [--transition sepconv]

Entry `step`, one symbol a call, against entry `infer` on the whole target, in f64 and bit for bit: a place that halted has keys
for the rounds that later places still run, and with --transition sepconv the last places of both convolutions. Places must halt
after different numbers of rounds. --spoil gives the walk another halting bias, which must be noticed.
"""
import argparse
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
from library import Model  # noqa: E402
from tensors import Tensor, tensor  # noqa: E402

ROWS, SOURCE, LENGTH, V = 2, 5, 8, 32
SIZES = {"V": V, "D": 16, "F": 24, "H": 2, "A": 6, "rate": "0.0"}


class Wrong(Exception):
    pass


def fill(model, bias):
    draw = random.Random(1)
    for name in model.parameters():
        now = model.parameter(name)
        if name.endswith("halting.bias"):
            values = [bias]
        elif name.endswith("halting.w"):
            values = [draw.gauss(0, 1) for _ in now.values]
        else:
            scales = name.endswith(("norm.weight", ".n1.weight", ".n2.weight", ".n3.weight"))
            values = [1.0 if scales else draw.gauss(0, 0.4) for _ in now.values]
        model.set_parameter(name, Tensor(now.kind, now.shape, values))


def check(transition, spoil):
    artifact = driver.compiled(driver.model("universal_transformer.tn"), "--no-recipe", "--quick", "--f64", "--tier",
                               driver.best_tier(), *driver.settings(SIZES | {"transition": f'"{transition}"'}))
    draw = random.Random(2)
    sources = {"src": tensor("i32", [[draw.randrange(V) for _ in range(SOURCE)] for _ in range(ROWS)]),
               "src_len": tensor("i32", [SOURCE, 3])}
    target = [[draw.randrange(V) for _ in range(LENGTH)] for _ in range(ROWS)]

    def opened(entry, bias=-2.0, **dims):
        model = Model(artifact, entry, {"B": ROWS, "S": SOURCE, **dims})
        fill(model, bias)
        for name, value in sources.items():
            model.set_input(name, value)
        return model

    rounds = set(opened("encode").run()["ns"].values)
    if len(rounds) < 2:
        raise Wrong(f"places halt after {rounds} rounds")
    whole = opened("infer", T=LENGTH)
    whole.set_input("tgt", tensor("i32", target))
    want = whole.run()["logits"]
    walk = opened("step", 1.0 if spoil else -2.0, T=1, T_capacity=LENGTH)
    for place in range(LENGTH):
        walk.set_input("tgt", tensor("i32", [[row[place]] for row in target]))
        got = walk.run()["logits"]
        for row in range(ROWS):
            if list(got.row(row, 0)) != list(want.row(row, place)):
                raise Wrong(f"row {row}, place {place}: step and infer differ")
    print(f"{LENGTH} symbols of {ROWS} texts; places halt after {min(rounds):.0f} to {max(rounds):.0f} rounds")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--spoil", action="store_true")
    parser.add_argument("--transition", choices=("fc", "sepconv"), default="fc")
    arguments = parser.parse_args()
    try:
        check(arguments.transition, arguments.spoil)
    except Wrong as wrong:
        print(f"WRONG: {wrong}")
        sys.exit(1)


main()
