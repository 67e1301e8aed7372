#!/usr/bin/env python3
"""Specifications have one look, that of `tenon fmt`: the files of the tree and the blocks of its Markdown. Prints what differs;
exit 1 if anything does.

usage: lint-specifications.py [--write] [--tenon PROGRAM] [FOLDER]

Without FOLDER: the files git tracks in the repository this script lies in. With FOLDER: every file below it. --write formats them
instead. PROGRAM: the `tenon` on the PATH, or that of build/.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Inputs of tests whose subject is their text, or mistakes in it.
AS_WRITTEN = re.compile(r"test/frontend/(syntax|sema)/[^/]*\.tn$|(^|/)invalid-[^/]*\.tn$")
BLOCK = re.compile(r"^(```(?:tenon|tn)\n)(.*?)^(?=```)", re.M | re.S)


def files(folder):
    if folder:
        for path, _, names in os.walk(folder):
            yield from (os.path.relpath(os.path.join(path, name), folder) for name in names)
    else:
        yield from subprocess.check_output(["git", "-C", ROOT, "ls-files"], text=True).splitlines()


def formatted(tenon, texts):
    """The texts in their one look; None for one that has mistakes, which are printed."""
    with tempfile.TemporaryDirectory() as scratch:
        paths = [os.path.join(scratch, f"{number}.tn") for number in range(len(texts))]
        for path, text in zip(paths, texts):
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        done = subprocess.run([tenon, "fmt", *paths], stderr=subprocess.PIPE, text=True, check=False) if paths else None
        if done and done.returncode:
            print(done.stderr, end="")
            return [None] * len(texts)
        results = []
        for path in paths:
            with open(path, encoding="utf-8", newline="") as file:
                results.append(file.read())
        return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tenon", default=shutil.which("tenon") or os.path.join(ROOT, "build", "bin", "tenon"))
    parser.add_argument("folder", nargs="?")
    arguments = parser.parse_args()
    if not shutil.which(arguments.tenon):
        sys.exit(f"error: no program {arguments.tenon}: build `tenon`, or say --tenon")
    top = arguments.folder or ROOT
    documents, pieces = {}, []  # text of each file; (file, begin, end) of each specification
    for name in sorted(files(arguments.folder)):
        if not name.endswith((".tn", ".md")) or AS_WRITTEN.search(name) or not os.path.isfile(os.path.join(top, name)):
            continue
        with open(os.path.join(top, name), encoding="utf-8", newline="") as file:
            documents[name] = text = file.read()
        spans = [(0, len(text))] if name.endswith(".tn") else [match.span(2) for match in BLOCK.finditer(text)]
        pieces += [(name, begin, end) for begin, end in spans]
    results = formatted(arguments.tenon, [documents[name][begin:end] for name, begin, end in pieces])
    wrong = {}
    for (name, begin, end), result in reversed(list(zip(pieces, results))):  # from the back, so that places stay
        text = documents[name]
        if result != text[begin:end]:
            wrong.setdefault(name, []).append(text.count("\n", 0, begin) + 1)
            documents[name] = text[:begin] + (result or text[begin:end]) + text[end:]
    for name in sorted(wrong):
        for line in reversed(wrong[name]):
            print(f"{name}:{line}: {'formatted' if arguments.write else 'not as tenon fmt writes it'}")
        if arguments.write:
            with open(os.path.join(top, name), "w", encoding="utf-8", newline="") as file:
                file.write(documents[name])
    print(f"{len(pieces)} specifications, {sum(map(len, wrong.values()))} {'formatted' if arguments.write else 'findings'}")
    return 1 if wrong and not arguments.write or None in results else 0


sys.exit(main())
