#!/usr/bin/env python3
"""Every op of the dialect stands in a line that FileCheck compares, in the tests of the stages it goes through.

lint-ops.py [--dialect DIR] [--tests DIR]
  --dialect  the folder of the .td files (default: dialect)
  --tests    the folder of the stages' tests (default: test/lowering)

An op is there where a line that has to match says tenon.NAME: no label, which only says where to look, no -NOT, and no line of
a prefix that no FileCheck of the file reads. Each op: somewhere. An op with a gradient: in differentiate/. Each that may
stand in a stack when it is decided what that keeps (with a gradient or elements, what reads memory, an address): there in a file
saved-*, which shows what is kept for it. A kernel: in select-kernels/, where it stays or is made, and in schedule/, with
its places. An op with elements: in select-kernels/, which shows its scalar code. What else can stand in the kernel form: in
schedule/, the scalar ops of KernelOps.td as they are; reads and writes (MemoryOpInterface) become places, and what reads whole
rows or contracts becomes a launch of its own. An op that is gone after a pass counts where its function has lines that are
compared.
But for the first, what must not match has to be said beside it: a -NOT under the same label, or --implicit-check-not.
Prints what is missing, then the counts.
"""
import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OP = re.compile(r'^def Tenon_\w+Op : (Tenon_\w+)<"(\w+)"(.*?)[{;]', re.M | re.S)
CLASS = re.compile(r"^class (Tenon_\w+)<[^;{]*;|^class (Tenon_\w+)<.*?\{$", re.M | re.S)
SUFFIX = r"(?:-(NEXT|SAME|DAG|EMPTY|LABEL|NOT|COUNT-\d+))?(?:\{LITERAL\})?:"
MADE = re.compile(r'^\s*(?:%.* = )?"?tenon\.(\w+)')
SAVED = ("DifferentiableOpInterface", "ElementOpInterface", "Tenon_ReadsMemory", "Tenon_Address")
# Folder, beginning of the file's name, what the definition of an op says that has to be there (one of it), whether it is gone
# then.
STAGES = (("", "", "", False), ("differentiate", "", "DifferentiableOpInterface", False),
          ("differentiate", "saved-", SAVED, False), ("select-kernels", "", "ElementOpInterface", True),
          ("select-kernels", "", "KernelOpInterface", False), ("schedule", "", "KernelOpInterface", False),
          ("schedule", "", "KernelOps.td", False), ("schedule", "", "MemoryOpInterface", True),
          ("schedule", "", "Tenon_ReadsRows", True), ("schedule", "", "Tenon_Contraction", True))
# A stack is what keeps, and skip ends a round of it; attend is gone before anything is kept; the loss scale is read outside of
# loops; the others are made later: of the parts of attention, of parameters in two halves, of blocks of rounds, of places.
UNSAVED = {"stack", "skip", "attend", "read_loss_scale", "map", "join", "regroup", "place"}


def ops(folder):
    """Name of each op, and its file with the interfaces that its definition or that of its class names."""
    texts = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".td"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts.append((name, file.read()))
    classes = {found[1] or found[2]: found[0] for _, text in texts for found in CLASS.finditer(text)}

    def said(text, seen=()):
        for name in re.findall(r"Tenon_\w+", text):
            if name in classes and name not in seen:
                text += said(classes[name], (*seen, name))
        return text

    return {found[2]: name + said(found[1] + found[3]) for name, text in texts for found in OP.finditer(text)}


def prefixes(text):
    """Each prefix that a FileCheck which has to pass reads, and whether something is refused between all of its lines."""
    runs = "\n".join(re.findall(r"RUN: (.*)", text))
    for name, value in reversed(re.findall(r"DEFINE: (%\{[\w-]+\}) = (.*)", text)):
        runs = runs.replace(name, value)
    found = {}
    for wrong, options in re.findall(r"(\bnot )?FileCheck\b((?:'[^']*'|[^|;&\n'])*)", runs):
        named = re.search(r"--check-prefix(?:es)?[= ](\S+)", options)
        for prefix in () if wrong else named[1].split(",") if named else ("CHECK",):
            found[prefix] = found.get(prefix, False) or "--implicit-check-not" in options
    return found


def blocks(text):
    """Of each label's part of a test: the ops that it makes, those that its compared lines name, whether there are such lines,
    and whether anything is refused."""
    known = prefixes(text)
    line_of = re.compile(rf"^\s*(?://|#)?\s*({'|'.join(map(re.escape, known))}){SUFFIX}(.*)") if known else None
    made, named, compared, refused = set(), set(), False, False
    for line in text.split("\n"):
        check = line_of.match(line) if line_of else None
        if not check:
            made |= set() if line.lstrip().startswith("//") else set(MADE.findall(line))
        elif check[2] == "LABEL":
            yield made, named, compared, refused
            made, named, compared, refused = set(), set(), False, False
        elif check[2] == "NOT":
            refused = True
        else:
            compared, refused = True, refused or known[check[1]]
            named |= set(re.findall(r"tenon\.(\w+)", check[3]))
    yield made, named, compared, refused


def checked(folder, prefix, gone):
    """The ops that are in compared lines of the folder's files, and those of them beside which something is refused."""
    found, strict = set(), set()
    for path, _, names in os.walk(folder):
        for name in names:
            if name.startswith(prefix) and name.endswith((".mlir", ".test", ".tn")):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    for made, named, compared, refused in blocks(file.read()):
                        here = (made if compared else set()) if gone else named
                        found |= here
                        strict |= here if refused else set()
    return found, strict


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialect", default=os.path.join(ROOT, "dialect"))
    parser.add_argument("--tests", default=os.path.join(ROOT, "test", "lowering"))
    options = parser.parse_args()
    all_ops = ops(options.dialect)
    missing = 0
    for folder, prefix, interface, gone in STAGES:
        found, strict = checked(os.path.join(options.tests, folder), prefix, gone)
        where = f"{folder}/{prefix + '*' if prefix else ''}" if folder else "any test of a stage"
        for name, says in sorted(all_ops.items()):
            stays = interface == "MemoryOpInterface" and "KernelOpInterface" in says  # a launch that appends
            asked = any(part in says for part in ((interface,) if isinstance(interface, str) else interface))
            if not asked or stays or folder == "differentiate" and name in UNSAVED:
                continue
            if name not in found:
                print(f"tenon.{name}: in no compared line of {where}")
            elif folder and name not in strict:
                print(f"tenon.{name}: nothing that must not match beside it in {where}")
            missing += name not in found or folder != "" and name not in strict
    print(f"{len(all_ops)} ops, {missing} missing")
    return 1 if missing or not all_ops else 0


sys.exit(main())
