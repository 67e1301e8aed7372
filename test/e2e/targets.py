#!/usr/bin/env python3
"""Encoder-decoders, whose targets are read symbol by symbol.

usage: targets.py halting|convolved|t5 [--spoil]; targets.py --sources FOLDER

Entry `step`, one symbol a call, against entry `infer` on the whole target, in f64 and bit for bit. halting: the Universal
Transformer, whose places halt after rounds of their own, and after different numbers of them; a place that halted has keys for
the rounds that later places still run. convolved: the same with separable convolutions, whose last places are kept in each round.
--sources writes rows to go out from. --spoil gives the walk another first element of one parameter, which must be noticed.
"""
import argparse
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
from library import Model  # noqa: E402
from tensors import Tensor, save_npy, tensor  # noqa: E402

ROWS, SOURCE, LENGTH, V = 2, 5, 8, 32
UNIVERSAL = {"V": V, "D": 16, "F": 24, "H": 2, "A": 6, "rate": "0.0"}
# specification, sizes, the parameter that --spoil changes
CASES = {
    "halting": ("universal_transformer.tn", UNIVERSAL, "decoder.halting.bias"),
    "convolved": ("universal_transformer.tn", UNIVERSAL | {"transition": '"sepconv"'}, "decoder.feed.conv2.taps"),
    "t5": ("t5.tn", {"V": V, "D": 16, "F": 24, "H": 2, "E": 8, "N": 2, "rate": "0.0"}, "near_tgt"),
}


class Wrong(Exception):
    pass


def fill(model, spoilt):
    draw = random.Random(1)
    for name in model.parameters():
        now = model.parameter(name)
        if name.endswith("halting.bias"):
            values = [-2.0]
        elif name.endswith("halting.w"):
            values = [draw.gauss(0, 1) for _ in now.values]
        else:
            scales = re.search(r"norm\w*\.weight$|\.n\d\.weight$", name)
            values = [1.0 if scales else draw.gauss(0, 0.4) for _ in now.values]
        values[0] += 1 if name == spoilt else 0
        model.set_parameter(name, Tensor(now.kind, now.shape, values))


def sources(draw):
    return {"src": tensor("i32", [[draw.randrange(V) for _ in range(SOURCE)] for _ in range(ROWS)]),
            "src_len": tensor("i32", [SOURCE, 3])}


def check(case, spoil):
    spec, sizes, parameter = CASES[case]
    artifact = driver.compiled(driver.model(spec), "--no-recipe", "--quick", "--f64", "--tier", driver.best_tier(),
                               *driver.settings(sizes))
    draw = random.Random(2)
    given = sources(draw)
    target = [[draw.randrange(V) for _ in range(LENGTH)] for _ in range(ROWS)]

    def opened(entry, spoilt=None, **dims):
        model = Model(artifact, entry, {"B": ROWS, "S": SOURCE, **dims})
        fill(model, spoilt)
        for name, value in given.items():
            model.set_input(name, value)
        return model

    rounds = set(opened("encode").run()["ns"].values) if "A" in sizes else {}
    if "A" in sizes and len(rounds) < 2:
        raise Wrong(f"places halt after {rounds} rounds")
    whole = opened("infer", T=LENGTH)
    whole.set_input("tgt", tensor("i32", target))
    want = whole.run()["logits"]
    walk = opened("step", parameter if spoil else None, T=1, T_capacity=LENGTH)
    for place in range(LENGTH):
        walk.set_input("tgt", tensor("i32", [[row[place]] for row in target]))
        got = walk.run()["logits"]
        for row in range(ROWS):
            if list(got.row(row, 0)) != list(want.row(row, place)):
                raise Wrong(f"row {row}, place {place}: step and infer differ")
    halts = f"; places halt after {min(rounds):.0f} to {max(rounds):.0f} rounds" if rounds else ""
    print(f"{LENGTH} symbols of {ROWS} texts{halts}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=sorted(CASES), nargs="?")
    parser.add_argument("--spoil", action="store_true")
    parser.add_argument("--sources", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.sources:
        for name, value in sources(random.Random(2)).items():
            save_npy(os.path.join(arguments.sources, name + ".npy"), value)
        return
    try:
        check(arguments.case, arguments.spoil)
    except Wrong as wrong:
        print(f"WRONG: {wrong}")
        sys.exit(1)


main()
