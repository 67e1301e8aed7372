#!/usr/bin/env python3
"""The models of this repository against values that the public implementations gave (values.json, see README.md).

usage: golden.py CASE [--f64] [--tier TIER] [--spoil KIND] [--folder DIR]

In f32 every tier of this machine with vector code runs the case, and these must give the same bits; in f64, which proves
formulas, the widest and portable code do.
Weights are a formula of the public tensor name, so the test also proves the `names` tables. --spoil makes one deliberate mistake,
which has to be noticed: `weight` (one weight off by 0.01), `order` (two input tokens exchanged), `nan` (an output replaced by
NaN), `digit` (4e-8 added to values of one to ten, four units of their ninth digit), `bit` (the last bit of a value of one tier).
"""
import argparse
import math
import os
import sys
import tempfile

import decoders
import electra
import encoders
import images
import sequences
from case import Case
import tiers  # test/support

CASES = encoders.CASES | electra.CASES | decoders.CASES | images.CASES | sequences.CASES


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=sorted(CASES))
    parser.add_argument("--f64", action="store_true")
    parser.add_argument("--tier", help="code tier: portable, x86-64-v3 or x86-64-v4")
    parser.add_argument("--spoil", choices=["weight", "order", "nan", "digit", "bit"])
    parser.add_argument("--folder", help="keep the files here")
    options = parser.parse_args()
    good, first = True, None
    every = tiers.runnable()
    every = list(dict.fromkeys((every[0], every[-1]))) if options.f64 else [t for t in every if t != "portable"] or every
    for tier in [options.tier] if options.tier else every:
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.folder or temporary
            os.makedirs(folder, exist_ok=True)
            case = Case(options, folder, tier)
            CASES[options.case](case)
        good &= bool(case.worst) and all(worst <= 1 for worst in case.worst)
        if options.spoil == "bit" and first:
            values = next(iter(case.bits.values()))
            values[-1] = math.nextafter(values[-1], math.inf)
        if first and tier != "portable" and options.spoil in (None, "bit") and case.bits != first:
            print(f"{tier} {options.case}: DIFFERS in bits from the wider tier")
            good = False
        first = first or case.bits
    print("PASSED" if good else "FAILED")
    return 0 if good else 1


sys.exit(main())
