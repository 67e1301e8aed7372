#!/usr/bin/env python3
"""Indices whose parts need more than 32 bits stay on their axis: where a proof of whole numbers without an end keeps them there,
code that wraps around must not read or write elsewhere.

usage: narrow_numbers.py FOLDER
"""
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
  out    read = one, two, three, count
}
"""
NUMBERS = [0, 5, 2 ** 31 - 1, -2 ** 31, -1]
IDS = [0, 7, 49_999, 2_147, 30_000]


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    at = {name: os.path.join(folder, name) for name in ("narrow.tn", "a.npy", "ids.npy", "one", "two", "three", "count", "w")}
    with open(at["narrow.tn"], "w", encoding="utf-8") as file:
        file.write(MODEL)
    save_npy(at["a.npy"], Tensor("i32", (len(NUMBERS),), NUMBERS))
    save_npy(at["ids.npy"], Tensor("i32", (len(IDS),), IDS))
    outputs = [word for name in ("one", "two", "three", "count") for word in ("--output", f"{name}=@{at[name]}.npy")]
    subprocess.run(["tenon", "run", at["narrow.tn"], "--entry", "read", "--init", "--input", f"a=@{at['a.npy']}", "--input",
                    f"ids=@{at['ids.npy']}", *outputs], check=True, stdout=subprocess.DEVNULL)
    for name, rows in (("one", NUMBERS), ("two", NUMBERS), ("three", IDS)):
        values = load_npy(at[name] + ".npy").values
        if not all(abs(x) < 10 for x in values) or not any(values[:3]):
            print(f"WRONG: {name}: {list(values)}")
            return 1
    if list(load_npy(at["count"] + ".npy").values) != [1.0] * len(IDS):
        print("WRONG: a number was put elsewhere")
        return 1
    print("all indices stay on their axes")
    return 0


sys.exit(main())
