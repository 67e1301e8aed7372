#!/usr/bin/env python3
"""Draws of `sample`: their distribution by chi-square, at fixed seeds, and what they may depend on.

usage: sample.py [--f32] [--spoil]
  Distribution: draws of rows with equal logits against softmax; pairs of draws (of two sites, of neighbouring rows, of several
  draws, of two steps) against products of both; a wide axis in 64 parts. The bound is eight deviations of the statistic: what is
  wrong by a tenth of the temperature is beyond it several times, and no seed of a right program would be.
  Bits: threads, tiers, steps, seeds; f32 against f64.
  --spoil: a temperature that is wrong by a tenth, a pair that is not independent; each must be noticed
"""
import math
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402
import tiers  # noqa: E402

V, K, WIDE, ROWS, FEW = 7, 3, 10_000, 24_000, 640
LOGITS = [0.3, -1.2, 1.1, -1e30, 0.0, 0.8, -0.4]  # the fourth is never drawn
SPEC = f"""
model Draws {{
  config V = {V}, K = {K}, W = {WIDE}
  dim    B, C
  in     x: [B, V], y: [V, B], wide: [C, W]
  let    one = sample[V](x)
  let    other = sample[V](x)
  let    cold = sample[V](x, temperature = 0.5)
  let    several = sample[V -> K](x)
  let    across = sample[V](y)
  let    far = sample[W](wide)
  let    likely = argmax[V](x)
  let    (best, places) = top[V -> K](x)
  let    sorted = best - max[V](x)
  out    one, other, cold, several, across, far, likely, places, sorted
}}
"""


def softmax(logits, temperature=1.0):
    weights = [math.exp((z - max(logits)) / temperature) for z in logits]
    return [weight / sum(weights) for weight in weights]


class Test:
    def __init__(self, folder, options):
        self.folder, self.f32, self.spoil, self.wrong, self.compared = folder, "--f32" in options, "--spoil" in options, 0, 0
        self.spec = driver.specification(SPEC, "draws")
        self.made = self.run()

    def run(self, words=(), tier=None, f32=None, rows=ROWS):
        f32 = self.f32 if f32 is None else f32
        kind = "f32" if f32 else "f64"
        inputs = {"x": tensors.Tensor(kind, [rows, V], LOGITS * rows),
                  "y": tensors.Tensor(kind, [V, rows], [z for z in LOGITS for _ in range(rows)]),
                  "wide": tensors.Tensor(kind, [FEW, WIDE], [0.0] * (FEW * WIDE))}
        names = ["one", "other", "cold", "several", "across", "far", "likely", "places", "sorted"]
        found = driver.run(self.folder, self.spec, inputs, names, "--entry", "infer", "--init", *([] if f32 else ["--f64"]),
                           *words, environment={"TENON_TIER": tier} if tier else None)
        return {name: list(found[name].values) for name in names}

    def check(self, what, good):
        self.compared += 1
        if not good:
            self.wrong += 1
            print(f"WRONG: {what}")

    def chi(self, what, counts, wanted):
        """`counts` of cells whose probabilities are `wanted`."""
        total = sum(counts)
        self.check(f"{what}: a cell that is never drawn", all(not n for n, p in zip(counts, wanted) if p < 1e-9))
        cells = [(n, total * p) for n, p in zip(counts, wanted) if p >= 1e-9]
        assert min(want for _, want in cells) > 5, what
        statistic, freedom = sum((n - want) ** 2 / want for n, want in cells), len(cells) - 1
        bound = freedom + 8 * math.sqrt(2 * freedom)
        print(f"{what}: {statistic:.1f} with {freedom} degrees of freedom, at most {bound:.1f}")
        self.check(f"{what}: {statistic:.1f} is above {bound:.1f}", statistic <= bound)

    def single(self, what, drawn, temperature=1.0):
        if self.spoil:
            temperature *= 1.1
        self.chi(what, [drawn.count(v) for v in range(V)], softmax(LOGITS, temperature))

    def pair(self, what, first, second):
        if self.spoil:
            second = [b if k % 8 else a for k, (a, b) in enumerate(zip(first, second))]
        counts = [0] * (V * V)
        for a, b in zip(first, second):
            counts[V * a + b] += 1
        p = softmax(LOGITS)
        self.chi(what, counts, [a * b for a in p for b in p])

    def distribution(self):
        made, later = self.made, self.run(["--step", 1])
        several = [made["several"][k::K] for k in range(K)]
        for name in ("one", "other", "across"):
            self.single(name, made[name])
        self.single("cold", made["cold"], 0.5)
        self.single("second of several", several[1])
        self.pair("two sites", made["one"], made["other"])
        self.pair("neighbouring rows", made["one"][::2], made["one"][1::2])
        self.pair("rows that are 16 apart", made["one"][:-16], made["one"][16:])
        self.pair("two of several draws", several[0], several[2])
        self.pair("two steps", made["one"], later["one"])
        parts = [0] * 16
        for place in made["far"]:
            parts[place * 16 // WIDE] += 1
        self.chi("parts of a wide axis", parts, [1 / 16] * 16)

    def bits(self):
        draws = ("one", "other", "cold", "several", "across", "far")
        for threads in (2, 3, 8):
            self.check(f"{threads} threads", self.run(["--threads", threads]) == self.run(["--threads", 1]) == self.made)
        for tier in tiers.runnable():
            other = self.run(tier=tier)
            same = [sum(a == b for a, b in zip(other[name], self.made[name])) / len(other[name]) for name in draws]
            self.check(f"tier {tier}: {same}", min(same) == 1 if tier != "portable" else min(same) > 0.9999)
        other = self.run(f32=not self.f32)
        for name in draws:
            same = sum(a == b for a, b in zip(other[name], self.made[name])) / len(self.made[name])
            self.check(f"{name}: f32 and f64 agree in {same} of the draws", same > 0.999)
        for words in (["--step", 1], ["--seed", 5]):
            other = self.run(words)
            for name in draws:
                same = sum(a == b for a, b in zip(other[name], self.made[name])) / len(self.made[name])
                self.check(f"{name} with {words}: {same} are the same", same < 0.6)
        few = self.run(rows=100)
        self.check("the first rows of more", few["one"] == self.made["one"][:100])

    def choices(self):
        order = sorted(range(V), key=lambda v: -LOGITS[v])
        self.check("argmax", self.made["likely"] == [order[0]] * ROWS)
        self.check("top", self.made["places"] == order[:K] * ROWS)
        gaps = [LOGITS[v] - LOGITS[order[0]] for v in order[:K]] * ROWS
        self.check("values of top", max(abs(a - b) for a, b in zip(self.made["sorted"], gaps)) < (1e-6 if self.f32 else 1e-15))


def main(options):
    with tempfile.TemporaryDirectory() as folder:
        test = Test(folder, options)
        test.distribution()
        if not test.spoil:
            test.bits()
            test.choices()
    print(f"{'f32' if test.f32 else 'f64'}: {test.compared} comparisons, {test.wrong} wrong")
    return 1 if test.wrong else 0


sys.exit(main(sys.argv[1:]))
