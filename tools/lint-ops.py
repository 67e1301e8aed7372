#!/usr/bin/env python3
"""Every op of the dialect stands in a line that FileCheck compares, in the tests of the stages it goes through.

lint-ops.py [--dialect DIR] [--tests DIR]
  --dialect  the folder of the .td files (default: dialect)
  --tests    the folder of the stages' tests (default: test/lowering)

An op is there where a line of a test says tenon.NAME, or names a function after it. Each op: somewhere. An op with a gradient:
in differentiate/, and there in a file saved-*, which shows what a stack keeps for it. An op with elements: in select-kernels/,
which shows its scalar code. A kernel: in schedule/, with its places.
Prints what is missing, then the counts.
"""
import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OP = re.compile(r'^def Tenon_\w+Op : (Tenon_\w+)<"(\w+)"(.*?)[{;]', re.M | re.S)
CLASS = re.compile(r"^class (Tenon_\w+)<.*?\{$|^class (Tenon_\w+)<[^;{]*;", re.M | re.S)
CHECKED = re.compile(r"^\s*(?://|#)?\s*[A-Z][A-Z0-9-]*?(?:-NEXT|-SAME|-DAG|-LABEL|-COUNT-\d+)?: ")
UNSAVED = {"stack", "attend"}  # a stack is what keeps; attend is gone before anything is kept


def ops(folder):
    """Name of each op, and the interfaces that its definition or that of its class names."""
    texts = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".td"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts.append(file.read())
    classes = {found[1] or found[2]: found[0] for text in texts for found in CLASS.finditer(text)}

    def said(text, seen=()):
        for name in re.findall(r"Tenon_\w+", text):
            if name in classes and name not in seen:
                text += said(classes[name], (*seen, name))
        return text

    return {found[2]: said(found[1] + found[3]) for text in texts for found in OP.finditer(text)}


def checked(folder, prefix=""):
    found = set()
    for path, _, names in os.walk(folder):
        for name in names:
            if name.startswith(prefix) and name.endswith((".mlir", ".test", ".tn")):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    for line in file:
                        if CHECKED.match(line):
                            found |= set(re.findall(r"tenon\.(\w+)", line)) | set(re.findall(r"func\.func @(\w+)\(", line))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialect", default=os.path.join(ROOT, "dialect"))
    parser.add_argument("--tests", default=os.path.join(ROOT, "test", "lowering"))
    options = parser.parse_args()
    all_ops = ops(options.dialect)
    missing = 0
    for folder, prefix, belongs in (("", "", lambda says: True),
                                    ("differentiate", "", lambda says: "DifferentiableOpInterface" in says),
                                    ("differentiate", "saved-", lambda says: "DifferentiableOpInterface" in says),
                                    ("select-kernels", "", lambda says: "ElementOpInterface" in says),
                                    ("schedule", "", lambda says: "KernelOpInterface" in says)):
        present = checked(os.path.join(options.tests, folder), prefix)
        where = f"{folder}/{prefix + '*' if prefix else ''}" if folder else "any test of a stage"
        for name, says in sorted(all_ops.items()):
            if belongs(says) and name not in present and not (folder == "differentiate" and name in UNSAVED):
                print(f"tenon.{name}: in no compared line of {where}")
                missing += 1
    print(f"{len(all_ops)} ops, {missing} missing")
    return 1 if missing or not all_ops else 0


sys.exit(main())
