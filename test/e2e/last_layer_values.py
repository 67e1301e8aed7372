#!/usr/bin/env python3
"""What the last layer of a stack leaves out changes no bit of what an entry gives that does not train: rows, rows
behind a norm, a stream and losses of specs/last-layer-values.tn are those of the layer that is whole, in f32, f64 and bf16, with
sizes that the compiler knows and with sizes of a run.

usage: last_layer_values.py [--spoil]

Sums of a contraction are one chain per element whatever its rows are, and attention stays fused, so nothing may differ. Tiles of
AMX multiply in another order than pairs, which few rows take; so they are compared within 2e-2,
losses within 1e-3, all else bit by bit.

  --spoil  the rows that are read are one later than what they are compared with, which must be noticed everywhere
"""
import argparse
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import tiers  # noqa: E402
from library import Model  # noqa: E402
from tensors import Tensor  # noqa: E402

SPEC = os.path.join(HERE, "specs", "last-layer-values.tn")
B, T, K, D = 3, 37, 5, 24
SIZES = {"B": B, "T": T, "K": K}
AT = [(11 * k + 4) % (T - 1) for k in range(B * K)]
LAST = [T - 2, 20, 0]
LENGTHS = [T, 9, 30]


def given(element, moved):
    values = {"x": Tensor(element, [B, T, D], [0.05 * (k * 7 % 41) - 1 for k in range(B * T * D)]),
              "at": Tensor("i32", [B, K], [place + moved for place in AT]),
              "last": Tensor("i32", [B], [place + moved for place in LAST]), "len": Tensor("i32", [B], LENGTHS)}
    return values


def run(artifact, entry, tier, element, moved=0):
    model = Model(artifact, entry, SIZES, tier)
    known = model.inputs()
    for name, value in given(element, moved).items():
        if name in known:
            model.set_input(name, value)
    outputs = model.run()
    model.close()
    return outputs


def rows_of(h, places):
    """Of [B, T, D] those at some places of each text."""
    return [value for row, several in enumerate(places) for place in several
            for value in list(h.values)[(row * T + place) * D:(row * T + place + 1) * D]]


def differ(ours, theirs, bound):
    ours, theirs = list(ours), list(theirs)
    if not bound:
        return struct.pack(f"{len(ours)}d", *ours) != struct.pack(f"{len(theirs)}d", *theirs)
    distance = sum((a - b) ** 2 for a, b in zip(ours, theirs, strict=True)) ** 0.5
    return not distance <= bound * sum(b * b for b in theirs) ** 0.5


def compare(case, words, tier, element, bound, options, wrong):
    """The number of comparisons."""
    moved, count = int(options.spoil), 0
    parts = driver.compiled(SPEC, *words, "--tier", tier)
    whole = run(parts, "all", tier, element)
    expected = {"some": ("at_some", [AT[k:k + K] for k in range(0, B * K, K)]), "told": ("at_told", [[place] for place in LAST]),
                "first": ("at_first", [[moved]] * B), "latest": ("at_latest", [[T - 1 - moved]] * B),
                "behind": ("at_behind", [[place] for place in LAST])}
    for entry, (name, places) in expected.items():
        count += 1
        of = whole["z" if entry == "behind" else "h"]
        if differ(run(parts, entry, tier, element, moved)[name].values, rows_of(of, places), bound):
            wrong.append(f"{case}: {entry}")
    count += 1
    if differ(run(parts, "side", tier, element)["y"].values, whole["h" if moved else "y"].values, bound):
        wrong.append(f"{case}: side")
    if "--bind" in words:
        count += 1
        everything = driver.compiled(SPEC, *words, "--set", "everything=true", "--tier", tier)
        losses = [run(artifact, "eval", tier, element, place)["picked"].values
                  for artifact, place in ((parts, moved), (everything, 0))]
        if differ(*losses, bound / 20):
            wrong.append(f"{case}: losses {losses[0][0]} and {losses[1][0]}")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    wrong, count = [], 0
    bound_sizes = [word for name, value in SIZES.items() for word in ("--bind", f"{name}={value}")]
    kinds = [("f32", [], "f32", tiers.best()), ("f64", ["--f64", "--quick"], "f64", tiers.best())]
    kinds += [(f"bf16 on {tier}", ["--numerics", "bf16", "--quick"], "f32", tier) for tier in tiers.of_bf16()[:2]]
    for name, words, element, tier in kinds:
        bound = 2e-2 if tier.endswith("amx") else 0
        cases = [("false", bound_sizes), ("true", [])] + [("true", bound_sizes), ("false", [])] * (name == "f32")
        for relative, sizes in cases:
            case = f"{name}, {'relative' if relative == 'true' else 'plain'}, sizes of {'the compiler' if sizes else 'a run'}"
            count += compare(case, ["--set", f"relative={relative}", *words, *sizes], tier, element, bound, options, wrong)
    for text in wrong:
        print("WRONG:", text)
    print(f"{count} comparisons, {len(wrong)} findings")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
