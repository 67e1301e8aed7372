#!/usr/bin/env python3
"""What the headers of models say can be set: each series of `--set NAME=VALUE` is compiled to its graph. headers.py FOLDER"""
import os
import re
import shlex
import subprocess
import sys

# A word behind a comma or a semicolon, in brackets, or in a further sentence is of another series.
ONE = r"""--set (?:[^\s'"();,:|]|'[^']*'|"[^"]*")+"""
SERIES = re.compile(rf"(?:--model \w+ )?{ONE}(?: {ONE})*")


def series(path):
    """The sets of one header, in the order of its text."""
    header = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                break
            header.append(line[1:].strip())
    return [found.rstrip(".") for found in SERIES.findall(" ".join(header))]


def main(folder):
    wrong = total = 0
    for name in sorted(os.listdir(folder)):
        for found in series(os.path.join(folder, name)) if name.endswith(".tn") else ():
            total += 1
            command = ["tenon", "compile", os.path.join(folder, name), "--no-recipe", "--emit=graph", *shlex.split(found)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode:
                wrong += 1
                print(f"{name}: {found}: {run.stderr.splitlines()[0]}")
    print(f"{total} series, {wrong} wrong")
    return 1 if wrong or total < 30 else 0


sys.exit(main(*sys.argv[1:]))
