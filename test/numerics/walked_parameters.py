#!/usr/bin/env python3
"""Parameters that scans and loops walk along their own axes, as bf16 keeps them: walked_parameters.py [--upper | --short]

What is multiplied here element by element has the same bits in a program of bf16, whose parameters lie in two halves, as in
one of f32: outputs, losses, gradients, and parameters after each of three steps. With parameters of bf16 alone one step is that
of f32 from the same numbers of 16 bits, rounded once. A contraction with the slice of a place has the bits of one with a
gathered row.
  --upper  the remainders are thrown away before the first step: noticed
  --short  the numbers of f32 are not rounded for parameters of bf16 alone: noticed
"""
import math
import sys

sys.path[:0] = [__file__.rsplit("/", 1)[0], __file__.rsplit("/", 1)[0] + "/../support"]
import driver  # noqa: E402
import library  # noqa: E402
from rounding import all_to_bf16, to_f32  # noqa: E402
from tensors import Tensor  # noqa: E402

TEXT = """model Walked {
  config D = 21, L = 6
  dim    B
  in     x: [B, D]
  param  first, depths: [L, D] ~ normal(0.5)
  param  last: [D, L] ~ normal(0.5)
  layer Round(h: [B, D]) -> [B, D] { return tanh(h * depths[L: depth]) + depths[L: depth] }
  layer Walk(h: [B, D]) -> [B, D] {
    param  own: [L, D] ~ normal(0.5)
    let    y = scan(t: L) {
      carry c: [B, D] = h
      next  c = tanh(c * own[L: t] + own[L: t] * h)
      yield c
    }
    return mean[L](y)
  }
  use    rounds = loop[L] Round
  use    walks = stack[2] Walk
  let    y = scan(t: L) {
    carry h: [B, D] = x
    next  h = tanh(h * first[L: t]) - last[L: t]
    yield h * first[L: L - 1 - t]
  }
  let    z = walks(rounds(x))
  out    y, z
  loss   l = mean(y ^ 2) + mean(z ^ 2) + mean(first ^ 2)
}
model Contracted {
  config D = 21, L = 6
  config D2 = D
  dim    B
  in     x: [B, D]
  param  w: [L, D, D2] ~ normal(0.5)
  layer Round(h: [B, D]) -> [B, D] { return tanh(dot[D](h, w[L: depth])[D2 -> D]) }
  use    rounds = loop[L] Round
  let    walked = scan(t: L) {
    carry h: [B, D] = x
    let   g = tanh(dot[D](h, w[L: t])[D2 -> D])
    next  h = g
    yield g
  }
  let    y = walked[L: L - 1]
  let    z = rounds(x)
  out    y, z
  loss   l = mean(y ^ 2)
}
"""
RECIPE = """train MODEL as r {
  bind      B = 3
  data      = caller
  loss      = l
  optimizer = adamw(lr = 0.05)
  numerics  = policy(POLICY)SAVE
}
"""
B, D, L, STEPS = 3, 21, 6, 3
X = Tensor("f32", (B, D), [to_f32(math.sin(1 + 0.7 * k)) for k in range(B * D)])
SAVES = ("", "\n  save      = blocks", "\n  save      = blocks(steps = 4)")


class Run:
    """One program: what its entries say from given parameters."""

    def __init__(self, model, policy, save="", tier=None):
        text = TEXT + RECIPE.replace("MODEL", model).replace("POLICY", policy).replace("SAVE", save)
        artifact = driver.compiled(driver.specification(text, "walked"), "--model", model, "--recipe", "r", "--tier",
                                   tier or driver.best_tier(), "--quick")
        self.infer, self.train = library.Model(artifact, "infer", {"B": B}), library.Model(artifact, "train", {})
        for each in (self.infer, self.train):
            each.set_input("x", X)

    def set(self, change=lambda numbers: numbers):
        for each in (self.infer, self.train):
            for k, name in enumerate(sorted(each.parameters())):
                shape = each.parameter(name).shape
                numbers = [to_f32(0.5 * math.cos(0.37 * i + k)) for i in range(math.prod(shape))]
                each.set_parameter(name, Tensor("f32", shape, change(numbers)))

    def outputs(self):
        return {name: list(value.values) for name, value in self.infer.run().items()}

    def step(self, number):
        found = {name: list(value.values) for name, value in self.train.run(step=number).items()}
        for name in self.train.parameters():
            found[f"gradient of {name}"] = list(self.train.gradient(name).values)
            found[name] = list(self.train.parameter(name).values)
        return found


def differing(found, wanted):
    return sorted(name for name in wanted if found[name] != wanted[name])


def main():
    upper, short = "--upper" in sys.argv, "--short" in sys.argv
    wrong, count = [], 0
    plain = Run("Walked", "compute = f32")
    plain.set()
    wanted = [plain.outputs()] + [plain.step(t) for t in range(STEPS)]
    for number, save in enumerate(SAVES):
        run = Run("Walked", "compute = bf16", save, driver.other_tier() if number else None)
        run.set(all_to_bf16 if upper else lambda numbers: numbers)
        for want, got in zip(wanted, [run.outputs()] + [run.step(t) for t in range(STEPS)], strict=True):
            wrong += [f"compute = bf16{save}: {name}" for name in differing(got, want)]
            count += len(want)
    plain = Run("Walked", "compute = f32")
    plain.set(all_to_bf16)
    wanted = {**plain.outputs(), **plain.step(0)}
    wanted.update({name: list(all_to_bf16(wanted[name])) for name in plain.train.parameters()})
    run = Run("Walked", "compute = f32, params = bf16")
    run.set((lambda numbers: [x * (1 + 2.0 ** -7) for x in numbers]) if short else lambda numbers: numbers)
    wrong += [f"params = bf16: {name}" for name in differing({**run.outputs(), **run.step(0)}, wanted)]
    for policy in ("compute = bf16", "compute = bf16, params = bf16"):
        run = Run("Contracted", policy)
        run.set()
        got = run.outputs()
        wrong += [f"{policy}: contraction"] if got["y"] != got["z"] or not any(got["y"]) else []
        wrong += [f"{policy}: no gradient"] if not any(run.step(0)["gradient of w"]) else []
    print("\n".join(wrong) or f"{count + len(wanted)} tensors, none of other bits")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
