#!/usr/bin/env python3
"""Whether two specifications train to the same numbers: losses of every step, parameters, and what states of the same last name
hold. What one has by depth (`blocks.0.mean`, `blocks.1.mean`) and the other as one tensor (`mean`) is compared as a whole.

usage: same_training.py FOLDER ONE OTHER BOUND [OPTION..]    FOLDER/ONE.tn and FOLDER/OTHER.tn, recipe `small`; BOUND: of relative
                                                             distances (L2); options of `tenon train`
"""
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import tensors  # noqa: E402


def trained(folder, name, options):
    """Lists of numbers by name."""
    run = os.path.join(folder, name + "".join(options))
    if not os.path.exists(run):
        subprocess.run(["tenon", "train", os.path.join(folder, name + ".tn"), "--recipe", "small", "--text",
                        os.path.join(folder, "text.txt"), "--tier", "portable", "--quiet", "--threads", "1", "--out", run,
                        *options], check=True)
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    found = {"losses": [line["loss"] for line in lines if "loss" in line]}
    checkpoint = os.path.join(run, "checkpoints", f"step-{len(found['losses'])}")
    found |= {name: each.values for name, each in tensors.load_safetensors(checkpoint + "/parameters.safetensors").items()}
    states = tensors.load_safetensors(checkpoint + "/states.safetensors")
    return found | {"state " + name.rpartition(".")[2]: each.values for name, each in states.items()}


def distance(a, b):
    return math.dist(a, b) / (math.hypot(*a) + math.hypot(*b) or 1)


def by_last_name(found, other):
    """What the other has not by this name, as one under the last part of it."""
    whole = {}
    for name in sorted(found.keys() - other.keys()):
        whole.setdefault(name.rpartition(".")[2], []).extend(found[name])
    return {name: values for name, values in found.items() if name in other} | whole


def main():
    folder, one, other, bound, *options = sys.argv[1:]
    a, b = (trained(folder, name, options) for name in (one, other))
    a, b = by_last_name(a, b), by_last_name(b, a)
    if a.keys() != b.keys():
        print("WRONG: one has", sorted(a.keys() ^ b.keys()))
        return 1
    if empty := [name for name in a if name.startswith("state ") and not any(a[name])]:
        print("WRONG: nothing has set", *empty)
        return 1
    worst = max((distance(a[name], b[name]), name) for name in a)
    print(f"{'WRONG: ' if worst[0] > float(bound) else ''}{worst[1]} differs by {worst[0]:.1e}")
    return worst[0] > float(bound)


sys.exit(main())
