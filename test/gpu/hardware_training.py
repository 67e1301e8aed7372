#!/usr/bin/env python3
"""Trains on the GPU of this machine, several runs at a time.

usage: hardware_training.py CHIP [--jobs N] [--filter REGEX] [--logs DIR]

Two kinds of run, with `tenon` from PATH and the driver of the machine:
  steps/..   steps.py: every model that the emulator trains in the tests, in f32 and f64, those of a text in bf16 and f16, too,
             five steps against the CPU
  learn/..   ../learn/learn.py: every model of models/, to the optimum of a task whose best loss is known
`steps/spoiled` is a run that has to fail. Prints a line per run and, last, `N passed, N failed`; exit code 1 where one failed.
No test of the suite needs a GPU: this is for those who have one.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LEARN = os.path.join(HERE, "..", "learn")
sys.path.insert(0, LEARN)
import rows  # noqa: E402
import steps  # noqa: E402

SECONDS = 300
# Those whose numbers are their own, and whose text of some steps need not be one.
OWN_NUMERICS = ("short", "scaled")
GENERATES = ("gpt2", "alibi", "lstm")


def all_runs(chip, folder):
    """(name, command, whether it has to succeed) each."""
    step = [sys.executable, os.path.join(HERE, "steps.py"), "--hardware", chip]
    for model in steps.NAMES:
        commands = ["--commands"] if model in GENERATES else []
        if model in OWN_NUMERICS:
            yield f"steps/{model}", [*step, model], True
            continue
        # Those of -wide have heads and widths for tensor cores, which f32 does not take. Of TASKS some decide by numbers that
        # they compute (draws, experts, when to halt), which roundings that are not the CPU's can turn.
        wide, short = () if model.endswith("-wide") else ("f32", "f64"), () if model in steps.TASKS else ("bf16", "f16")
        for numerics in (*wide, *short):
            words = ["--f64"] if numerics == "f64" else ["--numerics", numerics]
            yield f"steps/{model}-{numerics}", [*step, model, *words, *commands], True
    yield "steps/spoiled", [*step, "gpt2", "--spoil"], False
    for number, name in enumerate(rows.MODELS):
        yield (f"learn/{name}".replace(", ", "-").replace(" ", "-"),
               [sys.executable, os.path.join(LEARN, "learn.py"), os.path.join(folder, str(number)), name, "--only", "right",
                "--target", chip], True)


def run(name, command, succeeds, logs):
    """Whether it ended as it has to."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                              timeout=SECONDS)
        text, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired:
        text, status = f"not done in {SECONDS} s\n", None
    with open(os.path.join(logs, name.replace("/", "-") + ".log"), "w", encoding="utf-8") as file:
        file.write(text)
    fine = status == 0 if succeeds else status == 1 and text.endswith("WRONG\n")
    print(f"{'PASS' if fine else 'FAIL'} {name}: {([line for line in text.splitlines() if line] or ['?'])[-1]}", flush=True)
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chip")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--filter", default="")
    parser.add_argument("--logs", help="what each run prints, a file each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        logs = options.logs or folder
        os.makedirs(logs, exist_ok=True)
        chosen = [each for each in all_runs(options.chip, folder) if re.search(options.filter, each[0])]
        results = list(pool.map(lambda each: run(*each, logs), chosen))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
