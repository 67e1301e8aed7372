"""Values with two written types: written.py [--controls]

Every output is equal, bit by bit, to the roundings written out: f32 arithmetic, then bf16 or f16 as the text says. --controls
leaves the first or the second rounding out of each expectation.
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

TEXT = """model Written {
  config D = 7
  dim    B, T
  in     x: [B, T, D]
  layer  Taken(y: f16[B, T, D]) -> [B, T, D] { return y * 1 }
  layer  Given(y: [B, T, D]) -> f16[B, T, D] { return y }
  fn     called(y: f16[B, T, D]) -> [B, T, D] { return y * 1 }
  use    taken = Taken
  use    given = Given
  let    first: bf16[B, T, D] = x * 3
  let    short: f16[B, T, D] = first
  let    wide: f32[B, T, D] = first
  let    open: [B, T, D] = first
  let    computed: f16[B, T, D] = first * 1
  let    other: f16[B, T, D] = x * 3
  let    back: bf16[B, T, D] = other
  let    argument = taken(first)
  let    result = given(first)
  let    function = called(first)
  let    carried: [B, T, D] = scan(t: T) {
    carry c: f16[B, D] = full[B, D](0.0)
    let   n: bf16[B, D] = x[T: t] * 3 + c * 0.5
    next  c = n
    yield c
  }
  out    first, short, wide, open, computed, back, argument, result, function, carried
}
"""
B, T, D = 2, 3, 7


def same(x):
    return x


def carried(x, of_value, of_carry):
    """The carries of a scan that starts from 0."""
    result = []
    for row in range(B):
        state = [0.0] * D
        for time in range(T):
            at = (row * T + time) * D
            result += state
            state = [of_carry(of_value(to_f32(to_f32(x[at + i] * 3) + to_f32(state[i] * 0.5)))) for i in range(D)]
    return result


def expected(x):
    """By output: what the text says, and the same with a rounding left out."""
    three = [to_f32(value * 3) for value in x]
    rounded = [to_bf16(value) for value in three]
    twice = [to_f16(value) for value in rounded]
    once = [to_f16(value) for value in three]
    values = {"first": (rounded, three), "wide": (rounded, three), "open": (rounded, three),
              "carried": (carried(x, to_bf16, to_f16), carried(x, to_bf16, same)),
              "back": ([to_bf16(value) for value in once], once)}
    for name in ("short", "computed", "argument", "result", "function"):
        values[name] = (twice, once)
    return values


def main():
    draw = random.Random(5)
    # Down to 2^-21: what bf16 keeps whole there, f16 rounds.
    numbers = [to_f32(draw.gauss(0, 1) * 2.0 ** -draw.choice((0, 8, 17, 21))) for _ in range(B * T * D)]
    wanted, wrong = expected(numbers), 0
    spec = driver.specification(TEXT, "written")
    for tier in tiers.runnable():
        with tempfile.TemporaryDirectory() as folder:
            got = driver.run(folder, spec, {"x": tensors.Tensor("f32", (B, T, D), numbers)}, wanted, "--tier", tier)
        for name, (right, spoiled) in wanted.items():
            if "--controls" in sys.argv:
                print(name, tier, "noticed" if list(got[name].values) != spoiled else "overlooked")
            elif list(got[name].values) != right:
                far = max(range(len(right)), key=lambda i: abs(got[name].values[i] - right[i]))
                print(f"{name} {tier}: {got[name].values[far]!r}, expected {right[far]!r}")
                wrong += 1
        if "--controls" in sys.argv:
            break
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
