#!/usr/bin/env python3
"""Takes one gradient of each model of the cookbook, with random symbols. cookbook.py DOCUMENT SCRATCH-FOLDER"""
import json
import math
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
from tensors import tensor  # noqa: E402

BATCH, LENGTH = 2, 16


def step(path, block, folder):
    """Losses of random inputs, when their gradients have been computed as well."""
    draw = random.Random(1)
    values = {name: tensor("i32", [[draw.randrange(256) for _ in range(LENGTH)] for _ in range(BATCH)]) for name in ("ids", "target")}
    values |= {"len": tensor("i32", [LENGTH, 3]), "label": tensor("i32", [1, 0])}
    read = {name: value for name, value in values.items() if re.search(rf"\b{name}: index", block)}
    text = driver.tenon("grad", path, "--init", "--tier", driver.best_tier(), *driver.given(folder, read), "--json")
    return [value for value in json.loads(text).values() if isinstance(value, (int, float))]


def main(document, folder):
    os.makedirs(folder, exist_ok=True)
    with open(document, encoding="utf-8") as file:
        blocks = re.findall(r"^```tenon\n(.*?)^```", file.read(), re.M | re.S)
    wrong = 0
    for block in blocks:
        name, path = re.search(r"^model (\w+)", block, re.M)[1], os.path.join(folder, "block.tn")
        with open(path, "w", encoding="utf-8") as file:
            file.write(block)
        try:
            found = step(path, block, folder)
            verdict = "finite" if found and all(math.isfinite(value) for value in found) and found[0] > 0 else f"WRONG: {found}"
        except driver.Failed as failed:
            verdict = f"WRONG: {failed.text}"
        wrong += verdict != "finite"
        print(f"{name}: {verdict}")
    print(f"{len(blocks)} models, {wrong} wrong")
    return 1 if wrong or not blocks else 0


sys.exit(main(*sys.argv[1:]))
