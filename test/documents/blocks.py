#!/usr/bin/env python3
"""Checks every ```tenon block of Markdown files. blocks.py FILE-OR-FOLDER.. SCRATCH-FOLDER"""
import os
import re
import subprocess
import sys


def documents(paths):
    for path in paths:
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else [""]:
            if os.path.join(path, name).rstrip("/").endswith(".md"):
                yield os.path.join(path, name).rstrip("/")


def main(arguments):
    *paths, scratch = arguments
    os.makedirs(scratch, exist_ok=True)
    blocks, wrong = 0, 0
    for document in documents(paths):
        with open(document, encoding="utf-8") as file:
            found = re.findall(r"^```tenon\n(.*?)^```", file.read(), re.M | re.S)
        for number, block in enumerate(found, 1):
            blocks += 1
            path = os.path.join(scratch, "block.tn")
            with open(path, "w", encoding="utf-8") as file:
                file.write(block)
            done = subprocess.run(["tenon", "check", path], capture_output=True, text=True)
            if done.returncode or "warning" in done.stderr + done.stdout:
                wrong += 1
                print(f"{os.path.basename(document)}, block {number}:\n{done.stdout}{done.stderr}")
    print(f"{blocks} blocks, {wrong} wrong")
    return 1 if wrong or not blocks else 0


sys.exit(main(sys.argv[1:]))
