#!/usr/bin/env python3
"""`out step(T)`: fed in windows with the states of the last call, an entry gives what the entry that sees everything gives.

usage: step.py SPEC CASE [--spoil KIND]

The cases of a spec (CASES below) say sizes and inputs. For f64 and f32 (`typed`, `short`: f32 and bf16), windows of 1, 3 and 17
and mixed ones, every place of every row is compared with entry `infer` on the whole; each row of the batch is also walked
alone. Where a state holds what the last place left, a text begun anew at position 0 on another text's states is compared, too.
--spoil must be noticed:
  position   the count of kept places is set one too low before the last window
  rows       the rows of the batch are swapped between two windows
  carry, window  this state of the last place is 0 before the last window
"""
import argparse
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
from tensors import Tensor, load_safetensors, save_npy, tensor  # noqa: E402

ROWS, LENGTH = 3, 23
BOUNDS = {"f64": 1e-12, "f32": 2e-5, "bf16": 2e-5}  # of the largest value; the roundings of bf16 are the same
WINDOWS = ([1] * LENGTH, [3] * 7 + [2], [17, 6], [17, 1, 1, 3, 1])
# name: sizes, further options of `tenon compile`
CASES = {
    "gpt2": ({"V": 13, "D": 24, "E": 8, "F": 20, "L": 32, "N": 3}, []),
    "open": ({}, []),                      # T has no bound: the call says how much room there is
    "bound": ({}, ["--bind", "T=29"]),
    "typed": ({}, []),
    "short": ({}, []),
    "recurrent": ({}, []),
    "rounds": ({}, []),
    "states": ({}, []),
    "lstm": ({"V": 13, "C": 20, "N": 3}, []),
    "rnn": ({"V": 13, "C": 20, "N": 3}, []),
    "gru": ({"V": 13, "C": 20, "N": 3}, []),
    "mamba": ({"V": 13, "D": 24, "Z": 5, "R": 3, "N": 3}, []),
}
TYPED = ("typed", "short")
OPEN = ("open", "recurrent", "rounds", "states", "lstm", "rnn", "gru", "mamba")


class Wrong(Exception):
    pass


def compiled(spec, case, dtype, entry):
    sets, options = CASES[case]
    words = options if entry != "infer" else []
    numerics = ["--f64"] if dtype == "f64" else ["--numerics", dtype]
    return driver.compiled(spec, *driver.settings(sets), *words, "--entry", entry, *numerics, "--tier", driver.best_tier(),
                           *(["--quick"] if entry == "infer" or dtype == "f64" else []))


def call(folder, artifact, inputs, start, *options, saves=True):
    """Outputs as one tensor; the states go from file `start` (None: the initial ones) to `states.safetensors`."""
    states = os.path.join(folder, "states.safetensors")
    words = ["--init", "--seed", "1", *(["--states", start] if start else []), *options]
    if saves:
        words += ["--save-states", states]
    return driver.run(folder, artifact, inputs, ["logits"], *words)["logits"]


def part(inputs, rows, low, high):
    return {name: Tensor(x.kind, (len(rows), high - low), [v for row in rows for v in x.row(row)[low:high]])
            for name, x in inputs.items()}


def compare(got, want, rows, low, high, dtype, what):
    bound = BOUNDS[dtype] * max(1.0, max(abs(x) for x in want.values))
    for k, row in enumerate(rows):
        for place in range(low, high):
            for a, b in zip(got.row(k, place - low), want.row(row, place)):
                if not abs(a - b) <= bound:
                    raise Wrong(f"{what}, {dtype}, row {row}, place {place}: {a} instead of {b}")


def walk(folder, step, case, inputs, want, rows, windows, dtype, spoil):
    at, start = 0, None
    extra = ["--bind", f"T_capacity={LENGTH + 5}"] if case in OPEN else []
    for number, count in enumerate(windows):
        options = list(extra)
        if spoil == "position" and number + 1 == len(windows):
            options += state(folder, "step.position", Tensor("i32", (), [at - 1]))
        if spoil in ("carry", "window") and number + 1 == len(windows):
            options += forgotten(folder, start, spoil)
        order = rows[::-1] if spoil == "rows" and number > 0 else rows
        got = call(folder, step, part(inputs, order, at, at + count), start, *options)
        compare(got, want, order, at, at + count, dtype, f"windows {windows[:number + 1]}")
        at, start = at + count, os.path.join(folder, "states.safetensors")
    kept = load_safetensors(start)["step.position"].values[0]
    if kept != at:
        raise Wrong(f"{kept} places are counted instead of {at}")
    if case in OPEN[1:]:  # another text, with what this one left
        got = call(folder, step, part(inputs, rows, 0, 3), start, *state(folder, "step.position", Tensor("i32", (), [0])), *extra)
        compare(got, want, rows, 0, 3, dtype, "the text after another one")


def state(folder, name, value):
    path = os.path.join(folder, "state.npy")
    save_npy(path, value)
    return ["--state", f"{name}=@{path}"]


def forgotten(folder, start, role):
    for name, value in load_safetensors(start).items():
        if name.startswith("step.") and role in name.split("."):
            return state(folder, name, Tensor(value.kind, value.shape, [0] * len(value.values)))
    raise Wrong(f"no state is a {role}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spec")
    parser.add_argument("case", choices=sorted(CASES))
    parser.add_argument("--spoil", choices=["position", "rows", "carry", "window"])
    options = parser.parse_args()
    draw = random.Random(7)
    symbols = CASES[options.case][0].get("V", 13)
    inputs = {"ids": tensor("i32", [[draw.randrange(symbols) for _ in range(LENGTH)] for _ in range(ROWS)])}
    with tempfile.TemporaryDirectory() as folder:
        for dtype in ("f32", "bf16") if options.case in TYPED else ("f64", "f32"):
            whole, step = (compiled(options.spec, options.case, dtype, entry) for entry in ("infer", "step"))
            want = call(folder, whole, inputs, None, saves=False)
            for windows in WINDOWS:
                walk(folder, step, options.case, inputs, want, list(range(ROWS)), windows, dtype, options.spoil)
            for row in range(ROWS):
                walk(folder, step, options.case, inputs, want, [row], WINDOWS[2], dtype, None)
    print(f"{options.case}: every place agrees")


if __name__ == "__main__":
    try:
        main()
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
