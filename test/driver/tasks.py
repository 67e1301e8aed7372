"""Runs by recipes with `tasks`, against the rules of `mix` and a training written out here.

tasks.py data FOLDER                     writes the rows of both tasks
tasks.py order RUN shuffled|turns|share  the metrics name tasks in an order that the rule gives
tasks.py steps RUN FOLDER [wrong]        parameters and moments after RUN are those of Adam over the losses of the tasks that its
                                         metrics name, where a step leaves what its loss does not reach alone; `wrong`: where all
                                         parameters take part in each step
tasks.py grad FILE TASK                  FILE, what tenon grad has written, is the gradient of TASK at the initial values
tasks.py best RUN EVAL                   EVAL, what tenon eval --json says of the best checkpoint, has the lowest `far` of the
                                         evaluations in the metrics of RUN
"""
import json
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tensors  # noqa: E402

D, ROWS = 3, {"near": 8, "far": 12}
RATE, BETAS, EPS = 0.05, (0.9, 0.999), 1e-8


def save(path, shape, values, kind="<f4"):
    header = str({"descr": kind, "fortran_order": False, "shape": tuple(shape)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack(f"<{len(values)}{'f' if kind == '<f4' else 'i'}", *values))


def rows(task):
    draw = random.Random(task)
    count = ROWS[task]
    x = [[draw.gauss(0, 1) for _ in range(D)] for _ in range(count)]
    return x, [draw.gauss(0, 1) for _ in range(count)]


def write(folder):
    for task in ROWS:
        x, y = rows(task)
        save(os.path.join(folder, task + ".x.npy"), (len(x), D), [value for row in x for value in row])
        save(os.path.join(folder, task + ".y.npy"), (len(y),), y)
        with open(os.path.join(folder, task + ".jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"x": a, "y": b}) + "\n" for a, b in zip(x, y))
    save(os.path.join(folder, "ones.npy"), (12,), [1] * 12, "<i4")
    for name, labels in (("digits", "01"), ("words", ("ent", "not")), ("kinds", ("maybe", "no", "yes"))):
        with open(os.path.join(folder, name + ".tsv"), "w", encoding="utf-8") as file:
            file.writelines(f"{labels[i % len(labels)]}\tsome text {i}\n" for i in range(12))


def lines(run):
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        return [line for line in map(json.loads, file) if "loss" in line]


def order(run, rule):
    names = [line["task"] for line in lines(run)]
    if rule == "turns":
        good = names == ["near", "far"] * (len(names) // 2)
    elif rule == "shuffled":  # batches of 4 rows: 2 and 3 in an epoch
        epochs = [names[i:i + 5] for i in range(0, len(names), 5)]
        good = all(sorted(epoch) == ["far"] * 3 + ["near"] * 2 for epoch in epochs) and len({tuple(e) for e in epochs}) > 2
    else:  # share = 3 to 1: within four deviations
        mean, deviation = len(names) * 0.75, math.sqrt(len(names) * 0.75 * 0.25)
        good = abs(names.count("near") - mean) < 4 * deviation
    if not good or len(names) < 40:
        sys.exit(f"WRONG: {names}")
    print(f"{len(names)} steps in an order of {rule}")


def best(run, evaluation):
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        values = [line["valid_far"] for line in map(json.loads, file) if "valid_far" in line]
    with open(evaluation, encoding="utf-8") as file:
        found = json.load(file)["far"]
    if abs(found - min(values)) > 1e-6 * abs(found):
        sys.exit(f"WRONG: far is {found}, of {values}")
    print(f"the best of {len(values)} evaluations")


def gradients(task, values):
    """Of mean((w * x + b - y)^2), all rows in one batch; `far` has twice the weight and a bias of its own."""
    x, y = rows(task)
    bias = values[task + "_bias"][0]
    result = {"w": [0.0] * D, task + "_bias": [0.0]}
    weight = 2 if task == "far" else 1
    for row, target in zip(x, y):
        error = sum(a * b for a, b in zip(values["w"], row)) + bias - target
        for i in range(D):
            result["w"][i] += weight * 2 * error * row[i] / len(x)
        result[task + "_bias"][0] += weight * 2 * error / len(x)
    return result


INITIAL = {"w": [0.5] * D, "near_bias": [0.5], "far_bias": [0.5]}


def grad(path, task):
    got = tensors.load_safetensors(path)
    wanted = {key: [0.0] * len(value) for key, value in INITIAL.items()} | gradients(task, INITIAL)
    worst = max(abs(a - b) for key in wanted for a, b in zip(got[key].values, wanted[key], strict=True))
    if not worst <= 2e-5:
        sys.exit(f"WRONG: the gradient of {task} is {worst:.3g} away")
    print(f"the gradient of {task}, and none of", *(key for key in wanted if not any(wanted[key])))


def steps(run, wrong):
    values = {key: list(value) for key, value in INITIAL.items()}
    moments = {key: ([0.0] * len(value), [0.0] * len(value)) for key, value in values.items()}
    done = lines(run)
    for t, line in enumerate(done, 1):
        found = gradients(line["task"], values)
        for key in values if wrong else found:
            for i, g in enumerate(found.get(key, [0.0] * len(values[key]))):
                m, v = moments[key]
                m[i] = BETAS[0] * m[i] + (1 - BETAS[0]) * g
                v[i] = BETAS[1] * v[i] + (1 - BETAS[1]) * g * g
                values[key][i] -= RATE * (m[i] / (1 - BETAS[0] ** t)) / (math.sqrt(v[i] / (1 - BETAS[1] ** t)) + EPS)
    folder = os.path.join(run, "checkpoints", f"step-{done[-1]['step']}")
    for name, wanted in (("parameters", values), ("moment1", {key: m for key, (m, _) in moments.items()}),
                         ("moment2", {key: v for key, (_, v) in moments.items()})):
        got = tensors.load_safetensors(os.path.join(folder, name + ".safetensors"))
        worst = max(abs(a - b) for key in wanted for a, b in zip(got[key].values, wanted[key], strict=True))
        if not worst <= 2e-5:
            sys.exit(f"WRONG: {name} are {worst:.3g} away")
    print(f"{len(done)} steps of Adam, by {sorted({line['task'] for line in done})}")


def main():
    what = sys.argv[1]
    if what == "data":
        write(sys.argv[2])
    elif what == "order":
        order(*sys.argv[2:])
    elif what == "grad":
        grad(*sys.argv[2:])
    elif what == "best":
        best(*sys.argv[2:])
    else:
        steps(sys.argv[2], "wrong" in sys.argv)


if __name__ == "__main__":
    main()
