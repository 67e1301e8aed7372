#!/usr/bin/env python3
"""A rewrite that does not match says why: in matchAndRewrite(..) and canonicalize(..) failure comes with notifyMatchFailure.

lint-patterns.py [--root DIR]
  --root  a repository (default: this one); its .cpp and .h files of dialect/, lowering/, tools/ and test/ are read

`--debug-only=greedy-rewriter` shows these sentences. A failure() may stand alone in the statement that hands the rewriter to a
function which says it, as `succeeded(rewrite(op, rewriter)) ? success() : failure()`. Prints each that does not, then the counts.
"""
import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATTERN = re.compile(r"\b(?:matchAndRewrite|canonicalize)\([^;{}]*\bPatternRewriter\s*&[^;{}]*\{|"
                     r"\bmatchAndRewrite\([^;{}]*Rewriter\s*&[^;{}]*\{")
INERT = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')


def sources(root):
    for folder in ("dialect", "lowering", "tools", "test"):
        for path, _, names in os.walk(os.path.join(root, folder)):
            yield from (os.path.join(path, name) for name in sorted(names) if name.endswith((".cpp", ".h")))


def bodies(text):
    """Where the body of each pattern begins and ends."""
    for found in PATTERN.finditer(text):
        end, depth = found.end(), 1
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield found.end(), end


def silent(text):
    """The number of patterns, and the lines on which one fails without a word."""
    text = INERT.sub(lambda match: " " * len(match[0]), text)
    count, lines = 0, []
    for begin, end in bodies(text):
        count += 1
        for found in re.finditer(r"\bfailure\(\)|\bLogicalResult::failure\(", text[begin:end]):
            place = begin + found.start()
            statement = text[max(begin, *(text.rfind(mark, begin, place) + 1 for mark in ";{}")):text.find(";", place)]
            if not re.search(r"\w\([^;]*\brewriter\)", statement):
                lines.append(text.count("\n", 0, place) + 1)
    return count, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=ROOT)
    root = parser.parse_args().root
    patterns = wrong = 0
    for path in sources(root):
        with open(path, encoding="utf-8") as file:
            count, lines = silent(file.read())
        patterns += count
        wrong += len(lines)
        for line in lines:
            print(f"{os.path.relpath(path, root)}:{line}: does not say why it does not match: use rewriter.notifyMatchFailure")
    print(f"{patterns} patterns, {wrong} findings")
    return 1 if wrong or not patterns else 0


sys.exit(main())
