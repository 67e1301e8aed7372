#!/usr/bin/env python3
"""An artifact whose code says every load and store to ThreadSanitizer.

usage: instrumented.py SPEC RECIPE FOLDER [--spoil]

`tenon compile` gives the artifact, its LLVM IR and the object of its tables. Vectors are taken apart, since the sanitizer leaves
out accesses of more than 16 bytes and masked ones; its pass follows, and the library is linked again from the two objects.
--spoil: every tile of the contractions does the work of the first one, so that threads write the same memory.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402

FUNCTION = re.compile(r"^define [^\n]*\{\n.*?^\}\n", re.MULTILINE | re.DOTALL)


def marked(text):
    """The pass instruments functions that ask for it."""
    return re.sub(r"^(define [^{\n]*)\{", r"\1sanitize_thread {", text, flags=re.MULTILINE)


def spoiled(text):
    """Tiles are functions (context, tile, worker); a second definition of the number of the tile would be no IR, so its uses
    become 0."""
    changed = 0

    def change(match):
        nonlocal changed
        head, body = match.group(0).split("\n", 1)
        signature = re.search(r"@[\w.]*gemm[\w.]*\(ptr[^,]* %(\w+), i64[^,]* %(\w+), i64[^,]* %(\w+)\)", head)
        if not signature:
            return match.group(0)
        changed += 1
        return head + "\n" + re.sub(rf"%{signature.group(2)}\b", "0", body)
    text = FUNCTION.sub(change, text)
    if not changed:
        sys.exit("no function of a tile of a contraction was found")
    return text


def run(*words):
    subprocess.run(words, check=True)


def main():
    spec, recipe, folder = sys.argv[1:4]
    name = os.path.splitext(os.path.basename(spec))[0]
    words = [spec, "--recipe", recipe, "--entry", "train", "--tier", "x86-64-v3"] # its tiles have fewer shapes: less code
    driver.tenon("compile", *words, "-o", folder)
    driver.tenon("compile", *words, "--emit=obj", "-o", os.path.join(folder, "objects"))
    text = driver.tenon("compile", *words, "--emit=llvm")
    files = [os.path.join(folder, file) for file in ("plain.ll", "scalar.ll", "marked.ll", "instrumented.bc", "instrumented.o")]
    with open(files[0], "w", encoding="utf-8") as file:
        file.write(text)
    run("opt", "-S", "-passes=scalarize-masked-mem-intrin,scalarizer<load-store>", files[0], "-o", files[1])
    with open(files[1], encoding="utf-8") as file:
        text = marked(file.read())
    with open(files[2], "w", encoding="utf-8") as file:
        file.write(spoiled(text) if "--spoil" in sys.argv else text)
    run("opt", "-passes=module(tsan-module),function(tsan)", files[2], "-o", files[3])
    run("llc", "-O0", "-filetype=obj", "-relocation-model=pic", files[3], "-o", files[4])
    tables = os.path.join(folder, "objects", f"{name}.tables.o")
    run("clang++-22", "-shared", "-fsanitize=thread", files[4], tables, "-o", os.path.join(folder, f"lib{name}.so"), "-lm")


main()
