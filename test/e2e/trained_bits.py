#!/usr/bin/env python3
"""What 20 training steps make of every parameter, as hashes: a change of the compiler that must not change numbers is compared
with what stood before it.

usage: trained_bits.py record|compare FILE [--sizes odd,bench] [--types f32,f64,bf16] [--tiers TIER,..] [--models NAME,..]
[--steps N] [--spoil]
       trained_bits.py blocks [the same]

  record   trains and writes the hashes to FILE; cases that it holds stay, and are compared: to record one anew, take it out first
  compare  trains and compares with FILE: exit 1 and the first parameters that differ; cases that FILE does not have are an error
           --spoil: another seed, which must be noticed
  blocks   trains with `save = blocks` in the recipe and without, and compares: what is computed again has the same bits
           --spoil: another seed with `save = blocks`, which must be noticed

Sizes: `odd` end inside of tiles, vectors and chunks; `bench` are those of test/bench/rows.json with two layers. Hashes of f32 are
equal on every machine with this tier; in f64 exp and its kind are calls of the C library, so record and compare on one machine. A
change of the order of a sum changes hashes: it is recorded anew with the goldens as judge, and the commit says so.
"""
import argparse
import hashlib
import itertools
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import properties  # noqa: E402
from properties import driver  # noqa: E402
from tensors import load_safetensors  # noqa: E402

ROWS = os.path.join(HERE, "..", "bench", "rows.json")
ODD = {name: properties.odd(name) for name in properties.MODELS}


def bench():
    """Sizes of the bench's rows with two layers; the vocabulary is that of bytes and special ids where the recipe's data asks for
    no more."""
    with open(ROWS, encoding="utf-8") as file:
        rows = json.load(file)
    found = {}
    for name in properties.MODELS.keys() & rows.keys():
        size = {**rows[name]["size"], "N": 2, "V": 1000, "rate": 0.1}
        if name == "xlnet":
            size |= {"M": 64, "R": 64}
        batch = {dim: size.pop(dim) for dim in ("B", "T", "K") if dim in size}
        found[name] = (size, batch)
    return found


SIZES = {"odd": lambda: ODD, "bench": bench}


def saving_blocks(path, folder):
    """The specification with `save = blocks` in its recipes."""
    with open(path, encoding="utf-8") as file:
        text, count = re.subn(r"(\n +)(optimizer +=)", r"\1save = blocks\1\2", file.read())
    if count == 0:
        sys.exit(f"{path} has no recipe")
    changed = os.path.join(folder, os.path.basename(path))
    with open(changed, "w", encoding="utf-8") as file:
        file.write(text)
    return changed


def train(name, sizes, element, tier, options, folder, blocks=False):
    sets, bound = SIZES[sizes]()[name]
    run = os.path.join(folder, "run")
    model = driver.model(name + ".tn")
    spoil = options.spoil and blocks == (options.action == "blocks")
    words = {"f64": ["--f64"], "bf16": ["--numerics", "bf16"]}.get(element, [])
    made = properties.for_training(saving_blocks(model, folder) if blocks else model, sets, bound, tier,
                                   options.action == "blocks", *words)
    driver.tenon("train", made, "--text", properties.sample(folder), "--steps", options.steps, "--seed", 8 if spoil else 7,
                 "--threads", 2, "--out", run, "--quiet", environment={"TENON_TIER": tier})
    weights = os.path.join(folder, "weights.safetensors")
    driver.tenon("export", run, "-o", weights)
    return {parameter: hashlib.sha256(value.values.tobytes()).hexdigest()[:16]
            for parameter, value in load_safetensors(weights).items()}


def differences(case, found, known):
    if case not in known:
        return [f"{case}: not in the file"]
    names = [name for name in sorted(found.keys() | known[case].keys()) if found.get(name) != known[case].get(name)]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return [f"{case}: other bits in {', '.join(names[:3])}{more}, of {len(found)} parameters"] if names else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "compare", "blocks"])
    parser.add_argument("file", nargs="?")
    for option, default in (("--sizes", "odd"), ("--types", "f32"), ("--tiers", driver.best_tier()),
                            ("--models", "bert,gpt2,transformer_xl,xlnet")):
        parser.add_argument(option, default=default, type=lambda text: text.split(","))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    known = {}
    if options.file and os.path.exists(options.file):
        with open(options.file, encoding="utf-8") as file:
            known = json.load(file)
    wrong, count = [], 0
    for sizes, element, tier, name in itertools.product(options.sizes, options.types, options.tiers, options.models):
        # The vector tiers of a type give the same bits.
        case = f"{name}, {sizes}, {element}, {'portable' if tier == 'portable' else 'vectors'}, {options.steps} steps"
        with tempfile.TemporaryDirectory() as folder:
            found = train(name, sizes, element, tier, options, folder)
        if options.action == "blocks":
            known[case] = found
            with tempfile.TemporaryDirectory() as folder:
                found = train(name, sizes, element, tier, options, folder, blocks=True)
        count += 1
        if options.action == "record":
            known.setdefault(case, found)
        wrong += [f"{tier}: {text}" for text in differences(case, found, known)]
    if options.action == "record":
        with open(options.file, "w", encoding="utf-8") as file:
            json.dump(known, file, indent=1, sort_keys=True)
            file.write("\n")
    for text in wrong:
        print("WRONG:", text)
    print(f"{count} trainings, {len(wrong)} with other bits")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
