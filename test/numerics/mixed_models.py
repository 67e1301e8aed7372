#!/usr/bin/env python3
"""Gradients of whole models in bf16 or f16 against those in f32, and of some those of every tier of the machine against one
another.

usage: mixed_models.py MODEL CASE [--numerics f16] [--spoil]

MODEL and CASE are lines of CASES in fused/fused_models.py, which also makes the inputs: odd sizes, dropout, two steps, so
that the second has a memory. All gradients together differ from those of f32 by at most MOST in relative L2, and by at least
LEAST: else nothing was rounded (f16: an eighth of both, which has three bits more). Between tiers each tensor of the models of
ALIKE differs by at most TIERS; one that is 0 by its formula, such as the gradient of a key's bias, is measured by the largest.
Weights are small, so that rounding is not magnified.
--spoil compares with another seed of dropout, which has to be noticed.
"""
import argparse
import math
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "fused"))
import fused_models as models  # noqa: E402
from fused_models import driver  # noqa: E402

MOST, LEAST, TIERS = 2e-2, 1e-3, 1e-2  # found: 2e-3 to 1e-2, the most with ReLUs
LENGTHS = (17, 67)
# Compiled for every tier, in bf16 with care for the widest. What else attention may have lowering/cpu/ compares in 16 bits on
# every tier, kernel by kernel.
ALIKE = ("bert", "gpt2", "transformer_xl", "xlnet")


def norm(*tensors):
    """Of the tensors together, or of differences of two of them."""
    return math.sqrt(math.fsum(x * x for values in tensors for x in values))


def apart(left, right):
    """Per gradient."""
    return {name: [a - b for a, b in zip(left[name].values, right[name].values, strict=True)] for name in right
            if ", step" in name}


def check(kind, value, low, high):
    good = low <= value <= high
    print(f"{'ok' if good else 'WRONG'}: {kind}: {value:.2e}")
    return not good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("case")
    parser.add_argument("--numerics", choices=["bf16", "f16"], default="bf16")
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    sets, lengths = models.CASES[options.model, options.case]
    models.WEIGHT = 0.1
    short, finer = options.numerics, 1 if options.numerics == "bf16" else 8
    tiers, wrong = driver.tiers.of_bf16() if short == "bf16" else driver.tiers.runnable(), 0
    with tempfile.TemporaryDirectory() as folder:
        def artifact(numerics, tier):
            quick = [] if (numerics, tier) == ("bf16", tiers[0]) and options.model in ALIKE else ["--quick"]  # the same bits
            return driver.compiled(models.specification(folder, options.model), "--recipe", "whole", "--grad", "--numerics",
                                   numerics, "--tier", tier, *quick, *driver.settings(models.COMMON | sets))
        for length in [length for length in lengths if length in LENGTHS]:
            draw = random.Random(length)
            given = [models.inputs(options.model, length, draw) for _ in range(2)]

            def results(numerics, tier, seed=1):
                return models.results(artifact(numerics, tier), tier, "f32", length, given, seed)
            exact, found = results("f32", driver.best_tier(), 2 if options.spoil else 1), results(short, tiers[0])
            what = f"{options.model} {options.case}, length {length}"
            wanted = [value.values for name, value in exact.items() if ", step" in name]
            wrong += check(f"{what}, {short} and f32", norm(*apart(found, exact).values()) / norm(*wanted), LEAST / finer,
                           MOST / finer)
            if options.spoil or length != max(LENGTHS) or options.model not in ALIKE:
                continue
            for tier in tiers[1:]:
                other = results(short, tier)
                largest = max(norm(found[name].values) for name in apart(found, other))
                far = max(norm(values) / max(norm(found[name].values), 1e-2 * largest)
                          for name, values in apart(other, found).items())
                wrong += check(f"{what}, {tiers[0]} and {tier}", far, 0, TIERS)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
