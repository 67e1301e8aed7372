#!/usr/bin/env python3
"""Names of the tables in the code that a document does not have in code spans. names.py SOURCE-FOLDER DOCUMENT"""
import os
import re
import sys


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def main(source, document):
    builtins = set(re.findall(r'\{"(\w+)", &Checker::\w+Builtin\}', read(source, "frontend", "sema", "Builtins.cpp")))
    library = set(re.findall(r"^(?:layer|fn) (\w+)", read(source, "models", "std.tn"), re.M))
    if len(builtins) < 40 or len(library) < 10:
        sys.exit("the tables in the code are read wrongly")
    written = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`", read(document)))))
    missing = sorted((builtins | library) - written)
    for name in missing:
        print(f"missing: {name}")
    print(f"{len(builtins | library)} names, {len(missing)} missing")
    return 1 if missing else 0


sys.exit(main(*sys.argv[1:]))
