#!/usr/bin/env python3
"""max and min of two values, clip and relu where one is NaN, infinite or a zero, against the rule in Python: NaN where one is.

usage: extrema.py [--f64 | --bf16 | --gpu] [--spoil]
  On every tier, or on the emulator of a GPU, as it is and without fused ops. --bf16: x and y are written bf16. Besides: the
  gradients of max and min go to nobody where one is NaN.
  --spoil: a NaN on the right is lost, as an instruction loses it; must be noticed
"""
import math
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "gpu")]
import driver  # noqa: E402
import tensors  # noqa: E402
import tiers  # noqa: E402

TEXT = """model Extrema {
  config V = VALUES, V2 = V
  dim    B
  in     a: [B, V], b: [B, V], n: i32[B, V], eye: [V, V2]
  fn kept(x: TYPE[B, V]) -> [B, V] { return x }
  let    x = kept(a)
  let    y = kept(b)
  let    product = dot[V](y, eye)[V2 -> V]
  let    larger = max(x, y)
  let    smaller = min(x, y)
  let    right = max(x, 1)
  let    left = max(1, x)
  let    least = min(-1, x)
  let    whole = max(x, n)
  let    behind = min(x, product)
  let    cut = clip(x, -1, 1)
  let    rectified = relu(x)
  let    one = max(x, y[V: 0])
  out    larger, smaller, right, left, least, whole, behind, cut, rectified, one
}
"""
NAN, INF = math.nan, math.inf
NUMBERS = [NAN, -NAN, 0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -3.0, INF, -INF]
V = len(NUMBERS)


def larger(a, b, spoil=False):
    return NAN if math.isnan(a) or (math.isnan(b) and not spoil) else max(a, b) if not math.isnan(b) else a


def smaller(a, b, spoil=False):
    return -larger(-a, -b, spoil)


def wanted(x, y, n, spoil):
    pairs, first = list(zip(x, y)), [y[k - k % V] for k in range(len(x))]
    return {"larger": [larger(a, b, spoil) for a, b in pairs], "smaller": [smaller(a, b, spoil) for a, b in pairs],
            "right": [larger(a, 1.0) for a in x], "left": [larger(1.0, a, spoil) for a in x],
            "least": [smaller(-1.0, a, spoil) for a in x], "whole": [larger(a, float(b)) for a, b in zip(x, n)],
            "cut": [smaller(larger(a, -1.0), 1.0) for a in x], "rectified": [larger(a, 0.0) for a in x],
            "one": [larger(a, b, spoil) for a, b in zip(x, first)]}


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def artifacts(spec, words, gpu):
    """Artifacts and environments that run them."""
    for form in ([], ["--decomposed"]):
        if not gpu:
            artifact = driver.compiled(spec, *form, *words)
            yield from ((artifact, {"TENON_TIER": tier}) for tier in tiers.runnable())
            continue
        import steps  # the stand-in for NVIDIA's driver
        with tempfile.TemporaryDirectory() as folder:
            artifact, code = os.path.join(folder, "artifact"), os.path.join(folder, "code")
            os.mkdir(code)
            driver.tenon("compile", spec, *form, *words, "--target", "sm_80", "--save-gpu-ir", code, "-o", artifact)
            yield artifact, steps.stand_in(code)


def main(options):
    spoil, short = "--spoil" in options, "--bf16" in options
    real = "f64" if "--f64" in options else "f32"
    x, y = [a for a in NUMBERS for _ in NUMBERS], NUMBERS * V
    n = [k % 3 - 1 for k in range(V * V)]
    eye = [float(i == j) for i in range(V) for j in range(V)]
    inputs = {name: tensors.Tensor(kind, (V, V), values)
              for name, kind, values in (("a", real, x), ("b", real, y), ("n", "i32", n), ("eye", real, eye))}
    spec = driver.specification(TEXT.replace("VALUES", str(V)).replace("TYPE", "bf16" if short else ""), "extrema")
    want = wanted(x, y, n, spoil)
    want["behind"] = [NAN] * len(x)  # each row of y has one
    compared = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for artifact, environment in artifacts(spec, ["--f64"] if real == "f64" else [], "--gpu" in options):
            found = driver.run(folder, artifact, inputs, list(want), "--entry", "infer", environment=environment)
            for name, values in want.items():
                got = list(found[name].values)
                compared += len(values)
                bad = [k for k, (a, b) in enumerate(zip(got, values, strict=True)) if not same(a, b)]
                wrong += len(bad)
                if bad:
                    print(f"WRONG: {name} of {x[bad[0]]} and {y[bad[0]]} is {got[bad[0]]}, {environment}")
    print(f"{real}: {compared} comparisons, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
