#!/usr/bin/env python3
"""What tenon eval --predictions wrote of rows, against what the evaluation itself says of them.

usage: predictions.py KIND ROWS PREDICTIONS [--spoil]     the output of tenon eval --json on stdin

labels: the share of labels in front of the texts that were predicted is `acc`, and each label has the highest score; numbers: the
mean square is `fit`; tags: the share of right tags is `acc`. --spoil: the lines are taken in another order.
"""
import json
import sys

LABELS = ["blue", "green", "red"]


def tags_of(path):
    with open(path, encoding="utf-8") as file:
        sentences = file.read().strip().split("\n\n")
    return [[line.split()[-1] for line in sentence.split("\n")] for sentence in sentences]


def right_of(found):
    """Whether its label is the one with the highest score, of all that there are."""
    scores = found["scores"]
    if sorted(scores) != LABELS or max(scores, key=scores.get) != found["label"]:
        sys.exit(f"WRONG: {found}")
    return found["label"]


def main():
    kind, rows, path = sys.argv[1:4]
    with open(path, encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    if "--spoil" in sys.argv:
        found = found[1:] + found[:1]
    said = json.load(sys.stdin)
    if kind == "tags":
        pairs = [(a, b) for row, each in zip(tags_of(rows), found, strict=True)
                 for a, b in zip(row, each["tags"], strict=True)]
    else:
        with open(rows, encoding="utf-8") as file:
            wanted = [line.split("\t")[0] for line in file]
        read = right_of if kind == "labels" else lambda each: each["score"]
        pairs = [(a, read(each)) for a, each in zip(wanted, found, strict=True)]
    if kind == "numbers":
        name, value = "fit", sum((float(a) - b) ** 2 for a, b in pairs) / len(pairs)
    else:
        name, value = "acc", sum(a == b for a, b in pairs) / len(pairs)
    if abs(said[name] - value) > 1e-5 * max(1, abs(value)):
        sys.exit(f"WRONG: {name} is {said[name]}, of the predictions {value}")
    print(f"{len(found)} rows, {name} the same")


main()
