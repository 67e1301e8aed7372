#!/usr/bin/env python3
"""models/unilm.tn with `feed = mask`: the search over `step`, which reads a source once and takes the place of each mask back,
against the form of training: entry `fill` on source, text and mask, all of it again at each step, by masks for `task` 3 and
without padding inside of a row.

usage: masked_search.py FOLDER [--f64] [--spoil kept]

Greedy and beams of 4 over batches of sources of different lengths. Symbols have to be the same, scores within 1e-9 (f32: 2e-4).
--spoil kept: masks stay in front of what was chosen for them, which must be noticed.
"""
import argparse
import ctypes
import math
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "..", "models")
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import beams  # noqa: E402
import driver  # noqa: E402
from library import POINTER, Beam, Model, Refused, call  # noqa: E402
from tensors import tensor  # noqa: E402

V, L, PAD, MASK, STOP, LIMIT, CASES = 19, 24, 0, 1, 2, 7, 8


def louder(folder):
    """The model with initial weights that make texts of their own out of different sources."""
    os.makedirs(folder, exist_ok=True)
    for name in ("unilm.tn", "bert.tn"):
        with open(os.path.join(MODELS, name), encoding="utf-8") as file:
            text = file.read().replace("trunc_normal(0.02)", "trunc_normal(0.3)")
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    return os.path.join(folder, "unilm.tn")


class Whole:
    """Log probabilities from entry `fill`."""

    def __init__(self, artifact):
        self.artifact, self.contexts = artifact, {}

    def scorer(self, lengths, begun, keeps):
        def row(number, text):
            fed = beams.behind_mask(text, begun, MASK, keeps)
            return fed[:lengths[number]] + fed[begun:]

        def score(asked):
            rows = [row(number, text) for number, text in asked]
            size = (len(rows), max(len(each) for each in rows))
            if size not in self.contexts:
                self.contexts[size] = Model(self.artifact, "fill", {"B": size[0], "T": size[1], "K": 1})
            context = self.contexts[size]
            sources = [lengths[number] for number, _ in asked]

            def padded(values):
                return tensor("i32", [each + [0] * (size[1] - len(each)) for each in values])

            given = {"ids": padded(rows), "place": padded([list(range(len(each))) for each in rows]),
                     "seg": padded([[4] * source + [5] * (len(each) - source) for source, each in zip(sources, rows)]),
                     "len": tensor("i32", [len(each) for each in rows]), "task": tensor("i32", [3] * len(rows)),
                     "prefix": tensor("i32", sources), "at": tensor("i32", [[len(each) - 1] for each in rows])}
            for name, value in given.items():
                context.set_input(name, value)
            logits = context.run()["logits"]
            return [normalized(logits.row(number, 0)) for number in range(len(rows))]
        return score


def normalized(row):
    highest = max(row)
    total = sum(math.exp(x - highest) for x in row)
    return [x - (highest + math.log(total)) for x in row]


def drawn(draw, case):
    lengths = [draw.randint(2, 8) for _ in range(draw.choice([1, 3]))]
    begun = max(lengths)
    prompts = [[draw.randrange(3, V) for _ in range(length)] + [PAD] * (begun - length) for length in lengths]
    inputs = {"prefix": tensor("i32", lengths), "gap": tensor("i32", [begun - length for length in lengths])}
    size, alpha = ((1, 0.0), (4, 0.6))[case % 2]
    return lengths, prompts, inputs, Beam(size, alpha, beams.RULES["unilm"][0], STOP, draw.choice([0, 3]), LIMIT, 1, MASK)


def refusals(model):
    """What cannot feed a mask says so."""
    made = POINTER()
    asked = {"which symbol the mask is was not given":
             lambda: model.search(Beam(4, 0.6, 2, STOP, 0, LIMIT, 1, -1), {}, [[3]]),
             "a beam search feeds 0 (the last symbol) or 1 (a mask behind it), not 2":
             lambda: model.search(Beam(4, 0.6, 2, STOP, 0, LIMIT, 2, MASK), {}, [[3]]),
             "symbol by symbol a text feeds its last one":
             lambda: call("tn_generator_create", model.model, None, None, None, None, None, None, ctypes.byref(made))}
    for words, ask in asked.items():
        try:
            ask()
        except Refused as refused:
            if words not in str(refused):
                sys.exit(f"WRONG: {refused}")
        else:
            sys.exit(f"WRONG: not refused: {words}")
    beam = Beam()
    call("tn_model_beam", model.model, b"summarize", ctypes.byref(beam))
    if (beam.feed, beam.mask, beam.no_repeat) != (1, -1, 3):
        sys.exit(f"WRONG: the block feeds {beam.feed}, {beam.mask}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--f64", action="store_true")
    parser.add_argument("--spoil", choices=["kept"])
    options = parser.parse_args()
    words = ["--tier", driver.best_tier(), *(["--f64"] if options.f64 else []), "--model", "UniLM"]
    for setting in (f"V={V}", "D=128", "N=2", f"L={L}"):
        words += ["--set", setting]
    artifact = driver.compiled(louder(options.folder), *words, beside=[os.path.join(MODELS, "bert.tn")])
    model = Model(artifact, "step", {"B": 1, "T": 1})
    refusals(model)
    whole, draw, texts = Whole(artifact), random.Random(5), set()
    for case in range(CASES):
        lengths, prompts, inputs, beam = drawn(draw, case)
        want = beams.RULES["unilm"][1](whole.scorer(lengths, len(prompts[0]), options.spoil == "kept"), prompts, beam, None)
        got = model.search(beam, inputs, prompts, threads=1 + case // 2 % 2)
        for number, ((mine,), (theirs,)) in enumerate(zip(got, want)):
            texts.add(tuple(mine[0]))
            if mine[0] != theirs[0] or not abs(mine[1] - theirs[1]) <= (1e-9 if options.f64 else 2e-4) * max(1, abs(theirs[1])):
                sys.exit(f"WRONG: case {case}, text {number} of {len(prompts)}, size {beam.size}:\n{mine}\ninstead of\n{theirs}")
    if len(texts) < CASES:
        sys.exit(f"WRONG: only {len(texts)} different texts, so the search is hardly tested")
    print(f"{CASES} searches agree")


if __name__ == "__main__":
    main()
