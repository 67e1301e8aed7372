#!/usr/bin/env python3
"""The models of this repository against public implementations: outputs, gradients and ten steps of an optimizer.

usage: peers.py CASE [--f64] [--spoil KIND] [--folder DIR]

values/CASE.json says what the public implementation gave in float64 (make.py), README.md what is stored. The specification is
compiled with a recipe of these sizes; weights go in and gradients come out under the public names, so that the `names` tables
are tested too.
--spoil makes one deliberate mistake, which has to be noticed: `weight` (one weight off by a millionth, in f32 a hundredth),
`sign` (of one gradient), `step` (the losses of one step more), `draws` (those of another seed), `shape` (of one public tensor,
with an axis of size 1 more, which Tenon reads and other readers refuse).
"""
import argparse
import glob
import json
import math
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, HERE)
import driver  # noqa: E402
import library  # noqa: E402
from tensors import Tensor, load_safetensors, save_safetensors  # noqa: E402
import formulas  # noqa: E402
import families  # noqa: E402

# By whether it is f64. Relative, to the norm of a tensor: f32 has seven digits, of which some forty contractions one behind the
# other and ten steps leave five (found: at most 4e-6); f64 has nine more (found: at most 1e-12).
TOLERANCE = {True: 1e-9, False: 2e-5}
# Of the norm of all gradients: one that is 0 by its formula, such as that of a key's bias, is rounding only.
FLOOR = {True: 1e-13, False: 1e-6}


def flat(nested):
    return [x for row in nested for x in flat(row)] if isinstance(nested, list) else [nested]


# Names of models, not of what stands on one.
MODELS = ("electra_generator", "star_transformer", "txl_adaptive")


class Peer:
    def __init__(self, options, folder):
        self.options, self.folder, self.case = options, folder, families.CASES[options.case]
        with open(os.path.join(HERE, "values", options.case + ".json"), encoding="utf-8") as file:
            self.values = json.load(file)
        self.good, self.seed = True, int(options.spoil == "draws")

    def compile(self):
        """The specification with a recipe of its own: all its entries that are compared, and the training step."""
        case = self.case
        bound = {**case.dims, **case.configs}
        text = f'import "{case.spec}"\ntrain {case.model} as peer {{\n  bind       ' + ", ".join(
            f"{name} = {str(value).lower() if isinstance(value, bool) else value}" for name, value in bound.items()) + (
            f"\n  data       = caller\n  loss       = {case.loss}\n  optimizer  = {case.optimizer()}\n}}\n")
        entries = [word for entry in ["train", *case.outputs] for word in ("--entry", entry)]
        models = os.path.join(driver.ROOT, "models")
        # Heads and options of a model; the model itself is compiled with care.
        is_variant = "_" in self.options.case and self.options.case not in MODELS
        words = ["--f64"] * self.options.f64 + ["--quick"] * (self.options.f64 or is_variant)
        self.artifact = driver.compiled(driver.specification(text, "peer"), "--model", case.model, "--recipe", "peer",
                                        *words, "--tier", driver.best_tier(),
                                        *entries, "--model-root", models, beside=sorted(glob.glob(os.path.join(models, "*.tn"))))

    def weights(self):
        self.file = os.path.join(self.folder, "weights.safetensors")
        made = {name: Tensor("f64", told["shape"], formulas.weights(name, math.prod(told["shape"]), told["one"]))
                for name, told in self.values["parameters"].items()}
        if self.options.spoil == "weight":
            made[self.largest()].values[-3] += 1e-6 if self.options.f64 else 1e-2
        save_safetensors(self.file, made)

    def largest(self):
        """The parameter with the largest gradient."""
        told = self.values["parameters"]
        return max((name for name in told if "gradient" in told[name]), key=lambda name: told[name]["gradient"][1])

    def opened(self, entry):
        model = library.Model(self.artifact, entry, self.case.dims)
        if self.case.names:
            model.load(self.file, self.case.names)
        own, kind = {} if self.case.names else load_safetensors(self.file), "f64" if self.options.f64 else "f32"
        for name in sorted(set(own) & set(model.parameters())):  # the model's own shapes may split an axis
            model.set_parameter(name, Tensor(kind, own[name].shape, list(own[name].values)))
        return model

    def give(self, model, step):
        given = self.case.inputs(step)
        for name, (_, info) in model.inputs().items():
            model.set_input(name, Tensor(library.KINDS[info.type], info.shape[:info.rank], flat(given[name])))

    def same(self, what, got, want, bound):
        """`bound`: how much they may differ."""
        apart = abs(got - want)
        if not apart <= bound:
            self.good = False
            print(f"{what}: DIFFERS, {got!r}, expected {want!r}, {apart / bound:.3g} of the tolerance")
        return apart / bound if bound else 0.0

    def rough(self, what):
        return 1 if self.options.f64 else self.case.rough[what]

    def outputs(self):
        worst = 0.0
        for entry, names in self.case.outputs.items():
            model = self.opened(entry)
            self.give(model, 0)
            found = model.run()
            for name in names:
                total, norm = formulas.probe(name, found[name].values)
                want = self.values["outputs"][name]
                bound = TOLERANCE[self.options.f64] * want["norm"]
                worst = max(worst, self.same(f"{name}, norm", norm, want["norm"], bound))
                worst = max(worst, self.same(f"{name}, sum", total, want["sum"], bound))
                for place, value in enumerate(want["first"]):
                    worst = max(worst, self.same(f"{name}[{place}]", found[name].values[place], value, bound))
            model.close()
        return worst

    def gradients(self):
        """Under the public names: each takes the place of its parameter, and is saved."""
        model = self.opened("train")
        self.give(model, 0)
        model.run(gradients_only=True, seed=self.seed)
        for name in model.parameters():
            model.set_parameter(name, model.gradient(name))
        path = os.path.join(self.folder, "gradients.safetensors")
        model.save(path, self.case.names)
        model.close()
        found, told = load_safetensors(path), self.values["parameters"]
        if self.options.spoil == "shape":
            found[self.largest()].shape = (1, *found[self.largest()].shape)
        if self.options.spoil == "sign":
            found[self.largest()].values = type(found[self.largest()].values)("d", [-x for x in found[self.largest()].values])
        every = math.sqrt(math.fsum(each["gradient"][1] ** 2 for each in told.values() if "gradient" in each))
        worst = 0.0
        for name, each in told.items():
            if name in found and self.case.names and each["shape"] != list(found[name].shape):
                self.good = False
                print(f"{name} is written with shape {list(found[name].shape)}: DIFFERS, expected {each['shape']}")
            if "running_" in name:  # a state of the model, which has none
                continue
            total, norm = formulas.probe(name, found[name].values) if name in found else (0.0, 0.0)
            want = each.get("gradient", [0.0, 0.0])
            bound = (TOLERANCE[self.options.f64] * want[1] + FLOOR[self.options.f64] * every) * self.rough(0)
            worst = max(worst, self.same(f"gradient of {name}, norm", norm, want[1], bound))
            worst = max(worst, self.same(f"gradient of {name}, sum", total, want[0], bound))
        for name in sorted(set(found) - set(told)):
            self.good = False
            print(f"gradient of {name}: DIFFERS, the public implementation has no such parameter")
        return worst

    def trajectory(self):
        model, worst, first = self.opened("train"), 0.0, 1 if self.options.spoil == "step" else 0
        named = self.values["losses"]
        for step in range(len(named) + first):
            self.give(model, step)
            found = model.run(step=step, seed=self.seed)
            if step >= first:
                got = found["loss"].values[0]
                want = named[step - first]
                bound = TOLERANCE[self.options.f64] * abs(want) * (self.rough(1) if step > 0 else 1)
                worst = max(worst, self.same(f"loss of step {step}", got, want, bound))
        model.close()
        return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=sorted(families.CASES))
    parser.add_argument("--f64", action="store_true")
    parser.add_argument("--spoil", choices=["weight", "sign", "step", "draws", "shape"])
    parser.add_argument("--folder", help="keep the files here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        os.makedirs(folder, exist_ok=True)
        peer = Peer(options, folder)
        peer.compile()
        peer.weights()
        worst = [peer.outputs(), peer.gradients(), peer.trajectory()]
    print(f"{options.case}: outputs, gradients, {len(peer.values['losses'])} losses at {', '.join(f'{x:.2g}' for x in worst)} of "
          "the tolerance")
    print("PASSED" if peer.good else "FAILED")
    return 0 if peer.good else 1


if __name__ == "__main__":
    sys.exit(main())
