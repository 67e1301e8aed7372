#!/usr/bin/env python3
"""`save = blocks` of a recipe: what is computed again is what was computed.

usage: blocks.py bits|memory [--spoil]

  bits    gradients and losses of specs/blocks.tn have the bits of `save = all`, in f32, bf16 and f64
          --spoil: another seed of the draws, which must be noticed
  memory  the plan of the small GPT-2 takes less, what it says of `save = all` is the plan of that, and a layer more costs one
          carry                        --spoil: the recipe saves all
"""
import argparse
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402

B, T, D = 3, 19, 12


def bits(folder, spoil):
    count = B * T * D
    inputs = {"x": [0.05 * (k * 7 % 41) - 1 for k in range(count)], "t": [0.1 * (k * 3 % 17) - 0.8 for k in range(count)]}
    wrong = []
    for element, options in (("f32", []), ("bf16", ["--numerics", "bf16"]), ("f64", ["--f64"])):
        given = {name: tensors.Tensor("f64" if element == "f64" else "f32", [B, T, D], values)
                 for name, values in inputs.items()}
        for shift, name in enumerate(("ids", "target")):
            given[name] = tensors.Tensor("i32", [B, T], [(k * 5 + shift) % 8 for k in range(B * T)])
        found = []
        for recipe in ("all", "blocks"):
            seed = 6 if spoil and recipe == "blocks" else 5
            weights = ["--init", "--seed", seed]
            found.append(driver.gradients(folder, os.path.join(HERE, "specs", "blocks.tn"), given, "--recipe", recipe, *options,
                                          *weights, "--tier", driver.best_tier()))
        (losses, gradients), (other, others) = found
        names = [name for name in gradients if gradients[name].values.tobytes() != others[name].values.tobytes()]
        if losses != other or names:
            wrong.append(f"{element}: other bits in {', '.join(names[:3]) or 'the losses'}, of {len(gradients)} gradients")
        if not all(any(value != 0 for value in gradient.values) for gradient in gradients.values()):
            wrong.append(f"{element}: a gradient is 0 everywhere")
    return wrong


def plan(folder, text, layers):
    path = os.path.join(folder, "gpt2.tn")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    words = ("--recipe", "small", "--entry", "train", "--set", f"N={layers}", "--json")
    return json.loads(driver.tenon("inspect", path, *words))["report"][0]


def memory(folder, spoil):
    with open(driver.model("gpt2.tn"), encoding="utf-8") as file:
        text = file.read()
    blocks = text if spoil else re.sub(r"(\n +)(optimizer +=)", r"\1save = blocks\1\2", text)
    every, saving, deeper = plan(folder, text, 4), plan(folder, blocks, 4), plan(folder, blocks, 5)
    carry = 8 * 128 * 256 * 4  # B, T, D of the recipe
    wrong = []
    if not saving["workspace"] < every["workspace"] / 2:
        wrong.append(f"the workspace is {saving['workspace']} bytes, with all {every['workspace']}")
    if saving.get("workspace_saving_all") != every["workspace"]:
        wrong.append(f"it says {saving.get('workspace_saving_all')} bytes of `save = all`, which takes {every['workspace']}")
    if deeper["workspace"] - saving["workspace"] != carry:
        wrong.append(f"a layer more takes {deeper['workspace'] - saving['workspace']} bytes, expected a carry of {carry}")
    if "workspace_saving_all" in every:
        wrong.append("a recipe without `save` speaks of it")
    return wrong


def run(description, checks):
    """A command that makes one of the checks, each of which is given a folder and whether to spoil, and gives what is wrong."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(checks))
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = checks[options.what](folder, options.spoil)
    for text in wrong:
        print("WRONG:", text)
    if not wrong:
        print(f"{options.what}: what is computed again is what was computed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, {"bits": bits, "memory": memory}))
