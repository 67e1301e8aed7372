#!/usr/bin/env python3
"""Indices whose parts need more than 32 bits stay on their axis: where a proof of whole numbers without an end keeps them there,
code that wraps around must not read or write elsewhere.

usage: narrow_numbers.py FOLDER [--spoil]

--spoil: each result in turn has another last number, which has to be noticed
"""
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tensors import Tensor, load_npy, save_npy  # noqa: E402

MODEL = """
model Narrow {
  config V = 11, W = 50_000, D = 3
  dim    B
  in     a: i32[B], ids: index(W)[B]
  param  emb: [V, D] ~ normal(0.5)
  param  wide: [W, D] ~ normal(0.5)
  let    next_ = where(a >= 0, min(a + 1, V - 1), 0)
  let    size = min(abs(a), V - 1)
  let    back: index(W)[B] = (ids * 1_000_003) div 1_000_003
  let    one = emb[V: next_]
  let    two = emb[V: size]
  let    three = wide[W: back]
  let    four = put[W: (ids * 1_000_003) div 1_000_003](full[B, W](0.0), full[B](1.0))
  let    count = sum[W](four)
  let    five = emb[V: where(a >= 0 and a + 5 < V, a, 0)]
  let    six = emb[V: where(a * 2 < 2 * V and a >= 0, a, 0)]
  let    kept: index(V)[B] = where(0 - a <= 0 and a < V, a, 0)
  let    seven = emb[V: kept]
  layer Round(c: i32[B], sum: [B, D]) -> (i32[B], [B, D]) {
    return c + 2_000_000_000, sum + emb[V: where(c >= 0 and c + 5 < V, c, 0)]
  }
  use    rounds = loop[4] Round
  let    (last, eight) = rounds(a, full[B, D](0.0))
  let    label = where(a >= 0 and a + 5 < V, a, 0)
  let    nll = cross_entropy[V](full[B, V](0.0), label)
  out    read = one, two, three, count, five, six, seven, eight, nll, last
}
"""
NUMBERS = [0, 5, 2 ** 31 - 1, -2 ** 31, -1]
IDS = [0, 7, 49_999, 2_147, 30_000]
ROWS = ("one", "two", "three", "five", "six", "seven", "eight")


def wrong(found):
    """What is elsewhere, or nothing."""
    for name in ROWS:
        if not all(abs(x) < 10 for x in found[name]) or not any(found[name][:3]):
            return f"{name}: {found[name]}"
    if found["count"] != [1.0] * len(IDS):
        return "a number was put elsewhere"
    return "" if all(abs(x - math.log(11)) < 1e-5 for x in found["nll"]) else "a label is elsewhere"


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    at = {name: os.path.join(folder, name) for name in ("narrow.tn", "a.npy", "ids.npy", *ROWS, "count", "nll")}
    with open(at["narrow.tn"], "w", encoding="utf-8") as file:
        file.write(MODEL)
    save_npy(at["a.npy"], Tensor("i32", (len(NUMBERS),), NUMBERS))
    save_npy(at["ids.npy"], Tensor("i32", (len(IDS),), IDS))
    outputs = [word for name in (*ROWS, "count", "nll") for word in ("--output", f"{name}=@{at[name]}.npy")]
    subprocess.run(["tenon", "run", at["narrow.tn"], "--entry", "read", "--init", "--input", f"a=@{at['a.npy']}", "--input",
                    f"ids=@{at['ids.npy']}", *outputs], check=True, stdout=subprocess.DEVNULL)
    found = {name: list(load_npy(at[name] + ".npy").values) for name in (*ROWS, "count", "nll")}
    if "--spoil" in sys.argv[2:]:
        noticed = sum(bool(wrong(dict(found, **{name: found[name][:-1] + [found[name][-1] + 100]}))) for name in found)
        print(f"{noticed} of {len(found)} other values are noticed")
        return 0
    if mistake := wrong(found):
        print(f"WRONG: {mistake}")
        return 1
    print("all indices stay on their axes")
    return 0


sys.exit(main())
