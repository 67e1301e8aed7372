"""A reversing task for models/unilm.tn: masked_task.py FOLDER ROWS STEPS writes vocab.txt, train.src, train.tgt, pairs.tn and, of
other rows, ids.npy, prefix.npy, gap.npy; masked_task.py --compare FOLDER FILE counts what `tenon generate --json` made of these.

Sources are 2 to 5 letters in `[CLS] .. [SEP]`, padded to one length; the text to be made has them from the last to the first.
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import load_npy, save_npy, tensor  # noqa: E402

MARKS, LETTERS, LONGEST, NEW = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], "abcdefgh", 5, 40
SPEC = """import "unilm.tn"
train UniLM as pairs {
  bind       B = 32, T = 14, K = 5, V = 13, D = 64, N = 2, L = 48, rate = 0.0
  data       = seq2seq(source = "train.src", target = "train.tgt", vocab = "vocab.txt", rate = 0.7)
  loss       = mlm
  optimizer  = bert_adam(lr = 2e-3, decay = 0.01, eps = 1e-6, clip_each = 1.0)
  schedule   = bertadam_linear(warmup = 0.1, total = STEPS)
  steps      = STEPS
  seed       = 3
}
generate UniLM as unmasked { entry = step  method = beam(size = 5, rule = unilm, limit = 32)  stop = "[SEP]" }
"""


def texts(count, seed):
    draw = random.Random(seed)
    return ["".join(draw.choice(LETTERS) for _ in range(draw.randint(2, LONGEST))) for _ in range(count)]


def write(folder, count, steps):
    os.makedirs(folder, exist_ok=True)
    rows = texts(count, 1)
    files = {"vocab.txt": MARKS + list(LETTERS), "train.src": [" ".join(row) for row in rows],
             "train.tgt": [" ".join(reversed(row)) for row in rows], "pairs.tn": [SPEC.replace("STEPS", steps).rstrip()]}
    for name, lines in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    begun = [[2, *(len(MARKS) + LETTERS.index(letter) for letter in row), 3] for row in texts(NEW, 2)]
    arrays = {"ids": [row + [0] * (LONGEST + 2 - len(row)) for row in begun], "prefix": [len(row) for row in begun],
              "gap": [LONGEST + 2 - len(row) for row in begun]}
    for name, values in arrays.items():
        save_npy(os.path.join(folder, f"{name}.npy"), tensor("i32", values))


def compare(folder, path):
    ids, prefix = (load_npy(os.path.join(folder, f"{name}.npy")) for name in ("ids", "prefix"))
    with open(path, encoding="utf-8") as file:
        found = [json.loads(line)[0] for line in file]
    if len(found) != NEW:
        sys.exit(f"WRONG: {len(found)} texts of {NEW}")
    wrong = sum(each["ids"] != list(reversed(ids.row(row)[1:prefix.values[row] - 1])) or not each["ended"]
                for row, each in enumerate(found))
    if wrong * 10 > NEW:
        sys.exit(f"WRONG: {wrong} of {NEW} texts")
    print(f"{NEW // 10} wrong texts of {NEW} at most")


if __name__ == "__main__" and sys.argv[1] == "--compare":
    compare(*sys.argv[2:])
elif __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), sys.argv[3])
