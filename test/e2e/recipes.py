#!/usr/bin/env python3
"""Training steps of Inputs/unigram.tn against the same steps computed here: accumulation, clipping by group, frozen depths,
epochs, initial weights under public names.

usage: recipes.py RECIPE... [--spoil]     --spoil: the expected values are computed with another rate, which must be noticed
"""
import json
import math
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402

ROWS, LENGTH, CLASSES, DEPTHS = 2, 5, 256, 3
NAMES = ["w"] + [f"blocks.{k}.p" for k in range(DEPTHS)]
# 20 symbols past whole segments: 10 batches, so that 3 of them do not divide an epoch.
TEXT = bytes(random.Random(3).choice(b"abcdefgh") for _ in range(ROWS * (10 * LENGTH + 1)))


def batch(index):
    """Targets of the batch with this index: two streams, segments of LENGTH, one symbol ahead."""
    length = len(TEXT) // ROWS
    start = index % 10 * LENGTH
    return [TEXT[row * length + start + t + 1] for row in range(ROWS) for t in range(LENGTH)]


def softmax(z):
    top = max(z)
    e = [math.exp(x - top) for x in z]
    return [x / sum(e) for x in e]


def loss_and_gradient(values, index):
    p, targets = softmax([sum(column) for column in zip(*values.values())]), batch(index)
    loss = -sum(math.log(p[y]) for y in targets) / len(targets)
    return loss, [p[v] - targets.count(v) / len(targets) for v in range(CLASSES)]


def norm(lists):
    return math.sqrt(sum(x * x for values in lists for x in values))


def clipped(gradients, names, bound):
    """min(1, bound / norm) of these parameters' joint norm."""
    return min(1.0, bound / (norm([gradients[name] for name in names]) + 1e-6))


BLOCKS = NAMES[1:]
PUBLIC = ["head.shift"] + [f"layers.{k + 1}.shift" for k in range(DEPTHS)]  # the names table of the specification
LOADED = {name: [math.sin(0.1 * v + k) for v in range(CLASSES)] for k, name in enumerate(NAMES)}
# per recipe: batches of a step, steps, rate at a step, factor of each parameter's gradient (given all gradients), factor of its
# rate
PLANS = {
    "loaded": (1, 2, lambda step: 0.5, lambda g: {}, {}),
    "plain": (3, 4, lambda step: 0.5, lambda g: {}, {}),
    "adam": (2, 3, lambda step: 0.01, lambda g: dict.fromkeys(NAMES, clipped(g, NAMES, 0.2)), {}),
    "clipped": (1, 2, lambda step: 0.5, lambda g: {"w": clipped(g, ["w"], 0.05)} | {
        name: 2 * clipped(g, [name], 0.02 * (k + 1)) for k, name in enumerate(BLOCKS)}, {}),
    "shared": (1, 2, lambda step: 0.5, lambda g: dict.fromkeys(BLOCKS, clipped(g, BLOCKS, 0.1)), dict.fromkeys(NAMES, 0.5)),
    "frozen": (1, 2, lambda step: 0.5, lambda g: dict.fromkeys(NAMES, clipped(g, ["w", "blocks.0.p", "blocks.2.p"], 0.05)),
               {"w": 0.0, "blocks.1.p": 0.0}),
    # 20 batches of 3 are 7 steps of the schedule, 15 are 5 of the run; a warmup of floor(7 / 4) = 1
    "epochs": (3, 5, lambda step: 0.5 * (step if step < 1 else 0.5 * (1 + math.cos(math.pi * (step - 1) / 6))), lambda g: {}, {}),
    # The same 7 steps are two epochs; a share of them that is not rounded.
    "pieces": (3, 5, lambda step: 0.5 * 0.1 ** (step // 3.5), lambda g: {}, {}),
    # 30 batches are 10 steps of the schedule, 25 are 9 of the run.
    "late_pieces": (3, 9, lambda step: 0.5 * 0.1 ** (max(step - 10 / 3, 0) // (10 / 3)), lambda g: {}, {}),
    "milestones": (3, 9, lambda step: 0.5 * 0.1 ** ((step >= 10 / 3) + (step >= 20 / 3)), lambda g: {}, {}),
    # A cycle of 10 / 3 steps behind the warmup, one of 20 / 3 that the schedule's end cuts off, and what is behind that.
    "restarts": (3, 12, lambda step: 0.5 * (0 if step < 1 else 0.2 + 0.4 * (1 + math.cos(math.pi * (
        1 if step >= 10 else (step - 1) / (10 / 3) if step < 13 / 3 else (step - 13 / 3) / (20 / 3))))), lambda g: {}, {}),
    "share": (3, 5, lambda step: 0.5 * min(1, step / 1.75) * (1 - step / 7), lambda g: {}, {}),
}


def expected(recipe, spoil):
    batches, steps, rate, factors, rates = PLANS[recipe]
    values = {name: list(LOADED[name]) if recipe == "loaded" else [0.0] * CLASSES for name in NAMES}
    moments = {name: ([0.0] * CLASSES, [0.0] * CLASSES) for name in NAMES}
    lines = []
    for step in range(steps):
        parts = [loss_and_gradient(values, step * batches + k) for k in range(batches)]
        mean = [sum(column) / batches for column in zip(*(gradient for _, gradient in parts))]
        gradients = {name: mean for name in NAMES}
        factor, now = factors(gradients), rate(step) * (1.5 if spoil else 1)
        counted = [name for name in NAMES if recipe != "frozen" or name != "blocks.1.p"]
        lines.append((sum(loss for loss, _ in parts) / batches, norm([mean] * len(counted)), now))
        for name in NAMES:
            own = now * rates.get(name, 1.0)
            for v, g in enumerate(gradients[name]):
                g *= factor.get(name, 1.0)
                if recipe == "adam":
                    m, s = moments[name]
                    m[v], s[v] = 0.9 * m[v] + 0.1 * g, 0.999 * s[v] + 0.001 * g * g
                    g = m[v] / (1 - 0.9 ** (step + 1)) / (math.sqrt(s[v] / (1 - 0.999 ** (step + 1))) + 1e-8)
                    values[name][v] *= 1 - own * 0.1
                values[name][v] -= own * g
    return values, lines


def close(got, want, what):
    if not abs(got - want) <= 2e-6 + 2e-5 * abs(want):
        raise SystemExit(f"WRONG: {what} is {got}, expected {want}")


def check(recipe, folder, spoil):
    run, text = os.path.join(folder, recipe), os.path.join(folder, "text.txt")
    with open(text, "wb") as file:
        file.write(TEXT)
    tensors.save_safetensors(os.path.join(folder, "public.safetensors"),
                             {public: tensors.Tensor("f32", [CLASSES], LOADED[name]) for public, name in zip(PUBLIC, NAMES)})
    words = ["train", os.path.join(HERE, "Inputs", "unigram.tn"), "--recipe", recipe, "--text", text, "--held-out", "0",
             "--out", run, "--threads", "1", "--quiet"]
    if recipe in ("plain", "epochs"):  # in two goes
        driver.tenon(*words, "--steps", "2", folder=folder)
    driver.tenon(*words, folder=folder)
    values, lines = expected(recipe, spoil)
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        metrics = [json.loads(line) for line in file]
    metrics = [line for line in metrics if "loss" in line]
    if [line["step"] for line in metrics] != list(range(1, len(lines) + 1)):
        raise SystemExit(f"WRONG: steps {[line['step'] for line in metrics]}, expected {len(lines)}")
    for line, (loss, size, rate) in zip(metrics, lines):
        for key, want in (("loss", loss), ("grad_norm", size), ("lr", rate)):
            close(line[key], want, f"{recipe}: {key} of step {line['step']}")
    got = tensors.load_safetensors(os.path.join(run, "checkpoints", f"step-{len(lines)}", "parameters.safetensors"))
    for name in NAMES:
        for v in range(CLASSES):
            close(got[name].values[v], values[name][v], f"{recipe}: {name}[{v}]")
    print(f"{recipe}: as computed")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for recipe in [word for word in sys.argv[1:] if not word.startswith("--")]:
            check(recipe, folder, "--spoil" in sys.argv)


if __name__ == "__main__":
    main()
