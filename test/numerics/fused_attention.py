#!/usr/bin/env python3
"""Gradients of a model with fused attention against those of the decomposed one: every parameter, dropout included.

usage: fused_attention.py LENGTH WIDTH RATE [--f64] [--tier TIER] [--spoil]

--spoil gives one side another seed (weights and dropout), which has to be noticed.
"""
import argparse
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
from tensors import tensor  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("length", type=int)
    parser.add_argument("width", type=int)
    parser.add_argument("rate", type=float)
    parser.add_argument("--f64", action="store_true")
    parser.add_argument("--tier")
    parser.add_argument("--spoil", action="store_true")
    given = parser.parse_args()
    sets = {"V": 97, "D": 2 * given.width, "E": given.width, "F": 40, "N": 2, "L": max(8, given.length), "rate": given.rate}
    draw = random.Random(3)
    ids = {"ids": tensor("i32", [[draw.randrange(97) for _ in range(given.length)] for _ in range(2)])}
    tier = ["--tier", given.tier] if given.tier else []
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for form in ([], ["--decomposed"]):
            artifact = os.path.join(folder, "artifact" + "".join(form))
            driver.tenon("compile", driver.model("gpt2.tn"), "--grad", *form, *(["--f64"] if given.f64 else []), *driver.settings(sets), "-o", artifact)
            seed = ["--seed", 2 if given.spoil and form else 1]
            results.append(driver.gradients(folder, artifact, ids, "--init", *seed, *tier)[1])
    fused, decomposed = results
    bound = 1e-12 if given.f64 else 1e-5
    worst, where = 0.0, ""
    for name, want in decomposed.items():
        largest = max(1e-3, max(abs(x) for x in want.values))
        error = max(abs(a - b) if a == a else float("inf") for a, b in zip(fused[name].values, want.values)) / largest
        if error > worst:
            worst, where = error, name
    print(f"{'ok' if worst <= bound else 'WRONG'}: {len(decomposed)} tensors, worst difference {worst:.2e} of the largest value, at {where}")
    return 0 if worst <= bound else 1


sys.exit(main())
