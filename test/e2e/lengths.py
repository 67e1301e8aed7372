"""Texts for batches by length (`tokens`), and what comes of them.

lengths.py write FOLDER LINES LONGEST [LEAST]: source.txt and target.txt, the same lines of LEAST (1) to LONGEST letters out of
  12 of letters.txt, and numbered.txt, whose line i is the word wI and letters as many, with words.txt, the vocabulary of both.
lengths.py counted RUN LINES LEFT: what parameter `seen` of a model that counts the lines says: each was seen once, and fewer
  than LEFT never.
lengths.py same A B: two safetensors files have the same bytes of values.
lengths.py losses RUN: the losses of its steps, one per line; lengths.py held RUN NUMBER: its last held-out loss is less.
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import load_safetensors  # noqa: E402

LETTERS = "abcdefghijkl"


def write(folder, lines, longest, least=1):
    draw = random.Random(5)
    os.makedirs(folder, exist_ok=True)
    texts = [[draw.choice(LETTERS) for _ in range(draw.randint(int(least), int(longest)))] for _ in range(int(lines))]
    files = {"source.txt": [" ".join(text) for text in texts], "target.txt": [" ".join(text) for text in texts],
             "numbered.txt": [" ".join([f"w{i}"] + text[1:]) for i, text in enumerate(texts)],
             "letters.txt": ["<pad>", "<eos>", "<unk>", *LETTERS],
             "words.txt": ["<pad>", "<eos>", "<unk>", *LETTERS] + [f"w{i}" for i in range(len(texts))]}
    for name, rows in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("".join(row + "\n" for row in rows))


def newest(run):
    folder = os.path.join(run, "checkpoints")
    steps = [int(name[5:]) for name in os.listdir(folder) if name.startswith("step-")]
    return os.path.join(folder, f"step-{max(steps)}", "parameters.safetensors")


def counted(run, lines, left):
    seen = load_safetensors(newest(run))["seen"].values[-int(lines):]
    never = sum(value == 0 for value in seen)
    if any(value not in (0, 1) for value in seen) or never >= int(left):
        sys.exit(f"WRONG: lines were seen {sorted(set(seen))} times, and {never} never")
    print(f"{len(seen) - never} of {len(seen)} lines once, the others never")


def same(one, two):
    first, second = load_safetensors(one), load_safetensors(two)
    for name in sorted(set(first) | set(second)):
        if name not in first or name not in second or first[name].values != second[name].values:
            sys.exit(f"WRONG: {name} differs")
    print(f"same values of {len(first)} tensors")


def lines_of(run):
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def losses(run):
    for line in lines_of(run):
        if "loss" in line:
            print(line["loss"])


def held(run, bound):
    loss = [line["valid_nll"] for line in lines_of(run) if "valid_nll" in line][-1]
    if not loss < float(bound):
        sys.exit(f"WRONG: the held-out loss is {loss}, not less than {bound}")
    print("learned")


if __name__ == "__main__":
    {"write": write, "counted": counted, "same": same, "losses": losses, "held": held}[sys.argv[1]](*sys.argv[2:])
