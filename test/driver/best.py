"""The best checkpoint and the early stop of runs, against what their metrics say.

best.py RUN NAME PATIENCE DIRECTION  the best of RUN by valid_NAME (lowest or highest), and that it ended PATIENCE evaluations
                                     later
best.py RUN OTHER                    both have the same metrics but for times, and the same best checkpoint
best.py last RUN SPEC FOLDER         commands that end at the best step of RUN and behind it evaluate at their ends: the best
                                     stays that one
"""
import json
import os
import shutil
import subprocess
import sys


def evaluations(run):
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        return [line for line in map(json.loads, file) if any(key.startswith("valid_") for key in line)]


def metrics(run):
    times = ("seconds", "tokens_per_second", "peak_memory", "valid_seconds")
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        return [{key: value for key, value in json.loads(line).items() if key not in times} for line in file]


def best_folder(run):
    folder = os.path.join(run, "checkpoints", "best")
    steps = os.listdir(folder)
    if len(steps) != 1:
        sys.exit(f"WRONG: {folder} has {steps}")
    return os.path.join(folder, steps[0])


def contents(run):
    folder, result = best_folder(run), {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".safetensors"):
            with open(os.path.join(folder, name), "rb") as file:
                result[name] = file.read()
    return os.path.basename(folder), result


def check(run, name, patience, direction):
    lines = evaluations(run)
    values = [line["valid_" + name] for line in lines]
    best = values.index((min if direction == "lowest" else max)(values))
    if os.path.basename(best_folder(run)) != f"step-{lines[best]['step']}":
        sys.exit(f"WRONG: {best_folder(run)} is kept, step {lines[best]['step']} was the best of {values}")
    if len(lines) - 1 - best != patience:
        sys.exit(f"WRONG: the run ended {len(lines) - 1 - best} evaluations after its best one")
    if os.path.exists(os.path.join(run, "checkpoints", f"step-{lines[best]['step']}")):
        sys.exit("WRONG: the best checkpoint was not pruned from the others, so nothing is shown")
    print(f"the best of {len(values)} evaluations is kept: {values[best]:.6f}")


def last(run, spec, folder):
    """What the last evaluation of a command was compared with is known to the next command, also where the first was killed
    behind that evaluation."""
    best = int(os.path.basename(best_folder(run)).split("-")[1])
    text = os.path.join(os.path.dirname(spec), "text.txt")

    def train(steps, expected, recipe="small"):
        command = ["tenon", "train", spec, "--recipe", recipe, "--valid-every", "1000000", "--text", text, "--tier", "portable",
                   "--threads", "1"]
        done = subprocess.run([*command, "--out", folder, "--steps", str(steps)], capture_output=True, text=True, check=True)
        if ("the best so far" in done.stderr) != expected:
            sys.exit(f"WRONG: step {steps}, which is {'' if expected else 'not '}the best:\n{done.stderr}")

    def state(steps):
        with open(os.path.join(folder, "checkpoints", f"step-{steps}", "manifest.json"), encoding="utf-8") as file:
            text = file.read()
        start = text.index('"best": ') + 8
        return json.loads(text[start:text.index("}", start) + 1])

    train(best, True)
    before = state(best)
    train(best, False)  # nothing to train: the same evaluation again counts for nothing
    train(best + 2, False)
    if os.path.basename(best_folder(folder)) != f"step-{best}" or state(best + 2) != {**before, "last": best + 2}:
        sys.exit(f"WRONG: {best_folder(folder)} is kept, {state(best + 2)} behind {before}")
    train(best + 3, False)
    if state(best + 3)["since"] != 0:
        sys.exit(f"WRONG: the end of a command counts for `stop`: {state(best + 3)}")
    shutil.copytree(best_folder(folder), kept := os.path.join(folder + ".kept", f"step-{best}"))
    shutil.rmtree(folder)
    # its checkpoint knows of no best, as that of a command which is killed behind the last evaluation
    train(best, False, "plain")
    shutil.copytree(os.path.dirname(kept), os.path.join(folder, "checkpoints", "best"))
    train(best + 2, False)
    print("the best of last evaluations stays")


def main():
    if sys.argv[1] == "last":
        return last(*sys.argv[2:])
    if len(sys.argv) == 5:
        return check(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
    for what in (metrics, contents):
        if what(sys.argv[1]) != what(sys.argv[2]):
            sys.exit(f"WRONG: {what.__name__} of {sys.argv[1]} and {sys.argv[2]} differ")
    return print("same metrics, same best")


if __name__ == "__main__":
    main()
