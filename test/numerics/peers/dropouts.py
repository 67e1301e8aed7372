#!/usr/bin/env python3
"""Where the models of this repository drop, against public implementations: how many numbers at once, and how often.

usage: dropouts.py [--models FOLDER]

values/dropouts.json (make_dropouts.py) says what each case's public model drops in its loss. Here all rates are 0.1, and the
dialect of the training entry is read: dropouts, those of probabilities inside of `attend`, once for each layer of a stack. Axes
may be split otherwise than in public code, so that shapes are compared by their products.
"""
import argparse
import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, HERE)
import driver  # noqa: E402
import families  # noqa: E402


# Of XLNet distances are dropped for each text by itself if asked to.
ASKED = {"xlnet_span": {"apart": True}}


def sizes_of(tensor):
    return [int(size) for size in re.match(r"tensor<((?:\d+x)*)", tensor)[1].split("x")[:-1]]


def dialect(name, models, folder):
    """The training entry with the sizes of a case and rates of 0.1."""
    case = families.CASES[name]
    bound = {**case.dims, **case.configs, **ASKED.get(name, {})}
    bound.update({config: 0.1 for config in ["rate", *bound] if config.startswith("rate")})
    text = ", ".join(f"{key} = {str(each).lower() if isinstance(each, bool) else each}" for key, each in bound.items())
    path = os.path.join(folder, "dropping.tn")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'import "{case.spec}"\ntrain {case.model} as dropping {{\n  bind       {text}\n  data       = caller\n'
                   f"  loss       = {case.loss}\n  optimizer  = sgd(lr = 0.1)\n}}\n")
    return subprocess.run(["tenon", "compile", path, "--model", case.model, "--recipe", "dropping", "--entry", "train",
                           "--emit=tenon", "--model-root", models], capture_output=True, text=True, check=True).stdout


def dropped(text):
    """How often so many numbers are dropped; what the braces behind `tenon.stack N(` or `tenon.loop N(` hold runs N times."""
    found, times = collections.Counter(), [1]
    for line in text.splitlines():
        count = times[-1]
        if match := re.search(r"tenon\.(?:stack|loop) (\d+)\(", line):
            count *= int(match[1])
        if re.search(r"= tenon\.dropout\b", line):
            found[math.prod(sizes_of(re.findall(r"tensor<[^>]*>", line)[-1]))] += times[-1]
        elif "= tenon.attend " in line and re.search(r" rate \S+ site", line):
            groups = re.findall(r"array<i64: ([\d, ]+)>", re.search(r"labels \[.*?\]", line)[0])
            labels = [[int(x) for x in group.split(",")] for group in groups]
            size = {}
            for group, tensor in zip(labels, re.findall(r"tensor<[^>]*>", line.split(" : (", 1)[1])):
                size.update(zip(group, sizes_of(tensor)))
            found[math.prod(size[label] for label in labels[0])] += times[-1]
        opened, closed = line.count("{"), line.count("}")
        if closed > opened:
            del times[len(times) - (closed - opened):]
        else:
            times += [count] * (opened - closed)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default=os.path.join(driver.ROOT, "models"))
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    with open(os.path.join(HERE, "values", "dropouts.json"), encoding="utf-8") as file:
        public = json.load(file)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.cases or public:
            found = dropped(dialect(name, options.models, folder))
            want = collections.Counter({math.prod(sizes): count for sizes, count in public[name]})
            for size in sorted(found.keys() | want.keys()):
                if found[size] != want[size]:
                    wrong += 1
                    print(f"{name}: {size} numbers are dropped {found[size]} times, {want[size]} times by the public model")
    print(f"{len(options.cases or public)} cases, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
