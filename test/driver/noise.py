"""Draws of real numbers: distributed as they say, the same for any number of threads and in f32 and f64, others in each step, at
each depth and for each draw; gradients pass what stands around them.

    noise.py FOLDER [--spoil]
"""
import math
import os
import shutil
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
from tensors import Tensor  # noqa: E402

SPEC = """layer Shaken[B, D](x: [B, D]) -> [B, D] { return x + normal[B, D](1) }
model Noise {
  config D = 70
  dim    B
  in     x: [B, D]
  param  w: [D] = 1
  param  s: [D] = 0.5
  use    shaken = stack[2] Shaken[B, D]
  let    n = normal[B, D](3)
  let    u = uniform[B, D](2)
  let    g = gumbel[B, D](1)
  let    twice = normal[B, D](1) - normal[B, D](1)
  let    depths = shaken(0 * x)
  let    z = x * w + s * n
  loss   l = mean(z * z)
  out    n, u, g, twice, depths, z
}
train Noise as small { bind B = 300  loss = l  optimizer = sgd(lr = 0.1)  steps = 1 }
"""
ROWS, WIDTH = 300, 70
# mean, deviation, the fourth moment over the square of the second
EXPECTED = {"n": (0, 3, 3), "u": (0, 2 / math.sqrt(3), 1.8), "g": (0.5772157, math.pi / math.sqrt(6), 5.4),
            "twice": (0, math.sqrt(2), 3), "depths": (0, math.sqrt(2), 3)}
wrong = 0


def require(holds, what):
    global wrong
    if not holds:
        print("WRONG:", what)
        wrong += 1


def moments(name, values):
    """21,000 draws: the standard error of the mean is deviation / 145."""
    mean, deviation, fourth = EXPECTED[name]
    middle, spread = statistics.fmean(values), statistics.pstdev(values)
    kurtosis = statistics.fmean((v - middle) ** 4 for v in values) / spread ** 4
    require(abs(middle - mean) < 4 * deviation / 145, f"{name} has the mean {middle}")
    require(abs(spread / deviation - 1) < 0.03, f"{name} has the deviation {spread}")
    require(abs(kurtosis / fourth - 1) < 0.1, f"{name} has the fourth moment {kurtosis}")
    neighbours = sum((a - middle) * (b - middle) for a, b in zip(values, values[1:])) / len(values) / spread ** 2
    require(abs(neighbours) < 4 / 145, f"neighbours of {name} go together, {neighbours}")


def main(folder, spoil):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    spec = driver.specification(SPEC, "noise")
    x = Tensor("f32", (ROWS, WIDTH), [math.sin(i) for i in range(ROWS * WIDTH)])

    def run(*words):
        return driver.run(folder, spec, {"x": x}, [*EXPECTED, "z"], "--init", *words)

    first = run("--threads", "1")
    for name in EXPECTED:
        moments(name, [2 * v for v in first[name].values] if spoil and name == "u" else first[name].values)
    require(max(abs(v) for v in first["u"].values) < 2, "a uniform draw leaves its range")
    two, wide, later, seeded = run("--threads", "2"), run("--f64"), run("--step", "1"), run("--seed", "7")
    for name in EXPECTED:
        a = first[name].values
        require(list(a) == list(two[name].values), f"{name} hangs on the number of threads")
        require(max(abs(p - q) for p, q in zip(a, wide[name].values)) < 1e-4, f"{name} differs in f64")
        require(list(a) != list(later[name].values), f"{name} is the same in the next step")
        require(list(a) != list(seeded[name].values), f"{name} is the same for another seed")
    # d mean((x w + s n)^2): 2 z n / count of each column, at what the step has drawn.
    _, gradients = driver.gradients(folder, spec, {"x": x}, "--f64", "--recipe", "small", "--init")
    n, z = wide["n"].values, wide["z"].values
    for name, factor in (("s", n), ("w", x.values)):
        for column in (0, 33, 69):
            expected = sum(2 * z[i] * factor[i] for i in range(column, ROWS * WIDTH, WIDTH)) / (ROWS * WIDTH)
            found = gradients[name].values[column]
            require(abs(found - expected) < 1e-6, f"the gradient of {name} is {found} instead of {expected}")
    print(f"{len(EXPECTED)} draws, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1], "--spoil" in sys.argv))
