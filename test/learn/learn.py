"""Every model learns a task whose best loss is known, and does not when something is wrong with it.

learn.py FOLDER MODEL..           the models of `rows.py`, each as it is and with each of its faults
    --only NAME                   this run alone: right, or a fault
    --seed N                      of the task (1)

A run is `tenon train` by the recipe `small` of the model's own file, with the task's data in place of the recipe's. Its share is
the way from chance to optimum that the held-out loss has come. It has to be at least 0.9 of the way, and not beyond the optimum,
where only a model can be that reads what it must not; a fault must end outside of that.
"""
import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tasks  # noqa: E402
from rows import MODELS  # noqa: E402

SPECIFICATIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models")
LEAST, MOST = 0.9, 1.02  # MOST: the held-out rows are a sample, so their mean may fall a little below the expected one
HELD = 320


def edited(text, changes, what):
    for old, new in changes:
        if text.count(old) != 1:
            sys.exit(f"WRONG: {what}: {old!r} stands {text.count(old)} times, expected once")
        text = text.replace(old, new)
    return text


def with_settings(text, model, settings):
    """The specification with these settings in the model's recipe `small`."""
    begin = text.index(f"train {model} as small {{")
    end = text.index("\n}\n", begin)
    block = text[begin:end]
    for key, value in settings.items():
        line = f"\n  {key:<10} = {value}"
        block, found = re.subn(rf"\n  {key} +=.*(\n    .*)*", line.replace("\\", r"\\"), block)
        if not found:
            block += line
    return text[:begin] + block + text[end:]


def specification(folder, row, fault, settings):
    """A copy of models/ in which one thing may be wrong."""
    changes = dict(row.get("edits", {}))
    for file, more in fault.items():
        changes[file] = changes.get(file, []) + more
    for name in os.listdir(SPECIFICATIONS):
        if name.endswith(".tn") and name != "std.tn":
            with open(os.path.join(SPECIFICATIONS, name), encoding="utf-8") as file:
                text = file.read()
            text = edited(text, changes.pop(name, []), name)
            if name == row["file"]:
                text = with_settings(text, row["model"], settings)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
    if changes:
        sys.exit(f"WRONG: no specification {', '.join(changes)}")
    return os.path.join(folder, row["file"])


def prepare(folder, row, seed, shifted):
    """Writes the task's files; the settings of the recipe, the options, and the task's two parts."""
    make, words = row["task"], []
    settings = dict(row.get("settings", {}))
    samples = row["sizes"]["B"] * row["steps"]
    parts = []
    for name, offset in (("train", 0), ("held", 1)):
        draw = random.Random(2 * seed + offset)
        part = make(draw, samples if name == "train" else HELD)
        parts.append(part)
        if isinstance(part, tasks.Text):
            part.save(os.path.join(folder, name + ".txt"))
            words += ["--text" if name == "train" else "--valid-text", os.path.join(folder, name + ".txt")]
        else:
            part.save(os.path.join(folder, name), shifted if name == "train" else ())
            inputs = ", ".join(f'{key} = "{os.path.join(folder, name, key)}.npy"' for key in part.values)
            settings["data" if name == "train" else "valid"] = f"arrays({inputs})"
    return settings, words, parts


def run(folder, row, seed, fault):
    """The share of the way from chance to optimum, and the processor time."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shifted = fault if isinstance(fault, tuple) else ()
    settings, words, parts = prepare(folder, row, seed, shifted)
    spec = specification(folder, row, {} if shifted else fault, settings)
    for name, size in row["sizes"].items():
        words += ["--bind" if name in ("B", "T", "S", "K") and name not in row.get("configs", ()) else "--set", f"{name}={size}"]
    command = ["tenon", "train", spec, "--model", row["model"], "--recipe", "small", *words, "--steps", str(row["steps"]),
               "--threads", "1", "--out", os.path.join(folder, "run"), "--quiet"]
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"WRONG: {' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    with open(os.path.join(folder, "run", "metrics.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    trained, held = parts
    found = best = worst = 0.0
    for loss in row["losses"]:
        counted = loss if loss in held.losses else ""
        found += [line for line in lines if "valid_" + loss in line][-1]["valid_" + loss]
        best += tasks.optimum(held.losses[counted], **row.get("target", {}))
        worst += tasks.chance(trained.losses[counted], held.losses[counted], **row.get("target", {}))
    seconds = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
    return (worst - found) / (worst - best), (worst, found, best), seconds


def learn(folder, name, only, seed):
    row = MODELS[name]
    right = True
    for what, fault in {"right": {}, **row["faults"]}.items():
        if only and what != only:
            continue
        begin = time.time()
        share, (worst, found, best), seconds = run(os.path.join(folder, name.replace(" ", "-"), what.replace(" ", "-")), row, seed,
                                                   fault)
        inside = LEAST <= share <= MOST
        fine = inside == (what == "right")
        right = right and fine
        print(f"{name}, {what}: {'as expected' if fine else 'WRONG'}: share {share:.3f}, held-out {found:.4f} of chance {worst:.4f} "
              f"and optimum {best:.4f}; {seconds:.1f} s of processor time, {time.time() - begin:.1f} s", flush=True)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("models", nargs="+", choices=MODELS)
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not all([learn(os.path.abspath(options.folder), name, options.only, options.seed) for name in options.models]):
        sys.exit(1)


if __name__ == "__main__":
    main()
