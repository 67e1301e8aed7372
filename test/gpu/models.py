#!/usr/bin/env python3
"""Which models compile for sm_80, and what NVIDIA's assembler says of their kernels.

usage: models.py PTXAS MODEL..|all

Prints a row per model: kernels, the most registers, shared memory and spilled bytes of one, or why there is none. Exit code 1
where a named model does not compile or assemble; `all` is every file of models/, where refusals are rows like others.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "..", "models")


def row(ptxas, name, folder):
    """(whether it assembles, text)"""
    path = os.path.join(MODELS, name + ".tn")
    with open(path, encoding="utf-8") as file:
        small = re.search(r"^train \w+ as small\b", file.read(), re.MULTILINE)
    words = ["--recipe", "small"] if small else ["--no-recipe"]
    done = subprocess.run(["tenon", "compile", path, *words, "--numerics", "f32", "--target", "sm_80", "--emit=asm"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line or "not supported" in line]
        return False, (errors or done.stderr.splitlines() or ["?"])[0]
    ptx = os.path.join(folder, name + ".ptx")
    with open(ptx, "w", encoding="utf-8") as file:
        file.write(done.stdout)
    kernels = done.stdout.count(".visible .entry")
    what = "inference and training step" if small else "inference"
    if not ptxas:
        return True, f"{what}: {kernels} kernels, not assembled"
    done = subprocess.run([ptxas, "-arch=sm_80", "-v", ptx, "-o", os.devnull], capture_output=True, text=True)
    if done.returncode != 0:
        return False, "ptxas: " + done.stderr.splitlines()[0]
    most = [max(map(int, re.findall(pattern, done.stderr)), default=0)
            for pattern in (r"Used (\d+) registers", r"(\d+) bytes smem", r"(\d+) bytes spill stores")]
    return True, f"{what}: {kernels} kernels, at most {most[0]} registers, {most[1]} bytes of shared memory, {most[2]} spilled"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ptxas")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    everything = options.models == ["all"]
    files = sorted(glob.glob(os.path.join(MODELS, "*.tn")))
    names = [os.path.basename(path)[:-3] for path in files] if everything else options.models
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name == "std":
                continue
            assembles, text = row(shutil.which(options.ptxas), name, folder)
            print(f"{name:24} {text}", flush=True)
            good &= assembles or everything
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
