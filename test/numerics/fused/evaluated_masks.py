#!/usr/bin/env python3
"""Attends under masks against their formula in Python, in f64: the loss, and the gradients of queries, keys and values. A mask's
text means the same in both languages, but for the words of whole division.

usage: evaluated_masks.py [--tier TIER] [--spoil]

--spoil shows one pair more to the formula, which has to be noticed.
"""
import argparse
import math
import os
import random
import sys
import tempfile

import drawn_masks
from fused_models import driver, library
from tensors import Tensor

PLACES, WIDTH = 197, 3
MASKS = [
    # BigBird; Sparse Transformer, fixed and strided; Longformer; most rows see nothing.
    "abs(i div 64 - j div 64) <= 1 or j < 64 or (5 * (i div 64) + 3 * (j div 64)) mod 4 == 0",
    "j <= i and (i div 50 == j div 50 or j mod 50 >= 44)",
    "j <= i and (i - j < 9 or (i - j) mod 70 == 0)",
    "abs(i - j) <= 40 or i < 3 or j < 3",
    "i div 64 == 1 and j div 64 == 2",
    # One corner of a tile of 50 queries (197 of them are four strips) and 64 keys; all but one.
    "i mod 50 == 49 and j mod 64 == 63", "i mod 50 == 0 and j mod 64 == 0",
    "i mod 50 != 49 or j mod 64 != 63", "i mod 50 != 0 or j mod 64 != 0"]
MODEL = """model Evaluated {{
  config L = {places}, M = L, E = {width}
  param  q, k, v: [L, E] ~ normal(1)
{attends}
  loss   square = {total}
}}
"""
ATTEND = "  let    a{number} = attend(i: L, j: M) {{ score dot[E](q, k[L -> M])  mask {mask}  value v[L -> M] }}\n"


def rows(values):
    return [values[WIDTH * i:WIDTH * (i + 1)] for i in range(PLACES)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def attention(visible, q, k, v, grads):
    """The sum of the squares of softmax(q . k) v over the visible pairs; adds its gradients to those of q, k and v."""
    total = 0.0
    for i, query in enumerate(q):
        keys = [j for j in range(PLACES) if visible(i, j)]
        if not keys:
            continue
        scores = [dot(query, k[j]) for j in keys]
        largest = max(scores)
        p = [math.exp(score - largest) for score in scores]
        whole = sum(p)
        p = [each / whole for each in p]
        y = [sum(each * v[j][e] for each, j in zip(p, keys)) for e in range(WIDTH)]
        total += dot(y, y)
        dp = [2 * dot(y, v[j]) for j in keys]
        mean = dot(p, dp)
        for each, j, d in zip(p, keys, dp):
            ds = each * (d - mean)
            for e in range(WIDTH):
                grads["q"][i][e] += ds * k[j][e]
                grads["k"][j][e] += ds * query[e]
                grads["v"][j][e] += 2 * each * y[e]
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tier", default=driver.best_tier())
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    draw = random.Random(3)
    masks = MASKS + [each for each in drawn_masks.drawn(draw) if "len" not in each][:3]
    values = {name: [draw.gauss(0, 1) for _ in range(PLACES * WIDTH)] for name in "qkv"}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "evaluated.tn")
        with open(path, "w", encoding="utf-8") as file:
            file.write(MODEL.format(places=PLACES, width=WIDTH, total=" + ".join(f"sum(a{n} * a{n})" for n in range(len(masks))),
                                    attends="".join(ATTEND.format(number=n, mask=mask) for n, mask in enumerate(masks))))
        made = driver.compiled(path, "--grad", "--f64", "--quick", "--tier", options.tier)
        model = library.Model(made, "grad", {}, options.tier)
        for name, value in values.items():
            model.set_parameter(name, Tensor("f64", (PLACES, WIDTH), value))
        found = {"square": list(model.run()["square"].values)} | {name: list(model.gradient(name).values) for name in "qkv"}
        model.close()
    grads = {name: [[0.0] * WIDTH for _ in range(PLACES)] for name in "qkv"}
    total = 0.0
    for number, mask in enumerate(masks):
        test = eval(f"lambda i, j: {mask.replace(' div ', ' // ').replace(' mod ', ' % ')}")  # of the texts above
        spoilt = options.spoil and number == 1
        total += attention((lambda i, j, test=test: test(i, j) or (i, j) == (100, 128)) if spoilt else test,
                           *(rows(values[name]) for name in "qkv"), grads)
    wanted = {"square": [total]} | {name: [x for row in rows_ for x in row] for name, rows_ in grads.items()}
    wrong = 0
    for name, want in wanted.items():
        largest = max(map(abs, want))
        worst = max(abs(a - b) if a == a else math.inf for a, b in zip(found[name], want)) / largest
        wrong += worst > 1e-12
        print(f"{'WRONG' if worst > 1e-12 else 'ok'}: {name}, {len(masks)} masks, worst difference {worst:.2e} of the largest "
              f"value")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
