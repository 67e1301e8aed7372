#!/usr/bin/env python3
"""Attends under drawn masks, fused against decomposed in f64: losses and every gradient of two steps, at lengths that end inside
of tiles. Masks are made of comparisons of places with quotients, remainders, absolute values, minima and maxima, and of lengths;
the last one is a table by blocks.

usage: drawn_masks.py SEED [--tier TIER] [--spoil]

--spoil inverts the last drawn mask of one side, which has to be noticed.
"""
import argparse
import os
import random
import sys
import tempfile

import fused_models as models

LENGTHS = (2, 67, 197, 300)
ATTENDS = 8
TABLE = "allowed[N: min(i div 32, N - 1)][K: min(j div 50, K - 1)]"
MODEL = """model Drawn {{
  config V = {v}, D = 16, H = 1, E = D / H, N = 10, K = 6
  dim    B, T
  dim    S = T, P = 2 * T - 1
  in     ids: index(V)[B, T], target: index(V)[B, T]
  param  words: [V, D] ~ normal(0.5)
  use    wq, wk, wv = Linear[D -> H * E]
  use    wo = Linear[H * E -> D]
  param  far: [D, E] ~ normal(0.5)
  let    x = words[V: ids]
  let    allowed = (5 * iota[N]() + 3 * iota[K]()) mod 4 == 1
  let    len = 190 - ids[T: 0] div 2
{attends}
  let    logits = dot[D](wo({total}), words)
  out    logits
  loss   nll = mean(cross_entropy[V](logits, target))
}}
train Drawn as whole {{
  data = byte_stream(text = "none.txt")
  loss = nll
  optimizer = sgd(lr = 1.0)
  steps = 1
}}
"""
ATTEND = """  let    a{number} = attend(i: T, j: S) {{
    score dot[E](wq(x), wk(x)[T -> S])
    {position}scale {scale}
    mask  {mask}
    {drop}value wv(x)[T -> S]
  }}"""


def number(draw, depth=2):
    """An integer of the places, the row's length and numbers."""
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(["i", "j", "i", "j", "len", str(draw.randrange(200))])
    inner = [number(draw, depth - 1) for _ in range(2)]
    by = draw.choice([2, 3, 16, 50, 64, 100, 128])
    text = draw.choice(["({0} div {by})", "({0} div {by})", "({0} mod {by})", "abs({0} - {1})", "max({0}, {1})", "min({0}, {1})",
                        "({0} + {1})", "({0} - {1})", "({0} - {1})", "{times} * {0}"])
    return text.format(*inner, by=by, times=draw.randrange(-3, 4))


def mask(draw, depth=2):
    """Visible are some pairs, and, where all of the parts are narrow, few."""
    if depth == 0 or draw.random() < 0.3:
        if draw.random() < 0.25:
            return draw.choice(["j <= i", "i - j < {0}", "abs(i - j) <= {0}", "j < {0}"]).format(draw.choice([1, 40, 70, 129]))
        test = draw.choice(["<=", "<", ">=", ">", "==", "!="])
        return f"{number(draw)} {test} {number(draw)}"
    parts = [mask(draw, depth - 1) for _ in range(2)]
    return draw.choice(["({0} and {1})", "({0} or {1})", "not ({0})"]).format(*parts)


def specification(folder, masks, name):
    """A model of one attend for each of them, every third one with dropout, every other one with a table of places."""
    table = "score dot[E](wq(x), dot[D](sinusoid[P, D](start = 1 - T), far)[P: i - j + T - 1])\n    "
    attends = [ATTEND.format(number=k, scale=round(0.3 + 0.1 * k, 1), mask=each, drop="drop 0.2\n    " if k % 3 == 1 else "",
                             position=table if k % 2 else "")
               for k, each in enumerate(masks)]
    path = os.path.join(folder, name + ".tn")
    with open(path, "w", encoding="utf-8") as file:
        file.write(MODEL.format(v=models.V, attends="\n".join(attends), total=" + ".join(f"a{k}" for k in range(len(masks)))))
    return path


def drawn(draw):
    """Masks that mention the key."""
    masks = []
    while len(masks) < ATTENDS:
        each = mask(draw)
        if "j" in each:
            masks.append(each)
    return masks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("--tier", default=models.driver.best_tier())
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    masks, wrong = [*drawn(random.Random(options.seed)), TABLE], 0
    others = masks[:-2] + [f"not ({masks[-2]})", TABLE] if options.spoil else masks
    with tempfile.TemporaryDirectory() as folder:
        fused = models.driver.compiled(specification(folder, others, "fused"), "--recipe", "whole", "--grad", "--f64",
                                       "--quick", "--tier", options.tier)
        exact = models.driver.compiled(specification(folder, masks, "exact"), "--recipe", "whole", "--grad", "--f64",
                                       "--decomposed", "--quick", "--tier", models.driver.reference_tier())
        for length in LENGTHS:
            draw = random.Random(length)
            given = [models.inputs("drawn", length, draw) for _ in range(2)]
            found = models.results(fused, options.tier, "f64", length, given, 1)
            wanted = models.results(exact, models.driver.reference_tier(), "f64", length, given, 1)
            worst, where = models.difference(found, wanted)
            good = worst <= 1e-11
            wrong += not good
            print(f"{'ok' if good else 'WRONG'}: seed {options.seed}, length {length}: {len(found)} tensors, worst difference "
                  f"{worst:.2e} of the largest value at {where}")
    if wrong:
        print("\n".join(masks))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
