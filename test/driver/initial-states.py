"""States of the model that start as parameters do, or as one of them or another state. Numbers follow from what draws must be
like, from the specification and from the file of weights.

    initial-states.py FOLDER [--spoil]
"""
import os
import shutil
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
from tensors import Tensor, load_safetensors, save_npy, save_safetensors, tensor  # noqa: E402

SPEC = """layer Twin[B, D](x: [B, D]) -> ([B, D], [], []) {
  dim    O = D
  use    fast = Linear[D -> O](weight = normal(0.5), bias = false)
  state  slow: [O, D] = fast.weight
  state  own: [O, D] = real(depth) + 0.25
  state  slower: [O, D] = slow
  state  owner: [O, D] = own
  next   slow = if training then 0.75 * slow + 0.25 * fast.weight else slow
  let    apart = (slow - fast.weight) ^ 2 + (slower - slow) ^ 2 + (owner - own) ^ 2
  return tanh(fast(x))[O -> D], sum[O, D](apart), sum[O, D](own)
}
model Follow {
  config D = 4, K = 500
  dim    B
  in     x: [B, D]
  state  queue: bf16[K, D] ~ normal(2)
  state  another: bf16[K, D] = queue
  state  ramp: [K] = real(iota[K]()) / 4
  layer Twins(x: [B, D], drift: [], kept: []) -> ([B, D], [], []) {
    use    twin = Twin[B, D]
    let    (y, apart, own) = twin(x)
    return y, drift + apart, kept + own
  }
  use    blocks = stack[3] Twins
  let    (y, drift, kept) = blocks(x, 0, 0)
  loss   size = mean(y * y)
  out    drift, kept, queue, ramp, another
}
train Follow as small { bind B = 2  data = arrays(x = "x.npy")  loss = size  optimizer = sgd(lr = 0.1)  steps = 2 }
"""
OUTPUTS = ["drift", "kept", "queue", "ramp", "another"]
NAMES = [f"blocks.{depth}.twin" for depth in range(3)]


class Checks:
    def __init__(self, kind):
        self.kind, self.count, self.wrong = kind, 0, 0

    def holds(self, what, found, fits):
        self.count += 1
        if not fits:
            print(f"WRONG: {self.kind} {what} is {found}")
            self.wrong += 1

    def near(self, what, found, expected, bound):
        worst = max(abs(a - b) for a, b in zip(found, expected, strict=True))
        self.holds(what, f"{worst} off", worst <= bound)


def started(folder, spec, words, checks, spoil):
    """Drawn by --init: as drawn numbers are, by the seed; the copy is its parameter, whose policy may round it."""
    first, again, other = (driver.run(folder, spec, {}, OUTPUTS, "--init", "--seed", seed, *words) for seed in (3, 3, 4))
    checks.holds("drift at the start", first["drift"].values[0], first["drift"].values[0] == (1 if spoil else 0))
    checks.near("kept at the start", first["kept"].values, [60], 0)
    checks.near("ramp", first["ramp"].values, [k / 4 for k in range(500)], 0)
    queue = first["queue"].values
    checks.holds("another state", "not the queue", list(first["another"].values) == list(queue))
    spread, middle = statistics.pstdev(queue), statistics.fmean(queue)
    checks.holds("queue", f"{middle} +- {spread}", abs(spread - 2) < 0.1 and abs(middle) < 0.15)
    checks.holds("queue of one seed", "another", list(queue) == list(again["queue"].values))
    checks.holds("queue of another seed", "the same", list(queue) != list(other["queue"].values))


def follow(folder, spec, words, kind, checks):
    """By a file that has the parameter alone; and after steps, where it follows one step behind."""
    drawn = {f"{name}.fast.weight": Tensor(kind, (4, 4), [(7 * i + 5 * depth) % 11 / 8 - 0.5 for i in range(16)])
             for depth, name in enumerate(NAMES)}
    weights = os.path.join(folder, "weight.safetensors")
    save_safetensors(weights, drawn)
    found = driver.run(folder, spec, {}, OUTPUTS, "--init", "--weights", weights, *words)
    checks.near("drift of a file", found["drift"].values, [0], 0)
    given = weights + ".queue"
    save_safetensors(given, drawn | {"queue": Tensor(kind, (500, 4), [i % 9 / 4 for i in range(2000)])})
    found = driver.run(folder, spec, {}, OUTPUTS, "--init", "--weights", given, *words)
    checks.near("another of a file with the queue", found["another"].values, [i % 9 / 4 for i in range(2000)], 0)
    after = []
    for steps in (1, 2):
        run = os.path.join(folder, f"run-{kind}-{steps}" + "".join(words))
        driver.tenon("train", spec, "--data", f"x={folder}/x.npy", "--weights", weights, "--out", run, "--steps", steps, "-q",
                     *words)
        driver.tenon("export", run, "-o", run + ".safetensors")
        after.append(load_safetensors(run + ".safetensors"))
    for name in NAMES[:2]:
        start, once = drawn[f"{name}.fast.weight"].values, after[0][f"{name}.fast.weight"].values
        checks.near(f"{name}.slow after a step", after[0][f"{name}.slow"].values, start, 1e-6)
        checks.near(f"{name}.slower after two", after[1][f"{name}.slower"].values, start, 1e-6)
        mixed = [0.75 * a + 0.25 * b for a, b in zip(start, once)]
        checks.near(f"{name}.slow after two", after[1][f"{name}.slow"].values, mixed, 1e-6)


def main(folder, spoil):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    spec = os.path.join(folder, "follow.tn")
    with open(spec, "w", encoding="utf-8") as file:
        file.write(SPEC)
    save_npy(os.path.join(folder, "x.npy"), tensor("f32", [[((5 * i + 2 * d) % 7) / 3 - 1 for d in range(4)] for i in range(8)]))
    wrong = 0
    for kind, words in (("f32", []), ("f64", ["--f64"]), ("bf16", ["--numerics", "bf16"])):
        checks = Checks(kind)
        started(folder, spec, words, checks, spoil)
        follow(folder, spec, words, "f64" if kind == "f64" else "f32", checks)
        print(f"{kind}: {checks.count} values, {checks.wrong} wrong")
        wrong += checks.wrong
    return 1 if wrong else 0


sys.exit(main(sys.argv[1], "--spoil" in sys.argv))
