"""A copying task as arrays for models/transformer.tn: copying.py FOLDER ROWS [SEED] writes src, src_len, tgt and label;
copying.py --compare FOLDER FILE compares what `tenon generate --json` made of its rows,
copying.py --best FILE prints the best text of each.

Texts of 3 to 8 symbols out of 2 .. 15, padded with 0; a source ends where its length says, a target with the symbol 1.
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import load_npy, save_npy, tensor  # noqa: E402

LONGEST, SYMBOLS = 8, 16


def rows(count, seed):
    draw = random.Random(seed)
    texts = [[draw.randrange(2, SYMBOLS) for _ in range(draw.randint(3, LONGEST))] for _ in range(count)]

    def padded(text):
        return text + [0] * (LONGEST + 1 - len(text))

    return {"src": [padded(text) for text in texts], "src_len": [len(text) for text in texts],
            "tgt": [padded([0] + text) for text in texts], "label": [padded(text + [1]) for text in texts]}


def write(folder, count, seed):
    made = rows(count, seed)
    os.makedirs(folder, exist_ok=True)
    for name, values in made.items():
        save_npy(os.path.join(folder, f"{name}.npy"), tensor("i32", values))
    return made


def compare(folder, path):
    source, lengths = (load_npy(os.path.join(folder, f"{name}.npy")) for name in ("src", "src_len"))
    with open(path, encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    if len(found) != source.shape[0]:
        sys.exit(f"WRONG: {len(found)} texts of {source.shape[0]}")
    wrong = sum(texts[0]["ids"] != source.row(row)[:lengths.values[row]] for row, texts in enumerate(found))
    if wrong * 10 > len(found):
        sys.exit(f"WRONG: {wrong} of {len(found)} texts")
    print(f"{len(found) // 10} wrong texts of {len(found)} at most")


def best(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            print(json.loads(line)[0])


if __name__ == "__main__" and sys.argv[1] == "--compare":
    compare(*sys.argv[2:])
elif __name__ == "__main__" and sys.argv[1] == "--best":
    best(sys.argv[2])
elif __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
