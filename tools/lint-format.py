#!/usr/bin/env python3
"""Whether the C++ and C code of the tree stands as clang-format 22 sets it (.clang-format), and whether lines of CMakeLists.txt
and *.cmake have 130 columns at most. Prints what clang-format would change and where lines are longer; exit 1 if there is any.

usage: lint-format.py [--write] [FILE..]

Without FILE: those git tracks in the repository this script lies in. --write sets the code; CMake's lines are broken by hand.
"""
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = 130
FORMATTER = shutil.which("clang-format", path="/usr/lib/llvm-22/bin") or shutil.which("clang-format")


def is_cmake(path):
    return os.path.basename(path) == "CMakeLists.txt" or path.endswith(".cmake")


def long_lines(path):
    """Prints the lines of a file of CMake that are longer than the others may be; their number."""
    with open(path, encoding="utf-8") as file:
        wrong = [(i, len(line.rstrip("\n"))) for i, line in enumerate(file, 1) if len(line.rstrip("\n")) > COLUMNS]
    for number, length in wrong:
        print(f"{path}:{number}: {length} columns: break the line before {COLUMNS + 1}")
    return len(wrong)


def main(argv):
    write = argv[:1] == ["--write"]
    files = argv[write:]
    if not files:
        names = subprocess.run(["git", "-C", ROOT, "ls-files", "*.cpp", "*.h", "*.c", "*CMakeLists.txt", "*.cmake"],
                               check=True, capture_output=True, text=True).stdout.split()
        files = [os.path.join(ROOT, name) for name in names if os.path.isfile(os.path.join(ROOT, name))]
    if not files:
        sys.exit("error: no file to look at")
    if not FORMATTER:
        sys.exit("error: no clang-format: install clang-format-22 (tools/packages.txt)")
    mode = ["-i"] if write else ["--dry-run", "-Werror"]
    code = [path for path in files if not is_cmake(path)]
    found = code and subprocess.run([FORMATTER, f"--style=file:{ROOT}/.clang-format", *mode, *code]).returncode
    long = sum(long_lines(path) for path in files if is_cmake(path))
    wrong = [*["set them by tools/lint-format.py --write"] * bool(found), *[f"{long} lines of CMake too long"] * bool(long)]
    print(f"{len(files)} files, {', '.join(wrong) or 'as it should be'}")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
