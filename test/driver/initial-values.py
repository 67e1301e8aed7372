"""Initial values that are expressions of an index, against the same expressions here, in f32 and f64, of a parameter of more
elements than one thread fills at a time; and sums, products, logarithms of draws.

    initial-values.py FOLDER [--spoil]
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
from tensors import tensor  # noqa: E402

SPEC = """model Tables {
  config D = 700, N = 500, R = 3
  dim    B
  in     x: [B]
  param  wide: [D, N] = log(1 + iota[N]())
  param  tall: [D, N] = sin(real(iota[D]()))
  param  both: [R, N] = where(iota[N]() mod 2 == 0, real(iota[R]()) / 4, -sqrt(real(iota[N]())))
  param  turned: [N, R] = real(iota[R]() * 10 + iota[N]() div 3)
  param  moved: [R, N] ~ 3 - (2 * uniform(0.5) + 1) / 4
  param  softened: [R, N] ~ log(exp(exp(uniform(log(10)) + log(0.01))) - 1)
  layer Step(y: [B]) -> [B] {
    param  each: [N] = 1 / real(2 + iota[N]())
    return y * sum[N](each)
  }
  use    steps = stack[2] Step
  let    product = steps(x)
  out    wide, tall, both, turned, product, moved, softened
}
"""
EXPECTED = {
    "wide": lambda: [math.log(1 + n) for _ in range(700) for n in range(500)],
    "tall": lambda: [math.sin(d) for d in range(700) for _ in range(500)],
    "both": lambda: [-math.sqrt(n) if n % 2 else r / 4 for r in range(3) for n in range(500)],
    "turned": lambda: [float(10 * r + n // 3) for n in range(500) for r in range(3)],
    "product": lambda: [sum(1 / (2 + n) for n in range(500)) ** 2 * x for x in (1, -2)],
}
# What draws were before they were moved: uniform between -1 and 1.
DRAWN = {
    "moved": lambda value: 4 * (3 - value) - 1,
    "softened": lambda value: (math.log(math.log1p(math.exp(value))) - math.log(0.01)) / math.log(10),
}


def is_uniform(values):
    mean, square = sum(values) / len(values), sum(v * v for v in values) / len(values)
    return -1 - 1e-5 < min(values) < -0.99 and 0.99 < max(values) < 1 + 1e-5 and abs(mean) < 0.06 and abs(square - 1 / 3) < 0.04


def main(folder, spoil):
    wrong = 0
    os.makedirs(folder, exist_ok=True)
    for kind, words, bound in (("f32", [], 1e-6), ("f64", ["--f64"], 1e-14)):
        spec = driver.specification(SPEC.replace("log(1 + ", "log(2 + ").replace("~ 3 -", "~ 2 -") if spoil else SPEC, "tables")
        found = driver.run(folder, spec, {"x": tensor(kind, [1.0, -2.0])}, [*EXPECTED, *DRAWN], "--init", *words)
        for name, expected in EXPECTED.items():
            worst = max(abs(a - b) / max(1, abs(b)) for a, b in zip(found[name].values, expected(), strict=True))
            if not worst <= bound:
                print(f"WRONG: {kind} {name} is {worst} off")
                wrong += 1
        for name, before in DRAWN.items():
            if not is_uniform([before(value) for value in found[name].values]):
                print(f"WRONG: {kind} {name} is drawn otherwise")
                wrong += 1
    print(f"{2 * len(EXPECTED | DRAWN)} tensors, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1], "--spoil" in sys.argv))
