#!/usr/bin/env python3
"""The mutation score of a training step: every call of its kernels that synchronises is deleted in turn.

usage: mutants.py [MODEL] [--target CHIP] [--numerics POLICY] [--entries NAME..] [--kernels TEXT] [--places T]
                  [--survivors FILE]

A model of steps.py, by default GPT-2, but with two tiles of queries and keys (T = 33), is compiled for sm_80, or CHIP, and trains
one step on the emulator, which scores each kernel with TEXT in its name at its first launches (docs/testing.md, "The mutation
score"). What survives is sorted by the kind of its kernel, its class and the call, and must stand in FILE (default: survivors.txt
here), as often as there: a line per sort, `KIND | CLASS | CALL | COUNT | REASON`. A sort that is not in the file, or another
count, is an error.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import steps  # noqa: E402

SURVIVES = re.compile(r"gpu-emu: survives: (\S+) without call (\d+) of (\d+), `(.*)`: (.*)")


def score(options, folder):
    """What the emulator's driver prints at its end."""
    code, artifact = os.path.join(folder, "code"), os.path.join(folder, "artifact")
    os.makedirs(code)
    steps.MODELS["gpt2"] = ({**steps.MODELS["gpt2"][0], "L": 40}, {"B": 1, "T": options.places})
    words = ["--numerics", options.numerics] if options.numerics else []
    steps.compile_for(options.target, artifact, code, options.model, words, entries=options.entries)
    text = steps.write(os.path.join(folder, "text.txt"), 4000)
    environment = {**os.environ, **steps.stand_in(code, options.target)}
    environment["TENON_GPU_EMU"] = ",".join(filter(None, ["checked", environment["TENON_GPU_EMU"], "mutants=" + options.kernels]))
    done = subprocess.run(["tenon", "train", artifact, "--text", text, "--steps", "1", "--seed", "7", "--out",
                           os.path.join(folder, "run"), "--quiet"], capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stderr.splitlines()


def expected(path):
    """Counts by sort."""
    counts = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                kind, fate, call, count, reason = (part.strip() for part in line.split("|"))
                assert reason, line
                counts[kind, fate, call] = int(count)
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?", default="gpt2")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--numerics")
    parser.add_argument("--entries", nargs="+", default=["train", "eval"])
    parser.add_argument("--kernels", default="")
    parser.add_argument("--places", type=int, default=33)
    parser.add_argument("--survivors", default=os.path.join(HERE, "survivors.txt"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = score(options, folder)
    print("\n".join(line for line in lines if line.startswith("gpu-emu: ")))
    found = collections.Counter()
    for kernel, _, _, call, fate in (match.groups() for match in map(SURVIVES.match, lines) if match):
        kind = re.sub(r"_\d+$", "", kernel)
        name = re.search(r"@llvm\.nvvm\.([\w.]+)", call)
        found[kind, fate.split(",")[0], name.group(1) if name else call] += 1
    known = {sort: count for sort, count in expected(options.survivors).items() if options.kernels in sort[0]}
    for sort in sorted({*found, *known}):
        if found[sort] != known.get(sort, 0):
            print(f"WRONG: {' | '.join(sort)}: {found[sort]} survive, {known.get(sort, 0)} are explained")
    sys.exit(found != collections.Counter(known))


if __name__ == "__main__":
    main()
