#!/usr/bin/env python3
"""A training step in its two halves, gradients and update, is the whole step to the bit, and gradients are ready when they are
said to be.

usage: halves.py CASE [--spoil KIND]

Over the C interface, in f32, f64 and mixed precision, some steps of a small model (CASES below):
  the same inputs into `tn_context_run` and into `tn_context_run_gradients`, then `tn_context_run_update`: the same parameters,
  moments, losses, norms and states the gradients taken out after one half, the arena filled with other numbers, and put back
  before the other half: the same each gradient is in one group; when a group is said to be ready, its gradients are what they are
  in the end, and those of the next group are not

--spoil, each of which must be noticed:
  gradient   one gradient is changed between the halves
  order      gradients are looked at one group too early
"""
import argparse
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
from tensors import Tensor  # noqa: E402

STEPS = 4
# name: specification, recipe, sizes, sizes of the batch
CASES = {
    "gpt2": (driver.model("gpt2.tn"), "small", {"V": 97, "D": 72, "E": 24, "F": 100, "L": 40, "N": 3, "rate": 0.1},
             {"B": 3, "T": 17}),
    "transformer_xl": (driver.model("transformer_xl.tn"), "small",
                       {"V": 97, "D": 72, "H": 3, "F": 100, "M": 7, "N": 2, "rate": 0.1},
                       {"B": 3, "T": 17}),
    "accumulate": (os.path.join(HERE, "Inputs", "unigram.tn"), "adam", {}, {}),
}


class Wrong(Exception):
    pass


def random_inputs(model, draw, below):
    """One batch for every input: whole numbers below `below`."""
    return {name: Tensor("i32", tuple(info.shape[:info.rank]), [draw.randrange(below) for _ in range(info.bytes // 4)])
            for name, (_, info) in model.inputs().items()}


def same(what, ours, theirs):
    for name in theirs:
        if bytes(memoryview(ours[name].values)) != bytes(memoryview(theirs[name].values)):
            raise Wrong(f"{what}: other bits in {name}")


def all_of(model, what):
    return {name: model.parameter(name, what) for name in model.parameters()}


def fill_gradients(model, value):
    for name, info in model.parameters().items():
        kind = library.KINDS[info.type]
        count = info.bytes // (8 if kind == "f64" else 4)
        model.set_gradient(name, Tensor(kind, tuple(info.shape[:info.rank]), [value] * count))


def compare_halves(artifact, dims, below, spoil):
    whole, parts = (library.Model(artifact, "train", dims) for _ in range(2))
    draw = random.Random(3)
    for step in range(STEPS):
        for name, values in random_inputs(whole, draw, below).items():
            whole.set_input(name, values)
            parts.set_input(name, values)
        want = whole.run(step, seed=5)
        before = all_of(parts, "parameter")
        got = parts.half("gradients", step, seed=5)
        same(f"step {step}, parameters behind the gradients half", all_of(parts, "parameter"), before)
        same(f"step {step}, states", parts.states(), whole.states())
        gradients = all_of(parts, "gradient")
        fill_gradients(parts, 7.5)  # what a program does with them between the halves is its own affair
        if spoil == "gradient" and step == 2:
            next(iter(gradients.values())).values[0] += 1
        for name, gradient in gradients.items():
            parts.set_gradient(name, gradient)
        after = parts.half("update", step, seed=5)
        got |= {name: after[name] for name in ("grad_norm", "learning_rate")}
        same(f"step {step}", got, want)
        same(f"step {step}, parameters", all_of(parts, "parameter"), all_of(whole, "parameter"))
        same(f"step {step}, states behind the update half", parts.states(), whole.states())


def check_groups(artifact, dims, below, spoil):
    model = library.Model(artifact, "train", dims)
    groups = model.groups()
    if sorted(name for group in groups for name in group) != sorted(model.parameters()):
        raise Wrong(f"the groups {groups} are not each gradient once")
    for name, values in random_inputs(model, random.Random(4), below).items():
        model.set_input(name, values)
    told, seen = [], []
    early = 1 if spoil == "order" else 0

    def look(group):
        told.append(group)
        seen.append([{name: model.gradient(name) for name in groups[number]} if number < len(groups) else {}
                     for number in (group + early, group + 1)])

    model.on_group(look)
    fill_gradients(model, 7.5)
    model.half("gradients", 0, seed=5)
    if told != list(range(len(groups))):
        raise Wrong(f"groups are ready in the order {told}")
    final = all_of(model, "gradient")
    for group, (ready, after) in enumerate(seen):
        same(f"group {group} when it is ready", ready, {name: final[name] for name in ready})
        for name, gradient in after.items():
            if bytes(memoryview(gradient.values)) == bytes(memoryview(final[name].values)):
                raise Wrong(f"{name} of group {group + 1} is ready before it is said to be")
    return len(groups)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=sorted(CASES))
    parser.add_argument("--spoil", choices=["gradient", "order"])
    options = parser.parse_args()
    spec, recipe, sets, batch = CASES[options.case]
    binds = [word for dim, size in batch.items() for word in ("--bind", f"{dim}={size}")]
    groups = 0
    for dtype in ([], ["--f64", "--quick"], ["--numerics", "bf16"], ["--numerics", "f16", "--quick"]):
        artifact = driver.compiled(spec, "--recipe", recipe, "--entry", "train", *driver.settings(sets), *binds, "--tier",
                                   driver.best_tier(), *dtype)
        compare_halves(artifact, {}, sets.get("V", 97), options.spoil)
        groups = check_groups(artifact, {}, sets.get("V", 97), options.spoil)
    print(f"{options.case}: {STEPS} steps in halves have the bits of whole ones; {groups} groups are ready in order")


if __name__ == "__main__":
    try:
        main()
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
