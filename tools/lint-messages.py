#!/usr/bin/env python3
"""Every error that the dialect and the lowering emit is expected by a test, and one about a constraint carries its number: of
the dialect's ops, attributes and entries (C, E), of what a pass demands of its input (P) and of the schedule form (S), the last
two in lowering/Passes.td.

lint-messages.py [--sources DIR..] [--tests DIR]
  --sources  the folders whose .cpp files emit (default: dialect, lowering and the folders in it)
  --tests    the folder whose files expect, by `expected-error {{..}}` or by a line `CHECK..: ..error: ..` (default: test)

A message is the text of emitOpError(..), emitOptionalError(..), emitError(..), notSupported(..) or refuse(..) with what is
streamed after it; what is not a literal matches anything. An expectation covers a message that it contains from its first literal
to its last, after the name of the op where the message is in a method of it.

A number stands in a comment at the refusal, at its end where it has several lines, or at most three lines above it: `// C2`,
`// E1`, `// S4`, or `// as the caller says`. No constraint is what notSupported(..) says: the form is right, its code is missing;
what refuse(..) says, which has a code of its own and a page, as mistakes in a specification have; an option of a pass,
`// an option`; and the words of another tool, `// as LLVM says`. Prints each message no test expects and each without a number,
then the counts.
"""
import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = [os.path.join(ROOT, "dialect"), *(folder for folder, _, _ in sorted(os.walk(os.path.join(ROOT, "lowering"))))]
EMIT = re.compile(r"emit(?:Op|Optional)?Error\(|\b(?:notSupported|refuse)\(")
NUMBER = re.compile(r"// .*\b(?:[CEPS]\d+\b|as the caller says|an option|as LLVM says)")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def statements(text):
    """Where each message begins, whether it begins with the name of its op, and its statement up to the semicolon outside of
    literals."""
    for found in EMIT.finditer(text):
        end, quoted = found.end(), False
        while end < len(text) and (quoted or text[end] != ";"):
            if text[end] == "\\" and quoted:
                end += 1
            elif text[end] == '"':
                quoted = not quoted
            end += 1
        yield found.start(), found[0].startswith("emitOpE"), text[found.end():end]


def operation(text, place):
    """The op in whose method `place` lies, as diagnostics name it, or nothing: a function that several ops share."""
    heads = re.findall(r"^(?:static |template |[A-Z])[^\n;]*\{$", text[:place], re.M) + [""]
    method = re.search(r"(\w+)Op::\w+\(", heads[-2] if len(heads) > 1 else "")
    return "'tenon." + re.sub(r"(?<!^)([A-Z])", r"_\1", method[1]).lower() + "' op " if method else ""


def pattern(statement, prefix):
    """The message as a regular expression, or None where it has no literal of its own (it passes on another's text)."""
    literals = [literal.replace('\\"', '"') for literal in LITERAL.findall(statement)]
    if not literals:
        return None
    return re.compile(re.escape(prefix) + ".*".join(re.escape(literal.strip()) for literal in literals), re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", nargs="+", default=SOURCES)
    parser.add_argument("--tests", default=os.path.join(ROOT, "test"))
    options = parser.parse_args()
    expected = []
    for folder, _, names in sorted(os.walk(options.tests)):
        for name in sorted(names):
            if name.endswith((".mlir", ".test")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                expected += re.findall(r"expected-error[^{\n]*\{\{(.*?)\}\}", text)
                expected += re.findall(r"^(?:// )?[A-Z][A-Z-]*:.*?\berror: (.*)", text, re.M)
    total, missing, unnumbered = 0, 0, 0
    for name in [os.path.join(folder, name) for folder in options.sources for name in sorted(os.listdir(folder))]:
        if not name.endswith((".cpp", ".h")):
            continue
        with open(name, encoding="utf-8") as file:
            text = file.read()
        for place, named, statement in statements(text):
            line = text.count("\n", 0, place)
            of_constraint = text.startswith("emit", place)
            around = text.split("\n")[max(0, line - 3):line + 1 + statement.count("\n")]
            if of_constraint and LITERAL.search(statement) and not any(NUMBER.search(each) for each in around):
                print(f"{os.path.relpath(name, ROOT)}:{line + 1}: a refusal without the number of its constraint")
                unnumbered += 1
            wanted = pattern(statement, operation(text, place) if named else "")
            if wanted is None:
                continue
            total += 1
            if not any(wanted.search(message) for message in expected):
                print(f"{os.path.relpath(name, ROOT)}:{text.count(chr(10), 0, place) + 1}: no test expects: "
                      f"{' .. '.join(LITERAL.findall(statement))}")
                missing += 1
    print(f"{total} messages, {missing} without a test, {unnumbered} without a number")
    return 1 if missing or unnumbered or not total else 0


sys.exit(main())
