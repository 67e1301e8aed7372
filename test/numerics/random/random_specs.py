#!/usr/bin/env python3
"""Random specifications (generate.py): fused against decomposed code in f64, every third one in f32 too: values, losses and
gradients of two steps, or of every fifth one three training steps. Every second one has lengths, heads and memories that end
inside tiles; the fused forms run on both tiers in turn. Random models with `out step(T)` (walk.py): window by window against the
decomposed one on the whole.

A value is compared as a weighted sum of its elements, which is a loss of its own, and element by element as far as gradients read
it.

usage: random_specs.py [--first SEED | --fresh [SEED]] [--number N] [--length CONSTRUCTS] [--only I,J,..] [--walks N] [--walk
SEED] [--spoil]

The defaults make 56 specifications. Checked: they have every construct, every function and keyword of the language, the lengths
and widths below, and what they compile to every op of the dialect and every optional part of a fused attention. A specification
that fails is printed with its seed and reduced to the constructs that it needs to fail; `--first SEED --number 1 --only I,J` runs
that again.
--fresh draws the first seed anew and prints it (`--fresh SEED` runs that one again); nothing is asked about what the
specifications contain.
--spoil changes one number of one side in every specification: each must be noticed.
"""
import argparse
import concurrent.futures
import json
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
import keywords  # noqa: E402
import library  # noqa: E402
import walk  # noqa: E402
from tensors import Tensor, count, tensor  # noqa: E402

FORMS = {"fused": ("f64", []), "decomposed": ("f64", ["--decomposed"]), "f32": ("f32", [])}
BOUND = {"f64": 1e-10, "f32": 1e-3}  # of the largest value of a tensor, or of 1 % of the largest gradient
# Functions that no random specification has: distributions, which say initial values alone; parameters are drawn here.
ELSEWHERE = {"trunc_normal", "uniform", "xavier_uniform", "kaiming_normal", "orthogonal"}
# Losses that weigh each row in another way cannot be cut in slices (e2e/slices.test proves it); these specifications are
# differentiated in f32 and f64 (e2e/loss-scale.test has f16, e2e/split-parameters.test parameters in two halves, joined). Maps
# are made where a target takes attention apart (lowering/decompose/, plugin/).
OPS_ELSEWHERE = {"sum_slices", "read_loss_scale", "join", "map"}
# What the compiled specifications must cross and have; attention: its optional operands and attributes.
LENGTHS, HEADS = {1, 2, 17, 67, 131, 197, 300}, {24, 40, 41, 64}
OPERANDS = ["query", "key", "value", "position_query", "table", "selected_scores", "score_table", "value_table",
            "position_key", "key_table", "pair_scores", "index_operands", "depth"]
TERMS = set(OPERANDS[3:]) | {"back", "select", "mask", "computes_place"}


def draw_parameters(model, kind, seed):
    """Between -1 and 1; the wider a matrix, the smaller, so that what it gives stays within some units."""
    draw = random.Random(seed)
    for name, info in sorted(model.parameters().items()):
        shape = info.shape[:info.rank]
        width = min(1, 3 / max(shape) ** 0.5) if len(shape) > 1 else 1
        model.set_parameter(name, Tensor(kind, shape, [draw.uniform(-width, width) for _ in range(count(shape))]))


def bytes_of(draw, rows, length):
    return tensor("i32", [[draw.randrange(256) for _ in range(length)] for _ in range(rows)])


def results(artifact, kind, specification):
    """Losses and gradients of two steps, or losses and parameters of three training steps; the second one finds states that the
    first one left."""
    seed, dims, found = specification.seed, specification.dims, {}
    model = library.Model(artifact, "train" if specification.trains else "grad", dims)
    draw_parameters(model, kind, seed)
    draw = random.Random(seed)
    for step in range(3 if specification.trains else 2):
        for name in model.inputs():
            model.set_input(name, bytes_of(draw, dims["B"], dims["T"]))
        found.update({f"{name} of step {step}": value for name, value in model.run(step=step, seed=seed).items()})
        for name in model.parameters():
            found[f"gradient of {name} of step {step}"] = model.parameter(name) if specification.trains else model.gradient(name)
    model.close()
    return found


def walked(artifact, entry, specification):
    """The output at all places, by one call or window by window."""
    window = specification.window if entry == "step" else specification.length
    model = library.Model(artifact, entry, {"B": specification.rows, "T": window, "T_capacity": specification.length})
    draw_parameters(model, "f64", specification.seed)
    whole = bytes_of(random.Random(specification.seed), specification.rows, specification.length)
    places = [[] for _ in range(specification.rows)]
    for start in range(0, specification.length, window):
        model.set_input("ids", tensor("i32", [whole.row(row)[start:start + window] for row in range(specification.rows)]))
        found = model.run(step=0, seed=1)["logits"]
        for row, values in enumerate(places):
            values += found.row(row)
    model.close()
    return {"logits": tensor("f64", places)}


def compare(got, want, bound):
    """A loss is a sum of terms of both signs: its rounding is that of the terms, which the largest of all steps stands for, not
    the one that happens to come out near 0."""
    floor = 1e-2 * max([abs(x) for name, value in want.items() if name.startswith("gradient") for x in value.values] + [1e-3])
    largest_of, wrong = {}, []
    for name, expected in want.items():
        quantity = name.rpartition(" of step ")[0]
        largest_of[quantity] = max([largest_of.get(quantity, floor)] + [abs(x) for x in expected.values])
    for name, expected in want.items():
        largest = largest_of[name.rpartition(" of step ")[0]]
        for k, (a, b) in enumerate(zip(got[name].values, expected.values)):
            if not abs(a - b) <= bound * largest:
                wrong.append(f"{name}[{k}] is {a!r} instead of {b!r}")
                break
    return wrong


def compiled(path, seed, artifact, *words):
    """The decomposed form, whose many contractions take long, for the narrower tier; of the others every second one."""
    narrow = "--decomposed" in words or seed // 2 % 2
    driver.tenon("compile", path, *words, "--tier", driver.other_tier() if narrow else driver.best_tier(), "-o", artifact)
    return artifact


def contents(path, *words):
    """Ops of the compiled program in its forms, and `attention.X` for an optional part of an attention."""
    found = set()
    for form in ("tenon", "grad", "kernel", "schedule"):
        text = driver.tenon("compile", path, *words, f"--emit={form}")
        found |= set(re.findall(r'"?\btenon\.([a-z_]+)\b', text))
        for line in re.findall(r'"tenon\.attention"\(.*', text):
            sizes = re.search(r"operandSegmentSizes = array<i32: ([\d, ]+)>", line)[1].split(", ")
            found |= {f"attention.{name}" for name, size in zip(OPERANDS, sizes) if size != "0"}
            found |= {f"attention.{name}" for name in ("back", "select") if re.search(rf"\b{name} = ", line)}
            found |= {"attention.computes_place"} if "computes_place" in line else set()
            found |= {"attention.mask"} if "mask = []" not in line else set()
    return found


def check(specification, spoil, listed):
    """Messages, none if all forms agree; and what the compiled program contains, where that is asked for."""
    seed, found, wrong = specification.seed, {}, []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "random.tn")
        with open(path, "w", encoding="utf-8") as file:
            file.write(specification.specification())
        try:
            if isinstance(specification, walk.Walk):
                whole = compiled(path, seed, os.path.join(folder, "whole"), "--entry", "infer", "--f64", "--decomposed",
                                 "--quick")
                step = compiled(path, seed, os.path.join(folder, "step"), "--entry", "step", "--f64")
                found = {"decomposed": walked(whole, "infer", specification), "fused": walked(step, "step", specification)}
                ops = contents(path, "--entry", "step", "--f64") if listed else set()
            else:
                words = ["--recipe", "whole"] + ([] if specification.trains else ["--grad"])
                for form, (kind, more) in FORMS.items():
                    if kind == "f32" and seed % 3:
                        continue
                    # f32 with care, as users run it; f64 gives the same bits quickly.
                    artifact = compiled(path, seed, os.path.join(folder, form), *words, *more,
                                        *(["--f64", "--quick"] if kind == "f64" else []))
                    found[form] = results(artifact, kind, specification)
                ops = contents(path, *words, "--f64") if listed else set()
        except driver.Failed as failed:
            return [failed.text], set()
    if spoil:
        name = random.Random(seed).choice(sorted(found["fused"]))
        value = found["fused"][name]
        value.values[-1] += 1e-6 * max([abs(x) for name, other in found["fused"].items() for x in other.values])
    wrong += [f"fused: {text}" for text in compare(found["fused"], found["decomposed"], BOUND["f64"])]
    if "f32" in found:
        wrong += [f"f32: {text}" for text in compare(found["f32"], found["decomposed"], BOUND["f32"])]
    return wrong, ops


def alone(words, spoil, listed):
    """The messages of one specification in a process of its own, and what it contains; a crash is a message, too."""
    words = [sys.executable, __file__, "--one", *words] + (["--spoil"] if spoil else []) + (["--contents"] if listed else [])
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    lines = [line for line in done.stdout.split("\n") if line]
    if done.returncode not in (0, 1) or (done.returncode == 1 and "WRONG" not in done.stdout):
        return [f"status {done.returncode}: {done.stderr[-600:]}"], set()
    return [line for line in lines if not line.startswith("OPS")], {op for line in lines if line.startswith("OPS")
                                                                    for op in line.split()[1:]}


def chosen(options, number, only=""):
    """Options that make one of the drawn specifications again. The deck goes on from one to the next: the last one of `number` is
    meant."""
    return ["--first", str(options.first), "--number", str(number), "--length", str(options.length), "--only", only]


def all_ops():
    """Names of the dialect's ops, from TableGen."""
    dialect = os.path.join(ROOT, "dialect")
    folders = [ROOT, dialect, *os.environ.get("TENON_TABLEGEN_INCLUDES", "/usr/lib/llvm-22/include").split(":")]
    command = ["llvm-tblgen", "--dump-json", os.path.join(dialect, "TenonOps.td"),
               *[word for folder in folders for word in ("-I", folder)]]
    records = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {records[record]["opName"] for record in records["!instanceof"]["Op"]
            if records[record]["opDialect"]["def"] == "Tenon_Dialect"}


def wanted_ops():
    """Which the compiled specifications must have; asked of one after the other until all are found."""
    return (all_ops() | {f"attention.{name}" for name in TERMS}) - OPS_ELSEWHERE


def sizes(made):
    """Messages where no specification has a length or a width that it should, or a memory of the other kind."""
    plain = [one for one in made if isinstance(one, generate.Specification)]
    missing = [f"the length {length}" for length in sorted(LENGTHS - {one.dims["T"] for one in plain})]
    missing += [f"heads of {width}" for width in sorted(HEADS - {one.sizes["E"] for one in plain})]
    remembering = [one for one in plain if any("memory" in function.__name__ for function in one.picked)]
    missing += ["a memory longer than the segment"] if not any(one.sizes["M"] > one.dims["T"] > 1 for one in remembering) else []
    missing += ["a memory shorter than the segment"] if not any(1 < one.sizes["M"] < one.dims["T"] for one in remembering) else []
    return missing


def coverage(made, walks, found):
    texts = "\n".join(one.specification() for one in made + walks)
    with open(os.path.join(ROOT, "frontend", "sema", "builtins", "Builtins.cpp"), encoding="utf-8") as file:
        names = set(re.findall(r'\{"(\w+)",\s*(?:&Checker::\w+Builtin\}|\{Op::)', file.read()))
    missing = [f"the function {name}" for name in sorted(names - ELSEWHERE) if not re.search(rf"\b{name}\b", texts)] + sizes(made)
    missing += [f"the keyword {word}" for word in keywords.calculating() if not re.search(rf"\b{word}\b", texts)]
    wanted = wanted_ops()
    missing += [f"the op {op}" for op in sorted(wanted - found)]
    missing += [function.__name__ for function in generate.CONSTRUCTS if not any(function in single.picked for single in made)]
    return [f"no specification has {text}" for text in missing] + ([] if len(names) > 40 and len(wanted) > 75
                                                                   else ["the lists are read wrongly"])


def one(options):
    if options.walk is not None:
        specification = walk.Walk(options.walk)
    else:
        seed, picked = generate.specifications(options.first, options.number, options.length)[-1]
        kept = [int(k) for k in options.only.split(",")] if options.only else range(len(picked))
        specification = generate.Specification(seed, [picked[k] for k in kept])
    wrong, ops = check(specification, options.spoil, options.contents)
    for text in wrong:
        print("WRONG:", text.replace("\n", " | "))
    print("OPS", *sorted(ops))
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--fresh", type=int, nargs="?", const=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--number", type=int, default=52)
    parser.add_argument("--walk", type=int)
    parser.add_argument("--walks", type=int, default=4)
    parser.add_argument("--length", type=int, default=4)
    parser.add_argument("--only", default="")
    parser.add_argument("--spoil", action="store_true")
    parser.add_argument("--one", action="store_true")
    parser.add_argument("--contents", action="store_true", help="of --one: also list what it contains")
    options = parser.parse_args()
    if options.one or options.number == 1 or options.walk is not None:
        return one(options)
    fresh = options.fresh is not None
    if fresh:
        options.first = options.fresh
        print(f"first seed {options.first}")
    made = [generate.Specification(*drawn) for drawn in generate.specifications(options.first, options.number, options.length)]
    walk_seeds = [options.first + k if fresh else k for k in range(options.walks)]
    walks = [walk.Walk(seed) for seed in walk_seeds]
    words = [chosen(options, k + 1) for k in range(len(made))] + [["--walk", str(seed)] for seed in walk_seeds]
    lacking = set() if fresh or options.spoil else wanted_ops()

    def run(words):
        result = alone(words, options.spoil, bool(lacking))
        lacking.difference_update(result[1])
        return result
    with concurrent.futures.ThreadPoolExecutor(2) as pool:  # walks, whose states no other has, first
        runs = list(pool.map(run, words[len(made):] + words[:len(made)]))
    runs = runs[len(walks):] + runs[:len(walks)]
    if options.spoil:
        noticed = sum(bool(messages) for messages, _ in runs)
        print(f"{noticed} of {len(runs)} changes noticed")
        return 0 if noticed == len(runs) else 1
    wrong = [] if fresh else coverage(made, walks, set().union(*(ops for _, ops in runs)))
    wrong += [reduced(options, k, made[k], messages) for k, (messages, _) in enumerate(runs[:len(made)]) if messages]
    wrong += ["\n".join(["walk.py:", *messages, single.text]) for single, (messages, _) in zip(walks, runs[len(made):])
              if messages]
    for text in wrong:
        print("WRONG:", text)
    print(f"{len(runs)} specifications, {len(generate.CONSTRUCTS)} constructs, {len(wrong)} wrong")
    return 1 if wrong else 0


def reduced(options, k, made, messages):
    """The report of a failure, with as few constructs as a greedy search finds."""
    kept = list(range(len(made.picked)))
    for construct in reversed(list(kept)):
        fewer = [other for other in kept if other != construct]
        if fewer and alone(chosen(options, k + 1, ",".join(map(str, fewer))), False, False)[0]:
            kept = fewer
    only = ",".join(map(str, kept))
    small = generate.Specification(made.seed, [made.picked[i] for i in kept])
    return (f"seed {made.seed} (--one {' '.join(chosen(options, k + 1, only))}), dims {small.dims}\n" +
            "\n".join(messages[:8]) + "\n" + small.specification()[len(generate.LAYERS):])


sys.exit(main())
