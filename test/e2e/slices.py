#!/usr/bin/env python3
"""`slices = n` of a recipe: the gradient of a batch is the fixed binary tree over n slices of its rows, whoever computes which of
them.

usage: slices.py ranks|threads|whole|states|memory|accumulate|resume [--spoil]

Over the C interface, a small model with dropout, a loss that is a mean over rows and places, one that is a sum, one without rows,
and two that layers add to, one with means and one with sums:
  ranks       4, 6 and 8 slices: all in one process, and by 2, 3 and 4 processes of which each has its own parameters, computes a
              node of the tree, and gets the others' gradients added in the tree's order: the same parameters, losses and norms
              after some steps, in f32, f64 and mixed precision; the same of a loss that is divided by a sum over the batch
              --spoil: added in another order, which must be noticed
  threads     1, 2 and 3 threads: the same bits
              --spoil: another seed
  whole       without dropout, 1 slice and none said: the same bits; 4 slices: the losses and gradients of the batch, but for
              rounding
              --spoil: a loss that is a sum is taken for a mean
  states      a model with a memory in each layer of a stack, in f64: the memories and parameters after some steps are those of 1
              slice but for rounding, and those of the rows that a process computes are those of all in one process, also
              where it computes one part of the tree after the other
              --spoil: the memories are set back between two steps
  accumulate  2 batches of 2 slices each: halves and whole steps are the same, and a step has the mean of two gradients
              --spoil: one batch is taken twice
  memory      values that the backward pass reads take a quarter with 4 slices; there are two partial sums
  resume      `tenon train` of models/bert.tn, which divides by the weights of all places, in 2 slices: six steps, stopped after
              three and not, end with the same bits
              --spoil: the stopped one has another seed
"""
import argparse
import json
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
import properties  # noqa: E402
from tensors import Tensor, load_safetensors  # noqa: E402

STEPS, SYMBOLS = 3, 50
SPEC = """model Sliced {
  config V = 50, D = 24, N = 3, drop = 0.25
  dim    B, T
  in     ids: index(V)[B, T], target: index(V)[B, T], x: [B, D], scale: [D]
  param  emb: [V, D] ~ normal(0.5)
  layer Block(h: [B, T, D], even: [], all: []) -> ([B, T, D], [], []) {
    use    up = Linear[D -> D]
    param  one, other: [D] ~ normal(0.1)       # of one gradient, which is computed once and copied
    let    y = tanh(up(h + one + other))
    return h + dropout(y, drop), even + 2 * mean(y ^ 4) - mean(y), sum(y) / 8 + all
  }
  use    blocks = stack[N] Block
  param  left, right: [D] ~ normal(0.1)
  let    (h, even, all) = blocks(emb[V: ids] + left + right + x * scale, 0.5, 0.0)
  loss   nll = mean(cross_entropy[V](dot[D](h, emb), target))
  loss   size = sum(h ^ 2)
  loss   norm = sum(emb ^ 2)
  loss   evenness = (even - 0.5) / N
  loss   total = all
}
train Sliced as small {
  bind       B = 24, T = 5
  loss       = nll + 1e-4 * size + 1e-4 * norm + 0.1 * evenness + 1e-2 * total
  optimizer  = adamw(lr = 1e-2)
  clip       = global_norm(1)
  SETTINGS
}
"""


class Wrong(Exception):
    pass


def compiled(folder, settings, *words, changes=()):
    path, text = os.path.join(folder, "sliced.tn"), SPEC.replace("SETTINGS", settings)
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return driver.compiled(path, "--recipe", "small", "--entry", "train", "--tier", driver.best_tier(), *words)


def batch(model, draw):
    result = {}
    for name, (_, info) in model.inputs().items():
        shape = tuple(info.shape[:info.rank])
        count = 1
        for size in shape:
            count *= size
        kind = library.KINDS[info.type]
        result[name] = Tensor(kind, shape, [draw.randrange(SYMBOLS) if kind == "i32" else draw.gauss(0, 1) for _ in range(count)])
    return result


def feed(model, values):
    for name, tensor in values.items():
        model.set_input(name, tensor)


def bits(tensors):
    return {name: bytes(memoryview(tensor.values)) for name, tensor in tensors.items()}


def parameters(model):
    return bits({name: model.parameter(name) for name in model.parameters()})


def compare(what, ours, theirs):
    differ = [name for name in theirs if ours.get(name) != theirs[name]]
    if differ:
        raise Wrong(f"{what}: other bits in {', '.join(sorted(differ)[:3])}")


def added(kind, a, b):
    """Rounded to the type once, as the artifact does."""
    return Tensor(kind, a.shape, [x + y for x, y in zip(a.values, b.values)])


def tree(shares, add):
    """The sum of a list in the fixed tree: the largest power of two below its length, and the rest."""
    if len(shares) == 1:
        return shares[0]
    half = 1 << (len(shares) - 1).bit_length() - 1
    return add(tree(shares[:half], add), tree(shares[half:], add))


def step_in_ranks(ranks, slices, step, spoil):
    shares, outputs, each = [], [], slices // len(ranks)
    for number, model in enumerate(ranks):
        model.set_slices(number * each, each)
        outputs.append(model.half("gradients", step, seed=5))
        shares.append({name: model.gradient(name) for name in model.parameters()})
    if spoil:
        shares = shares[1:] + shares[:1]
    kind = next(iter(shares[0].values())).kind
    sums = {name: tree([share[name] for share in shares], lambda a, b: added(kind, a, b)) for name in shares[0]}
    losses = {name: tree([output[name] for output in outputs], lambda a, b: added("f64", a, b)) for name in outputs[0]}
    for model in dict.fromkeys(ranks):
        for name, gradient in sums.items():
            model.set_gradient(name, gradient)
        update = model.half("update", step, seed=5)
        losses |= {name: update[name] for name in ("grad_norm", "learning_rate")}
    return losses


MEAN = "  loss   nll = mean(cross_entropy[V](dot[D](h, emb), target))"
WEIGHTS = ("scale: [D]", "scale: [D], w: [B, T]")
MASKED = [WEIGHTS, (MEAN, "  loss   nll = sum(w * cross_entropy[V](dot[D](h, emb), target)) / max(sum(w), 1)")]


def ranks(folder, spoil):
    plain = [(4, 2, [], ()), (4, 2, ["--f64"], ()), (4, 2, ["--numerics", "bf16"], ()), (4, 2, ["--numerics", "f16"], ()),
             (6, 3, [], ()), (8, 4, [], ()), (8, 8, [], ())]
    masked = [(4, 2, [], MASKED), (4, 2, ["--f64"], MASKED), (4, 2, ["--numerics", "bf16"], MASKED),
              (4, 2, ["--numerics", "f16"], MASKED), (6, 3, [], MASKED)]
    for slices, processes, words, changes in plain + masked:
        artifact = compiled(folder, f"slices = {slices}", *words, changes=changes)
        models = [library.Model(artifact, "train", {}) for _ in range(processes + 1)]
        draw = random.Random(1)
        for step in range(STEPS):
            values = batch(models[0], draw)
            for model in models:
                feed(model, values)
            want = models[0].run(step, seed=5)
            got = step_in_ranks(models[1:], slices, step, spoil)
            compare(f"{slices} slices by {processes}, step {step}", bits(got), bits(want))
            for model in models[1:]:
                compare(f"{slices} slices by {processes}, step {step}", parameters(model), parameters(models[0]))
    artifact = compiled(folder, "slices = 6")
    model = library.Model(artifact, "train", {})
    for first, count, message in ((0, 3, "not supported yet: the slices 0 to 2 of 6 are not added to each other in their tree"),
                                  (4, 3, "has the slices 0 to 5, not 3 from 4 on"),
                                   (1, 2, "not supported yet: the slices 1 to 2 of 6")):
        try:
            model.set_slices(first, count)
            raise Wrong(f"the slices {first}, {count} are taken")
        except library.Refused as refused:
            if message not in str(refused):
                raise Wrong(str(refused)) from None
    feed(model, batch(model, random.Random(1)))
    model.set_slices(0, 2)
    try:
        model.run(0)
        raise Wrong("a part of the slices is taken for a step")
    except library.Refused as refused:
        if "2 of 6 slices are no step" not in str(refused):
            raise Wrong(str(refused)) from None


def trained(artifact, threads=1, seed=5, repeat=False):
    model, draw = library.Model(artifact, "train", {}, threads=threads), random.Random(2)
    outputs = []
    for step in range(2 * STEPS):
        if not (repeat and step == 1):
            feed(model, batch(model, draw))
        outputs.append(model.run(step, seed=seed))
    return model, outputs


def threads(folder, spoil):
    for changes in ((), MASKED):
        artifact = compiled(folder, "slices = 4", changes=changes)
        want, _ = trained(artifact)
        for count in (2, 3):
            got, _ = trained(artifact, count, seed=6 if spoil else 5)
            compare(f"{count} threads", parameters(got), parameters(want))


def whole(folder, spoil):
    plain, one, four = (compiled(folder, setting, "--set", "drop=0", "--f64") for setting in ("", "slices = 1", "slices = 4"))
    compare("slices = 1", parameters(trained(one)[0]), parameters(trained(plain)[0]))
    models = [library.Model(artifact, "train", {}) for artifact in (plain, four)]
    values, found = batch(models[0], random.Random(3)), []
    for model in models:
        feed(model, values)
        numbers = {f"loss {name}": tensor for name, tensor in model.half("gradients").items()
                   if name not in ("grad_norm", "learning_rate")}
        found.append(numbers | {name: model.gradient(name) for name in model.parameters()})
    if spoil:
        found[1]["loss size"].values[0] /= 4
    for name, want in found[0].items():
        scale = max(abs(x) for x in want.values)
        worst = max(abs(x - y) for x, y in zip(found[1][name].values, want.values))
        if not worst <= 1e-12 * scale:
            raise Wrong(f"{name} differs by {worst} of {scale}")
    if not any(list(found[0][name].values) != list(found[1][name].values) for name in found[0]):
        raise Wrong("4 slices have the bits of 1: nothing was sliced")


def accumulate(folder, spoil):
    for changes in ((), MASKED):
        accumulates(compiled(folder, "slices = 2\n  accumulate = 2", changes=changes), spoil)


def accumulates(artifact, spoil):
    want, outputs = trained(artifact)
    if [output["grad_norm"].values[0] > 0 for output in outputs] != [False, True] * STEPS:
        raise Wrong("an update is made by every second batch")
    model, draw = library.Model(artifact, "train", {}), random.Random(2)
    for step in range(2 * STEPS):
        if not (spoil and step == 1):
            feed(model, batch(model, draw))
        model.half("gradients", step, seed=5)
        model.half("update", step, seed=5)
    compare("halves", parameters(model), parameters(want))


def states(folder, spoil):
    memory = [("use    up", "state  mem: [B, D] = 0\n    next   mem = mean[T](h)\n    use    up"),
              ("tanh(up(h + one + other))", "tanh(up(h + one + other) + mem)")]
    plain, four = (compiled(folder, setting, "--set", "drop=0", "--f64", changes=memory) for setting in ("", "slices = 4"))
    models = [library.Model(artifact, "train", {}) for artifact in (plain, four, four, four)]
    parts = library.Model(four, "train", {})
    draw = random.Random(6)
    for step in range(STEPS):
        values = batch(models[0], draw)
        for model in (*models, parts):
            feed(model, values)
        if spoil and step == 1:
            library.LIBRARY.tn_context_reset_states(models[1].context)
        for model in models[:2]:
            model.run(step)
        step_in_ranks(models[2:], 4, step, False)
        step_in_ranks([parts, parts], 4, step, False)
        for model in (models[2], parts):
            compare(f"step {step}", parameters(model), parameters(models[1]))
        compare(f"step {step}, part after part", bits(parts.states()), bits(models[1].states()))
        kept = [list(model.states()["blocks.*.mem"].values) for model in models]
        worst = max(abs(x - y) for x, y in zip(kept[0], kept[1]))
        if not worst <= 1e-12 * max(abs(x) for x in kept[0]):
            raise Wrong(f"step {step}: the memories differ by {worst}")
        rows, width = 24, 24
        for depth in range(3):
            for rank in range(2):
                own = slice((depth * rows + rank * rows // 2) * width, (depth * rows + (rank + 1) * rows // 2) * width)
                if kept[2 + rank][own] != kept[1][own]:
                    raise Wrong(f"step {step}: other memories in process {rank}, depth {depth}")


def memory(folder, _spoil):
    sizes = {}
    for slices in (1, 4):
        artifact = compiled(folder, f"slices = {slices}")
        report = json.loads(driver.tenon("inspect", artifact, "--entry", "train", "--json"))["report"]
        sizes[slices] = next(entry for entry in report if entry["entry"] == "train")["memory"]
    if sizes[1]["saved values"] < 3.5 * sizes[4]["saved values"]:
        raise Wrong(f"{sizes[4]['saved values']} bytes are saved with 4 slices, {sizes[1]['saved values']} with one")
    two = 2 * sizes[4]["gradients"]
    if sizes[4]["sums of slices"] not in range(two, two + 128) or "sums of slices" in sizes[1]:
        raise Wrong(f"partial sums: {sizes}")


def resume(folder, spoil):
    with open(driver.model("bert.tn"), encoding="utf-8") as file:
        text = file.read()
    end = text.index("\n}\n", text.index("train BERT as small {"))
    path = os.path.join(folder, "bert.tn")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:end] + "\n  slices     = 2" + text[end:])
    sizes = [*driver.settings({"D": 64, "F": 64, "N": 1, "L": 16, "rate": 0.1}), *"--bind B=4 --bind T=16 --bind K=3".split()]
    found = []
    for name, lengths in (("whole", (6,)), ("parts", (3, 6))):
        run, weights = os.path.join(folder, name), os.path.join(folder, name + ".safetensors")
        for steps in lengths:
            driver.tenon("train", path, "--recipe", "small", *sizes, "--text", properties.sample(folder), "--steps", steps,
                         "--seed", 8 if spoil and name == "parts" else 7, "--out", run, "--quiet")
        driver.tenon("export", run, "-o", weights)
        found.append(bits(load_safetensors(weights)))
    compare("stopped after three steps", found[1], found[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    checks = {"ranks": ranks, "threads": threads, "whole": whole, "states": states, "accumulate": accumulate,
              "memory": memory, "resume": resume}
    parser.add_argument("check", choices=sorted(checks))
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checks[options.check](folder, options.spoil)
    print(f"{options.check}: as it should be")


if __name__ == "__main__":
    try:
        main()
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
