#!/usr/bin/env python3
"""Going back in an entry that keeps what its last place left: to the beginning of a text it may, to other places it may not.

usage: last_place.py SPEC [--spoil]

A text is fed place by place, another one after going back to 0, and both are compared with entry `infer`. --spoil goes back by
setting `step.position` by hand to a place in the middle, which is not what these states are of: the check has to see it.
"""
import argparse
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
from library import Model, Refused  # noqa: E402
from tensors import Tensor, tensor  # noqa: E402

V, D, ROWS, SOURCE, LENGTH = 13, 12, 2, 5, 7


class Wrong(Exception):
    pass


def compare(got, want, place, what):
    for row in range(ROWS):
        for a, b in zip(got.row(row, 0), want.row(row, place)):
            if not abs(a - b) <= 1e-12 * max(1.0, abs(b)):
                raise Wrong(f"{what}, row {row}, place {place}: {a} instead of {b}")


def feed(step, target, place, sources):
    for name, value in sources.items():
        step.set_input(name, value)
    step.set_input("tgt", tensor("i32", [[row[place]] for row in target]))
    return step.run()["logits"]


def refused(step, count):
    try:
        step.rewind(count)
    except Refused as error:
        if f"left; it can go back to 0, not to {count}" not in str(error):
            raise Wrong(str(error)) from error
    else:
        raise Wrong(f"it went back to {count}")


def check(artifact, spoil):
    draw = random.Random(5)
    whole = Model(artifact, "infer", {"B": ROWS, "S": SOURCE, "T": LENGTH})
    step = Model(artifact, "step", {"B": ROWS, "S": SOURCE, "T": 1, "T_capacity": LENGTH})
    for text in range(2):
        target = [[draw.randrange(V) for _ in range(LENGTH)] for _ in range(ROWS)]
        sources = {"src": tensor("i32", [[draw.randrange(V) for _ in range(SOURCE)] for _ in range(ROWS)]),
                   "src_len": tensor("i32", [draw.randint(1, SOURCE) for _ in range(ROWS)]),
                   "loud": tensor("bool", [draw.randrange(2) for _ in range(ROWS)]),
                   "shift": Tensor("f64", (ROWS, D), [draw.gauss(0, 1) for _ in range(ROWS * D)])}
        for name, value in {**sources, "tgt": tensor("i32", target)}.items():
            whole.set_input(name, value)
        want = whole.run()["logits"]
        for place in range(LENGTH):
            compare(feed(step, target, place, sources if place == 0 else {}), want, place, f"text {text}")
        for count in (1, LENGTH - 1):
            refused(step, count)
        step.rewind(LENGTH)  # where it is
        if spoil:
            step.set_state("step.position", Tensor("i32", (), [3]))
            compare(feed(step, target, 3, {}), want, 3, "gone back by hand")
        step.rewind(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spec")
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    try:
        check(driver.compiled(options.spec, "--tier", driver.best_tier(), "--f64", "--quick"), options.spoil)
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
    print("to the beginning, and nowhere else")


if __name__ == "__main__":
    main()
