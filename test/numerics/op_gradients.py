#!/usr/bin/env python3
"""The compiled gradient of every row of op_rows.py against central differences of the compiled value, in f64.

usage: op_gradients.py [--large] [--decomposed] [--tier TIER] [--only TEXT] [--spoil gradient|value|missing|bit] [--keep FOLDER]

All rows are one model. Each has parameters and a loss of its own, so one call with the e-th element of every parameter moved
gives a difference for every row at once. The loss weighs the elements of the result unequally. Tolerance: 1e-6 of the difference
and 1e-8 besides.
--large: at sizes that end inside tiles, where all elements of a row are moved at once, each up or down, three times; tolerance:
1e-6 of the gradient's norm. Without --tier the machine's two tiers of vector code must give the same bits.

Then the table is compared with the dialect (every op that has a gradient rule occurs between a parameter and a loss, or is named
in SECOND below) and with the language (every built-in function of frontend/sema/builtins/Builtins.cpp occurs in a row, or is
refused with "not supported yet", and so does every keyword of frontend/syntax/Lexer.cpp that has numbers of its own).
--spoil makes a mistake that must be noticed: one element of one gradient changed, one parameter moved twice as far, a row left
out, the last bit of a gradient of the other tier.
"""
import argparse
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import keywords  # noqa: E402
import library  # noqa: E402
from op_rows import HEADER, LARGE, ROWS, SMALL  # noqa: E402
from tensors import Tensor, count, tensor  # noqa: E402

# Ops that only gradients are made of; test/lowering/differentiate/second.mlir proves their own rules.
SECOND = {"pad", "scatter_add"}
# No second derivative: the rule says so, and the same file proves that.
REFUSED = {"activation_grad"}
# Predicates and integers: their rule is that there is none, so only their values matter.
WITHOUT = {"compare", "and", "or", "not", "floordiv", "mod"}
DISTRIBUTIONS = {"gumbel", "normal", "trunc_normal", "uniform", "xavier_uniform", "kaiming_normal", "orthogonal"}
STEP, RELATIVE, ABSOLUTE = 1e-5, 1e-6, 1e-8
DIRECTIONS = 3


def expanded(text, prefix):
    return re.sub(r"\$(\w+)", prefix + r"\1", text)


def specification(rows, sizes=SMALL):
    layers, lines, losses = [], [], []
    for number, row in rows.items():
        prefix = f"r{number}_"
        # Layers begin with a capital letter, as everywhere.
        layers.append(expanded(row.layers.replace("$Layer", f"Layer{number}"), prefix))
        for name, shape in row.params.items():
            lines.append(f"  param {prefix}{name}: [{shape}] ~ normal(1)")
        if row.lets:
            lines.append("  " + expanded(row.lets.replace("$Layer", f"Layer{number}"), prefix))
        lines.append(f"  let {prefix}result: [{', '.join(row.axes)}] = {expanded(row.result, prefix)}")
        places = " + ".join(f"{factor} * iota[{axis}]()" for axis, factor in zip(row.axes, (13, 7, 29, 3)))
        total = (f"sum[{', '.join(row.axes)}]({prefix}result * sin(0.1 * real({places} + {number + 5})))" if row.axes
                 else f"{prefix}result")
        lines.append(f"  loss l{number} = {total}")
        losses.append(f"l{number}")
    constant, bound = (", ".join(f"{name} = {size}" for name, size in part.items()) for part in sizes)
    recipe = (f'train Rows as t {{\n  bind {bound}\n  data = caller\n  optimizer = sgd(lr = 1.0)\n  steps = 1\n  loss = '
              + " + ".join(losses) + "\n}\n")
    return "\n".join(layers) + f"\nmodel Rows {{\n  config {constant}" + HEADER + "\n".join(lines) + "\n}\n" + recipe


def compile_words(rows, folder, sizes=SMALL):
    """Writes the model of these rows and returns what `tenon compile` gets."""
    path = os.path.join(folder, "rows.tn")
    with open(path, "w", encoding="utf-8") as file:
        file.write(specification(rows, sizes))
    return [path, "--f64", "--grad", "--recipe", "t"]


def value(place):
    """-0.997 .. 0.953, different for 2254 neighbours: those of 98 by 0.02, all by 0.0005. At least 0.002 away from 0, 0.5 and
    -0.5."""
    return (place * 37 % 98 - 49) / 50 + (0.003 if place % 2 else 0.007) + 0.0005 * (place // 98 % 23)


class Model:
    """The artifact of some rows, its parameters and its inputs."""

    def __init__(self, rows, folder, options):
        self.rows, self.folder = rows, folder
        sizes = LARGE if options.large else SMALL
        self.tiers = [options.tier] if options.tier else list(dict.fromkeys([driver.best_tier(), driver.other_tier()]))
        self.artifact = os.path.join(folder, "artifact")
        words = ["--decomposed"] if options.decomposed else []
        words += [] if options.large and not options.decomposed and self.tiers[0] == driver.best_tier() else ["--quick"]
        driver.tenon("compile", *compile_words(rows, folder, sizes), *words,
                     *[word for tier in self.tiers for word in ("--tier", tier)], "-o", self.artifact)
        self.opened = {tier: library.Model(self.artifact, "grad", sizes[1], tier) for tier in self.tiers}
        places = [(b, range(sizes[1]["T"])) for b in range(sizes[1]["B"])]
        given = {"ids": tensor("i32", [[(29 * t + 101 * b + t * t * 17 + 3) % 256 for t in row] for b, row in places]),
                 "target": tensor("i32", [[(41 * t + 67 * b + t * t * 11 + 9) % 256 for t in row] for b, row in places])}
        self.states = self.opened[self.tiers[0]].states()
        for opened in self.opened.values():
            for name in opened.inputs():  # those that some row reads
                opened.set_input(name, given[name])
        places = 0
        self.values = {}
        for name, info in self.opened[self.tiers[0]].parameters().items():
            shape = info.shape[:info.rank]
            self.values[name] = Tensor("f64", shape, [value(places + k) for k in range(count(shape))])
            places += 13

    def call(self, values, tier=None):
        """Losses by row number; every call begins with the first state."""
        opened = self.opened[tier or self.tiers[0]]
        for name, each in values.items():
            opened.set_parameter(name, each)
        for name, each in self.states.items():
            opened.set_state(name, each)
        found = opened.run(step=5, seed=3)
        return {int(name[1:]): found[name].values[0] for name in found if re.fullmatch(r"l\d+", name)}

    def gradients(self, tier=None):
        """Those of the last call, by name."""
        opened = self.opened[tier or self.tiers[0]]
        return {name: opened.gradient(name) for name in self.values}

    def moved(self, element, step):
        """Every parameter that has this element; a row's parameters are numbered through."""
        result, which = {}, {}
        for number in self.rows:
            at = element
            for name, values in self.of_row(number):
                if 0 <= at < len(values.values):
                    which[number] = (name, at)
                at -= len(values.values)
        for name, values in self.values.items():
            copy = Tensor("f64", values.shape, values.values)
            for row_name, at in which.values():
                if row_name == name:
                    copy.values[at] += step
            result[name] = copy
        return result, which

    def of_row(self, number):
        return [(name, values) for name, values in self.values.items() if name.startswith(f"r{number}_")]


def same_bits(model, spoil):
    """Messages where the other tier gives other values or gradients."""
    if len(model.tiers) < 2:
        return []
    losses, other_losses = (model.call(model.values, tier) for tier in model.tiers)
    gradients, others = (model.gradients(tier) for tier in model.tiers)
    if spoil == "bit":
        last = others[sorted(others)[-1]].values
        last[-1] = math.nextafter(last[-1], math.inf)
    wrong = [f"{model.rows[number].name}: the tiers give {losses[number]!r} and {other_losses[number]!r}" for number in losses
             if losses[number] != other_losses[number]]
    return wrong + [f"the gradients of {name} differ between the tiers" for name in gradients
                    if gradients[name].values != others[name].values]


def compare_all(model, spoil):
    """Messages of the rows that fail, all elements moved at once."""
    model.call(model.values)
    gradients = model.gradients()
    if spoil == "gradient":
        first = next(iter(gradients.values()))
        first.values[0] += 1e-4 * math.sqrt(math.fsum(g * g for g in first.values))
    wrong, draw = [], random.Random(11)
    for _ in range(DIRECTIONS):
        signs = {name: [draw.choice((-1, 1)) for _ in values.values] for name, values in model.values.items()}
        sides = []
        for sign in (1, -1):
            far = sign * STEP * (2 if spoil == "value" and sign > 0 else 1)
            sides.append(model.call({name: Tensor("f64", values.shape, [x + far * s for x, s in zip(values.values, signs[name])])
                                     for name, values in model.values.items()}))
        for number, row in model.rows.items():
            own = [name for name, _ in model.of_row(number) if not any(name == f"r{number}_{stopped}" for stopped in row.stopped)]
            if row.stopped:  # which way the value goes is then no matter of its gradient
                continue
            found = math.fsum(g * s for name in own for g, s in zip(gradients[name].values, signs[name]))
            norm = math.sqrt(math.fsum(g * g for name in own for g in gradients[name].values))
            difference = (sides[0][number] - sides[1][number]) / (2 * STEP)
            if not abs(found - difference) <= ABSOLUTE + RELATIVE * max(norm, abs(difference)) or not norm > 1e-6:
                wrong.append(f"{row.name}: gradient {found!r}, difference {difference!r}, norm {norm!r}")
    print(f"{len(model.rows)} rows, {sum(len(values.values) for values in model.values.values())} elements, "
          f"{2 * DIRECTIONS} calls")
    return wrong


def compare(model, spoil):
    """Messages of the rows that fail."""
    model.call(model.values)
    gradients = model.gradients()
    if spoil == "gradient":
        first = next(iter(gradients.values()))
        first.values[0] += 1e-6 * max(1, abs(first.values[0]))
    wrong, differences = [], {}
    most = max(sum(len(values.values) for _, values in model.of_row(number)) for number in model.rows)
    for element in range(most):
        sides = []
        for sign in (1, -1):
            values, which = model.moved(element, sign * STEP * (2 if spoil == "value" and sign > 0 else 1))
            sides.append(model.call(values))
        for number, (name, at) in which.items():
            difference = (sides[0][number] - sides[1][number]) / (2 * STEP)
            differences[name, at] = difference
            found = gradients[name].values[at]
            stopped = any(name == f"r{number}_{parameter}" for parameter in model.rows[number].stopped)
            if stopped and found != 0:
                wrong.append(f"{model.rows[number].name}: {name}[{at}] is behind stop_gradient and has gradient {found!r}")
            elif not stopped and not abs(found - difference) <= ABSOLUTE + RELATIVE * abs(difference):
                wrong.append(f"{model.rows[number].name}: {name}[{at}]: gradient {found!r}, difference {difference!r}")
    for number, row in model.rows.items():
        own = [(name, values) for name, values in model.of_row(number)]
        if not own or not any(abs(differences[name, at]) > 1e-6 for name, values in own for at in range(len(values.values))):
            wrong.append(f"{row.name}: nothing depends on its parameters, the row proves nothing")
        for parameter in row.stopped:
            if not any(abs(differences[f"r{number}_{parameter}", at]) > 1e-3
                       for at in range(len(model.values[f"r{number}_{parameter}"].values))):
                wrong.append(f"{row.name}: the value does not depend on {parameter}, so nothing is stopped")
    print(f"{len(model.rows)} rows, {len(differences)} elements, {2 * most} calls")
    return wrong


def differentiable():
    """Names of the ops that have a gradient rule, from TableGen."""
    dialect = os.path.join(ROOT, "dialect")
    program = shutil.which("llvm-tblgen", path="/usr/lib/llvm-22/bin") or "llvm-tblgen"  # that of the distribution is older
    command = [program, "--dump-json", os.path.join(dialect, "AllOps.td"), "-I", ROOT, "-I", dialect]
    for folder in os.environ.get("TENON_TABLEGEN_INCLUDES", "/usr/lib/llvm-22/include").split(":"):
        command += ["-I", folder]
    records = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    names = set()
    for record in records["!instanceof"]["Op"]:
        for trait in records[record]["traits"]:
            if records[trait["def"]].get("cppInterfaceName") == "DifferentiableOpInterface":
                names.add(records[record]["opName"])
    return names


def reached(text):
    """Ops of the printed program that have an operand which depends on a parameter."""
    depends, found, carries = set(), set(), []
    for line in text.split("\n"):
        if line.lstrip().startswith("^bb"):
            # The body of a stack: its arguments depend on a parameter where its carries do.
            names = re.findall(r"(%\w+):", line)[1:]
            depends |= {argument for argument, carry in zip(names, carries) if carry in depends}
            continue
        match = re.match(r"\s*(?:(%[\w:, %]+) = )?\"?tenon\.(\w+)(.*)", line)
        if not match:
            continue
        results, op, rest = match.groups()
        operands = [name.split("#")[0] for name in re.findall(r"%[\w#]+", rest)]
        if op == "stack":
            carries = operands
        if op == "read_parameter" or op == "stack" or any(operand in depends for operand in operands):
            found.add(op)
            depends |= {name.split(":")[0] for name in re.findall(r"%[\w:]+", results or "")}
    return found


def coverage(rows, folder):
    """What the table misses."""
    words = compile_words(rows, folder)
    covered = reached(driver.tenon("compile", *words, "--emit=tenon")) | reached(driver.tenon("compile", *words, "--emit=grad"))
    missing = [f"the op tenon.{name} has a gradient rule and no row"
               for name in sorted(differentiable() - covered - SECOND - REFUSED - WITHOUT)]
    for name in sorted(SECOND | REFUSED):
        with open(os.path.join(ROOT, "test", "lowering", "differentiate", "second.mlir"), encoding="utf-8") as file:
            if f"= tenon.{name} " not in file.read():
                missing.append(f"tenon.{name} is not in second.mlir")
    with open(os.path.join(ROOT, "frontend", "sema", "builtins", "Builtins.cpp"), encoding="utf-8") as file:
        builtins = re.findall(r'\{"(\w+)",\s+(?:&Checker::\w+Builtin\}|\{Op::)', file.read())
    text = "\n".join(row.result + row.lets + row.layers for row in rows.values()) + HEADER
    for name in builtins:
        if re.search(rf"\b{name}\s*[\[(]", text) or name in DISTRIBUTIONS:
            continue
        if not unsupported(name, folder):
            missing.append(f"the function {name} has no row, and is not refused as not supported yet")
    words = keywords.calculating()
    missing += [f"the keyword {word} has no row" for word in words if not re.search(rf"\b{word}\b", text)]
    if len(builtins) < 40 or len(differentiable()) < 35 or len(words) < 20:
        missing.append(f"only {len(builtins)} functions, {len(differentiable())} differentiable ops and {len(words)} keywords "
                       "were found: the lists are read wrongly")
    return missing


CALLS = {"sample": "sample[C](p)", "top": "top[C -> D](p)", "window": "window[C -> C2 * D](p)"}


def unsupported(name, folder):
    path = os.path.join(folder, "one.tn")
    result = {"top": "let (y, z)", "sample": "let y"}.get(name, "let y")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"model One {{ config A = 3, C = 5, D = 2\n dim C2 = C - 1\n param p: [A, C] = 0\n {result} = "
                   f"{CALLS.get(name, name + '(p)')}\n out y }}")
    try:
        driver.tenon("compile", path, "-o", os.path.join(folder, "one"))
    except driver.Failed as failed:
        if "not supported yet" in failed.text:
            return True
        print(failed.text)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--decomposed", action="store_true")
    parser.add_argument("--tier")
    parser.add_argument("--only")
    parser.add_argument("--spoil", choices=["gradient", "value", "missing", "bit"])
    parser.add_argument("--keep")
    options = parser.parse_args()
    rows = {number: row for number, row in enumerate(ROWS) if options.only in row.name} if options.only else dict(enumerate(ROWS))
    if options.spoil == "missing":
        rows = {number: row for number, row in rows.items() if "gelu_tanh" not in row.name and not row.name.startswith("until")}
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or folder
        # A missing row is no matter of numbers, and the table is the same for both forms.
        wrong = []
        if options.spoil != "missing":
            model = Model(rows, folder, options)
            wrong = (compare_all if options.large else compare)(model, options.spoil) + same_bits(model, options.spoil)
        if not options.only and not options.decomposed and not options.large:
            wrong += coverage(rows, folder)
    for message in wrong:
        print("WRONG:", message)
    if not wrong:
        print("ALL GRADIENTS AGREE")
    return 1 if wrong else 0


sys.exit(main())
