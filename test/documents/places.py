#!/usr/bin/env python3
"""Files that documents name are there, and have the names that are said to be in them (`name` in `file`, `a`, `b` of `file`).

usage: places.py SOURCE-FOLDER DOCUMENT...

A file is named by its path from the source folder, or by the end of that; `X.*` are all endings. Names with a word in capitals
(NAME, TENON) stand for others, and are not looked for.
"""
import fnmatch
import os
import re
import subprocess
import sys

from tables import read

ENDINGS = "cpp|h|td|def|py|mlir|test|tn|json|txt|md|ll|c|\\*"
FILE = re.compile(rf"(?:[\w.{{}},*-]+/)*[\w{{}},*-]+\.(?:{ENDINGS})")
NAME = r"`[A-Za-z_]\w*(?:::\w+)*(?:\(\))?`"
PLACE = re.compile(rf"((?:{NAME}(?:, | and ))*{NAME}) (?:in|of) `({FILE.pattern})`")
STANDS_FOR = re.compile(r"NAME|\b[A-Z]{3,}\b")  # a part of the name that the reader chooses
ELSEWHERE = ("build/*", "mlir/*", "cuda.h")  # what the build makes, and headers of others


def patterns(span):
    """`Optimizer{Norms,Update}.cpp` is two files."""
    braces = re.search(r"\{([^}]*)\}", span)
    if not braces:
        return [span]
    return [each for part in braces[1].split(",") for each in patterns(span[:braces.start()] + part + span[braces.end():])]


def found(files, pattern):
    return [file for file in files if fnmatch.fnmatch(file, pattern) or fnmatch.fnmatch(file, "*/" + pattern)]


def main():
    root, documents = sys.argv[1], sys.argv[2:]
    files = subprocess.check_output(["git", "-C", root, "ls-files"], text=True).splitlines()
    wrong = looked = 0
    for document in documents:
        text = re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), read(document), flags=re.M | re.S)
        line = lambda match: text.count("\n", 0, match.start()) + 1  # noqa: E731
        for match in re.finditer(r"`([^`\n]+)`", text):
            is_elsewhere = any(fnmatch.fnmatch(match[1], pattern) for pattern in ELSEWHERE)
            if not FILE.fullmatch(match[1]) or STANDS_FOR.search(match[1]) or is_elsewhere:
                continue
            for pattern in patterns(match[1]):
                looked += 1
                if not found(files, pattern):
                    print(f"{os.path.basename(document)}:{line(match)}: no file {pattern}")
                    wrong += 1
        for match in PLACE.finditer(text):
            places = [file for pattern in patterns(match[2]) for file in found(files, pattern)]
            for name in re.findall(r"\w+(?=\(?\)?`)", match[1]):
                looked += 1
                if places and not any(re.search(rf"\b{name}\b", read(root, file)) for file in places):
                    print(f"{os.path.basename(document)}:{line(match)}: no {name} in {match[2]}")
                    wrong += 1
    print(f"{looked} places, {wrong} wrong")
    return wrong > 0


sys.exit(main())
