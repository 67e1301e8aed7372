"""The numbers of `tenon eval` over rows in batches of unequal size, in f64, against the same numbers computed here from all rows
at once.

averages.py FOLDER          FOLDER has rows.tn; says what it compared
averages.py FOLDER control  expects means over batches instead, which must be refused
"""
import json
import math
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import load_safetensors, save_npy, tensor  # noqa: E402

ROWS, C, D = 37, 3, 4
RARITY = [0.5, 2.0, 1.25]


def tenon(*words):
    done = subprocess.run(["tenon", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"WRONG: {' '.join(words)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def draw():
    """Rows whose last two, a batch of their own, have the largest values, the only ones beyond 2.5 and most of a class."""
    source = random.Random(11)
    x = [[source.gauss(0, 0.6) for _ in range(D)] for _ in range(ROWS)]
    x[-1] = [8 * value for value in x[-1]]
    y = [[value + source.gauss(0.3 * d, 0.5) for d, value in enumerate(row)] for row in x]
    label = [source.randrange(2) for _ in range(ROWS - 2)] + [2, 2]
    return x, y, label


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)


def numbers(weight, x, y, label):
    """Of these rows as one batch."""
    rows = range(len(x))
    z = [[sum(a * b for a, b in zip(row, weight[c])) for c in range(C)] for row in x]
    flat = [value for row in z for value in row]
    guess = [row.index(max(row)) for row in z]
    count = [label.count(c) for c in range(C)]
    confusion = [[sum(label[i] == c and guess[i] == k for i in rows) for k in range(C)] for c in range(C)]
    recall = [confusion[c][c] / max(count[c], 1) for c in range(C)]
    kept = [recall[c] for c in range(C) if count[c] > 3]
    agreed = sum(confusion[c][c] for c in range(C)) / len(x)
    chance = sum(count[c] * guess.count(c) for c in range(C)) / len(x) ** 2
    residual = [mean((y[i][d] - x[i][d]) ** 2 for i in rows) for d in range(D)]
    variance = [mean(y[i][d] ** 2 for i in rows) - mean(y[i][d] for i in rows) ** 2 for d in range(D)]
    return {
        "ce": mean(math.log(sum(math.exp(value) for value in z[i])) - z[i][label[i]] for i in rows),
        "biggest": max(flat), "span": max(flat) - min(flat),
        "widest": max(max(row[c] for row in z) - min(row[c] for row in z) for c in range(C)),
        "last_of": max(label), "some": max(flat) > 2.5, "every": max(map(abs, flat)) < 2.5, "none": 0,
        "macro": mean(recall), "micro": sum(confusion[c][c] for c in range(C)) / len(x),
        "seen": sum(count[c] > 0 and c in guess for c in range(C)), "present": mean(kept) if kept else math.nan,
        "first": recall[0], "rest": mean(recall[1:]), "weighted": sum(a * b for a, b in zip(RARITY, recall)) / sum(RARITY),
        "kappa": (agreed - chance) / (1 - chance) if chance < 1 else math.nan,
        "r2": mean(1 - residual[d] / variance[d] for d in range(D)), "worst_feature": math.sqrt(max(residual)),
        "at": max(c * count[c] for c in range(C)), "balance": min(count) / max(count)}


def compare(name, got, wanted):
    for key, value in wanted.items():
        if got[key] is None or not abs(got[key] - value) <= 2e-8 * max(1, abs(value)):
            sys.exit(f"WRONG: {name}: {key} is {got[key]}, expected {value}")
    if got.get("covered", ROWS) != ROWS:
        sys.exit(f"WRONG: {name}: covered {got['covered']} of {ROWS}")


def main():
    control = sys.argv[2:] == ["control"]
    os.chdir(sys.argv[1])
    x, y, label = draw()
    save_npy("x.npy", tensor("f64", x))
    save_npy("y.npy", tensor("f64", y))
    save_npy("label.npy", tensor("u8", label))
    save_npy("rarity.npy", tensor("f64", RARITY))
    tenon("init", "rows.tn", "--f64", "-o", "w.safetensors", "--seed", "5")
    weight = load_safetensors("w.safetensors")["W"]
    weight = [weight.row(c) for c in range(C)]
    wanted = numbers(weight, x, y, label)
    shares = (wanted["macro"], wanted["first"], wanted["rest"], wanted["present"])
    last = numbers(weight, x[-2:], y[-2:], label[-2:])
    if not wanted["some"] or wanted["every"] or 0 in shares or wanted["biggest"] not in last.values():
        sys.exit(f"WRONG: these rows tell nothing apart: {wanted}")
    if control:
        each = [numbers(weight, x[i : i + 7], y[i : i + 7], label[i : i + 7]) for i in range(0, ROWS, 7)]
        wanted = {key: mean(values[key] for values in each) for key in wanted}
    for size in (7, 37, 50):
        name = f"{ROWS} rows in batches of {size}"
        got = json.loads(tenon("eval", "rows.tn", "--f64", "--recipe", "seven", "--bind", f"B={size}", "--weights",
                               "w.safetensors", "--json"))
        compare(name, got, wanted)
        print(f"{name}: {len(wanted)} numbers")
    tenon("train", "rows.tn", "--f64", "--recipe", "seven", "--threads", "1", "--quiet", "--out", "run")
    with open("run/metrics.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    last = [line for line in lines if "valid_macro" in line][-1]
    compare("the run", json.loads(tenon("eval", "run", "--json")), {key: last["valid_" + key] for key in wanted})
    print(f"the last evaluation of the training and eval agree in {len(wanted)} numbers")


if __name__ == "__main__":
    main()
