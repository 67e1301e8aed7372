#!/usr/bin/env python3
"""Budgets and hygiene of the tree. Prints `file:line: message` for each finding; exit 1 if there is any.

usage: lint-files.py [FOLDER]

Without FOLDER: the files git tracks in the repository this script lies in. With FOLDER: every file below it. Files of code have
at most 400 lines and functions 60. What is longer is in tools/long-code.txt, with its lines, which may only become fewer: no new
line comes in, and one that is within the limits has to leave. Nothing may pass 800 and 120. Tests by FileCheck (.mlir, .test) are
rows of cases, one per op, and have 800 lines alone.
"""
import ast
import collections
import fnmatch
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CODE = (".cpp", ".h", ".hpp", ".c", ".td", ".py", ".cu")
CASES = (".mlir", ".test")
NARROW = CODE + (".sh", ".def")  # lines of IR and CHECK in tests are as long as what is printed
TEXT = NARROW + (".tn", ".mlir", ".md", ".test", ".txt", ".cmake", ".json", ".in", "")
LINES, HARD_LINES = 400, 800
FUNCTION, HARD_FUNCTION = 60, 120
COLUMNS = 130  # as in .clang-format
# A comment of a specification; not what a test expects (CHECK) or runs, which is as long as what is printed.
COMMENT = re.compile(r"(?:[^\"#]|\"[^\"]*\")*#(?! *[A-Z][A-Z0-9_-]+:)")
LARGEST_FILE = 1 << 20
MAPPED = CODE + (".tn", ".mlir", ".md", ".test")
UNMAPPED_FILES = 10  # in a folder that needs no README.md which names them
# Spelled in parts, so that this file passes its own test.
MACHINE_PATHS = re.compile(r"(?<!\w)/" + r"(work|farm|home/\w+|tmp/bash)" + "/")
CONFLICT = re.compile(r"^(<{7}|>{7}) ")


# Comments, raw strings, strings and characters, lines of the preprocessor: what cannot open or close a block.
INERT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n\\]|\\.)*',
                   re.S | re.M)
TYPE = re.compile(r"\s*(template\b|inline\b|typedef\b|\s)*(namespace|class|struct|union|enum)\b")


def is_function(header):
    """Whether the block after `header`, which stands in a namespace or class, is a function and no initializer."""
    plain = header
    while (shorter := re.sub(r"\([^()]*\)|<[^<>]*>", " ", plain)) != plain:
        plain = shorter
    return "(" in header and not TYPE.match(plain) and ("=" not in plain or "operator" in plain)


def cpp_functions(text):
    """(first line, lines) of each function that is not inside another one."""
    text = INERT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    blocks, header, start = [], "", None  # of each open block: whether it is a function, and its first line
    line = 1
    for character in text:
        line += character == "\n"
        if character == "{":
            inside = any(function for function, _ in blocks)
            blocks.append((not inside and is_function(header), start or line))
        elif character == "}" and blocks:
            function, first = blocks.pop()
            if function:
                yield first, line - first + 1
        if character in "{};":
            header, start = "", None
        elif start or not character.isspace():
            start = start or line
            header += character


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def tracked(folder):
    if folder is None:
        names = subprocess.run(["git", "-C", ROOT, "ls-files"], check=True, capture_output=True, text=True).stdout.split("\n")
        return [(name, os.path.join(ROOT, name)) for name in names if name and os.path.isfile(os.path.join(ROOT, name))]
    found = []
    for path, _, names in os.walk(folder):
        found += [(os.path.relpath(os.path.join(path, name), folder), os.path.join(path, name)) for name in names]
    return sorted(found)


def kind(name, path):
    """The ending, or what it would be: a program of Python or the shell need not have one."""
    extension = os.path.splitext(name)[1]
    if extension:
        return extension
    with open(path, "rb") as file:
        first = file.readline(80)
    if not first.startswith(b"#!"):
        return ""
    return ".py" if b"python" in first else ".sh" if re.search(rb"\b(ba)?sh\b", first) else ""


def findings(name, path):
    if os.path.getsize(path) > LARGEST_FILE:
        yield 1, f"larger than {LARGEST_FILE >> 20} MiB"
        return
    extension = kind(name, path)
    inputs = os.sep + "Inputs" + os.sep in os.sep + name
    if extension not in TEXT or os.sep + "corpus" + os.sep in os.sep + name or (inputs and extension != ".tn"):
        return
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
    except UnicodeDecodeError:
        yield 1, "not UTF-8 text"
        return
    if extension in CODE + CASES and len(lines) - 1 > HARD_LINES:
        yield len(lines) - 1, f"{len(lines) - 1} lines, more than {HARD_LINES}: split the file by concern"
    functions = {".cpp": cpp_functions, ".h": cpp_functions, ".c": cpp_functions,
                 ".py": python_functions}.get(extension, lambda text: [])
    for number, length in functions("\n".join(lines)):
        if length > HARD_FUNCTION:
            yield number, f"a function of {length} lines, more than {HARD_FUNCTION}: split it by concern"
    for number, line in enumerate(lines, 1):
        narrow = extension in NARROW or (extension == ".tn" and COMMENT.match(line))
        if narrow and len(line) > COLUMNS:
            yield number, f"{len(line)} columns, more than {COLUMNS}"
        if extension in CODE and "\t" in line:
            yield number, "a tab: indent with spaces"
        if extension in CODE and line != line.rstrip():
            yield number, "white space at the end of the line"
        if MACHINE_PATHS.search(line):
            yield number, "a path of some machine"
        if CONFLICT.match(line):
            yield number, "a merge conflict"


def unmapped(files):
    """Folders with many files without a README.md, or whose README.md does not name each file of code, specification, test and
    document: in backticks, as it is called, by its stem or by a pattern such as `Fuse*.cpp`."""
    folders = collections.defaultdict(list)
    for name, _ in files:
        folders[os.path.dirname(name)].append(os.path.basename(name))
    paths = dict(files)
    for folder, every in sorted(folders.items()):
        readme = os.path.join(folder, "README.md")
        names = [name for name in every if name.endswith(MAPPED) and name != "README.md"]
        if len(every) > UNMAPPED_FILES and readme not in paths:
            yield readme, f"not there: {folder or '.'} has {len(every)} files, so that a reader needs a map of them"
        if len(every) <= UNMAPPED_FILES or readme not in paths:
            continue
        with open(paths[readme], encoding="utf-8") as file:
            patterns = re.findall(r"`([^`\s]+)`", file.read())
        patterns = [pattern for pattern in patterns if re.match(r"\w|\*\w", pattern)]  # `*.cpp` says nothing
        for name in names:
            if not any(fnmatch.fnmatchcase(name, pattern) or os.path.splitext(name)[0] == pattern for pattern in patterns):
                yield readme, f"{name} has no line in the map of the folder's {len(every)} files"


def longer(files):
    """What is over the limits, by file: its lines, 0 where they are within, and the number of its functions that are not."""
    found = {}
    for name, path in files:
        extension = kind(name, path)
        if extension not in CODE or os.sep + "Inputs" + os.sep in os.sep + name:
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        functions = {".cpp": cpp_functions, ".h": cpp_functions, ".c": cpp_functions,
                     ".py": python_functions}.get(extension, lambda text: [])
        lines, long = text.count("\n"), sum(length > FUNCTION for _, length in functions(text))
        if lines > LINES or long:
            found[name] = (lines if lines > LINES else 0, long)
    return found


def exceeding(files, listed):
    """Findings against a list of what was longer before."""
    known = {}
    if os.path.exists(listed):
        with open(listed, encoding="utf-8") as file:
            rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
        known = {name: (int(lines), int(functions)) for name, lines, functions in rows}
    found = longer(files)
    for name in sorted(known | found):
        (lines, functions), (lines_before, functions_before) = found.get(name, (0, 0)), known.get(name, (0, 0))
        if lines > lines_before:
            yield name, f"{lines} lines, more than {lines_before or LINES}: split the file by concern"
        if functions > functions_before:
            yield name, f"functions of more than {FUNCTION} lines: {functions}, allowed are {functions_before}; split them"
        if (lines < lines_before and functions <= functions_before) or (lines == lines_before and functions < functions_before):
            yield name, f"shorter than before: its line in {os.path.basename(listed)} is now {name} {lines} {functions}, or none"


def main(argv):
    if len(argv) > 2:
        sys.exit(__doc__)
    files = tracked(os.path.abspath(argv[1]) if len(argv) == 2 else None)
    if not files:
        sys.exit("error: no file to look at")
    bad = 0
    for name, path in files:
        for line, message in findings(name, path):
            print(f"{name}:{line}: {message}")
            bad += 1
    listed = os.path.join(os.path.abspath(argv[1]) if len(argv) == 2 else os.path.join(ROOT, "tools"), "long-code.txt")
    for name, message in [*unmapped(files), *exceeding(files, listed)]:
        print(f"{name}:1: {message}")
        bad += 1
    print(f"{len(files)} files, {bad} findings")
    return 1 if bad else 0


sys.exit(main(sys.argv))
