#!/usr/bin/env python3
"""Losses and gradients of the models with fused attention against those of the decomposed ones, at sizes that end inside tiles.

usage: fused_models.py MODEL CASE [--f32 | --simple-kernels | --bits | --quick] [--tier TIER] [--spoil]

MODEL is one of models/ or one of this folder, for what no model there has.
--f32 measures both forms against the decomposed one in f64 of the same f32 numbers, and asks of the fused one at most TIMES the
error of the other: both round scores and exponentials alike, in another order. Where a row's keys are in several chunks, the
fused form takes the row's mean of the gradient, D = sum over j of p dp, from dy . y (Dao 2023, section 2.3), since it never has a
whole row: `scaled c`.

CASE is a line of CASES: sizes of the model and the lengths that one artifact is called with. Two steps at each length: the second
one has a memory that is not zero. Rows differ in length, order, direction and segments. Weights are drawn so that attention is
far from uniform. A recipe of the test's own binds no length and leaves dropout on.
--simple-kernels takes the fused ops, that of the gradient too, apart again, as a target without kernels for them does.
--bits compares the fused form in f32 with itself: 1, 2 and 3 threads and the other vector tier give the same bits.
--quick compares code of `tenon compile --quick` with the other, bit by bit: fused in f32, decomposed in f64.
--spoil compares the fused model with itself under another seed of dropout, which has to be noticed.
"""
import argparse
import array
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
from tensors import Tensor, count, tensor  # noqa: E402

V, ROWS, PREDICTED = 264, 2, 3  # bytes and special ids
TIMES, LEAST, MOST = 4, 1e-5, 2e-4  # below LEAST, 80 units in the last place, errors are a matter of luck
WEIGHT = 0.4  # the largest weight
LENGTHS = (1, 2, 17, 67, 131, 197, 300)
COMMON = {"V": V, "N": 2, "rate": 0.1}
CASES = {
    ("gpt2", "a"): ({"D": 48, "E": 24, "F": 40, "L": 300}, LENGTHS[1:]),  # the loss needs a second place
    ("gpt2", "b"): ({"D": 82, "E": 41, "F": 40, "L": 300}, LENGTHS[1:]),
    ("bert", "a"): ({"D": 80, "E": 40, "F": 40, "L": 300}, LENGTHS),
    ("bert", "b"): ({"D": 64, "E": 64, "F": 40, "L": 300}, LENGTHS),
    ("transformer_xl", "a"): ({"D": 48, "H": 2, "F": 40, "M": 150, "rate_att": 0.1}, (1, 2, 17, 67, 197)),
    ("transformer_xl", "b"): ({"D": 82, "H": 2, "F": 40, "M": 17, "rate_att": 0.1, "tied": False}, (17, 131, 300)),
    ("transformer_xl", "c"): ({"D": 64, "H": 1, "F": 40, "M": 67, "same": True, "far": 40}, (2, 67, 131)),
    ("xlnet", "a"): ({"D": 48, "H": 2, "F": 40, "M": 150, "R": 100}, (1, 2, 17, 67, 197)),
    ("xlnet", "b"): ({"D": 82, "H": 2, "F": 40, "M": 17, "R": 9, "far": 30}, (17, 131, 300)),
    ("xlnet", "c"): ({"D": 40, "H": 1, "F": 40, "M": 0, "R": 0, "segments": False}, (2, 67, 131)),
    ("clipped", "a"): ({"D": 48, "W": 5, "L": 9}, (1, 17, 67)),
    ("clipped", "b"): ({"D": 82, "W": 64, "L": 40}, (17, 131)),
    ("clipped", "c"): ({"D": 128, "W": 30, "L": 3}, (2, 67, 131)),
    ("relative", "a"): ({"D": 48, "W": 5, "L": 9}, (1, 17, 67)),
    ("relative", "b"): ({"D": 82, "W": 64, "L": 40}, (17, 131)),
    ("relative", "c"): ({"D": 128, "W": 30, "L": 3, "scores": False}, (2, 67, 131)),
    ("beside", "a"): ({"D": 48}, (1, 17, 67)),
    ("beside", "b"): ({"D": 82, "N": 1}, (17, 131)),
    ("grid", "a"): ({"D": 48, "X": 5, "W": 3}, (1, 17, 67)),
    ("grid", "b"): ({"D": 82, "N": 1, "X": 14, "W": 13}, (131,)),
    ("grid", "c"): ({"D": 16, "N": 1, "X": 40, "W": 9}, (1100,)),
    ("disentangled", "a"): ({"D": 48, "W": 5}, (1, 17, 67)),
    ("disentangled", "b"): ({"D": 82, "N": 1, "W": 128}, (131,)),
    ("disentangled", "c"): ({"D": 16, "N": 1, "W": 300}, (1100,)),
    ("grouped", "a"): ({"D": 48, "K": 2, "G": 3, "E": 8, "W": 5}, (1, 17, 67)),
    ("grouped", "b"): ({"D": 82, "K": 1, "G": 2, "E": 41, "W": 64}, (17, 131)),
    ("latent", "a"): ({"D": 48}, (1, 17, 67)),
    ("latent", "b"): ({"D": 82, "H": 2, "E": 41, "R": 17, "C": 70, "Z": 35}, (17, 131)),
    ("capped", "a"): ({"D": 48, "W": 5}, (1, 17, 67)),
    ("capped", "b"): ({"D": 82, "W": 64}, (17, 131)),
    ("scaled", "a"): ({"D": 48, "W": 5}, (1, 17, 67)),
    ("scaled", "b"): ({"D": 82, "W": 64}, (17, 131)),
    ("scaled", "c"): ({"D": 82, "N": 1}, (1100,)),
    ("sparse", "a"): ({"D": 48, "Z": 16, "L": 40, "C": 8, "W": 30}, (2, 67, 197)),
    ("sparse", "b"): ({"D": 82, "N": 1}, (300,)),
    ("sparse", "c"): ({"D": 16, "N": 1}, (1100,)),
    ("pairs", "a"): ({"D": 48}, (1, 17, 67)),
    ("pairs", "b"): ({"D": 40, "N": 1, "E": 41, "K": 1}, (131,)),
    ("pairs", "c"): ({"D": 16, "N": 1, "E": 8, "C": 3, "R": 1}, (1100,)),
    ("queries", "a"): ({"D": 48}, (1, 17, 67)),
    ("queries", "b"): ({"D": 40, "X": 2, "E": 41}, (17, 131)),
    ("single", "a"): ({"D": 48, "E": 24, "W": 5, "L": 9}, (1, 17, 67)),
    ("single", "b"): ({"D": 40, "E": 41, "W": 64, "L": 40}, (17, 131)),
}
RECIPES = {"gpt2": ("GPT2", "byte_stream(text = \"none.txt\")", "lm"),
           "bert": ("BERT", "mlm_nsp(text = \"none.txt\")", "mlm + nsp"),
           "clipped": ("Clipped", "byte_stream(text = \"none.txt\")", "nll"),
           "relative": ("Relative", "byte_stream(text = \"none.txt\")", "nll"),
           "beside": ("Beside", "caller", "nll"),
           "grid": ("Grid", "byte_stream(text = \"none.txt\")", "nll"),
           "disentangled": ("Disentangled", "byte_stream(text = \"none.txt\")", "nll"),
           "grouped": ("Grouped", "byte_stream(text = \"none.txt\")", "nll"),
           "latent": ("Latent", "byte_stream(text = \"none.txt\")", "nll"),
           "capped": ("Capped", "byte_stream(text = \"none.txt\")", "nll"),
           "scaled": ("Scaled", "byte_stream(text = \"none.txt\")", "nll"),
           "sparse": ("Sparse", "byte_stream(text = \"none.txt\")", "nll"),
           "pairs": ("Pairs", "caller", "nll"),
           "queries": ("Queries", "byte_stream(text = \"none.txt\")", "nll"),
           "single": ("Single", "byte_stream(text = \"none.txt\")", "nll"),
           "transformer_xl": ("TransformerXL", "byte_stream(text = \"none.txt\")", "nll"),
           "xlnet": ("XLNet", "permutation_lm(text = \"none.txt\", reuse = 1)", "plm")}


def specification(folder, name):
    """The model with a recipe that binds nothing."""
    model, data, loss = RECIPES[name]
    path = os.path.join(folder, name + ".tn")
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", name + ".tn")
    with open(here if os.path.exists(here) else driver.model(name + ".tn"), encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{text}\ntrain {model} as whole {{\n  data = {data}\n  loss = {loss}\n  optimizer = sgd(lr = 1.0)\n  "
                   f"steps = 1\n}}\n")
    return path


def integers(draw, high, *shape):
    if len(shape) > 1:
        return [integers(draw, high, *shape[1:]) for _ in range(shape[0])]
    return [draw.randrange(high) for _ in range(shape[0])]


def inputs(name, length, draw):
    """Every input that some entry of the model may have."""
    places = [sorted(draw.choices(range(length), k=PREDICTED)) for _ in range(ROWS)]
    lengths = [length] + [draw.randrange((length + 1) // 2, length + 1) for _ in range(ROWS - 1)]
    ranks = [draw.sample(range(length), length) if row else list(range(length)) for row in range(ROWS)]
    given = {"ids": integers(draw, V, ROWS, length), "target": integers(draw, V, ROWS, length), "len": lengths, "rank": ranks,
             "at": places, "seg": integers(draw, 2 if name == "bert" else 5, ROWS, length),
             "word": integers(draw, V, ROWS, PREDICTED),
             "follows": integers(draw, 2, ROWS), "label": integers(draw, 2, ROWS)}
    result = {key: tensor("i32", value) for key, value in given.items()}
    result["back"] = tensor("bool", [row % 2 for row in range(ROWS)])
    result["weight"] = [[1.0] * PREDICTED, [1.0] + [0.0] * (PREDICTED - 1)]
    if name == "pairs":  # numbers that f32 has
        result["kind"] = tensor("i32", integers(draw, 3, ROWS, length, length))
        edges = integers(draw, 128, ROWS, length, length)
        result["edges"] = [[[number / 64 for number in row] for row in rows] for rows in edges]
        result["padding"] = [[-10.0 * number for number in row] for row in integers(draw, 2, ROWS, length)]
    return result


def weights(model, kind):
    draw = random.Random(7)
    for name, info in sorted(model.parameters().items()):
        shape = info.shape[:info.rank]
        last = name.rsplit(".", 1)[-1]
        center, width = (1.0, 0.3) if last == "weight" and len(shape) == 1 else (0.0, WEIGHT)
        # that f32 and f64 have
        values = array.array("f", [draw.uniform(center - width, center + width) for _ in range(count(shape))])
        model.set_parameter(name, Tensor(kind, shape, list(values)))


def results(artifact, tier, kind, length, given, seed, threads=1):
    """Losses and gradients of two steps, by name."""
    model = library.Model(artifact, "grad", {"B": ROWS, "T": length, "K": PREDICTED}, tier, threads)
    weights(model, kind)
    found = {}
    for step in range(2):
        for name, (_, info) in model.inputs().items():
            value = given[step][name]
            model.set_input(name, value if isinstance(value, Tensor) else tensor(kind, value))
        found.update({f"{name} of step {step}": value for name, value in model.run(step=step, seed=seed).items()})
        found.update({f"{name}, step {step}": model.gradient(name) for name in model.parameters()})
    model.close()
    return found


def difference(fused, decomposed):
    """The largest one, as a share of the tensor's largest value, and its place. A gradient that is 0 by its formula is measured
    by the others."""
    worst, where = 0.0, "none"
    floor = 1e-2 * max(abs(x) for want in decomposed.values() for x in want.values)
    for name, want in decomposed.items():
        largest = max(floor, max(abs(x) for x in want.values))
        error = max(abs(a - b) if a == a else float("inf") for a, b in zip(fused[name].values, want.values)) / largest
        if error > worst:
            worst, where = error, name
    return worst, where


def bits(name, sets, lengths, spoil):
    """How many results differ from those of one thread."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        best, other = driver.best_tier(), driver.other_tier()
        path = specification(folder, name)
        made = {tier: driver.compiled(path, "--recipe", "whole", "--grad", *words, "--tier", tier,
                                      *driver.settings(COMMON | sets))
                for tier, words in ((other, ["--quick"]), (best, []))}
        for length in lengths:
            draw = random.Random(length)
            given = [inputs(name, length, draw) for _ in range(2)]
            first = results(made[best], best, "f32", length, given, 1)
            for tier, threads in ((best, 2), (best, 3), (other, 2)):
                found = results(made[tier], tier, "f32", length, given, 2 if spoil and threads == 3 else 1, threads)
                differ = [key for key in first if found[key].values != first[key].values]
                wrong += bool(differ)
                print(f"{'WRONG' if differ else 'ok'}: {name}, length {length}, {threads} threads, {tier}: {len(first)} tensors, "
                      f"{len(differ)} of other bits {differ[:3]}")
    return wrong


def quick(name, sets, lengths, tier, spoil):
    """How many results differ from those of code that was generated with care."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = specification(folder, name)
        for kind, words in (("f32", []), ("f64", ["--f64", "--decomposed"])):
            made = [driver.compiled(path, "--recipe", "whole", "--grad", *words, *more, "--tier", tier,
                                    *driver.settings(COMMON | sets)) for more in ([], ["--quick"])]
            for length in lengths:
                draw = random.Random(length)
                given = [inputs(name, length, draw) for _ in range(2)]
                careful, found = [results(artifact, tier, kind, length, given, 2 if spoil and artifact == made[1] else 1)
                                  for artifact in made]
                differ = [key for key in careful if found[key].values != careful[key].values]
                wrong += bool(differ)
                print(f"{'WRONG' if differ else 'ok'}: {name}, length {length}, {kind}: {len(careful)} tensors, {len(differ)} of "
                      f"other bits {differ[:3]}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("case")
    parser.add_argument("--f32", action="store_true")
    parser.add_argument("--simple-kernels", action="store_true")
    parser.add_argument("--bits", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tier", default=driver.best_tier())
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    sets, lengths = CASES[options.model, options.case]
    if options.bits:
        return 1 if bits(options.model, sets, lengths, options.spoil) else 0
    if options.quick:
        return 1 if quick(options.model, sets, lengths, options.tier, options.spoil) else 0
    kind, wrong = "f32" if options.f32 else "f64", 0
    slow = [] if max(lengths) > 1000 else ["--quick"]  # there quick code runs for longer than it takes to compile with care
    exact = ("f64", ["--decomposed", "--f64", *slow])
    forms = [("f64", ["--f64", "--quick"]), exact]
    if options.f32:
        forms = [("f32", []), ("f32", ["--decomposed", *slow]), exact]
    if options.simple_kernels:
        forms = [("f64", ["--f64", "--simple-kernels", "--quick"]), exact]
    if options.spoil:
        forms = forms[:1]
    with tempfile.TemporaryDirectory() as folder:
        artifacts = [] # and the tier of each
        for _, words in forms:
            tier = driver.reference_tier() if words == exact[1] else options.tier
            artifacts.append((driver.compiled(specification(folder, options.model), "--recipe", "whole", "--grad", *words,
                                              "--tier", tier, *driver.settings(COMMON | sets)), tier))
        for length in lengths:
            draw = random.Random(length)
            given = [inputs(options.model, length, draw) for _ in range(2)]
            found = [results(*artifact, form, length, given, 1) for artifact, (form, _) in zip(artifacts, forms)]
            if options.spoil:
                found.append(results(*artifacts[0], kind, length, given, 2))
            bound = 1e-11
            if options.f32:
                bound = MOST if options.spoil else min(MOST, max(LEAST, TIMES * difference(found[1], found[-1])[0]))
            worst, where = difference(found[0], found[-1])
            good = worst <= bound
            wrong += not good
            print(f"{'ok' if good else 'WRONG'}: {options.model} {options.case}, length {length}: {len(found[0])} tensors, "
                  f"worst difference {worst:.2e} of the largest value, at most {bound:.1e}, at {where}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
