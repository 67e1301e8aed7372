#!/usr/bin/env python3
"""Beam search of the runtime, over `step` with kept rows that follow the beams, against an implementation of each rule that calls
entry `infer` on whole prefixes (support/beams.py).

usage: beam.py SPEC RULE [--mask] [--spoil FAULT]

Drawn cases: sizes of 1 to all symbols, exponents, limits, stops, repeats and what is exempt from them, prompts of one symbol and
more, batches of one and three texts. Symbols have to be the same, scores within 1e-9. --mask: feed = mask, and the
whole prefixes have a mask behind them. --spoil gives the implementation a fault, which must be noticed; `kept`: masks stay in
front of what was chosen for them; `exempt`: no symbol is exempt.
"""
import argparse
import math
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import beams  # noqa: E402
import driver  # noqa: E402
from library import Beam, Model  # noqa: E402
from tensors import Tensor, tensor  # noqa: E402

V, D, SOURCE, CASES = 13, 12, 5, 40


class Whole:
    """Log probabilities from entry `infer` on whole prefixes."""

    def __init__(self, artifact):
        self.artifact, self.contexts = artifact, {}

    def scorer(self, sources, begun, beam, keeps):
        def score(asked):
            if beam.feed:
                asked = [(number, beams.behind_mask(text, begun, beam.mask, keeps)) for number, text in asked]
            size = (len(asked), len(asked[0][1]))
            if size not in self.contexts:
                self.contexts[size] = Model(self.artifact, "infer", {"B": size[0], "S": SOURCE, "T": size[1]})
            context = self.contexts[size]
            for name, value in sources.items():
                rows = [x for number, _ in asked for x in value.row(number)]
                context.set_input(name, Tensor(value.kind, (len(asked), *value.shape[1:]), rows))
            context.set_input("tgt", tensor("i32", [text for _, text in asked]))
            logits = context.run()["logits"]
            return [normalized(logits.row(row, size[1] - 1)) for row in range(size[0])]
        return score


def normalized(row):
    highest = max(row)
    total = sum(math.exp(x - highest) for x in row)
    return [x - (highest + math.log(total)) for x in row]


def drawn(draw, rule, feeds_mask):
    texts = draw.choice([1, 3])
    sources = {"src": tensor("i32", [[draw.randrange(V) for _ in range(SOURCE)] for _ in range(texts)]),
               "src_len": tensor("i32", [draw.randint(1, SOURCE) for _ in range(texts)]),
               "loud": tensor("bool", [draw.randrange(2) for _ in range(texts)]),
               "shift": Tensor("f64", (texts, D), [draw.gauss(0, 1) for _ in range(texts * D)])}
    length = draw.choice([1, 1, 3])
    prompts = [[draw.randrange(V) for _ in range(length)] for _ in range(texts)]
    beam = Beam(draw.choice([1, 2, 3, 4, V]), draw.choice([0.0, 0.6, 1.0, 2.0]), beams.RULES[rule][0], draw.randrange(V),
                draw.choice([0, 0, 1, 2]), draw.choice([1, 5, 9]), int(feeds_mask), draw.randrange(V) if feeds_mask else 0)
    return sources, prompts, beam


def distance(got, want):
    """inf where symbols differ or an order does."""
    if len(got) != len(want):
        return math.inf
    worst = 0.0
    for (symbols, score, ended), (right, value, isEnded) in zip(got, want):
        if symbols != right or ended != isEnded:
            return math.inf
        worst = max(worst, abs(score - value) / max(1.0, abs(value)))
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spec")
    parser.add_argument("rule", choices=sorted(beams.RULES))
    parser.add_argument("--mask", action="store_true")
    parser.add_argument("--spoil", choices=["penalty", "parent", "stop", "kept", "exempt"])
    options = parser.parse_args()
    artifact = driver.compiled(options.spec, "--tier", driver.best_tier(), "--f64", "--quick", "--set", "deviation=0.4")
    model = Model(artifact, "step", {"B": 1, "S": 1, "T": 1, "T_capacity": 1})
    whole, draw, ended = Whole(artifact), random.Random(17), 0
    for case in range(CASES):
        sources, prompts, beam = drawn(draw, options.rule, options.mask)
        exempt = random.Random(case).sample(range(V), [0, 3, 8][case % 3])
        beam.exempt = () if options.spoil == "exempt" else exempt
        score = whole.scorer(sources, len(prompts[0]), beam, options.spoil == "kept")
        want = beams.RULES[options.rule][1](score, prompts, beam, options.spoil)
        beam.exempt = exempt
        got = model.search(beam, sources, prompts, threads=1 + case % 2)
        for number, (mine, theirs) in enumerate(zip(got, want)):
            ended += sum(end for _, _, end in mine)
            if not distance(mine, theirs) <= 1e-9:
                sys.exit(f"WRONG: case {case}, text {number}, size {beam.size}, alpha {beam.alpha}, limit {beam.limit}, repeat "
                         f"{beam.no_repeat}, stop {beam.stop}:\n{mine}\ninstead of\n{theirs}")
        if beam.size == 1 and beam.alpha == 0 and options.rule != "t2t" and not beam.no_repeat:
            greedy(score, prompts, beam, got)
    if ended < CASES // 4:
        sys.exit(f"WRONG: only {ended} texts end by their stop, so the rule is hardly tested")
    print(f"{options.rule}: {CASES} searches agree")


def greedy(score, prompts, beam, got):
    """A beam of 1 without a penalty is the most probable symbol at each place."""
    for number, prompt in enumerate(prompts):
        text = list(prompt)
        while len(text) < len(prompt) + beam.limit:
            row = score([(number, text)])[0]
            if row.index(max(row)) == beam.stop:
                break
            text.append(row.index(max(row)))
        if got[number][0][0] != text[len(prompt):]:
            sys.exit(f"WRONG: text {number}: {got[number][0][0]}, and greedily {text[len(prompt):]}")


if __name__ == "__main__":
    main()
