#!/usr/bin/env python3
"""`slices = n` beside `tasks`: twelve steps that take turns among three tasks are those of whole batches, in f64.

usage: sliced_tasks.py [--spoil]

A mean over rows, one over rows of another number, and a masked sum by what the whole batch counts (`.totals`). Losses and norms
of all steps, and parameters at the end, of 2 and of 4 slices.
--spoil: a weight decay that the runs in slices alone have
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
from tensors import Tensor, load_safetensors, save_npy  # noqa: E402

MODEL = """
model Three {
  config D = 8, C = 3
  dim    B, T
  in     x: [B, D], label: index(C)[B], score: [B], rows: [B, T, D], n: index(T + 1)[B]
  use    up = Linear[D -> D]
  use    head = Linear[D -> C]
  param  r: [D] ~ normal(1)
  let    h = tanh(up(x))
  loss   nll = mean(cross_entropy[C](head(h), label))
  loss   mse = mean((dot[D](h, r) - score) ^ 2)
  let    there = expand[B](iota[T]()) < expand[T](n)
  loss   masked = sum(where(there, mean[D](tanh(up(rows)) ^ 2), 0.0)) / max(sum(real(there)), 1.0)
}
train Three as turns {
  bind       B = 8, T = 5
  tasks      = (task(data = arrays(x = "x.npy", label = "label.npy"), loss = nll, batch = 4),
                task(data = arrays(x = "x.npy", score = "score.npy"), loss = mse),
                task(data = arrays(rows = "rows.npy", n = "n.npy"), loss = masked))
  optimizer  = adamw(lr = 0.01%s)
  clip       = global_norm(1.0)
  steps      = 12
  slices     = %d
  seed       = 3
}
"""
ROWS = 64


def data(folder):
    draw = random.Random(5)
    for name, kind, shape, below in (("x", "f64", (8,), 0), ("label", "i32", (), 3), ("score", "f64", (), 0),
                                     ("rows", "f64", (5, 8), 0), ("n", "i32", (), 6)):
        values = [draw.randrange(below) if below else draw.gauss(0, 1) for _ in range(ROWS * math.prod(shape))]
        save_npy(os.path.join(folder, name + ".npy"), Tensor(kind, (ROWS, *shape), values))


def trained(folder, slices, more=""):
    spec, out = driver.specification(MODEL % (more, slices), f"three{slices}"), os.path.join(folder, f"run{slices}")
    driver.tenon("train", spec, "--recipe", "turns", "--data", folder, "--out", out, "--f64", "--quiet")
    with open(os.path.join(out, "metrics.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    steps = {f"{key} of step {line['step']}": [line[key]] for line in lines for key in ("loss", "grad_norm") if key in line}
    values = load_safetensors(os.path.join(out, "checkpoints", "step-12", "parameters.safetensors"))
    return steps | {name: list(tensor.values) for name, tensor in values.items()}


def main():
    spoil = "--spoil" in sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        data(folder)
        whole = trained(folder, 1)
        for slices in (2, 4):
            found = trained(folder, slices, ", decay = 0.02" if spoil else "")
            for name, want in whole.items():
                near = 2e-9 if "of step" in name else 1e-13  # metrics have nine digits
                worst = max(abs(a - b) / max(1, abs(b)) for a, b in zip(found[name], want, strict=True))
                if not worst <= near:
                    print(f"WRONG: {slices} slices: {name} differs by {worst}")
                    return 1
    print(f"{len(whole)} numbers and tensors of 12 steps")
    return 0


sys.exit(main())
