"""Writes of `put`, made one by one.

put.py write FOLDER            draws the inputs of put.test; some places are written twice
put.py check FOLDER [--spoil]  compares the outputs, number by number; --spoil: with writes from the last to the first
"""
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tensors import Tensor, count, load_npy, save_npy  # noqa: E402

B, S, N, M, D = 2, 17, 5, 3, 3


def drawn():
    draw = random.Random(1)
    reals = {"x": (B, S, D), "v": (B, N, D), "w": (N, M, D), "u": (N,)}
    made = {}
    for name, shape in reals.items():
        made[name] = Tensor("f32", shape, [draw.randrange(-99, 100) / 4 for _ in range(count(shape))])
    at = [draw.randrange(S) for _ in range(N)]
    at[4] = at[0]
    two = [draw.randrange(S) for _ in range(N * M)]
    two[9] = two[2]
    made["at"], made["two"] = Tensor("i32", (N,), at), Tensor("i32", (N, M), two)
    made["on"] = Tensor("bool", (B, N), [True, False, True, True, True, False, True, True, False, True])
    return {name: made[name] for name in sorted(made)}


def written(made, places, value, chosen, spoil):
    """`places`: (index of the write, place) in the order of the writes."""
    y = list(made["x"].values)
    for b in range(B):
        for n, place in reversed(places) if spoil else places:
            if chosen(b, n):
                y[(b * S + place) * D:(b * S + place + 1) * D] = [value(b, n, d) for d in range(D)]
    return y


def main():
    folder, spoil, made = sys.argv[2], "--spoil" in sys.argv, drawn()
    if sys.argv[1] == "write":
        for name, tensor in made.items():
            save_npy(os.path.join(folder, name + ".npy"), tensor)
        return 0
    v, w, u, on = (made[name].values for name in ("v", "w", "u", "on"))
    at, two = list(enumerate(made["at"].values)), list(enumerate(made["two"].values))
    always, where = (lambda b, n: True), (lambda b, n: on[b * N + n])
    want = {"along": written(made, at, lambda b, n, d: v[(b * N + n) * D + d], always, spoil),
            "chosen": written(made, at, lambda b, n, d: v[(b * N + n) * D + d], where, spoil),
            "twice": written(made, two, lambda b, n, d: w[n * D + d], always, spoil),
            "bare": written(made, at, lambda b, n, d: u[n], where, spoil)}
    for name, numbers in want.items():
        found = list(load_npy(os.path.join(folder, name + ".npy")).values)
        if found != numbers:
            print(f"WRONG: {name}, first at {next(i for i, pair in enumerate(zip(found, numbers)) if pair[0] != pair[1])}")
            return 1
    print(f"{len(want)} outputs are as written one by one")
    return 0


sys.exit(main())
