#!/usr/bin/env python3
"""argmax, top, sample and put where numbers are equal, NaN or infinite, against the rules of docs/functions.md in Python.

usage: largest.py [--f64] [--spoil]
  Each of three forms of the program, on every tier: as it is, taken apart (--decomposed), without kernels of its own ops
  (--simple-kernels).
  --spoil: a NaN counts as the largest number, of equal ones the last comes first, the first of several writes stays; each must
  be noticed
"""
import math
import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402
import tiers  # noqa: E402

V, K, J = 40, 5, 9
SPEC = f"""
model Largest {{
  config V = {V}, K = {K}, J = {J}, A = V
  dim    B
  in     x: [B, V], n: i32[B, V], c: bool[B, V], at: index(V)[B, J], keep: bool[B, J], v: [B, J], m: i32[J]
  let    first = argmax[V](x)
  let    above = argmax[B](x)
  let    truth = argmax[V](c)
  let    (best, places) = top[V -> K](x)
  let    (whole, wholes) = top[V -> K](n)
  let    (flags, truths) = top[V -> K](c)
  let    (sorted, every) = top[V -> A](x)
  let    drawn = sample[V](x)
  let    written = put[V: at](x, v, where = keep)
  let    numbers = put[V: at](n, m)
  let    marks = put[V: at](c, keep)
  out    first, above, truth, best, places, whole, wholes, truths, every, drawn, written, numbers, marks
}}
"""
NAMES = ["first", "above", "truth", "best", "places", "whole", "wholes", "truths", "every", "drawn", "written", "numbers",
         "marks"]


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def rows_of(draw):
    nan, inf = math.nan, math.inf
    return [[nan] * V, [nan] * 5 + [-inf] * (V - 5), [draw.choice([0.0, -0.0, 1.0, nan]) for _ in range(V)],
            [single(draw.gauss(0, 1)) if draw.random() < 0.8 else nan for _ in range(V)], [inf] * 3 + [nan] + [-1.0] * (V - 4),
            [float(k) for k in range(V)], [float(V - k) for k in range(V)], [-0.0] + [0.0] * (V - 1),
            [draw.choice([-inf, inf, 1.5, -1.5]) for _ in range(V)]]


class Rules:
    """The results, in Python."""

    def __init__(self, spoil):
        self.spoil = spoil

    def order(self, row):
        """Places in descending order."""
        isLast = self.spoil == "nan"
        return sorted(range(len(row)), key=lambda v: (math.isnan(row[v]) != isLast, 0 if math.isnan(row[v]) else -row[v],
                                                      -v if self.spoil == "equal" else v))

    def put(self, row, at, values, keep):
        result, slots = list(row), list(zip(at, values, keep))
        for place, value, counts in reversed(slots) if self.spoil == "write" else slots:
            if counts:
                result[place] = value
        return result

    def results(self, given):
        x, n, c = given["x"], given["n"], [[int(t) for t in row] for row in given["c"]]
        flat = lambda rows: [value for row in rows for value in row]  # noqa: E731
        return {"first": [self.order(row)[0] for row in x], "above": [self.order([row[v] for row in x])[0] for v in range(V)],
                "truth": [self.order(row)[0] for row in c], "places": flat(self.order(row)[:K] for row in x),
                "best": flat([row[v] for v in self.order(row)[:K]] for row in x),
                "whole": flat([row[v] for v in self.order(row)[:K]] for row in n),
                "wholes": flat(self.order(row)[:K] for row in n), "truths": flat(self.order(row)[:K] for row in c),
                "every": flat(self.order(row) for row in x),
                "written": flat(map(self.put, x, given["at"], given["v"], given["keep"])),
                "numbers": flat(self.put(row, at, given["m"], [True] * J) for row, at in zip(n, given["at"])),
                "marks": flat(self.put(row, at, keep, [True] * J) for row, at, keep in zip(c, given["at"], given["keep"]))}


def made(draw):
    x = rows_of(draw)
    count = len(x)
    return {"x": x, "n": [[draw.choice([-2**31, 2**31 - 1, 0, 5]) for _ in range(V)] for _ in range(count)],
            "c": [[draw.random() < 0.5 for _ in range(V)] for _ in range(count)],
            "at": [[draw.randrange(4 if k % 2 else V) for _ in range(J)] for k in range(count)],
            "keep": [[draw.random() < 0.6 for _ in range(J)] for _ in range(count)],
            "v": [[single(draw.gauss(0, 1)) for _ in range(J)] for _ in range(count)],
            "m": [draw.randrange(99) for _ in range(J)]}


def equal(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def main(options):
    real = "f64" if "--f64" in options else "f32"
    given = made(random.Random(11))
    kinds = {"x": real, "v": real, "c": "bool", "keep": "bool"}
    inputs = {name: tensors.tensor(kinds.get(name, "i32"), value) for name, value in given.items()}
    spoils = ["nan", "equal", "write"] if "--spoil" in options else [None]
    wrong = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        spec = driver.specification(SPEC, "largest")
        for form in ([], ["--decomposed"], ["--simple-kernels"])[:1 if spoils[0] else 3]:
            artifact = driver.compiled(spec, *form, *(["--f64"] if real == "f64" else []))
            for tier in tiers.runnable():
                found = driver.run(folder, artifact, inputs, NAMES, "--entry", "infer", environment={"TENON_TIER": tier})
                found = {name: list(tensor.values) for name, tensor in found.items()}
                for spoil in spoils:
                    for name, want in Rules(spoil).results(given).items():
                        compared += 1
                        if len(found[name]) != len(want) or not all(map(equal, found[name], want)):
                            wrong += 1
                            print(f"WRONG: {name} {' '.join(form)} {tier} {spoil or ''}")
                # A NaN is drawn where there is nothing else, and so is a class of -inf.
                drawn = zip(found["drawn"], given["x"])
                if not all(0 <= v < V and (row[v] > -math.inf or not any(x > -math.inf for x in row)) for v, row in drawn):
                    wrong += 1
                    print(f"WRONG: drawn {tier}: {found['drawn']}")
    print(f"{real}: {compared} comparisons, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
