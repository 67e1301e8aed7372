#!/usr/bin/env python3
"""Whole numbers divided by data that may be 0, or -1: division.py [--spoil]

`a div b` rounds down, `a mod b` is what is left; by 0 these are 0 and a (docs/language.md), and no process ends by it. On each
tier of this machine, over more numbers than a vector has lanes. --spoil: expects that by 0 nothing is done."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402
import tiers  # noqa: E402

SPEC = """model Division {
  dim  N
  in   a: i32[N], b: i32[N]
  let  quotient = a div b
  let  rest = a mod b
  out  divided = quotient
  out  left = rest
}
"""
SMALLEST = -2**31


def wrapped(number):
    return (number - SMALLEST) % 2**32 + SMALLEST


def expected(a, b, spoil):
    quotient = wrapped(a // b) if b else a if spoil else 0
    return quotient, wrapped(a - b * quotient)


def main(spoil):
    pairs = [(a, b) for a in (0, 1, 7, -7, -SMALLEST - 1, SMALLEST, SMALLEST + 1) for b in (0, 1, -1, 2, -3, SMALLEST)]
    inputs = {name: tensors.Tensor("i32", [len(pairs)], values) for name, values in zip("ab", zip(*pairs))}
    artifact = driver.compiled(driver.specification(SPEC, "division"), "--quick")
    wrong = 0
    for tier in tiers.runnable():
        with tempfile.TemporaryDirectory() as folder:
            found = [driver.run(folder, artifact, inputs, [name], "--entry", entry, "--tier", tier)[name].values
                     for entry, name in (("divided", "quotient"), ("left", "rest"))]
        for (a, b), *own in zip(pairs, *found):
            if tuple(own) != expected(a, b, spoil):
                print(f"WRONG: {tier}: {a} by {b}: {own[0]} and {own[1]}, expected {expected(a, b, spoil)}")
                wrong += 1
        print(f"{tier}: {len(found[0])} pairs")
    return 1 if wrong else 0


sys.exit(main("--spoil" in sys.argv[1:]))
