#!/usr/bin/env python3
"""Compares the table of models with models/: files, the models in each, the entries besides losses. models.py SOURCE-FOLDER
DOCUMENT"""
import os
import re
import sys

from tables import compare, read, rows, spans


def entries(text):
    """Of all models of a file: `infer` where an out has no name of its own."""
    names = set()
    for name, dim, several in re.findall(r"^  out +(\w+)(\(\w+\))?((?:, *\w+)*) *(?:=|#|$)", text, re.M):
        own = re.search(rf"^  out +{name}(?:\(\w+\))? *=", text, re.M)
        names.add(name + dim if own else "infer")
    return names


def main(source, document):
    table = {name: cells for _, heading, cells in rows(read(document)) if heading == "file" for name in spans(cells[0])}
    files = {name for name in os.listdir(os.path.join(source, "models")) if name.endswith(".tn")}
    wrong = compare("files", files, set(table))
    for name in sorted(files & set(table) - {"std.tn"}):
        text = read(source, "models", name)
        wrong += compare(name, set(re.findall(r"^model (\w+)", text, re.M)), set(spans(table[name][1])))
        wrong += compare(name, entries(text), set(spans(table[name][2])))
    print(f"{wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
