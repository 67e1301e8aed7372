#!/usr/bin/env python3
"""Which models compile for a GPU, and what NVIDIA's assembler says of their kernels.

usage: models.py PTXAS [--target CHIP] [--numerics POLICY] MODEL..|all
       models.py PTXAS [--target CHIP] --ptx FILE..

Prints a row per model: kernels, the most registers, shared memory and spilled bytes of one, or why there is none. Exit code 1
where a named model does not compile or assemble; `all` is every file of models/, where refusals are rows like others. Behind the
models stands a row per tile of products by tensor cores (lowering/gpu/GemmTiles.def, WarpgroupTiles.def); exit code 1 also where
a kernel of one takes more registers or shared memory than its row of that table says, or spills, or where the assembler has
products of warpgroups wait for each other (C7510, C7511, C7515, C7520).
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


class Tiles:
    """What kernels of tensor cores may take, and take."""

    def __init__(self):
        self.allowed = {"gemm_sums": [128, 0]}  # which adds the slices of a depth
        for table, kind, stem in (("GemmTiles", "TILE", "gemm"), ("GemmTiles", "TILE", "gemm_tf32"),
                                  ("WarpgroupTiles", "TILE", "gemm_warpgroups"), ("WarpgroupTiles", "TURNS", "gemm_pingpong")):
            with open(os.path.join(HERE, "..", "..", "lowering", "gpu", table + ".def"), encoding="utf-8") as file:
                rows = re.findall(rf"^{kind}\(([\d, ]+)\)", file.read(), re.MULTILINE)
            numbers = [[int(number) for number in text.split(",")] for text in rows]
            self.allowed |= {f"{stem}_{row[0]}x{row[1]}": row[-2:] for row in numbers}
        self.taken = {}

    def add(self, figures):
        for kernel, registers, shared, spilled in figures:
            if tile := re.search(r"gemm_(sums|((tf32|warpgroups|pingpong)_)?\d+x\d+)", kernel):
                self.taken.setdefault(tile.group(), []).append((registers, shared, spilled))

    def report(self):
        good = True
        for tile, found in sorted(self.taken.items()):
            most = [max(column) for column in zip(*found, strict=True)]
            fits = most[0] <= self.allowed[tile][0] and most[1] <= self.allowed[tile][1] and most[2] == 0
            print(f"{tile:24} {len(found)} kernels, at most {most[0]} of {self.allowed[tile][0]} registers, {most[1]} of "
                  f"{self.allowed[tile][1]} bytes of shared memory, {most[2]} spilled{'' if fits else ': TOO MUCH'}")
            good &= fits
        return good


def figures(text):
    """(kernel, registers, shared bytes, spilled bytes) each, of what the assembler prints."""
    found = []
    for part in text.split("Compiling entry function '")[1:]:
        numbers = [max(map(int, re.findall(pattern, part)), default=0)
                   for pattern in (r"Used (\d+) registers", r"(\d+) bytes smem", r"(\d+) bytes spill stores")]
        found.append((part.split("'")[0], *numbers))
    return found


def row(ptxas, name, folder, options, tiles):
    """(whether it assembles, text)"""
    path = os.path.join(MODELS, name + ".tn")
    with open(path, encoding="utf-8") as file:
        small = re.search(r"^train \w+ as small\b", file.read(), re.MULTILINE)
    words = ["--recipe", "small"] if small else ["--no-recipe"]
    words += ["--numerics", options.numerics, "--target", options.target, "--emit=asm"]
    done = subprocess.run(["tenon", "compile", path, *words], capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line or "not supported" in line]
        return False, (errors or done.stderr.splitlines() or ["?"])[0]
    ptx = os.path.join(folder, name + ".ptx")
    with open(ptx, "w", encoding="utf-8") as file:
        file.write(done.stdout)
    what = "inference and training step" if small else "inference"
    if not ptxas:
        return True, f"{what}: {done.stdout.count('.visible .entry')} kernels, not assembled"
    assembles, text = assemble(ptxas, ptx, options.target, tiles)
    return assembles, f"{what}: {text}" if assembles else text


def assemble(ptxas, ptx, target, tiles):
    """(whether it assembles, text) of a file"""
    done = subprocess.run([ptxas, f"-arch={target}", "-v", ptx, "-o", os.devnull], capture_output=True, text=True)
    if done.returncode != 0:
        return False, "ptxas: " + done.stderr.splitlines()[0]
    if serial := re.search(r"\((C7510|C7511|C7515|C7520)\).*", done.stderr):
        return False, "ptxas: " + serial.group()
    found = figures(done.stderr)
    tiles.add(found)
    most = [max(column) for column in list(zip(*found, strict=True))[1:]]
    return True, f"{len(found)} kernels, at most {most[0]} registers, {most[1]} bytes of shared memory, {most[2]} spilled"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ptxas")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--ptx", nargs="+", default=[])
    parser.add_argument("--numerics", default="f32")
    options = parser.parse_args()
    everything = options.models == ["all"]
    files = sorted(glob.glob(os.path.join(MODELS, "*.tn")))
    names = [os.path.basename(path)[:-3] for path in files] if everything else options.models
    good, tiles = True, Tiles()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name == "std":
                continue
            assembles, text = row(shutil.which(options.ptxas), name, folder, options, tiles)
            print(f"{name:24} {text}", flush=True)
            good &= assembles or everything
    for path in options.ptx:
        assembles, text = assemble(options.ptxas, path, options.target, tiles)
        print(f"{os.path.basename(path):24} {text}", flush=True)
        good &= assembles
    sys.exit(0 if tiles.report() and good else 1)


if __name__ == "__main__":
    main()
