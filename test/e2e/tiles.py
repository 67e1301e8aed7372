#!/usr/bin/env python3
"""Some steps of mixed training by the code for AMX, on a machine that need not have it: its instructions trap, and a library in
the artifact's place does what they are defined to do (test/bench/gemm/TrapTiles.cpp).

usage: tiles.py MODEL LIBRARY [--spoil]

The first moments of all parameters, sums of gradients, are within 1e-2 (relative L2) of those of x86-64-v4-bf16 and not their
bits; parameters have the same bits for one thread and three. (They are not compared with the other tier: Adam makes steps of one
size of gradients that are nothing but rounding, of the bias of keys.)
--spoil: another seed, which must be noticed.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import properties  # noqa: E402
from properties import driver  # noqa: E402
from tensors import load_safetensors  # noqa: E402

PAIRS, TILES = "x86-64-v4-bf16", "x86-64-v4-amx"
STEPS, NEAR = 3, 1e-2
SIZES = {name: {**sets, "V": 300} for name, (sets, *_) in properties.MODELS.items()}


class Wrong(Exception):
    pass


def compiled(name, folder):
    """The artifact, and one whose library is the one that traps."""
    plain, wrapped = os.path.join(folder, "plain"), os.path.join(folder, "wrapped")
    bound = {"B": 3, "T": 41, **({"K": 5} if name in ("bert", "xlnet") else {})}
    driver.tenon("compile", driver.model(name + ".tn"), "--recipe", "small", *driver.settings(SIZES[name]), "--set", "rate=0.1",
                 *(word for pair in bound.items() for word in ("--bind", f"{pair[0]}={pair[1]}")), "--numerics", "bf16",
                 "--tier", "x86-64-v4", "--tier", PAIRS, "--tier", TILES, "-o", plain)
    shutil.copytree(plain, wrapped)
    (library,) = glob.glob(os.path.join(wrapped, "*.so"))
    shutil.copy(sys.argv[2], library)
    return plain, wrapped, os.path.join(plain, os.path.basename(library))


def trained(artifact, folder, tier, threads, seed, environment):
    run = os.path.join(folder, "run")
    shutil.rmtree(run, ignore_errors=True)
    done = subprocess.run(["tenon", "train", artifact, "--text", properties.sample(folder), "--steps", str(STEPS), "--seed",
                           str(seed), "--threads", str(threads), "--out", run, "--quiet"],
                          env={**os.environ, **environment, "TENON_TIER": tier}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"training ends with {done.returncode}: {done.stderr}")
    said = re.search(r"^tiles: (\d+) instructions by definition", done.stderr, re.MULTILINE)
    (last,) = glob.glob(os.path.join(run, "checkpoints", f"step-{STEPS}"))
    return *(load_safetensors(os.path.join(last, name + ".safetensors")) for name in ("moment1", "parameters")), \
        int(said[1]) if said else 0


def apart(found, other):
    """The largest distance of a tensor, relative L2, and its name."""
    def norm(values):
        return sum(value * value for value in values) ** 0.5
    return max((norm([a - b for a, b in zip(found[name].values, other[name].values)]) / (norm(other[name].values) or 1), name)
               for name in other)


def same(found, other):
    return all(found[name].values.tobytes() == other[name].values.tobytes() for name in other)


def check(name, spoil):
    with tempfile.TemporaryDirectory() as folder:
        plain, wrapped, library = compiled(name, folder)
        runs = TILES in driver.tiers.of_bf16()
        how = (plain, folder, TILES) if runs else (wrapped, folder, PAIRS)
        trap = {} if runs else {"TENON_TEST_WRAPPED": library}
        pairs, _, none = trained(plain, folder, PAIRS, 2, 7, {})
        moments, found, count = trained(*how, 1, 8 if spoil else 7, trap)
        if none or bool(count) == runs:
            raise Wrong(f"{count} instructions of AMX in its tier and {none} in the other")
        far, where = apart(moments, pairs)
        if not far <= NEAR:
            raise Wrong(f"the moment of {where} is {far:.1e} from that of {PAIRS}")
        if same(moments, pairs):
            raise Wrong(f"the bits are those of {PAIRS}: nothing was added in another order")
        _, again, of_threads = trained(*how, 3, 7, trap)
        if of_threads != count or not same(again, found):
            raise Wrong("3 threads gave other bits than 1, or took other instructions")
        print(f"{name}: {STEPS} steps, {'AMX runs' if runs else f'{count} instructions by definition'}, {far:.1e} from {PAIRS}")


if __name__ == "__main__":
    try:
        check(sys.argv[1], "--spoil" in sys.argv)
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
