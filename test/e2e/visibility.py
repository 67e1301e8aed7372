#!/usr/bin/env python3
"""Who sees what, in f64 with memories of random numbers, at lengths that cross tiles.

usage: visibility.py streams|batch|masks [MODEL] [--spoil]

  streams   XLNet, random orders, reversed rows: what a place holds reaches exactly the content of its own rank and later ones and
            the queries of later ranks: a query does not see itself            --spoil: the second run has other orders
  batch     permuting the rows of a batch together with their memories permutes outputs and memories
            --spoil: the memories stay where they are
  masks     a mask that hides nothing changes nothing, in every form; the weights of a query sum to 1
            --spoil: one row is one key shorter
"""
import argparse
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
from tensors import Tensor, count, load_safetensors, save_safetensors, tensor  # noqa: E402

ROWS, V = 3, 97
SIZES = {"xlnet": {"V": V, "D": 72, "H": 3, "F": 50, "M": 13, "R": 13, "N": 2},
         "transformer_xl": {"V": V, "D": 72, "H": 3, "F": 50, "M": 67, "N": 2}}
LENGTH, QUERIES = 131, 23
BOUND = 1e-11  # values are within some units; what they depend on moves them by more than SEEN
SEEN = 1e-7


class Wrong(Exception):
    pass


def weights(folder, model):
    """Large enough that attention is far from uniform."""
    path, start = os.path.join(folder, f"{model}.safetensors"), os.path.join(folder, "start.safetensors")
    driver.tenon("init", driver.model(model + ".tn"), *driver.settings(SIZES[model]), "--f64", "--seed", 1, "-o", start)
    draw, made = random.Random(2), load_safetensors(start)
    for name, value in sorted(made.items()):
        made[name] = Tensor(value.kind, value.shape, [draw.uniform(-0.5, 0.5) + (len(value.shape) < 3 and "n1" in name)
                                                      for _ in value.values])
    save_safetensors(path, made)
    return path


def memory(folder, model, draw):
    sizes = SIZES[model]
    shape = (sizes["N"], ROWS, sizes["M"], sizes["D"])
    states = {"blocks.*.mem": Tensor("f64", shape, [draw.uniform(-1, 1) for _ in range(count(shape))])}
    if model == "xlnet":
        states["filled"] = tensor("i32", [13, 5, 0])
    path = os.path.join(folder, "memory.safetensors")
    save_safetensors(path, states)
    return path, states


def ids(draw, high, length=LENGTH):
    return [[draw.randrange(high) for _ in range(length)] for _ in range(ROWS)]


def inputs(model, draw):
    given = {"ids": tensor("i32", ids(draw, V))}
    if model == "xlnet":
        orders = [draw.sample(range(LENGTH), LENGTH) for _ in range(ROWS)]
        given |= {"rank": tensor("i32", orders), "seg": tensor("i32", ids(draw, 3)), "back": tensor("bool", [0, 1, 1])}
    return given


def run(folder, model, given, output, states, *options):
    entry = "fill" if output == "logits" and model == "xlnet" else "infer"
    return driver.run(folder, driver.model(model + ".tn"), given, [output], "--f64", "--weights",
                      os.path.join(folder, f"{model}.safetensors"),
                      "--entry", entry, *driver.settings(SIZES[model]), "--states", states, *options)[output]


def apart(first, second, row, place):
    return max(abs(a - b) if a == a else float("inf") for a, b in zip(first.row(row, place), second.row(row, place)))


def streams(folder, _model, spoil):
    draw, model = random.Random(4), "xlnet"
    weights(folder, model)
    states, _ = memory(folder, model, draw)
    given = inputs(model, draw)
    asked = [sorted(draw.sample(range(LENGTH), QUERIES)) for _ in range(ROWS)]
    queries = {"at": tensor("i32", asked)}
    content, query = run(folder, model, given, "h", states), run(folder, model, given | queries, "logits", states)
    for cut in (1, 40, given["rank"].row(0)[asked[0][3]], LENGTH - 1):
        changed = [[(x + 1) % V if rank == cut else x for x, rank in zip(given["ids"].row(row), given["rank"].row(row))]
                   for row in range(ROWS)]
        other = given | {"ids": tensor("i32", changed)}
        if spoil:
            other["rank"] = tensor("i32", [order[::-1] for order in (given["rank"].row(row) for row in range(ROWS))])
        new_content, new_query = run(folder, model, other, "h", states), run(folder, model, other | queries, "logits", states)
        for row in range(ROWS):
            ranks = given["rank"].row(row)
            for place in range(LENGTH):
                verdict("content", apart(content, new_content, row, place), ranks[place] >= cut,
                        f"rank {ranks[place]}, rank {cut} was changed")
            for k, place in enumerate(asked[row]):
                verdict("query", apart(query, new_query, row, k), ranks[place] > cut,
                        f"rank {ranks[place]}, rank {cut} was changed")


def verdict(what, difference, sees, where):
    if difference > BOUND and not sees:
        raise Wrong(f"{what} at {where}: differs by {difference}, and must not see it")
    if not difference > SEEN and sees:
        raise Wrong(f"{what} at {where}: differs by {difference} only, and should see it")


def permuted(value, order, axis=0):
    shape = value.shape
    outer, inner = count(shape[:axis]), count(shape[axis + 1:])
    values = [x for o in range(outer) for row in order
              for x in value.values[(o * shape[axis] + row) * inner:(o * shape[axis] + row + 1) * inner]]
    return Tensor(value.kind, shape, values)


def batch(folder, model, spoil):
    draw, order = random.Random(5), [2, 0, 1]
    weights(folder, model)
    start, states = memory(folder, model, draw)
    given, output = inputs(model, draw), "h" if model == "xlnet" else "logits"
    kept = os.path.join(folder, "kept.safetensors")
    first = run(folder, model, given, output, start, "--save-states", kept)
    before = load_safetensors(kept)
    if not spoil:
        save_safetensors(start, {name: permuted(value, order, 1 if len(value.shape) > 1 else 0)
                                 for name, value in states.items()})
    second = run(folder, model, {name: permuted(value, order) for name, value in given.items()}, output, start,
                 "--save-states", kept)
    after = load_safetensors(kept)
    same(f"{output} of the permuted batch", second, permuted(first, order))
    for name, value in before.items():
        same(f"state {name} of the permuted batch", after[name], permuted(value, order, 1 if len(value.shape) > 1 else 0))


def same(what, got, want):
    for k, (a, b) in enumerate(zip(got.values, want.values)):
        if not abs(a - b) <= BOUND:
            raise Wrong(f"{what}: {a} instead of {b} at [{k}]")


def masks(folder, _model, spoil):
    draw = random.Random(6)
    for length in (1, 67, 300):
        given = {"ids": tensor("i32", ids(draw, 37, length)), "len": tensor("i32", [length, length + 5, length - spoil]),
                 "seen": tensor("bool", [[1] * length] * ROWS), "rank": tensor("i32", [[3] * length] * ROWS)}
        names = ["plain", "rows", "keys", "order", "both", "ones"]
        found = driver.run(folder, os.path.join(HERE, "specs", "masks.tn"), given, names, "--f64", "--init", "--seed", 1)
        for name in names[1:5]:
            same(f"length {length}, mask `{name}`", found[name], found["plain"])
        same(f"length {length}, sums of weights", found["ones"],
             Tensor("f64", found["ones"].shape, [1.0] * count(found["ones"].shape)))


def main():
    kinds = {"streams": streams, "batch": batch, "masks": masks}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("property", choices=kinds)
    parser.add_argument("model", nargs="?", default="xlnet", choices=SIZES)
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            kinds[options.property](folder, options.model, options.spoil)
        except Wrong as error:
            print(f"WRONG: {error}")
            return 1
    print("HOLDS")
    return 0


sys.exit(main())
