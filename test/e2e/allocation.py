#!/usr/bin/env python3
"""A training step of a real artifact allocates nothing, on any thread, after the first one.

usage: allocation.py MODEL [--spoil]     with Inputs/count.c preloaded

--spoil makes one allocation beside each step, which must be counted.
"""
import ctypes
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
from tensors import Tensor, count  # noqa: E402

SIZES = {"V": 264, "D": 48, "F": 80, "N": 2, "rate": 0.1}
SETS = {"gpt2": {"E": 24, "L": 67}, "bert": {"E": 24, "L": 67}, "transformer_xl": {"H": 2, "M": 17},
        "xlnet": {"H": 2, "M": 17, "R": 9}}
DIMS = {"B": 2, "T": 67, "K": 5}


def main():
    name, spoil = sys.argv[1], "--spoil" in sys.argv
    counter = ctypes.CDLL(None).tenon_test_allocations
    counter.restype = ctypes.c_long
    with tempfile.TemporaryDirectory() as folder:
        binds = [word for dim, size in DIMS.items() if dim != "K" or name in ("bert", "xlnet")
                 for word in ("--bind", f"{dim}={size}")]
        driver.tenon("compile", driver.model(name + ".tn"), "--recipe", "small", "--entry", "train", "--quick", "--tier",
                     driver.best_tier(), *driver.settings(SIZES | SETS[name]), *binds,
                     "-o", os.path.join(folder, "artifact"), environment={"LD_PRELOAD": ""})
        model = library.Model(os.path.join(folder, "artifact"), "train", DIMS, threads=3)
    for key, (_, info) in model.inputs().items():
        kind, shape = library.KINDS[info.type], info.shape[:info.rank]
        model.set_input(key, Tensor(kind, shape, [(k * 7) % 2 for k in range(count(shape))]))
    run = library.LIBRARY.tn_context_run
    run.restype = ctypes.c_void_p
    allocate = ctypes.CDLL(None).malloc
    allocate.restype = ctypes.c_void_p
    counts = []
    for _ in range(6):
        before = counter()
        error = run(model.context)
        if spoil:
            allocate(100)
        counts.append(counter() - before)
        if error:
            print("WRONG: the step failed")
            return 1
    good = not any(counts[1:])
    print(f"{'ok' if good else 'WRONG'}: {name}: allocations of each step: {counts}")
    return 0 if good else 1


sys.exit(main())
