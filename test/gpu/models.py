#!/usr/bin/env python3
"""Which models compile for a GPU, and what NVIDIA's assembler says of their kernels.

usage: models.py PTXAS [--target CHIP] [--chips CHIP,..] [--numerics POLICY] MODEL..|all
       models.py PTXAS [--chips CHIP,..] --ptx FILE..

Prints a row per model: kernels, the most registers, shared memory and spilled bytes of one, or why there is none. Exit code 1
where a named model does not compile or assemble; `all` is every file of models/, where refusals are rows like others. CHIPS:
those that it is assembled for, the target's (sm_80) by default.

Behind the models stands a table: of each sort of kernel on each chip the most registers and bytes of shared memory of one, of how
many it may have, and bytes that are spilled. A tile of products by tensor cores (lowering/gpu/GemmTiles.def, WarpgroupTiles.def)
may have what its row says; other kernels the registers that are asked for (`registers` of tenon.chosen; the PTX has them as
.maxnreg), else 255, and 48 KiB. Dynamic shared memory of products by warpgroups is that of the ring and of sums beside it. Exit
code 1 where a kernel has more, or spills, or where the assembler notes something about products of warpgroups (C75xx: they wait
for each other, registers are not handed over).
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "..", "models")
SORT = re.compile(r"(?:^|_)(gemm_(?:(?:tf32|warpgroups|pingpong)_)?\d+x\d+|gemm_sums|attention_[a-z_]+?|attention|nest_parts|"
                  r"nest|scatter_add|gradient_norm|step_scalars|update\w*?)_\d+$")
NOTE = re.compile(r"\((C75\d\d)\).*")
BLOCK = 48 * 1024  # bytes of shared memory


class Budgets:
    """What kernels may take, and take."""

    def __init__(self):
        self.rows, self.dynamic, self.taken = {"gemm_sums": (128, 0)}, {}, collections.defaultdict(list)
        for table, kind, stem in (("GemmTiles", "TILE", "gemm"), ("GemmTiles", "TILE", "gemm_tf32"),
                                  ("WarpgroupTiles", "TILE", "gemm_warpgroups"), ("WarpgroupTiles", "TURNS", "gemm_pingpong")):
            with open(os.path.join(HERE, "..", "..", "lowering", "gpu", table + ".def"), encoding="utf-8") as file:
                texts = re.findall(rf"^{kind}\(([\d, ]+)\)", file.read(), re.MULTILINE)
            for tile in ([int(number) for number in text.split(",")] for text in texts):
                name = f"{stem}_{tile[0]}x{tile[1]}"
                self.rows[name] = tile[-2:]
                if table == "WarpgroupTiles":
                    stages, sums = (tile[2], 8 * 16 * 72 * 4) if kind == "TURNS" else (tile[3], 0)
                    self.dynamic[name] = stages * (tile[0] + tile[1]) * 128 + sums

    def add(self, chip, found):
        for kernel, asked, registers, shared, spilled in found:
            sort = match.group(1) if (match := SORT.search(kernel)) else "other"
            allowed, room = self.rows.get(sort, (asked, BLOCK))
            shared += self.dynamic.get(sort, 0)
            fits = registers <= allowed and shared <= room and spilled == 0
            self.taken[sort, chip].append((registers, allowed, shared, room, spilled, not fits))
            if not fits:
                print(f"TOO MUCH: {kernel} on {chip}: {registers} of {allowed} registers, {shared} of {room} bytes, "
                      f"{spilled} spilled")

    def report(self):
        for (sort, chip), found in sorted(self.taken.items()):
            registers, allowed, shared, room, spilled, wrong = (max(column) for column in zip(*found, strict=True))
            print(f"{sort:24} {chip:7} {len(found)} kernels, at most {registers} of {allowed} registers, {shared} of "
                  f"{room} bytes of shared memory, {spilled} spilled{': TOO MUCH' if wrong else ''}")
        return not any(kernel[-1] for found in self.taken.values() for kernel in found)


def figures(ptx, text):
    """(kernel, registers asked for, registers, shared bytes, spilled bytes) each, of what the assembler prints."""
    asked = {}
    for part in re.split(r"^\.visible \.entry ", ptx, flags=re.MULTILINE)[1:]:
        limit = re.search(r"^\.maxnreg (\d+)", part[:part.index("\n{")], re.MULTILINE)
        asked[part[:part.index("(")]] = int(limit.group(1)) if limit else 255
    found = []
    for part in text.split("Compiling entry function '")[1:]:
        numbers = [max(map(int, re.findall(pattern, part)), default=0)
                   for pattern in (r"Used (\d+) registers", r"(\d+) bytes smem", r"(\d+) bytes spill stores")]
        kernel = part.split("'")[0]
        found.append((kernel, asked[kernel], *numbers))
    return found


def compiled(name, options):
    """(what of it, PTX), or (None, why there is none)."""
    path = os.path.join(MODELS, name + ".tn")
    with open(path, encoding="utf-8") as file:
        small = re.search(r"^train \w+ as small\b", file.read(), re.MULTILINE)
    words = ["--recipe", "small"] if small else ["--no-recipe"]
    words += ["--numerics", options.numerics, "--target", options.target, "--emit=asm"]
    done = subprocess.run(["tenon", "compile", path, *words], capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line or "not supported" in line]
        return None, (errors or done.stderr.splitlines() or ["?"])[0]
    return "inference and training step" if small else "inference", done.stdout


def assemble(ptxas, ptx, chip):
    """(kernels with their figures, None), or (None, why it does not assemble)."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        done = subprocess.run([ptxas, f"-arch={chip}", "-v", file.name, "-o", os.devnull], capture_output=True, text=True)
    if done.returncode != 0:
        return None, "ptxas: " + done.stderr.splitlines()[0]
    if note := NOTE.search(done.stderr):
        return None, "ptxas: " + note.group()
    return figures(ptx, done.stderr), None


def row(ptxas, name, what, ptx, chip, budgets):
    """(whether it assembles, text)"""
    if what is None:
        return False, f"{name:24} {ptx}"
    label = f"{name:24} {chip + ': ' if chip else ''}{what}"
    if not ptxas:
        return True, f"{label}{ptx.count('.visible .entry')} kernels, not assembled"
    found, why = assemble(ptxas, ptx, chip)
    if why:
        return False, f"{name:24} {chip}: {why}"
    budgets.add(chip, found)
    most = [max(column) for column in list(zip(*found, strict=True))[2:]]
    return True, (f"{label}{len(found)} kernels, at most {most[0]} registers, {most[1]} bytes of shared memory, "
                  f"{most[2]} spilled")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ptxas")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--chips")
    parser.add_argument("--ptx", nargs="+", default=[])
    parser.add_argument("--numerics", default="f32")
    options = parser.parse_args()
    everything = options.models == ["all"]
    files = sorted(glob.glob(os.path.join(MODELS, "*.tn")))
    names = [os.path.basename(path)[:-3] for path in files] if everything else options.models
    chips, ptxas = (options.chips or options.target).split(","), shutil.which(options.ptxas)

    def sources():
        for name in names:
            if name != "std":
                what, ptx = compiled(name, options)
                yield name, what and what + ": ", ptx
        for path in options.ptx:
            with open(path, encoding="utf-8") as file:
                yield os.path.basename(path), "", file.read()

    good, budgets = True, Budgets()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        rows = [threads.submit(row, ptxas, *source, chip, budgets) for source in sources() for chip in chips]
        for one in rows:
            assembles, text = one.result()
            print(text, flush=True)
            good &= assembles or everything
    sys.exit(0 if budgets.report() and good else 1)


if __name__ == "__main__":
    main()
