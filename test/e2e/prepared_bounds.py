#!/usr/bin/env python3
"""A bound of an input by the walked dim is one by all places that are kept: also in the entry that prepares the walk, and however
many places a call brings.

usage: prepared_bounds.py [--spoil]

--spoil: calls of fewer places have a gap of 4, which has to be noticed
"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
from tensors import Tensor, tensor  # noqa: E402

MODEL = """
model Gaps {
  config V = 19, D = 8
  dim    B, T%s
  dim    S = T
  in     ids: index(V)[B, T], gap: index(T)[B], extra: [B, D]
  param  emb: [V, D] ~ normal(0.5)
  use    q, k, v, big = Linear[D -> D]
  let    x = emb[V: ids] + big(extra)
  let    a = attend(i: T, j: S) { score dot[D](q(x), k(x)[T -> S])  mask j <= i and j >= gap  value v(x)[T -> S] }
  let    logits = dot[D](a, emb)
  out    step(T) = logits
}
"""
IDS = [[(7 * t + 3 * b) % 19 for t in range(12)] for b in range(2)]


def logits(path, places, capacity, gap=5):
    """Of all twelve places, so many in a call."""
    found = []
    model = library.Model(path, "step", {"B": 2, "T": places, **capacity})
    model.set_input("gap", tensor("i32", [0, gap]))
    model.set_input("extra", Tensor("f64", (2, 8), [math.sin(k) for k in range(16)]))
    for first in range(0, 12, places):
        model.set_input("ids", tensor("i32", [row[first:first + places] for row in IDS]))
        values = model.run()["logits"].values
        found.append([list(values[b * places * 19:(b + 1) * places * 19]) for b in range(2)])
    model.close()
    return [x for b in range(2) for part in found for x in part[b]]


def main():
    gap = 4 if "--spoil" in sys.argv[1:] else 5
    for bound, capacity in (("", {"T_capacity": 12}), (" <= 12", {})):
        path = driver.compiled(driver.specification(MODEL % bound, "gaps"), "--f64", "--quick", "--entry", "step")
        whole = logits(path, 12, capacity)
        for places in (6, 3, 1):
            worst = max(abs(a - b) for a, b in zip(logits(path, places, capacity, gap), whole, strict=True))
            if not worst <= 1e-13:
                print(f"WRONG: {places} places a call differ by {worst}")
                return 1
    if max(map(abs, whole)) < 0.1:
        print("WRONG: nothing is computed")
        return 1
    print("calls of 6, 3 and 1 places take a gap of 5")
    return 0


sys.exit(main())
