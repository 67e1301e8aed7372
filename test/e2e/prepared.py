#!/usr/bin/env python3
"""What a walk computes once per text is computed at its first call, kept, and equal to what the whole computation has.

usage: prepared.py SPEC [--spoil KIND]

Entry `step` in windows, with the inputs of the source at the first call alone, against entry `infer` on the whole, bit for bit;
other sources at later calls change nothing, a text from its first place on is prepared anew. What a later call computes does not
depend on the height of the encoder. --spoil must be noticed:
  stale      the second text begins at place 1, so that it goes on with the source of the first
  kept       a kept state is changed between two windows
  depth      the two artifacts differ in the decoder's height
"""
import argparse
import json
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
from library import Model, Refused  # noqa: E402
from tensors import Tensor, save_npy, tensor  # noqa: E402

ROWS, SOURCE, LENGTH, V, D = 3, 6, 11, 13, 12
WINDOWS = ([1] * LENGTH, [4, 1, 1, 5])
DIMS = {"B": ROWS, "S": SOURCE, "T_capacity": LENGTH + 2}


class Wrong(Exception):
    pass


def compiled(spec, real, *words):
    return driver.compiled(spec, "--tier", driver.best_tier(), "--quick", *(["--f64"] if real == "f64" else []), *words)


def sources(draw, real):
    return {"src": tensor("i32", [[draw.randrange(V) for _ in range(SOURCE)] for _ in range(ROWS)]),
            "src_len": tensor("i32", [SOURCE, 3, 1]), "loud": tensor("bool", [0, 1, 1]),
            "shift": Tensor(real, (ROWS, D), [draw.gauss(0, 1) for _ in range(ROWS * D)])}


def places(target, low, high):
    return Tensor("i32", (ROWS, high - low), [x for row in range(ROWS) for x in target.row(row)[low:high]])


def compare(got, want, low, high, real, what):
    pairs = [(a, b) for row in range(ROWS) for place in range(low, high)
             for a, b in zip(got["logits"].row(row, place - low), want["logits"].row(row, place))]
    pairs += zip(got["pooled"].values, want["pooled"].values)
    worst = max(abs(a - b) if a == a else float("inf") for a, b in pairs)
    if not worst == 0:
        raise Wrong(f"{what}, {real}, places from {low} on: they differ by {worst}")


class Walk:
    """Windows of any length over one text."""

    def __init__(self, artifact, spoil):
        self.artifact, self.spoil, self.contexts, self.last = artifact, spoil, {}, None

    def call(self, count, inputs):
        if count not in self.contexts:
            self.contexts[count] = Model(self.artifact, "step", {**DIMS, "T": count})
        now = self.contexts[count]
        if self.last not in (None, now):
            for name, values in self.last.states().items():
                if self.spoil == "kept" and name == "step.decoder.*.cross.wv":
                    values.values[0] += 1
                now.set_state(name, values)
        for name, value in inputs.items():
            now.set_input(name, value)
        self.last = now
        return now.run()


def check(artifact, real, spoil):
    draw = random.Random(3)
    target = tensor("i32", [[draw.randrange(V) for _ in range(LENGTH)] for _ in range(ROWS)])
    texts = [sources(draw, real) for _ in range(2)]
    whole = Model(artifact, "infer", {"B": ROWS, "S": SOURCE, "T": LENGTH})
    wants = []
    for text in texts:
        for name, value in {**text, "tgt": target}.items():
            whole.set_input(name, value)
        wants.append(whole.run())
    if max(abs(a - b) for a, b in zip(wants[0]["logits"].values, wants[1]["logits"].values)) < 0.1:
        raise Wrong("the source does not matter")
    for windows in WINDOWS:
        walk = Walk(artifact, spoil)
        for number, (text, want) in enumerate(zip(texts, wants)):
            at = 0
            if number == 1:
                walk.last.rewind(1 if spoil == "stale" else 0)
            for k, count in enumerate(windows):
                given = {"tgt": places(target, at, at + count)}
                if k == 0:
                    given.update(text)
                elif k == len(windows) - 1:
                    given.update(texts[1 - number])  # not read any more
                got = walk.call(count, given)
                compare(got, want, at, at + count, real, f"text {number}, windows {windows[:k + 1]}")
                at += count
    try:
        Walk(artifact, spoil).call(1, {"tgt": places(target, 0, 1)})
    except Refused as refused:
        if "never set" not in str(refused):
            raise
    else:
        raise Wrong("a first call without its source")


def commands(artifact, folder):
    """`tenon run` with the states of an earlier call: no source, and no sizes either."""
    draw = random.Random(5)
    target = tensor("i32", [[draw.randrange(V) for _ in range(4)] for _ in range(ROWS)])
    text, states = sources(draw, "f64"), os.path.join(folder, "states.safetensors")
    words = ["--init", "--seed", "3"]
    want = driver.run(folder, artifact, {**text, "tgt": target}, ["logits", "pooled"], *words)
    first = {**text, "tgt": places(target, 0, 2)}
    driver.run(folder, artifact, first, ["logits"], *words, "--entry", "step", "--bind", "T_capacity=8", "--save-states", states)
    got = driver.run(folder, artifact, {"tgt": places(target, 2, 4)}, ["logits", "pooled"], *words, "--entry", "step", "--states",
                     states)
    compare(got, want, 2, 4, "f64", "tenon run")
    path = os.path.join(folder, "tgt.npy")
    save_npy(path, places(target, 0, 2))
    try:
        driver.tenon("run", artifact, "--init", "--entry", "step", "--bind", f"B={ROWS}", "--bind", f"S={SOURCE}", "--bind",
                     "T_capacity=8",
                     "--input", f"tgt=@{path}")
    except driver.Failed as failed:
        if failed.status != 2 or "the first call of a text reads 'src'" not in failed.text:
            raise Wrong(failed.text) from failed
    else:
        raise Wrong("`tenon run` takes a first call without its source")


def kernels(artifact):
    manifest = next(name for name in os.listdir(artifact) if name.endswith(".json"))
    with open(os.path.join(artifact, manifest), encoding="utf-8") as file:
        entries = {entry["name"]: entry for entry in json.load(file)["entries"]}
    return [(kernel["name"], kernel["calls"], kernel["flops"]) for kernel in entries["step"]["kernels"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spec")
    parser.add_argument("--spoil", choices=["stale", "kept", "depth"])
    options = parser.parse_args()
    try:
        other = "N=6" if options.spoil == "depth" else "M=5"
        if kernels(compiled(options.spec, "f64")) != kernels(compiled(options.spec, "f64", "--set", other)):
            raise Wrong("a later call computes something else under a higher encoder")
        for real in ("f64", "f32"):
            check(compiled(options.spec, real), real, options.spoil)
        with tempfile.TemporaryDirectory() as folder:
            commands(compiled(options.spec, "f64"), folder)
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
    print("prepared once per text")


if __name__ == "__main__":
    main()
