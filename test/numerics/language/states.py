#!/usr/bin/env python3
"""Two calls of Inputs/states.tn, the second with the states of the first, against numbers of an independent evaluator.

usage: states.py [--spoil]
  --spoil: the second call starts from the initial states again, which must be noticed
"""
import os
import sys
import tempfile

from language import formula

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402

SPEC = os.path.join(HERE, "Inputs", "states.tn")
LAYERS = [f"outer.{n}.inner.{m}.{'no' if m == 1 else 'mem'}.w" for n in (0, 2, 3) for m in range(3)] + ["outer.1.plain.w"]
FIRST = [0.25549057319, 0.23939358183, 0.22420486403, 0.25549057319, 0.23939384843, 0.22420666916]
SECOND = [0.17663216561, 0.14230882611, 0.11461859275, 0.17663216634, 0.14230786332, 0.11460753225]
STATE = [
    0.5, 0.69933598925, 0.89475064045, 1.0826252249, 1.25989792451, 1.42423431452, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.94495273764,
    1.07308272346, 1.1232797722, 1.1685191343, 1.30218893124, 1.32235056921, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5,
    0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.79063166706, 0.78411181731, 0.73257955557, 0.80337035527, 0.78774035268,
    0.72774331294, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.49505179977, 0.30525606931, 0.1611454197, 0.49505233642, 0.30596814628,
    0.1621616747, 0.98985132421, 0.97985712818,
    0.94561523515, 0.98985120939, 0.97968604337, 0.9452547665, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.07434648513, 0.01804132076,
    0.009757326, 0.0743464654, 0.01799690124, 0.00966079224
]  # after the second call; depths that keep nothing stay as they began


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        weights, states = os.path.join(folder, "weights.safetensors"), os.path.join(folder, "states.safetensors")
        tensors.save_safetensors(weights, {name: tensors.Tensor("f64", [3], formula(name, [3])) for name in LAYERS})
        inputs = {"x": tensors.Tensor("f64", [2, 3], [0.1 * k for k in range(6)])}
        for number, want in enumerate((FIRST, SECOND)):
            start = ["--states", states] if number and "--spoil" not in sys.argv else []
            got = driver.run(folder, SPEC, inputs, ["y"], "--f64", "--weights", weights, *start, "--save-states",
                             states)["y"].values
            wrong += [f"call {number}: y[{k}] is {a}, expected {b}" for k, (a, b) in enumerate(zip(got, want))
                      if not abs(a - b) < 1e-9]
        kept = tensors.load_safetensors(states)["outer.*.inner.*.mem.k"]
        wrong += [f"state[{k}] is {a}, expected {b}" for k, (a, b) in enumerate(zip(kept.values, STATE)) if not abs(a - b) < 1e-9]
    for text in wrong:
        print("WRONG:", text)
    print("states: as evaluated" if not wrong else f"states: {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
