#!/usr/bin/env python3
"""Losses that divide by, or weigh with, sums over the batch that depend on no parameter, in `slices = n`: these sums are those of
the whole batch.

usage: slice_totals.py [--spoil]

The model of slices.py without dropout, in f64: the losses and gradients of the batch, but for rounding, in 4 slices, and some in
2 and 24, also where the size of the batch is open.
--spoil: each slice is divided by its own sums, as batches of `accumulate` are, which must be noticed
"""
import argparse
import array
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import slices  # noqa: E402
from slices import library  # noqa: E402
from tensors import Tensor  # noqa: E402

# The loss in place of nll, which has `each` for the losses of the places and `w` for weights, of which some are 0.
DIVIDED = {
    "quotient": "sum(w * each) / sum(w)",
    "bounded": "sum(w * each) / max(sum(w), 1) / 2",
    "shifted": "3 * sum(w * each) / (sum(w) + 1e-3)",
    "means": "mean(w * each) / mean(w)",
    "per place": "sum[T](sum[B](w * each) / max(sum[B](w), 0.5)) / real(size[T]())",
    "places, then rows": "mean(sum[T](w * each) / max(sum[T](w), 1))",
    "inside": "sum(w / sum(w) * each)",
    "counted": "sum(real(w > 0.5) * each) / real(sum(where(w > 0.5, 1, 0)))",
    "by the size": "sum(w * each) / (sum(w) / real(size[B]()))",
    "product": "sum(w * each) / sum(w) * (sum(w ^ 2) / sum(w))",
    "rooted": "sum(w * each) / sqrt(sum(w ^ 2))",
    "centred": "mean((w - mean(w)) * each)",
    "a sum inside": "sum(w * each) / sum((w - mean(w)) ^ 2)",
    "joined": "sum((w * each)[B * T -> P]) / sum(w[B * T -> P])",
}


def close(found, wanted, what):
    for name, want in wanted.items():
        scale = max(abs(x) for x in want.values)
        worst = max(abs(x - y) for x, y in zip(found[name].values, want.values, strict=True))
        if not worst <= 1e-12 * scale:
            raise slices.Wrong(f"{what}: {name} differs by {worst} of {scale}")


def numbers(model, values):
    slices.feed(model, values)
    found = {f"loss {name}": tensor for name, tensor in model.half("gradients").items()
             if name not in ("grad_norm", "learning_rate")}
    return found | {name: model.gradient(name) for name in model.parameters()}


def rows(values, first, count):
    """Rows of the inputs that have them."""
    def cut(tensor):
        size = len(tensor.values) // tensor.shape[0]
        return Tensor(tensor.kind, (count, *tensor.shape[1:]), tensor.values[first * size:(first + count) * size])
    return {name: tensor if name == "scale" else cut(tensor) for name, tensor in values.items()}


def totals(folder, spoil):
    draw = random.Random(7)
    for name, loss in DIVIDED.items():
        places = "  dim    P = B * T\n" if "P" in loss else ""
        lines = f"  let    each = cross_entropy[V](dot[D](h, emb), target)\n{places}  loss   nll = {loss}"
        changes = [slices.WEIGHTS, (slices.MEAN, lines),
                   ("= nll + 1e-4 * size + 1e-4 * norm", "= nll"), ("  loss   size = sum(h ^ 2)\n", "")]
        words = ("--set", "drop=0", "--f64")
        plain = library.Model(slices.compiled(folder, "", *words, changes=changes), "train", {})
        values = slices.batch(plain, draw)
        values["w"].values[:] = array.array("d", [max(0.0, x) for x in values["w"].values])
        wanted = numbers(plain, values)
        if spoil:
            part = library.Model(slices.compiled(folder, "", *words, "--bind-recipe", "B=6", changes=changes), "train", {})
            parts = [numbers(part, rows(values, 6 * slice, 6)) for slice in range(4)]
            close({key: Tensor("f64", want.shape, [sum(x) / 4 for x in zip(*(each[key].values for each in parts))])
                   for key, want in wanted.items()}, wanted, name)
            continue
        for count in (2, 4, 24) if name in ("quotient", "a sum inside") else (4,):
            model = library.Model(slices.compiled(folder, f"slices = {count}", *words, changes=changes), "train", {})
            close(numbers(model, values), wanted, f"{name} in {count} slices")
        if name in ("by the size", "means"):
            opened = [*changes, ("  bind       B = 24, T = 5\n", "")]
            model = library.Model(slices.compiled(folder, "slices = 4", *words, changes=opened), "train", {"B": 24, "T": 5})
            close(numbers(model, values), wanted, f"{name}, of an open size")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        totals(folder, options.spoil)
    print("totals: as they should be")


if __name__ == "__main__":
    try:
        main()
    except slices.Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
