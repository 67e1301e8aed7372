#!/usr/bin/env python3
"""A specification whose sizes each run brings, against the same one with bound sizes: outputs, losses and gradients have the same
bits, in f64, f32 and bf16, at several sizes; in f64 the gradients are those of central differences, along random directions.
A training of the open form has the bits of that of the bound one.

usage: open_sizes.py SPEC [--numerics f64|f32|bf16] [--spoil bit|gradient|training]

The specification has a loss and a recipe `t`; SIZES says its dims. --spoil: one number of the open form is changed, which must be
noticed.
"""
import argparse
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
from tensors import Tensor, count  # noqa: E402

# The first: as small as a size can be; the last ends inside tiles. Other types than f64 have these two.
SIZES = {"strides": [{"B": 1, "N": 1, "M": 1}, {"B": 2, "N": 3, "M": 2}, {"B": 3, "N": 37, "M": 9}],
         "products": [{"B": 1, "M": 1}, {"B": 2, "M": 3}, {"B": 3, "M": 29}]}
ENTRIES = ("infer", "grad", "train")
SPOILED = {"bit": "infer", "gradient": "grad", "training": "train"}
WORDS = {"f64": ["--f64"], "f32": [], "bf16": ["--numerics", "bf16"]}
STEP, NEAR, DIRECTIONS = 1e-6, 1e-6, 3


class Wrong(Exception):
    pass


class Called:
    """An entry of an artifact at these dims, with parameters and inputs drawn by name."""

    def __init__(self, artifact, entry, kind, dims):
        self.entry, self.kind = entry, "f64" if kind == "f64" else "f32"
        self.model = library.Model(artifact, entry, dims)
        self.values = {name: self.drawn(name, info, 0.5) for name, info in sorted(self.model.parameters().items())}
        self.set(self.values)
        for name, (_, info) in sorted(self.model.inputs().items()):
            self.model.set_input(name, self.drawn(name, info, 1))

    def drawn(self, name, info, most):
        draw, shape = random.Random(name), info.shape[:info.rank]
        if library.KINDS[info.type] == "i32":
            return Tensor("i32", shape, [draw.randrange(4) for _ in range(count(shape))])
        return Tensor(self.kind, shape, [draw.uniform(-most, most) for _ in range(count(shape))])

    def set(self, values):
        for name, value in values.items():
            self.model.set_parameter(name, value)

    def results(self):
        found = dict(self.model.run(step=1, seed=1))
        if self.entry == "grad":
            found.update({f"the gradient of {name}": self.model.gradient(name) for name in self.values})
        if self.entry == "train":
            found.update({f"the trained {name}": self.model.parameter(name) for name in self.values})
        return found

    def loss(self, values):
        self.set(values)
        return self.model.run(step=1, seed=1)["l"].values[0]


def compare(found, wanted, what):
    if set(found) != set(wanted):
        raise Wrong(f"{what}: {sorted(found)} and {sorted(wanted)}")
    for name, value in wanted.items():
        if found[name].shape != value.shape or found[name].values.tobytes() != value.values.tobytes():
            raise Wrong(f"{what}: {name} has other bits where its sizes are open")


def differences(called, gradients, spoil):
    """Along directions in which every parameter is moved."""
    for number in range(DIRECTIONS):
        draw = random.Random(number)
        way = {name: [draw.choice((-1, 1)) for _ in value.values] for name, value in called.values.items()}
        sides = []
        for far in (STEP, -STEP):
            moved = {name: [x + far * s for x, s in zip(value.values, way[name])] for name, value in called.values.items()}
            sides.append(called.loss({name: Tensor("f64", called.values[name].shape, each) for name, each in moved.items()}))
        found = sum(g * s for name in way for g, s in zip(gradients[name].values, way[name])) * (1.001 if spoil else 1)
        difference = (sides[0] - sides[1]) / (2 * STEP)
        norm = sum(g * g for value in gradients.values() for g in value.values) ** 0.5
        if not abs(found - difference) <= NEAR * max(norm, abs(difference)) or not norm > 1e-3:
            raise Wrong(f"gradient {found!r}, difference {difference!r}")
    called.set(called.values)


def check(spec, kind, spoil):
    name = os.path.splitext(os.path.basename(spec))[0]
    with tempfile.TemporaryDirectory() as folder:
        def compiled(entry, dims):
            made = os.path.join(folder, f"{entry} {dims}")
            how = {"infer": ["--no-recipe"], "grad": ["--grad", "--no-recipe"], "train": ["--recipe", "t"]}[entry]
            quick = ["--quick"] if dims or kind == "f64" else []  # the open form with care, as users run it
            driver.tenon("compile", spec, *how, *WORDS[kind], "--tier", driver.best_tier(), *quick,
                         *(word for pair in dims.items() for word in ("--bind", f"{pair[0]}={pair[1]}")), "-o", made)
            return made

        sizes = SIZES[name] if kind == "f64" else [SIZES[name][0], SIZES[name][-1]]
        for entry in [SPOILED[spoil]] if spoil else ENTRIES:
            artifact = compiled(entry, {})
            for dims in sizes:
                if entry == "train":
                    dims = {dim: size for dim, size in dims.items() if dim != "B"}  # which the recipe binds
                bound, called = Called(compiled(entry, dims), entry, kind, {}), Called(artifact, entry, kind, dims)
                wanted, found = bound.results(), called.results()
                if spoil in ("bit", "training"):
                    sorted(found.items())[-1][1].values[0] += 0.25
                compare(found, wanted, f"{entry} at {dims}")
                if entry == "grad" and kind == "f64":
                    differences(called, {each: called.model.gradient(each) for each in called.values}, spoil == "gradient")
    print(f"{name}: {len(sizes)} sizes in {kind}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec")
    parser.add_argument("--numerics", choices=sorted(WORDS), default="f64")
    parser.add_argument("--spoil", choices=list(SPOILED))
    options = parser.parse_args()
    try:
        check(options.spec, options.numerics, options.spoil)
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")


if __name__ == "__main__":
    main()
