#!/usr/bin/env python3
"""What `tenon fmt` promises, on every specification of the tree and on forms of it with other blanks and line ends.

usage: properties.py FOLDER SCRATCH-FOLDER [FORMATTER..]   FORMATTER: a command that changes the files behind it (default: tenon
                                                           fmt)
"""
import os
import random
import re
import shutil
import subprocess
import sys

COMMENT = re.compile(r'"[^"\n]*"|(#[^\n]*)')
TOKEN = re.compile(r'"[^"\n]*"|#[^\n]*|\d[\d_]*(?:\.\d[\d_]*)?(?:e[+-]?\d+)?|\w+|->|\.\.|[=!<>]=|\S')
COLUMNS = 130


def comments(text):
    return [match[1].rstrip() for match in COMMENT.finditer(text) if match[1]]


def tree(path):
    done = subprocess.run(["tenon-parse-test", path], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def rearranged(text, draw, breaks):
    """The same tokens with other blanks between them; `breaks`: how often a line ends."""
    result = ""
    for token in TOKEN.findall(text):
        result += token + ("\n" if token.startswith("#") else draw.choice(["\n", "\n\n\n", "\n\t"]) if draw.random() < breaks
                           else draw.choice([" ", "\t", "   "]))
    return result


def tabbed(line):
    """Tabs in place of the blanks before a tab stop, where these are neither in a string nor in a comment."""
    code = line if '"' in line else line.split("#")[0]
    chunks = [code[at:at + 8] for at in range(0, len(code), 8)] if '"' not in line else [code]
    return "".join(chunk.rstrip(" ") + "\t" if chunk.endswith("  ") and len(chunk) == 8 else chunk
                   for chunk in chunks) + line[len(code):]


def typed_elsewhere(text):
    """As an editor of another system leaves it."""
    return "\r\n".join(tabbed(line) + blanks
                       for blanks, line in zip(["", " ", "\t"] * len(text), text.split("\n"))).rstrip("\r\n \t")


def main(root, scratch, *formatter):
    formatter = list(formatter) or ["tenon", "fmt"]
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    draw, cases, paths = random.Random(20), [], []
    for folder, _, names in sorted(os.walk(root)):
        paths += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".tn") and "/build" not in folder]
    for number, path in enumerate(paths):
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        if tree(path) is None:
            continue  # mistakes
        forms = [text, typed_elsewhere(text), rearranged(text, draw, 0.0), rearranged(text, draw, 0.3)]
        for form, given in enumerate(forms):
            cases.append((os.path.relpath(path, root), form, given, os.path.join(scratch, f"{number}-{form}.tn")))
            with open(cases[-1][3], "w", encoding="utf-8", newline="") as file:
                file.write(given)
    trees = {case[3]: tree(case[3]) for case in cases}
    once, twice = {}, {}
    for results in (once, twice):
        done = subprocess.run([*formatter, *(case[3] for case in cases)], capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr, f"the formatter ends with {done.returncode}")
            return 1
        for case in cases:
            with open(case[3], encoding="utf-8", newline="") as file:
                results[case[3]] = file.read()
    wrong = []
    for name, form, given, path in cases:
        result, first = once[path], once[path.replace(f"-{form}.tn", "-0.tn")]
        checks = {"another tree": tree(path) == trees[path], "other comments": comments(result) == comments(given),
                  "changes again": result == twice[path],
                  "line ends or blanks": not re.search(r"[ \t\r]\n|\t[^#]*$|\n\n\n|\A\n|\n\n\Z", result)
                  and result.endswith("\n"),
                  "depends on the editor": form != 1 or result == first}
        for line in result.split("\n"):
            code = line.split("#")[0].rstrip()
            checks["a long line"] = checks.get("a long line", True) and (len(code) <= COLUMNS
                                                                         or max(map(len, TOKEN.findall(code))) > COLUMNS // 2)
        wrong += [f"{name}, form {form}: {what}" for what, right in checks.items() if not right]
    print("\n".join(wrong[:20] + [f"{len(cases)} texts, {len(wrong)} wrong"]))
    return 1 if wrong or not cases else 0


sys.exit(main(*sys.argv[1:]))
