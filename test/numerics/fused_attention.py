#!/usr/bin/env python3
"""Gradients of a model with fused attention against those of the decomposed one: every parameter, without dropout (fused/ has
recipes, and with them dropout).

usage: fused_attention.py MODEL LENGTH WIDTH [--against FORM] [--f64] [--tier TIER] [--set NAME=VALUE] [--spoil]

FORM is `decomposed` (taken apart before differentiation) or `simple-kernels` (the gradient, too, is an op that is taken apart).

MODEL is gpt2, bert, transformer_xl or xlnet. Transformer-XL and XLNet have LENGTH positions and 5 more in the memory.

--spoil gives one side another seed (other weights), which has to be noticed.
"""
import argparse
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
from tensors import Tensor, tensor  # noqa: E402


def ids(draw, limit, *shape):
    """Random indices below the limit."""
    if len(shape) == 1:
        return [draw.randrange(limit) for _ in range(shape[0])]
    return [ids(draw, limit, *shape[1:]) for _ in range(shape[0])]


def gpt2(length, width, draw):
    return {"V": 97, "D": 2 * width, "E": width, "F": 40, "N": 2,
            "L": max(8, length)}, {"ids": tensor("i32", ids(draw, 97, 2, length))}


def bert(length, width, draw):
    sizes = {"V": 97, "D": 2 * width, "E": width, "F": 40, "N": 2, "L": max(8, length)}
    given = {"ids": ids(draw, 97, 2, length), "seg": ids(draw, 2, 2, length), "len": [length, max(1, length - 3)],
             "at": ids(draw, length, 2, 3), "word": ids(draw, 97, 2, 3), "follows": ids(draw, 2, 2)}
    return sizes, {name: tensor("i32", value)
                   for name, value in given.items()} | {"weight": tensor("f64", [[1.0, 0.5, 0.0], [1.0, 1.0, 0.25]])}


def transformer_xl(length, width, draw):
    sizes = {"V": 97, "D": 2 * width, "H": 2, "F": 40, "N": 2, "M": 5}
    return sizes, {name: tensor("i32", ids(draw, 97, 2, length)) for name in ("ids", "target")}


def xlnet(length, width, draw):
    """Two rows in different orders, one of them reversed, both with some given tokens."""
    sizes = {"V": 97, "D": 2 * width, "H": 2, "F": 40, "N": 2, "M": 5, "R": 3, "known": 2}
    rank = [[-1 if place % 3 == 0 else place for place in range(length)] for _ in range(2)]
    for row in rank:
        draw.shuffle(row)
    given = {"ids": ids(draw, 97, 2, length), "seg": ids(draw, 3, 2, length), "rank": rank, "at": ids(draw, length, 2, 4),
             "word": ids(draw, 97, 2, 4)}
    inputs = {name: tensor("i32", value) for name, value in given.items()}
    inputs["back"] = tensor("bool", [False, True])
    inputs["weight"] = tensor("f64", [[1.0, 0.5, 1.0, 0.0], [1.0, 1.0, 0.25, 1.0]])
    return sizes, inputs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=["gpt2", "bert", "transformer_xl", "xlnet"])
    parser.add_argument("length", type=int)
    parser.add_argument("width", type=int)
    parser.add_argument("--against", choices=["decomposed", "simple-kernels"], default="decomposed")
    parser.add_argument("--f64", action="store_true")
    parser.add_argument("--tier")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--spoil", action="store_true")
    given = parser.parse_args()
    sets, inputs = globals()[given.model](given.length, given.width, random.Random(3))
    if not given.f64 and "weight" in inputs:
        inputs["weight"] = Tensor("f32", inputs["weight"].shape, inputs["weight"].values)
    tier = given.tier or driver.best_tier()
    words = ["--grad", *(["--f64"] if given.f64 else []), *driver.settings(sets),
             *[word for pair in given.set for word in ("--set", pair)]]
    if given.model == "xlnet":  # of its losses that of pre-training
        words += ["--recipe", "small", "--bind", "B=2", "--bind", f"T={given.length}", "--bind", "K=4"]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for form in ([], [f"--{given.against}"]):
            chosen = driver.reference_tier() if "--decomposed" in form else tier
            quick = ["--quick"] if form or given.f64 else []
            artifact = driver.compiled(driver.model(given.model + ".tn"), *words, *form, *quick, "--tier", chosen)
            seed = ["--seed", 2 if given.spoil and form else 1]
            results.append(driver.gradients(folder, artifact, inputs, "--init", *seed, "--tier", chosen)[1])
    fused, decomposed = results
    bound = 1e-12 if given.f64 else 1e-5
    worst, where = 0.0, ""
    for name, want in decomposed.items():
        largest = max(1e-3, max(abs(x) for x in want.values))
        error = max(abs(a - b) if a == a else float("inf") for a, b in zip(fused[name].values, want.values)) / largest
        if error > worst:
            worst, where = error, name
    print(f"{'ok' if worst <= bound else 'WRONG'}: {len(decomposed)} tensors, worst difference {worst:.2e} of the largest value, "
          f"at {where}")
    return 0 if worst <= bound else 1


sys.exit(main())
