#!/usr/bin/env python3
"""tenon generate --sources: lines as an encoder reads them are the rows that a program would make of them.

usage: sources.py FOLDER [--spoil]

Texts of several lengths, one of them empty, in batches of one and of all, as bytes, against --input src and src_len.
--spoil: the rows have no end behind the text
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tensors import Tensor, save_npy  # noqa: E402

TEXTS = [b"ab", b"hello world", b"", "h\u00e4\u00df".encode(), b"x y z"]
END, PAD = 1, 0


def generated(folder, model, *words):
    return subprocess.check_output(["tenon", "generate", model, "--init", "--length", "5", "--json", *words], cwd=folder,
                                   stderr=subprocess.DEVNULL).decode().splitlines()


def main():
    folder, spoil = sys.argv[1], "--spoil" in sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "texts.txt"), "wb") as file:
        file.write(b"\r\n".join(TEXTS) + b"\n")
    ends = [] if spoil else [END]
    rows = [list(text) + ends for text in TEXTS]
    longest = max(map(len, rows))
    flat = [symbol for row in rows for symbol in row + [PAD] * (longest - len(row))]
    save_npy(os.path.join(folder, "src.npy"), Tensor("i32", (len(rows), longest), flat))
    save_npy(os.path.join(folder, "lengths.npy"), Tensor("i32", (len(rows),), [max(1, len(row)) for row in rows]))
    model = ["../model"]
    want = generated(folder, *model, "--input", "src=@src.npy", "--input", "src_len=@lengths.npy")
    for batch in ("32", "1", "2"):
        found = generated(folder, *model, "--sources", "texts.txt", "--batch", batch)
        # Padding to other lengths changes sums by rounding: texts are the same, scores are near.
        alike = [a.split('"score"')[0] == b.split('"score"')[0] for a, b in zip(found, want, strict=True)]
        if not all(alike) or batch == "32" and found != want:
            print(f"WRONG: in batches of {batch} the text {alike.index(False) + 1 if False in alike else '?'} is another one")
            return 1
    print(f"{len(want)} texts are the same")
    return 0


sys.exit(main())
