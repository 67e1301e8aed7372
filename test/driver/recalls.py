"""Metrics over the classes of lines, against those that `tenon eval` prints. recalls.py LINES WEIGHTS OUTPUT"""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import load_safetensors  # noqa: E402

lines, weights, output = sys.argv[1:]
with open(lines, encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
with open(output, encoding="utf-8") as file:
    printed = {words[0]: float(words[1]) for words in map(str.split, file) if len(words) == 2}
matrix = load_safetensors(weights)["W"]
hits, counts = [0] * 3, [0] * 3
for row in rows:
    scores = [sum(a * b for a, b in zip(matrix.row(c), row["x"])) for c in range(3)]
    counts[row["label"]] += 1
    hits[row["label"]] += scores.index(max(scores)) == row["label"]
expected = {"macro": sum(hit / max(count, 1) for hit, count in zip(hits, counts)) / 3, "geometric": math.exp(sum(math.log(hit + 1) for hit in hits) / 3),
            "rates": sum((count / len(rows)) ** 2 for count in counts)}
for name, value in expected.items():
    print(f"{name} agrees:", abs(printed[name] - value) < 1e-5 or (printed[name], value))
