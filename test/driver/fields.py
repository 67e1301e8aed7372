"""The fields of metrics.jsonl and of `tenon eval --json` against the names that `tenon check` refuses for losses and metrics.

fields.py FOLDER          FOLDER has table.tn, whose loss is nll and whose metric is acc, and text.txt
fields.py FOLDER control  with a field that nothing refuses, which must be seen
"""
import json
import os
import subprocess
import sys

OWN = {"nll", "acc", "loss"}  # `loss` is a keyword, and names nothing


def tenon(*words, expected=0):
    done = subprocess.run(["tenon", *words], capture_output=True, text=True, check=False)
    if done.returncode != expected:
        sys.exit(f"WRONG: {' '.join(words)}: status {done.returncode}\n{done.stderr}")
    return done


def members(pairs):
    """An object's members, each key once."""
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        sys.exit(f"WRONG: a key twice: {keys}")
    return dict(pairs)


def fields():
    tenon("train", "table.tn", "--text", "text.txt", "--out", "run", "--tier", "portable", "--quiet")
    with open("run/metrics.jsonl", encoding="utf-8") as file:
        keys = {key for line in file for key in json.loads(line, object_pairs_hook=members)}
    keys |= set(json.loads(tenon("eval", "run", "--json").stdout, object_pairs_hook=members))
    return keys - OWN


def main():
    os.chdir(sys.argv[1])
    found = fields() | {"learning_rate", "skipped", "loss_scale"}  # an output of the train step; of skipped steps; of f16
    if sys.argv[2:] == ["control"]:
        found.add("speed")
    with open("table.tn", encoding="utf-8") as file:
        source = file.read()
    for name in sorted(found):
        for kind, own in (("loss", "nll"), ("metric", "acc")):
            with open("named.tn", "w", encoding="utf-8") as file:
                file.write(source.replace(f"{kind} {own} ", f"{kind} {name} ").replace(f"loss = {own}", f"loss = {name}"))
            done = subprocess.run(["tenon", "check", "named.tn"], capture_output=True, text=True, check=False)
            if done.returncode != 1 or f"{name} cannot name a {kind}" not in done.stderr:
                sys.exit(f"WRONG: a {kind} called {name} is not refused\n{done.stderr}")
    print(f"{len(found)} fields: {' '.join(sorted(found))}")


if __name__ == "__main__":
    main()
