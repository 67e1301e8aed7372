"""Every model learns a task whose best loss is known, and does not when something is wrong with it.

learn.py FOLDER MODEL..           the models of `rows.py`, each as it is and with each of its faults
    --only NAME                   this run alone: right, or a fault
    --spoil FAULT                 the run that has to be right gets this fault
    --seed N                      of the task (1)
    --target CHIP                 on a GPU, e.g. sm_80; TENON_LIBCUDA can name another driver, as everywhere

A run is `tenon train` by the recipe `small` of the model's own file (`named` of a row: another one), with the task's data in
place of the recipe's; only the entries that it needs are compiled. Its share is how much of the way from chance to optimum the
held-out loss has come: at least 0.9, and no more than 1, since beyond the optimum is only a model that reads what it must not. A
fault has to end outside of that.
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

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import files  # noqa: E402
import tasks  # noqa: E402
from rows import MODELS  # noqa: E402

SPECIFICATIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models")
# Initial values are published for widths of about 700, and here it is 64: times the root of their ratio. 0.01 is that of the
# projections of an adaptive embedding, whose inputs here have at most 128 numbers.
INITIAL = [("normal(0.02)", "normal(0.07)"), ("normal(0.01)", "normal(0.09)"), ("uniform(0.05)", "uniform(0.17)")]
DIMS = ("B", "T", "S", "K")  # sizes that are dims of the models; others are configs
HELD = 320                   # rows
LEAST, MOST = 0.9, 1.02      # MOST: the held-out rows are a sample, so their mean may fall a little below the expected one
SECONDS = 60                 # of processor time


def edited(text, changes, what):
    for old, new in changes:
        if text.count(old) != 1:
            sys.exit(f"WRONG: {what}: {old!r} stands {text.count(old)} times, expected once")
        text = text.replace(old, new)
    return text


def with_settings(text, row, settings):
    """The specification with these settings in the model's recipe; None: without that one."""
    begin = text.index(f"train {row['model']} as {row.get('named', 'small')} {{")
    end = text.index("\n}\n", begin)
    block = text[begin:end]
    for key, value in settings.items():
        line = "" if value is None else f"\n  {key:<10} = {value}"
        block, found = re.subn(rf"\n  {key} +=.*(\n    .*)*", lambda _, line=line: line, block)
        block += "" if found else line
    return text[:begin] + block + text[end:]


def specification(folder, row, fault, settings):
    """A copy of models/ in which one thing may be wrong."""
    changes = dict(fault)
    for name in os.listdir(SPECIFICATIONS):
        if name.endswith(".tn") and name != "std.tn":
            with open(os.path.join(SPECIFICATIONS, name), encoding="utf-8") as file:
                text = file.read()
            for narrow, wide in INITIAL:
                text = text.replace(narrow, wide)
            text = edited(text, changes.pop(name, []), name)
            if name == row["file"]:
                text = with_settings(text, row, settings)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
    if changes:
        sys.exit(f"WRONG: no specification {', '.join(changes)}")
    return os.path.join(folder, row["file"])


def prepare(folder, row, seed, shifted, held=HELD):
    """Writes the task's files. Gives the settings of the recipe, the options, and what is trained on and held out."""
    settings, words, parts = {**row["settings"], **row.get("recipe", {})}, [], []
    for name, samples in (("train", row["sizes"]["B"] * row["steps"]), ("held", held)):
        part = row["task"](random.Random(f"{seed} {name}"), samples)
        parts.append(part)
        path = os.path.join(folder, name)
        if isinstance(part, files.Files):
            if "tasks" in row: # which hold out the end of their files
                part.save(folder, *parts[:-1])
                settings["tasks"] = row["tasks"]
            else:
                part.save(path)
                settings["data" if name == "train" else "valid"] = row["data"].format(name)
        elif isinstance(part, tasks.Text):
            part.save(path + ".txt")
            words += ["--text" if name == "train" else "--valid-text", path + ".txt"]
        else:
            part.save(path, shifted if name == "train" else ())
            inputs = ", ".join(f'{key} = "{os.path.join(path, key)}.npy"' for key in part.values)
            settings["data" if name == "train" else "valid"] = f"arrays({inputs})"
    words += ["--data", folder] if isinstance(parts[0], files.Files) else []
    return settings, words, parts


def of_model(row):
    """Options of `tenon compile`: the model, its recipe, the sizes."""
    return ["--model", row["model"], "--recipe", row.get("named", "small"), *[
        word for name, size in row["sizes"].items() for word in
        ("--bind-recipe" if name in DIMS and name not in row.get("configs", ()) else "--set", f"{name}={size}")]]


def measured(row, parts, lines):
    """Chance, what was found, and the optimum, each the sum over the losses that are read."""
    trained, held = parts
    worst = found = best = 0.0
    for loss in row["losses"]:
        counted = loss if loss in held.losses else ""
        worst += tasks.chance(trained.losses[counted], held.losses[counted], **row.get("target", {}))
        found += [line for line in lines if "valid_" + loss in line][-1]["valid_" + loss]
        best += tasks.optimum(held.losses[counted], **row.get("target", {}))
    return worst, found, best


def texts(folder):
    """Of all specifications in it, by name."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".tn"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found[name] = file.read()
    return found


def run(folder, row, seed, fault, target, made):
    """The output of `tenon train` and its exit code; chance, found and optimum; the processor time. `made`: by artifact, of which
    specifications it was made before."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shifted = fault if isinstance(fault, tuple) else ()
    settings, words, parts = prepare(folder, row, seed, shifted)
    spec = specification(folder, row, {} if shifted else fault, settings)
    artifact, wanted = folder + "-artifact", texts(folder)
    compiled = ["tenon", "compile", spec, *of_model(row), "--entry", "train", "--entry", "eval",
                *(["--target", target] if target else ["--tier", os.environ.get("TENON_TIER", "best")]), "-o", artifact]
    command = ["tenon", "train", artifact, *words, "--steps", str(row["steps"]), *([] if target else ["--threads", "1"]),
               "--out", os.path.join(folder, "run"), "--quiet"]
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    for each in [command] if made.get(artifact) == wanted else [compiled, command]:
        done = subprocess.run(each, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            break
        made[artifact] = wanted
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
    if done.returncode != 0:
        return done, None, seconds
    with open(os.path.join(folder, "run", "metrics.jsonl"), encoding="utf-8") as file:
        return done, measured(row, parts, [json.loads(line) for line in file]), seconds


def judged(row, name, what, done, figures, seconds):
    """Whether a run ended as it has to; says how."""
    if row.get("waits"):
        fine = done.returncode == 1 and f"not supported yet: {row['waits']}" in done.stdout
        print(f"{name}: {'waits for ' + row['waits'] if fine else 'WRONG: it waits no longer for ' + row['waits']}", flush=True)
        return fine
    if done.returncode != 0:
        print(f"{name}, {what}: WRONG: exit code {done.returncode} of {' '.join(done.args)}\n{done.stdout}", flush=True)
        return False
    worst, found, best = figures
    share = (worst - found) / (worst - best)
    fine = (LEAST <= share <= MOST) == (what == "right") and seconds < SECONDS
    print(f"{name}, {what}: {'as expected' if fine else 'WRONG'}: share {share:.3f}, held-out {found:.4f}, chance {worst:.4f}, "
          f"optimum {best:.4f}, {seconds:.1f} s of processor time", flush=True)
    return fine


def learn(folder, name, options):
    row, fine, made = MODELS[name], True, {}
    faults = {"right": row["faults"][options.spoil] if options.spoil else {}, **row["faults"]}
    for what, fault in faults.items():
        if options.only in (None, what) and (what == "right" or not row.get("waits")):
            # Other data lie where those of the right run lay, so that its specification and with it its artifact are the same.
            place = f"{name}-{'right' if isinstance(fault, tuple) else what}".replace(" ", "-").replace(",", "")
            figures = run(os.path.join(folder, place), row, options.seed, fault, options.target, made)
            fine = judged(row, name, what, *figures) and fine
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("models", nargs="+", choices=MODELS)
    parser.add_argument("--only")
    parser.add_argument("--spoil")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target")
    options = parser.parse_args()
    if not all([learn(os.path.abspath(options.folder), name, options) for name in options.models]):
        sys.exit(1)


if __name__ == "__main__":
    main()
