#!/usr/bin/env python3
"""tenon generate --sources: lines as an entry reads them are the rows that a program would make of them.

usage: sources.py FOLDER [--front] [--spoil]

Texts of several lengths, one of them empty, in batches of one and of all. Of FOLDER/../model, as bytes for an encoder, against
--input src and src_len; --front: of FOLDER/../unilm, as words in front of what is made, against --input ids, prefix and gap.
--spoil: the rows have no end behind the text; in front: nothing says how much of a row is no text
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tensors import Tensor, save_npy  # noqa: E402

TEXTS = [b"ab", b"hello world", b"", "h\u00e4\u00df".encode(), b"x y z"]
END, PAD = 1, 0
WORDS = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", ".", *"abcdefgh"]
SENTENCES = ["a b", "c d e f g h", "", "h a h", "b"]


def generated(folder, *words):
    return subprocess.check_output(["tenon", "generate", *words, "--init", "--length", "5", "--json"], cwd=folder,
                                   stderr=subprocess.DEVNULL).decode().splitlines()


def inputs(folder, **arrays):
    """The words that give these rows, padded to one length, or numbers."""
    words = []
    for name, rows in arrays.items():
        if isinstance(rows[0], list):
            longest = max(map(len, rows))
            tensor = Tensor("i32", (len(rows), longest), [x for row in rows for x in row + [PAD] * (longest - len(row))])
        else:
            tensor = Tensor("i32", (len(rows),), rows)
        save_npy(os.path.join(folder, f"{name}.npy"), tensor)
        words += ["--input", f"{name}=@{name}.npy"]
    return words


def for_encoder(folder, spoil):
    rows = [list(text) + ([] if spoil else [END]) for text in TEXTS]
    inputs(folder, few=[[symbol % 13 for symbol in row] for row in rows])
    return (b"\r\n".join(TEXTS), ["../model"], inputs(folder, src=rows, src_len=[max(1, len(row)) for row in rows]))


def in_front(folder, spoil):
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(WORDS) + "\n")
    rows = [[WORDS.index(word) for word in ["[CLS]", *text.split(), "[SEP]"]] for text in SENTENCES]
    longest = max(map(len, rows))
    return ("\n".join(SENTENCES).encode(), ["../unilm", "--vocab", "vocab.txt"],
            inputs(folder, ids=rows, prefix=[len(row) for row in rows],
                   gap=[0 if spoil else longest - len(row) for row in rows]))


def main():
    folder, spoil = sys.argv[1], "--spoil" in sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    texts, model, rows = (in_front if "--front" in sys.argv[2:] else for_encoder)(folder, spoil)
    with open(os.path.join(folder, "texts.txt"), "wb") as file:
        file.write(texts + b"\n")
    want = generated(folder, *model, *rows)
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
