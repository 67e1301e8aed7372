#!/usr/bin/env python3
"""Takes one gradient of each model of the cookbook, with random symbols, trains its recipes and follows its commands for
fine-tuning. cookbook.py DOCUMENT SCRATCH-FOLDER"""
import json
import math
import os
import random
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402
from tensors import tensor  # noqa: E402

BATCH, LENGTH = 2, 16


def step(path, block, folder):
    """Losses of random inputs, when their gradients have been computed as well."""
    draw = random.Random(1)
    values = {name: tensor("i32", [[draw.randrange(256) for _ in range(LENGTH)] for _ in range(BATCH)])
              for name in ("ids", "target")}
    values |= {"len": tensor("i32", [LENGTH, 3]), "label": tensor("i32", [1, 0])}
    pairs = [[[draw.randrange(20) for _ in range(LENGTH)] for _ in range(LENGTH)] for _ in range(BATCH)]
    values |= {"kind": tensor("i32", [[draw.randrange(64) for _ in range(LENGTH)] for _ in range(BATCH)]),
               "far": tensor("i32", pairs)}
    values |= {name: tensor("f32", [[[[number / 20] * width for number in row] for row in rows] for rows in pairs])
               for name, width in (("edges", 8), ("z", 32))}
    values["x"] = tensor("f32", [[draw.random() for _ in range(64)] for _ in range(BATCH)])
    read = {name: value for name, value in values.items() if re.search(rf"^  in .*\b{name}: ", block, re.M)}
    text = driver.tenon("grad", path, "--init", "--tier", driver.best_tier(), *driver.given(folder, read), "--json")
    return [value for value in json.loads(text).values() if isinstance(value, (int, float))]


def write_data(folder):
    draw = random.Random(2)
    with open(os.path.join(folder, "text.txt"), "w", encoding="utf-8") as file:
        file.write("".join(draw.choice("abc \n") for _ in range(4000)))
    with open(os.path.join(folder, "lines.jsonl"), "w", encoding="utf-8") as file:
        for row in range(120):
            file.write(json.dumps({"text": "yes indeed" if row % 2 else "no, never", "label": "good" if row % 2 else "bad"}) +
                       "\n")
    tensors.save_npy(os.path.join(folder, "x.npy"), tensor("f32", [[draw.random() for _ in range(64)] for _ in range(120)]))


def train(path, recipe, folder, *words):
    """Three steps from where the recipe starts; the parameters that changed."""
    run = os.path.join(folder, f"run-{recipe}")
    tier = {"TENON_TIER": driver.best_tier()}
    driver.tenon("init", path, "-o", "initial.safetensors", "--seed", "42", folder=folder, environment=tier)
    driver.tenon("train", path, "--recipe", recipe, "--steps", "3", "--weights", "initial.safetensors", "--out", run, "--quiet",
                 *words, folder=folder, environment=tier)
    driver.tenon("export", run, "-o", "trained.safetensors", folder=folder, environment=tier)
    before, after = (tensors.load_safetensors(os.path.join(folder, name))
                     for name in ("initial.safetensors", "trained.safetensors"))
    return sorted(name for name in after if list(after[name].values) != list(before[name].values))


def fine_tuning(text, folder):
    """The file and the commands of the section, on a small model whose weights have public names."""
    small = driver.settings({"D": 16, "E": 8, "N": 2})
    recipe, commands = re.search(r"## Fine-tuning.*?^```tenon\n(.*?)^```.*?^```\n(.*?)^```", text, re.M | re.S).groups()
    with open(os.path.join(folder, "mine.tn"), "w", encoding="utf-8") as file:
        file.write(recipe)
    draw = random.Random(3)
    tensors.save_npy(os.path.join(folder, "ids.npy"),
                     tensor("i32", [[draw.randrange(50257) for _ in range(128)] for _ in range(40)]))
    os.makedirs(os.path.join(folder, "gpt2"))
    driver.tenon("init", driver.model("gpt2.tn"), *small, "--names", "hf", "-o", "gpt2/model.safetensors", folder=folder)
    for command in commands.split("\n")[:-1]:
        words = command.split()[1:]
        driver.tenon(*words, *(small + ["--steps", "2"] if words[0] == "train" else []), folder=folder)
    return sorted(os.listdir(os.path.join(folder, "published")))


def main(document, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    write_data(folder)
    with open(document, encoding="utf-8") as file:
        text = file.read()
    blocks = [block for block in re.findall(r"^```tenon\n(.*?)^```", text, re.M | re.S) if re.search("^model", block, re.M)]
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
        for recipe in re.findall(r"^train \w+ as (\w+)", block, re.M) if verdict == "finite" else ():
            print(f"{recipe}: trained {' '.join(train(path, recipe, folder))}")
    if not wrong:
        print(f"fine-tuning: {' '.join(fine_tuning(text, folder))}")
    print(f"{len(blocks)} models, {wrong} wrong")
    return 1 if wrong or not blocks else 0


sys.exit(main(*sys.argv[1:]))
