#!/usr/bin/env python3
"""A rewrite that does not match says why: in matchAndRewrite(..) and canonicalize(..) failure comes with notifyMatchFailure, in
a rewrite that walks the code by itself with declined (lowering/Declined.h).

lint-patterns.py [--root DIR]
  --root  a repository (default: this one); its .cpp and .h files of dialect/, lowering/, tools/ and test/ are read

`tenon-opt --remark-format=emitRemark --remarks-filter-missed=REWRITE` shows these sentences (docs/testing.md). A failure() may
stand alone in the statement that hands the rewriter to a function which says it, as `succeeded(rewrite(op, rewriter)) ?
success() : failure()`. What walks by itself has bool functions that say one reason and therefore each: `return declined(op,
NAME, "why")`, never `return false`. A file of lowering/tensor/ or lowering/kernel/ that replaces or erases ops outside of
patterns, or says of them how they read their operands, declines somewhere, or stands in the table of those that rewrite all
they meet. Prints each that does not, then the counts.
"""
import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATTERN = re.compile(r"\b(?:matchAndRewrite|canonicalize)\([^;{}]*\bPatternRewriter\s*&[^;{}]*\{|"
                     r"\bmatchAndRewrite\([^;{}]*Rewriter\s*&[^;{}]*\{")
# They rewrite all that they meet, as a later form or the recipe demands. What FuseAttention and DecomposeForTarget leave, or take
# apart, has a warning with the reason.
ALWAYS = {
    "lowering/tensor/Decompose.cpp", "lowering/tensor/FuseAttention.cpp", "lowering/tensor/GradientWrites.cpp",
    "lowering/tensor/WidenParameters.cpp",
    "lowering/kernel/DecomposeForTarget.cpp", "lowering/kernel/KernelResults.cpp", "lowering/kernel/SelectKernels.cpp",
}
BY_HAND = re.compile(r"\breplaceAllUsesWith\(|(?:\.|->)erase\(\);|\b(?:panels|wanted)(?:\.|->)set\(")
DECISION = re.compile(r"\bbool [\w:]+\([^;{}]*\)(?: const)? \{")
INERT = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')


def sources(root):
    for folder in ("dialect", "lowering", "tools", "test"):
        for path, _, names in os.walk(os.path.join(root, folder)):
            yield from (os.path.join(path, name) for name in sorted(names) if name.endswith((".cpp", ".h")))


def bodies(text, pattern):
    """Where the body of each function that `pattern` finds begins and ends."""
    for found in pattern.finditer(text):
        end, depth = found.end(), 1
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield found.end(), end


def silent(text):
    """The number of patterns, and the lines on which one fails without a word."""
    count, lines = 0, []
    for begin, end in bodies(text, PATTERN):
        count += 1
        for found in re.finditer(r"\bfailure\(\)|\bLogicalResult::failure\(", text[begin:end]):
            place = begin + found.start()
            statement = text[max(begin, *(text.rfind(mark, begin, place) + 1 for mark in ";{}")):text.find(";", place)]
            if not re.search(r"\w\([^;]*\brewriter\)", statement):
                lines.append(text.count("\n", 0, place) + 1)
    return count, lines


def unsaid(text):
    """The number of functions that decline, and the lines on which one returns false without a word."""
    count, lines = 0, []
    for begin, end in bodies(text, DECISION):
        if re.search(r"\bdeclined\(", text[begin:end]):
            count += 1
            lines += [text.count("\n", 0, begin + found.start()) + 1
                      for found in re.finditer(r"\breturn false;", text[begin:end])]
    return count, lines


def walks(path, text):
    """Whether a file is one of those that rewrite by hand, where they find what pays."""
    if not path.endswith(".cpp") or not path.startswith(("lowering/tensor/", "lowering/kernel/")) or path in ALWAYS:
        return False
    for begin, end in bodies(text, PATTERN):
        text = text[:begin] + " " * (end - begin) + text[end:]
    return bool(BY_HAND.search(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=ROOT)
    root = parser.parse_args().root
    patterns = walked = wrong = 0
    for path in sources(root):
        name = os.path.relpath(path, root)
        with open(path, encoding="utf-8") as file:
            text = INERT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), file.read())
        count, lines = silent(text)
        declining, unsaid_lines = (0, []) if name == "lowering/Declined.h" else unsaid(text)
        findings = [f"{name}:{line}: does not say why it does not match: use rewriter.notifyMatchFailure" for line in lines]
        findings += [f"{name}:{line}: does not say why it declines: return declined(op, NAME, why)" for line in unsaid_lines]
        if walks(name, text) and not declining:
            findings.append(f"{name}: rewrites by hand and never says why not: use declined of lowering/Declined.h")
        patterns += count
        walked += declining
        wrong += len(findings)
        for finding in findings:
            print(finding)
    print(f"{patterns} patterns, {walked} decisions of walks, {wrong} findings")
    return 1 if wrong or not patterns else 0


sys.exit(main())
