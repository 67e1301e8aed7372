#!/usr/bin/env python3
"""Whether the C++ and C code of the tree stands as clang-format 22 sets it (.clang-format). Prints what it would change; exit 1
if there is any.

usage: lint-format.py [--write] [FILE..]

Without FILE: those git tracks in the repository this script lies in. --write sets them.
"""
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FORMATTER = shutil.which("clang-format", path="/usr/lib/llvm-22/bin") or shutil.which("clang-format")


def main(argv):
    write = argv[:1] == ["--write"]
    files = argv[write:]
    if not files:
        names = subprocess.run(["git", "-C", ROOT, "ls-files", "*.cpp", "*.h", "*.c"], check=True, capture_output=True,
                               text=True).stdout.split()
        files = [os.path.join(ROOT, name) for name in names if os.path.isfile(os.path.join(ROOT, name))]
    if not files:
        sys.exit("error: no file to look at")
    if not FORMATTER:
        sys.exit("error: no clang-format: install clang-format-22 (tools/packages.txt)")
    mode = ["-i"] if write else ["--dry-run", "-Werror"]
    found = subprocess.run([FORMATTER, f"--style=file:{ROOT}/.clang-format", *mode, *files]).returncode
    print(f"{len(files)} files, {'as it should be' if found == 0 else 'set them by tools/lint-format.py --write'}")
    return 1 if found else 0


sys.exit(main(sys.argv[1:]))
