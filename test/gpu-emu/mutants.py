#!/usr/bin/env python3
"""The mutation score of a whole program: each synchronising call of each kernel is deleted in turn, and the program has to fail
or to print something else. Prints a line per kernel, then the calls that nobody misses; exit 1 if there are more than allowed.

mutants.py --ir DIR [--mode MODE] [--survivors N] [--kernels REGEX] [--sample N --seed SEED] -- COMMAND..

  --ir DIR        the folder of bitcode (TENON_GPU_IR); COMMAND runs with the stand-in for the CUDA driver
  --survivors N   how many calls may be superfluous; default 0
  --sample N      at most N calls per kernel, drawn
"""
import argparse
import collections
import glob
import os
import random
import re
import subprocess
import sys


def run(command, ir, mode, driver):
    environment = {**os.environ, "TENON_GPU_IR": ir, "TENON_GPU_EMU": mode, "LD_LIBRARY_PATH": driver}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    return done.returncode, done.stdout


def calls(ir, wanted):
    """{kernel: [(number, text)]}, of all modules of the folder."""
    found = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(ir, "*.bc"))):
        lines = subprocess.run(["tenon-gpu-emu", path, "--list-mutants"], check=True, capture_output=True, text=True).stdout
        for line in lines.splitlines():
            name, text = line.split(" ", 1)
            kernel, number = name.rsplit(":", 1)
            if re.search(wanted, kernel):
                found[kernel].append((int(number), text))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir", required=True)
    parser.add_argument("--mode", default="checked")
    parser.add_argument("--survivors", type=int, default=0)
    parser.add_argument("--kernels", default="")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--driver", default=os.environ.get("LD_LIBRARY_PATH", ""), help="folder of the stand-in")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    right = run(options.command, options.ir, options.mode, options.driver)
    if right[0] != 0:
        sys.exit(f"the command fails without a mutant, with {right[0]}")
    found = calls(options.ir, options.kernels)
    if not found:
        sys.exit("no kernel has a call that synchronises")
    draw = random.Random(options.seed)
    survivors, total = [], 0
    for kernel, every in sorted(found.items()):
        chosen = sorted(draw.sample(every, min(options.sample or len(every), len(every))))
        missed = [(number, text) for number, text in chosen
                  if run(options.command, options.ir, f"{options.mode},mutant={kernel}:{number}", options.driver) == right]
        print(f"{kernel}: {len(chosen) - len(missed)} of {len(chosen)} mutants found")
        survivors += [f"survives: {kernel} without call {number}, `{text}`" for number, text in missed]
        total += len(chosen)
    print("\n".join([*survivors, f"{total - len(survivors)} of {total} mutants of {len(found)} kernels found"]))
    return 1 if len(survivors) > options.survivors else 0


sys.exit(main())
