#!/usr/bin/env python3
"""Tiles in which masks leave no pair are not read, forward or backward: keys and values there are NaN, and results stay finite.

usage: skipped_tiles.py [--tier TIER | --gpu [--numerics POLICY]] [--relative | --table] [--data] [--bits]

The mask hides the keys 64 .. 127 and 1088 .. 1151 from all queries, the last 64 queries see the first keys alone. --data says the
same by an input over the keys, which no interval decides: those tiles are computed, and zero times NaN is noticed.

--table: the same by an input with a truth value for each two blocks.

--relative: a query sees its own block of 64 keys alone, and rows of a table that only pairs of tiles further apart have are NaN;
with --data also keys that an input tells, of which there is none.

--bits: nothing is NaN, and keys and values have gradients; with the table results have the bits that they have where a further
test, of an input, has each pair computed.

--gpu: the kernels of a GPU, on the emulator (test/gpu-emu).
"""
import argparse
import math
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
from tensors import Tensor, tensor  # noqa: E402

MODEL = """model Skipped {{
  config D = 16, E = 16, N = 3, K = 19
  dim    B, T, S
  in     x: [B, T, D], y: [B, S, D], seen: bool[B, S], allowed: bool[N, K]
  param  wq: [D, E] ~ normal(0.5)
  let    a = attend(i: T, j: S) {{
    score dot[E](dot[D](x, wq), y[D -> E])
    mask  {mask}
    mask  i div 64 != 2 or j < 64
    drop  0.1
    value y
  }}
  loss   square = mean(a * a)
}}
"""
# Keys and values have gradients.
TRAINED = MODEL.replace("y[D -> E]", "dot[D](y, wq)").replace("value y", "value dot[D](y, wq)")
RELATIVE = """model Skipped {{
  config D = 16, E = 16
  dim    B, T, S, R = T + S - 1
  in     x: [B, T, D], y: [B, S, D], seen: bool[B, S], far: [R, E]
  param  wq: [D, E] ~ normal(0.5)
  let    a = attend(i: T, j: S) {{
    score dot[E](dot[D](x, wq), y[D -> E])
    score dot[E](dot[D](x, wq), far[R: j - i + T - 1])
    mask  i div 64 == j div 64{others}
    value y
  }}
  loss   square = mean(a * a)
}}
"""
TABLE = "allowed[N: min(i div 64, N - 1)][K: min(j div 64, K - 1)]"
QUERIES = 150


def given_tables(keys):
    """Inputs under RELATIVE. A strip of 64 queries and its keys are less than 128 apart; a panel may have 32 rows more."""
    number = [0.1 * ((7 * k) % 11 - 5) for k in range((keys + QUERIES) * 16)]
    rows = QUERIES + keys - 1
    table = [math.nan if abs(k // 16 - QUERIES + 1) > 160 else number[k] for k in range(rows * 16)]
    return {"x": Tensor("f32", (1, QUERIES, 16), number[:QUERIES * 16]), "y": Tensor("f32", (1, keys, 16), number[:keys * 16]),
            "seen": tensor("bool", [[0] * keys]), "far": Tensor("f32", (rows, 16), table)}


def given_keys(keys, bits):
    hidden = [j // 64 % 16 == 1 for j in range(keys)]
    number = [0.1 * ((7 * k) % 11 - 5) for k in range(max(keys, QUERIES) * 16)]
    rows = [math.nan if hidden[k // 16] and not bits else number[k] for k in range(keys * 16)]
    return {"x": Tensor("f32", (1, QUERIES, 16), number[:QUERIES * 16]), "y": Tensor("f32", (1, keys, 16), rows),
            "seen": tensor("bool", [[int(not each and not bits) for each in hidden]]),
            "allowed": tensor("bool", [[int(block % 16 != 1) for block in range(19)]] * 3)}


def compiled(path, text, options):
    """For a GPU no shelf: the stand-in for its driver reads the kernels in a folder."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    words = ["--no-recipe", "--grad"]
    if not options.gpu:
        return driver.compiled(path, *words, "--quick", "--tier", options.tier)
    policy = ["--numerics", options.numerics] if options.numerics else []
    driver.tenon("compile", path, *words, *policy, "--target", "sm_80", "--save-gpu-ir",
                 os.environ["TENON_GPU_IR"], "-o", path[:-3])
    return path[:-3]


def numbers(artifact, given, keys, options):
    model = library.Model(artifact, "grad", {"B": 1, "T": QUERIES, "S": keys}, None if options.gpu else options.tier)
    for name in model.inputs():
        model.set_input(name, given[name])
    values = [*model.run()["square"].values, *model.gradient("wq").values]
    model.close()
    return values


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--numerics")
    parser.add_argument("--bits", action="store_true")
    parser.add_argument("--tier", default=driver.best_tier())
    parser.add_argument("--data", action="store_true")
    parser.add_argument("--relative", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        if options.gpu:
            build = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("tenon"))))
            os.environ |= {"TENON_LIBCUDA": os.path.join(build, "lib", "gpu-emu", "libcuda.so.1"), "TENON_GPU_IR": folder}
        path = os.path.join(folder, "skipped.tn")
        if options.bits:
            artifact = compiled(path, TRAINED.format(mask=TABLE), options)
            tested = compiled(os.path.join(folder, "tested.tn"), TRAINED.format(mask=f"{TABLE} or seen"), options)
        else:
            mask = "seen" if options.data else TABLE if options.table else "j div 64 mod 16 != 1"
            others = " or seen" if options.data else ""
            artifact = compiled(path, RELATIVE.format(others=others) if options.relative else MODEL.format(mask=mask), options)
        for keys in (200, 1200):
            given = given_tables(keys) if options.relative else given_keys(keys, options.bits)
            values = numbers(artifact, given, keys, options)
            good = all(map(math.isfinite, values)) and any(values)
            good = good and (not options.bits or values == numbers(tested, given, keys, options))
            wrong += not good
            print(f"{'ok' if good else 'WRONG'}: {keys} keys, {len(values)} numbers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
