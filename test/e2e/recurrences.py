#!/usr/bin/env python3
"""`save = blocks(steps = k)` of a recipe: recurrences that are computed again in blocks of places.

usage: recurrences.py bits|memory [--spoil]

  bits    gradients and losses of Inputs/recurrences.tn have the bits of `save = all`, in f32, bf16 and f64, where k divides the
          length, does not, is above it, and 1; of a length that the run brings
                                       --spoil: another seed of the draws, which must be noticed
  memory  in the plan of a small Mamba every place takes less with k than with `save = blocks`, which keeps its state
                                       --spoil: the recipe says no k
"""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import blocks  # noqa: E402
import driver  # noqa: E402
import tensors  # noqa: E402

B, D = 3, 8
# element, options, length, whether the specification says it, steps
CASES = [("f32", [], 19, True, [4]), ("bf16", ["--numerics", "bf16"], 12, True, [4]), ("f64", ["--f64"], 19, True, [1, 4, 32]),
         ("bf16", ["--numerics", "bf16"], 10, False, [4])]


def gradients(folder, text, case, seed):
    element, options, length, is_bound, _ = case
    count = B * length * D
    given = {"x": [0.05 * (k * 7 % 41) - 1 for k in range(count)], "t": [0.1 * (k * 3 % 17) - 0.8 for k in range(count)]}
    given = {name: tensors.Tensor("f64" if element == "f64" else "f32", [B, length, D], values) for name, values in given.items()}
    given["len"] = tensors.Tensor("i32", [B], [length, max(length - 2, 1), 1])
    path = driver.specification(text.replace("B = 3", f"B = 3, T = {length}") if is_bound else text, "recurrences")
    words = ["--recipe", "blocks", *options, "--init", "--seed", seed, "--tier", driver.best_tier()]
    return driver.gradients(folder, path, given, *words)


def bits(folder, spoil):
    with open(os.path.join(HERE, "Inputs", "recurrences.tn"), encoding="utf-8") as file:
        text = file.read()
    wrong = []
    for case in CASES[:1] if spoil else CASES:
        element, _, length, _, steps = case
        losses, expected = gradients(folder, text.replace("blocks(steps = 4)", "all"), case, 5)
        for k in steps:
            others = gradients(folder, text.replace("steps = 4", f"steps = {k}"), case, 6 if spoil else 5)
            names = [name for name in expected if expected[name].values.tobytes() != others[1][name].values.tobytes()]
            if losses != others[0] or names:
                wrong.append(f"{element}, {length} places in blocks of {k}: other bits in "
                             f"{', '.join(names[:3]) or 'the losses'}, of {len(expected)} gradients")
        if not all(any(value != 0 for value in gradient.values) for gradient in expected.values()):
            wrong.append(f"{element}: a gradient is 0 everywhere")
    return wrong


def plan(folder, text, places):
    path = os.path.join(folder, "mamba.tn")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("B = 8, T = 128", f"B = 8, T = {places}"))
    words = ("--recipe", "small", "--entry", "train", "--json")
    return json.loads(driver.tenon("inspect", path, *words))["report"][0]


def memory(folder, spoil):
    with open(driver.model("mamba.tn"), encoding="utf-8") as file:
        text = file.read()
    layers = re.sub(r"(\n +)(optimizer +=)", r"\1save = blocks\1\2", text)
    steps = layers if spoil else layers.replace("save = blocks", "save = blocks(steps = 16)")
    found = {name: [plan(folder, each, places)["workspace"] for places in (128, 256)]
             for name, each in (("all", text), ("blocks", layers), ("steps", steps))}
    state = 8 * 256 * 16 * 4  # B, I, Z: what a carry takes
    saved = (found["blocks"][1] - found["blocks"][0] - found["steps"][1] + found["steps"][0]) / 128
    wrong = []
    if not found["steps"][0] < found["blocks"][0] < found["all"][0]:
        wrong.append(f"the workspace is {found}")
    if not 0.9 * state < saved < state:
        wrong.append(f"a place takes {saved} bytes less, expected most of a state of {state}")
    return wrong


if __name__ == "__main__":
    sys.exit(blocks.run(__doc__, {"bits": bits, "memory": memory}))
