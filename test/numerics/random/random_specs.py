#!/usr/bin/env python3
"""Random specifications (generate.py): fused against decomposed code in f64, every third one in f32 too: values, losses and gradients of two steps.

A value is compared as a weighted sum of its elements, which is a loss of its own, and element by element as far as gradients read it.

usage: random_specs.py [--first SEED] [--number N] [--length CONSTRUCTS] [--only I,J,..] [--spoil]

The defaults make 52 specifications that cover every construct and every function of the language (checked). A specification that fails is printed with
its seed and reduced to the constructs that it needs to fail; `--first SEED --number 1 --only I,J` runs that again.
--spoil changes one number of one side in every specification: each must be noticed.
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
import driver  # noqa: E402
import generate  # noqa: E402
import library  # noqa: E402
from tensors import Tensor, count, tensor  # noqa: E402

FORMS = {"fused": ("f64", []), "decomposed": ("f64", ["--decomposed"]), "f32": ("f32", [])}
BOUND = {"f64": 1e-10, "f32": 1e-3}  # of the largest value of a tensor, or of 1 % of the largest gradient
# Functions that no random specification can have: distributions stand in initializers, the last three are not supported yet (op_gradients.py proves both).
ELSEWHERE = {"trunc_normal", "uniform", "xavier_uniform", "kaiming_normal", "orthogonal", "sample", "top", "window"}


def results(artifact, kind, dims, seed):
    """Losses and gradients of two steps; the second one finds states that the first one left."""
    found, model = {}, library.Model(artifact, "grad", dims)
    draw = random.Random(seed)
    for name, info in sorted(model.parameters().items()):
        shape = info.shape[:info.rank]
        model.set_parameter(name, Tensor(kind, shape, [draw.uniform(-1, 1) for _ in range(count(shape))]))
    for step in range(2):
        for name in model.inputs():
            model.set_input(name, tensor("i32", [[draw.randrange(256) for _ in range(dims["T"])] for _ in range(dims["B"])]))
        found.update({f"{name} of step {step}": value for name, value in model.run(step=step, seed=seed).items()})
        found.update({f"gradient of {name} of step {step}": model.gradient(name) for name in model.parameters()})
    model.close()
    return found


def compare(got, want, bound):
    floor = 1e-2 * max([abs(x) for name, value in want.items() if name.startswith("gradient") for x in value.values] + [1e-3])
    wrong = []
    for name, expected in want.items():
        largest = max([floor] + [abs(x) for x in expected.values])
        for k, (a, b) in enumerate(zip(got[name].values, expected.values)):
            if not abs(a - b) <= bound * largest:
                wrong.append(f"{name}[{k}] is {a!r} instead of {b!r}")
                break
    return wrong


def check(specification, spoil):
    """Messages; none if all three forms agree."""
    seed, found, wrong = specification.seed, {}, []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "random.tn")
        with open(path, "w", encoding="utf-8") as file:
            file.write(specification.specification())
        for form, (kind, words) in FORMS.items():
            if kind == "f32" and seed % 3:
                continue
            artifact = os.path.join(folder, form)
            try:
                driver.tenon("compile", path, "--recipe", "whole", "--grad", *words, *(["--f64"] if kind == "f64" else []),
                             "--tier", driver.best_tier(), "-o", artifact)
            except driver.Failed as failed:
                return [f"{form}: {failed.text}"]
            found[form] = results(artifact, kind, specification.dims, seed)
    if spoil:
        name = random.Random(seed).choice(sorted(found["fused"]))
        value = found["fused"][name]
        value.values[-1] += 1e-6 * max([abs(x) for name, other in found["fused"].items() for x in other.values])
    wrong += [f"fused: {text}" for text in compare(found["fused"], found["decomposed"], BOUND["f64"])]
    if "f32" in found:
        wrong += [f"f32: {text}" for text in compare(found["f32"], found["decomposed"], BOUND["f32"])]
    return wrong


def alone(seed, length, only, spoil):
    """The messages of one specification in a process of its own; a crash is a message, too."""
    words = [sys.executable, __file__, "--one", "--first", str(seed[0]), "--length", str(length), "--number", str(seed[1]), "--only", only] + (["--spoil"] if spoil else [])
    done = subprocess.run(words, capture_output=True, text=True, timeout=200)
    if done.returncode not in (0, 1) or (done.returncode == 1 and "WRONG" not in done.stdout):
        return [f"status {done.returncode}: {done.stderr[-600:]}"]
    return [line for line in done.stdout.split("\n") if line]


def coverage(texts):
    with open(os.path.join(ROOT, "frontend", "sema", "Builtins.cpp"), encoding="utf-8") as file:
        names = set(re.findall(r'\{"(\w+)", &Checker::\w+Builtin\}', file.read()))
    missing = [name for name in sorted(names - ELSEWHERE) if not re.search(rf"\b{name}\b", texts)]
    return [f"no specification has the function {name}" for name in missing] + ([] if len(names) > 40 else ["the list of functions is read wrongly"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--number", type=int, default=52)
    parser.add_argument("--length", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--spoil", action="store_true")
    parser.add_argument("--one", action="store_true")
    options = parser.parse_args()
    drawn = generate.specifications(options.first, options.number, options.length)
    if options.one or options.number == 1:
        # The deck goes on from one specification to the next: the last one of the drawn is meant.
        seed, picked = drawn[-1]
        kept = [int(k) for k in options.only.split(",")] if options.only else range(len(picked))
        wrong = check(generate.Specification(seed, [picked[k] for k in kept]), options.spoil)
        for text in wrong:
            print("WRONG:", text.replace("\n", " | "))
        return 1 if wrong else 0
    made = [generate.Specification(seed, picked) for seed, picked in drawn]
    wrong, noticed = coverage("\n".join(one.specification() for one in made)), 0
    unused = [function.__name__ for function in generate.CONSTRUCTS if not any(function in picked for _, picked in drawn)]
    wrong += [f"no specification has {name}" for name in unused]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda k: alone((options.first, k + 1), options.length, "", options.spoil), range(len(made))))
    for k, messages in enumerate(runs):
        if options.spoil:
            noticed += bool(messages)
        elif messages:
            wrong.append(reduced(options, k, made[k], messages))
    if options.spoil:
        print(f"{noticed} of {len(made)} changes noticed")
        return 0 if noticed == len(made) else 1
    for text in wrong:
        print("WRONG:", text)
    print(f"{len(made)} specifications, {len(generate.CONSTRUCTS)} constructs, {len(wrong)} wrong")
    return 1 if wrong else 0


def reduced(options, k, made, messages):
    """The report of a failure, with as few constructs as a greedy search finds."""
    kept = list(range(len(made.picked)))
    for construct in reversed(list(kept)):
        fewer = [other for other in kept if other != construct]
        if fewer and alone((options.first, k + 1), options.length, ",".join(map(str, fewer)), False):
            kept = fewer
    only = ",".join(map(str, kept))
    small = generate.Specification(made.seed, [made.picked[i] for i in kept])
    return (f"seed {made.seed} (--one --first {options.first} --number {k + 1} --length {options.length} --only {only}), dims {small.dims}\n" +
            "\n".join(messages[:8]) + "\n" + small.specification()[len(generate.LAYERS):])


sys.exit(main())
