#!/usr/bin/env python3
"""The listings of "One tensor on its way" are what the compiler prints. listings.py ARCHITECTURE README SCRATCH-FOLDER

Each block in the form of a stage (a paragraph in front of it names `--emit=STAGE`) has to stand in the output of that stage for
README's model, line by line in this order; other lines may stand between. Numbers of values are not compared, `..` is any text.
"""
import os
import re
import subprocess
import sys

STAGES = ("tenon", "grad", "kernel", "schedule")


def plain(line):
    return " ".join(re.sub(r"%\w+(?:[#:]\d+)?", "%", line).split())


def matches(line, printed):
    return re.fullmatch(".*".join(re.escape(part.strip()) for part in plain(line).split("..")), printed) or (
        plain(line).endswith("..") and printed.startswith(plain(line)[:-2].strip()))


def listings(text):
    """(stage, lines) of each block behind a paragraph that names its stage."""
    section = text[text.index("## One tensor on its way"):]
    section = section[:section.index("\n## ", 4)]
    for paragraph, block in re.findall(r"\n([^`\n][^\n]*(?:\n[^`\n][^\n]*)*)\n\n```\n(.*?)\n```", section, re.S):
        if found := re.search(r"--emit=(\w+)", paragraph):
            yield found[1], [line for line in block.split("\n") if line.strip()]
        elif paragraph.startswith("**Tensor form"):
            yield "tenon", [line for line in block.split("\n") if line.strip()]


def main():
    architecture, readme, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "tiny.tn")
    with open(readme, encoding="utf-8") as file, open(source, "w", encoding="utf-8") as target:
        target.write(re.search(r"^```tenon\n(.*?)^```", file.read(), re.M | re.S)[1])
    with open(architecture, encoding="utf-8") as file:
        blocks = [(stage, lines) for stage, lines in listings(file.read()) if stage in STAGES]
    wrong = 0
    for stage, lines in blocks:
        text = subprocess.run(["tenon", "compile", source, "--recipe", "small", f"--emit={stage}"], check=True,
                              capture_output=True, text=True).stdout
        printed = iter([plain(line) for line in text[text.index("func.func @train"):].split("\n")])
        for line in lines:
            if not any(matches(line, other) for other in printed):
                print(f"{stage}: not printed, or not behind the lines before it: {line.strip()}")
                wrong += 1
                break
    print(f"{len(blocks)} listings, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
