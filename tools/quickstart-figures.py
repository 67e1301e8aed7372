#!/usr/bin/env python3
"""Figures for tools/quickstart.

usage: quickstart-figures.py steps METRICS.jsonl SECONDS        how many steps fit into SECONDS, from the speed in METRICS
       quickstart-figures.py figures EVAL.json METRICS.jsonl TEXT   bits per character, speed, and bzip2 -9 on the same text
"""
import bz2
import json
import math
import statistics
import sys


def steps_of(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    return [line for line in lines if "tokens_per_second" in line]


def steps(metrics, seconds):
    lines = steps_of(metrics)
    if len(lines) < 3:
        sys.exit("error: not even three steps in ten seconds; this machine is too slow for the small model")
    each = statistics.median(b["seconds"] - a["seconds"] for a, b in zip(lines[1:], lines[2:]))
    print(max(10, round(float(seconds) * 0.98 / each)))


def figures(evaluation, metrics, text):
    with open(evaluation, encoding="utf-8") as file:
        found = json.load(file)
    with open(text, "rb") as file:
        data = file.read()
    held_out = data[len(data) - len(data) // 20:]
    lines = steps_of(metrics)
    print(f"held-out text: {found['nll'] / math.log(2):.3f} bits per character after {lines[-1]['seconds']:.0f} s of training, "
          f"{statistics.median(line['tokens_per_second'] for line in lines):.0f} tokens/s")
    for what, part in (("the whole text", data), ("the held-out part alone", held_out)):
        print(f"bzip2 -9 on {what}: {8 * len(bz2.compress(part, 9)) / len(part):.3f} bits per character")


def main(argv):
    commands = {"steps": (steps, 2), "figures": (figures, 3)}
    if len(argv) < 2 or argv[1] not in commands or len(argv) - 2 != commands[argv[1]][1]:
        sys.exit(__doc__)
    commands[argv[1]][0](*argv[2:])


main(sys.argv)
