#!/usr/bin/env python3
"""Every construct of the language against numbers of an independent evaluator: outputs, losses, slopes of the losses along two
directions.

usage: language.py MODEL [--f32|--bf16] [--spoil]
  Inputs/language.tn has the models, values.json what they give (f64; inputs, parameters and directions are formulas, below).
  --bf16: factors of contractions and what is saved are rounded; a slope and an element are off by a few roundings
  --spoil: one expected number of every kind is changed, and each must be noticed
"""
import json
import math
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402

FREE_DIMS = {("Axes", "joins"), ("Axes", "sizes")}
SPEC = os.path.join(HERE, "Inputs", "language.tn")


def formula(name, shape):
    """Parameters and real inputs: 0.5 sin(0.37 k + s) of the row-major index k and a number made of the name."""
    start = sum(name.encode()) % 97
    return [0.5 * math.sin(0.37 * k + start) for k in range(tensors.count(shape))]


def direction(name, shape, which):
    start = sum(name.encode()) % 89
    return [math.cos(0.71 * k + start + which) for k in range(tensors.count(shape))]


class Case:
    def __init__(self, model, folder, options):
        with open(os.path.join(HERE, "values.json"), encoding="utf-8") as file:
            self.wanted = json.load(file)[model]
        self.model, self.folder, self.wrong = model, folder, []
        numerics = "f32" if "--f32" in options else "bf16" if "--bf16" in options else "f64"
        os.environ["TENON_QUICK"] = "" if numerics == "f32" else "1"  # users run f32, f64 proves formulas
        kind = "f64" if numerics == "f64" else "f32"
        self.tolerance = {"f64": 2e-9, "f32": 3e-5, "bf16": 2e-2}[numerics]
        self.tolerance_of_slopes = {"f64": 1e-7, "f32": 2e-4, "bf16": 2e-2}[numerics]
        weights = os.path.join(folder, "weights.safetensors")
        tensors.save_safetensors(weights, {name: tensors.Tensor(kind, shape, formula(name, shape))
                                           for name, shape in self.wanted["params"].items()})
        self.inputs = {}
        for name, given in self.wanted["inputs"].items():
            real = given["kind"] == "f64"
            values = formula(name, given["shape"]) if real else given["values"]
            self.inputs[name] = tensors.Tensor(kind if real else given["kind"], given["shape"], values)
        self.options = ["--model", model] + (["--f64"] if numerics == "f64" else ["--numerics", numerics])
        self.weights = ["--weights", weights] if self.wanted["params"] else ["--init"]

    def compare(self, what, got, want):
        scale = max([1.0] + [abs(x) for x in want])
        if len(got) != len(want):
            self.wrong.append(f"{what} has {len(got)} values, expected {len(want)}")
            return
        for k, (g, w) in enumerate(zip(got, want)):
            if not abs(g - w) <= self.tolerance * scale:
                self.wrong.append(f"{what}[{k}] is {g}, expected {w}")
                return

    def outputs(self):
        for entry, outs in self.wanted["outs"].items():
            paths = {name: os.path.join(self.folder, f"out-{name}.npy") for name in outs}
            read = self.inputs_of(entry)
            words = driver.given(self.folder, {name: self.inputs[name] for name in read})
            if (self.model, entry) in FREE_DIMS:  # no input that it reads has the dim
                words += ["--bind", f"B={self.inputs['ids'].shape[0]}"]
            for name, path in paths.items():
                words += ["--output", f"{name}=@{path}"]
            try:
                driver.tenon("run", SPEC, *self.options, "--entry", entry, *self.weights, *words)
            except driver.Failed as failed:
                self.wrong.append(f"entry {entry}: {failed.text}")
                continue
            for name, path in paths.items():
                got, want = tensors.load_npy(path), outs[name]
                if list(got.shape) != want["shape"]:
                    self.wrong.append(f"{entry}.{name} has shape {list(got.shape)}, expected {want['shape']} {want['axes']}")
                else:
                    self.compare(f"{entry}.{name}", got.values, want["values"])

    def inputs_of(self, entry):
        return self.wanted["reads"][entry]

    def gradients(self):
        losses, path = self.wanted["losses"], os.path.join(self.folder, "grads.safetensors")
        if not losses:
            return
        words = driver.given(self.folder, {name: self.inputs[name] for name in self.inputs_of("eval")})
        try:
            driver.tenon("grad", SPEC, *self.options, *self.weights, *words, "--output", path)
        except driver.Failed as failed:
            self.wrong.append(f"gradient: {failed.text}")
            return
        got = tensors.load_safetensors(path)
        for name, want in losses.items():
            self.compare(f"loss {name}", got[f"loss.{name}"].values, [want])
        for which, want in self.wanted["slopes"].items():
            slope = 0.0
            for name, shape in self.wanted["params"].items():
                if name in got:
                    slope += sum(g * d for g, d in zip(got[name].values, direction(name, shape, int(which))))
            # Central differences of the evaluator with steps of 1e-5.
            if not abs(slope - want) <= self.tolerance_of_slopes * max(1.0, abs(want)):
                self.wrong.append(f"slope {which} is {slope}, expected {want}")


def spoil(wanted, by):
    """One number of every output, loss and slope is changed; returns how many. `by`: of a real output; others ten times that."""
    count = 0
    for outs in wanted["outs"].values():
        for value in outs.values():
            value["values"][-1] = value["values"][-1] + (1 if value["kind"] != "real" else by)
            count += 1
    for group in ("losses", "slopes"):
        for name in wanted[group]:
            wanted[group][name] += 10 * by
            count += 1
    return count


def main():
    model = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        case = Case(model, folder, sys.argv[2:])
        changed = spoil(case.wanted, 0.1 if "--bf16" in sys.argv else 1e-3) if "--spoil" in sys.argv else 0
        case.outputs()
        case.gradients()
    for text in case.wrong:
        print("WRONG:", text)
    if changed:
        print(f"{model}: {len(case.wrong)} of {changed} changes noticed")
        return 0 if len(case.wrong) == changed else 1
    if not case.wrong:
        print(f"{model}: as evaluated")
    return 1 if case.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
