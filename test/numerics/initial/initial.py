"""Compares initial values with those of transformers (table.txt): of each tensor that both have the mean, the deviation, and the
largest distance from the mean by it, which tells distributions apart (normal, cut, uniform).

    initial.py SOURCE-FOLDER FOLDER [MODEL..]
"""
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "support")]
from models import MODELS, STATED  # noqa: E402
from tensors import load_safetensors  # noqa: E402

CUT_DEVIATION, CUT_LARGEST = 0.87963, 2.0  # of a normal number cut at two deviations, by the deviation before


def table():
    rows, model = {}, None
    with open(os.path.join(HERE, "table.txt"), encoding="utf-8") as file:
        for words in (line.split() for line in file if line.strip() and not line.startswith("#")):
            if len(words) == 1:
                model = rows.setdefault(words[0], {})
            else:
                model[words[0]] = [float(word) for word in words[1:]]
    return rows


def measured(values):
    mean = sum(values) / len(values)
    return [len(values), mean, math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)), max(abs(v - mean) for v in values)]


def differences(ours, theirs, cut):
    """In words. Two samples of n numbers: their deviations differ by one part in sqrt(n), their means by 1.4 / sqrt(n) of it."""
    count, mean, deviation, largest = ours
    their_count, their_mean, their_deviation, their_largest = theirs
    if count != their_count:
        return [f"has {count} elements, theirs {their_count:g}"]
    if cut and their_deviation > 0 and their_largest > 2.2 * their_deviation:
        their_largest, their_deviation = CUT_LARGEST * their_deviation, CUT_DEVIATION * their_deviation
    spread = max(deviation, their_deviation)
    wrong = []
    # A row of padding, which is 0 there, is one part in a hundred; four stored digits.
    if abs(deviation - their_deviation) > (0.02 + 5 / math.sqrt(count)) * spread:
        wrong.append(f"has deviation {deviation:.4g}, theirs is {their_deviation:.4g}")
    if abs(mean - their_mean) > 7 / math.sqrt(count) * spread + 1e-3 * abs(their_mean):
        wrong.append(f"has mean {mean:.4g}, theirs is {their_mean:.4g}")
    if count >= 1000 and spread > 0 and not wrong:
        ratio, their_ratio = largest / deviation, their_largest / their_deviation
        if abs(ratio - their_ratio) > (0.1 if min(ratio, their_ratio) < 2.5 else 0.35) * max(ratio, their_ratio):
            wrong.append(f"has numbers up to {ratio:.3g} deviations, theirs {their_ratio:.3g}")
    return wrong


def main(source, folder, *names):
    rows, wrong, compared = table(), 0, 0
    os.makedirs(folder, exist_ok=True)
    for name in names or MODELS:
        file, sizes, _, _, _, cut = MODELS[name]
        path = os.path.join(folder, name + ".safetensors")
        place, *model = file.split()
        subprocess.run(["tenon", "init", os.path.join(source, "models", place), *model,
                        *[word for size, value in sizes.items() for word in ("--set", f"{size}={value}")],
                        "--seed", "1", "--names", "hf", "-o", path], check=True, stdout=subprocess.DEVNULL)
        ours, same = load_safetensors(path), 0
        for tensor, theirs in rows[name].items():
            if tensor not in ours or (name, tensor) in STATED:
                continue
            same += 1
            for difference in differences(measured(ours[tensor].values), theirs, cut):
                print(f"{name}: {tensor} {difference}")
                wrong += 1
        if same < len(rows[name]) / 2:
            print(f"{name}: {same} of {len(rows[name])} tensors are in both")
            wrong += 1
        compared += same
    print(f"{compared} tensors, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
