"""Inputs and states with written types: stored.py [--controls]

Inputs in npy files of f32 are rounded to the type of the input when they are read, a state when it is set: outputs and states are
equal, bit by bit, to f32 arithmetic with these roundings, over three calls each of which goes on from the states of the last.
--controls leaves the roundings out of the expectation.
"""
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
import driver  # noqa: E402
import tensors  # noqa: E402
import tiers  # noqa: E402
from rounding import to_bf16, to_f16, to_f32  # noqa: E402

TEXT = """model Stored {
  config D = 5
  dim    B
  in     a: bf16[B, D], b: f16[B, D], c: f64[B, D]
  state  m: bf16[B, D] = 0.3
  state  s: f64[B, D] = 0.1
  next   m = m * 0.5 + a
  next   s = s + c
  let    sum_of = a + b
  let    old = m * 1
  let    total: f64[B, D] = s * 1
  out    sum_of, old, total
}
"""
B, D, CALLS = 3, 5, 3


def same(x):
    return x


class Expected:
    """The outputs of each call. `short`, `half`: roundings to bf16 and f16; `wide`: of what is f64."""

    def __init__(self, short=to_bf16, half=to_f16, wide=same):
        self.short, self.half, self.wide = short, half, wide
        self.m, self.s = [short(to_f32(0.3))] * (B * D), [wide(0.1)] * (B * D)

    def call(self, a, b, c):
        a, b, c = map(self.short, a), map(self.half, b), map(self.wide, c)
        a = list(a)
        result = {"sum_of": [to_f32(x + y) for x, y in zip(a, b)], "old": self.m, "total": self.s}
        self.m = [self.short(to_f32(to_f32(x * 0.5) + y)) for x, y in zip(self.m, a)]
        self.s = [self.wide(x + y) for x, y in zip(self.s, c)]
        return result


def main():
    draw, wrong = random.Random(3), 0
    given = [[[to_f32(draw.gauss(0, 1)) for _ in range(B * D)], [to_f32(draw.gauss(0, 1)) for _ in range(B * D)],
              [draw.gauss(0, 1) for _ in range(B * D)]] for _ in range(CALLS)]
    spec, controls = driver.specification(TEXT, "stored"), "--controls" in sys.argv
    spoiled = {"bf16": {"short": same}, "f16": {"half": same}, "f64": {"wide": to_f32}, "f64 twice": {"wide": to_bf16}}
    for tier in tiers.runnable()[:1 if controls else None]:
        with tempfile.TemporaryDirectory() as folder:
            states, got = os.path.join(folder, "states.safetensors"), []
            for number, (a, b, c) in enumerate(given):
                inputs = {"a": tensors.Tensor("f32", (B, D), a), "b": tensors.Tensor("f32", (B, D), b),
                          "c": tensors.Tensor("f64", (B, D), c)}
                start = ["--states", states] if number else []
                found = driver.run(folder, spec, inputs, ("sum_of", "old", "total"), "--tier", tier, *start, "--save-states",
                                   states)
                got.append({name: list(value.values) for name, value in found.items()})
        for what, changed in spoiled.items() if controls else [("", {})]:
            evaluation = Expected(**changed)
            is_same = all(found == evaluation.call(*inputs) for found, inputs in zip(got, given))
            if controls:
                print(what, "overlooked" if is_same else "noticed")
            elif not is_same:
                print("other numbers than expected on", tier)
                wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
