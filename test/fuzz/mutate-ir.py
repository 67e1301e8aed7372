#!/usr/bin/env python3
"""Mutants of IR never kill tenon-opt: what the verifiers let pass, the passes take or refuse with a message.

usage: mutate-ir.py FILE.mlir --opt TENON-OPT --pipeline PASSES [--seed N] [--count N] [--keep FILE]

A mutant has one or two lines of FILE changed: a number, an operand, an element type, a map or a shape. All mutants of a seed go
through one run of tenon-opt, cut apart by --split-input-file; if that dies, each goes through a run of its own, and those that
kill it are printed. Prints how many there were and how many reached the passes (were parsed and verified). Fails if a mutant
killed tenon-opt, ran longer than a minute, or if none or all of them were refused.
"""
import argparse
import random
import re
import subprocess
import sys

NUMBER = re.compile(r"(?<![\w%#.])-?\d+(?![\w.])")
VALUES = ["-1", "0", "1", "2", "3", "7", "100000", "-3", "9223372036854775807", "4294967296"]
SPLIT = "\n// -----\n"


def changed(line, rng, maps):
    """The line with one thing changed; as it was where it has no such thing."""
    kind = rng.random()
    numbers, values = list(NUMBER.finditer(line)), list(re.finditer(r"%\w+", line.split(":")[0]))[1:]
    if kind < 0.6 and numbers:
        found = rng.choice(numbers)
        return line[:found.start()] + rng.choice(VALUES + [str(int(found[0]) + 1)]) + line[found.end():]
    if kind < 0.75 and len(values) > 1:
        one, other = rng.sample(values, 2)
        return line[:one.start()] + other[0] + line[one.end():]
    if kind < 0.85:
        return line.replace("f32", rng.choice(["f64", "i32", "i1", "bf16"]), 1)
    used = list(re.finditer(r"#map\d*", line))
    if kind < 0.93 and used:
        found = rng.choice(used)
        return line[:found.start()] + rng.choice(maps) + line[found.end():]
    return re.sub(r"tensor<\?x", "tensor<3x", line, count=1)


def mutant(text, rng):
    lines, maps = text.split("\n"), re.findall(r"#map\d*", text)
    places = [i for i, line in enumerate(lines) if "tenon." in line or "#map" in line]
    left = rng.choice([1, 1, 2])
    while left:
        place = rng.choice(places)
        line = changed(lines[place], rng, maps)
        left -= line != lines[place]
        lines[place] = line
    return "\n".join(lines)


def run(options, text, *more):
    """The exit status; None: too slow."""
    try:
        done = subprocess.run([options.opt, "--split-input-file", *more, "-", "-o", "/dev/null"], input=text, capture_output=True,
                              text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--opt", required=True)
    parser.add_argument("--pipeline", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep", help="a file that gets the mutants that kill, cut apart as --split-input-file does")
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as file:
        text = file.read()
    rng = random.Random(options.seed)
    mutants = [mutant(text, rng) for _ in range(options.count)]
    verified = [(each, run(options, each)) for each in mutants]
    accepted = [each for each, status in verified if status == 0]
    pipeline = f"--pass-pipeline=builtin.module({options.pipeline})"
    status = run(options, SPLIT.join(accepted), pipeline)
    killers = [each for each, verdict in verified if verdict not in (0, 1)]
    if status not in (0, 1):
        killers += [each for each in accepted if run(options, each, pipeline) not in (0, 1)]
    for each in killers:
        print("killed by", "; ".join(line for line, old in zip(each.split("\n"), text.split("\n")) if line != old))
    if options.keep:
        with open(options.keep, "w", encoding="utf-8") as file:
            file.write(SPLIT.join(killers))
    print(f"{len(mutants)} mutants, {len(accepted)} accepted, {len(killers)} deaths")
    return 0 if status in (0, 1) and not killers and 0 < len(accepted) < len(mutants) else 1


sys.exit(main())
