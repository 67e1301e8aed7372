"""A written type of 16 bits on a product that a policy computes in f64: written_products.py [--controls]

Every output is equal, bit by bit, to the sum in doubles rounded once to bf16, and losses and gradients are made. Beside
`compute = bf16` the exception holds for what parameters and layers say, whose products have the bits that they have in f64 alone;
one of inputs outside of all layers multiplies bf16. --controls leaves the rounding out of the expectation.
"""
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
import driver  # noqa: E402
import tensors  # noqa: E402
from rounding import to_bf16, to_f32  # noqa: E402

TEXT = """model Product {
  config D = 7, F = 5
  dim    B, T
  dim    S = T
  in     x: [B, T, D], k: [F, D]
  use    plain = Linear[D -> D]
  let    y: bf16[B, T, F] = dot[D](x, k)
  let    z: bf16[B, T, D] = plain(x)
  let    seen: bf16[B, T, D] = attend(i: T, j: S) {
    score dot[D](z, z[T -> S])
    value x[T -> S]
  }
  out    y, z
  loss   l = mean(y ^ 2) + mean(z ^ 2) + mean(seen ^ 2)
}
train Product as r {
  bind      B = 2, T = 3
  data      = caller
  loss      = l
  optimizer = adam(lr = 1e-3)
  numerics  = policy(POLICY)
}
"""
B, T, D, F = 2, 3, 7, 5


def main():
    draw = random.Random(5)
    x = [[to_f32(draw.gauss(0, 1)) for _ in range(D)] for _ in range(B * T)]
    k = [[to_f32(draw.gauss(0, 1)) for _ in range(D)] for _ in range(F)]
    inputs = {"x": tensors.Tensor("f32", (B, T, D), sum(x, [])), "k": tensors.Tensor("f32", (F, D), sum(k, []))}
    def products(factor):
        exact = [sum(factor(a) * factor(b) for a, b in zip(row, other)) for row in x for other in k]
        return [to_f32(value) if "--controls" in sys.argv else to_bf16(value) for value in exact]

    wrong, layer = 0, None
    for policy in ("compute = f64", "f64 = \"*\"", "compute = bf16, f64 = \"*\""):
        spec = driver.specification(TEXT.replace("POLICY", policy), "product")
        with tempfile.TemporaryDirectory() as folder:
            words = ("--recipe", "r", "--tier", driver.best_tier())
            got = driver.run(folder, spec, inputs, ["y", "z"], "--init", *words)
            losses, gradients = driver.gradients(folder, spec, inputs, "--init", *words)
        layer = layer or list(got["z"].values)
        same = list(got["y"].values) == products(to_bf16 if "bf16" in policy else float) and list(got["z"].values) == layer
        found = losses["l"] > 0 and any(gradients["plain.weight"].values)
        print(f"{policy}: {'the same bits' if same else 'OTHER bits'}, {'gradients' if found else 'NO gradients'}")
        wrong += not (same and found)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
