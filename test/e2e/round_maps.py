#!/usr/bin/env python3
"""Attention maps of loops that may end early: rounds that run have their maps, those that do not keep what they had.

usage: round_maps.py [--spoil]

A first run of 4 of 5 rounds and a second one of 1, with other inputs, for a loop whose rounds attend themselves, do so in a
stack, and differ by `if depth`. --spoil: the second run has 2 rounds, which must be noticed.
"""
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
from tensors import tensor  # noqa: E402

TEXT = """model Maps {
  config D = 4
  dim    B, T
  dim    S = T
  in     x: [B, T, D], start: [B]
  param  w: [D] ~ normal(1)
  layer Sees(x: [B, T, D]) -> [B, T, D] {
    let    keys = x[T -> S]
    return x + attend(i: T, j: S) { score dot[D](x * w, keys) value keys }
  }
  layer Round(x: [B, T, D], mass: [B]) -> ([B, T, D], [B]) {
    use    sees = USED
    until  min(mass) > 3 CONDITION
    return BODY, mass + 1
  }
  use    steps = loop[5] Round
  let    (y, mass) = steps(x, start)
  out    y
}
"""
FORMS = {"itself": ("Sees", "", "sees(x)"), "a stack": ("stack[2] Sees", "", "sees(x)"),
         "by depth": ("Sees", "", "if depth mod 2 == 0 then sees(x) else sees(x) - x"),
         "by depth, ends once": ("Sees", "and depth mod 3 == 1", "if depth mod 2 == 0 then sees(x) else sees(x) - x")}
SIZES = {"B": 2, "T": 3}


def maps(model, step, start):
    """The maps of each of the 5 rounds."""
    draw = random.Random(step)
    model.set_input("x", tensor("f32", [[[draw.uniform(-1, 1) for _ in range(4)] for _ in range(3)] for _ in range(2)]))
    model.set_input("start", tensor("f32", [start, start]))
    model.run()
    (name, state), = model.states().items()
    if not name.startswith("attention["):
        raise SystemExit(f"WRONG: a state {name}")
    size = len(state.values) // 5
    return [list(state.values[i * size:(i + 1) * size]) for i in range(5)]


def wrong(form, spoil):
    text = TEXT.replace("USED", form[0]).replace("CONDITION", form[1]).replace("BODY", form[2])
    artifact = driver.compiled(driver.specification(text, "maps"), "--attention-maps", "--quick", "--entry", "infer")
    model = library.Model(artifact, "infer", SIZES)
    first, again = maps(model, 1, 0), maps(model, 2, 1.5 if spoil else 2.5)
    third = maps(model, 3, 9)
    model.close()

    def is_map(values):  # rows of three places that sum up to 1
        return all(abs(sum(values[i:i + 3]) - 1) < 1e-5 for i in range(0, len(values), 3))
    if not all(is_map(each) for each in first[:4]) or set(first[4]) != {-1.0}:
        return "a first run of 4 rounds has other maps"
    if not is_map(again[0]) or again[0] == first[0] or again[1:] != first[1:]:
        return "a second run of 1 round does not leave the maps of the others"
    return "a run of no round changes maps" if third != again and not form[1] else ""


def main():
    for name, form in FORMS.items():
        if message := wrong(form, "--spoil" in sys.argv):
            print(f"WRONG: rounds that attend {name}: {message}")
            return 1
    print("PASSED")
    return 0


sys.exit(main())
