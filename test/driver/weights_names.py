"""Files of weights-names.test: labelled texts, words, and weights with other notes.

weights_names.py make FOLDER
weights_names.py classes FILE              the note of the vocabulary: its classes, and its unit
weights_names.py old FILE HASH NEW         the note as it was before it had classes: with this hash
weights_names.py same FILE FILE            whether two notes are of the same symbols
"""
import json
import os
import struct
import sys

SPEC = """model Tiny {
  config V = 8, D = 4, C = 3
  dim    B, T
  in     ids: index(V)[B, T], len: index(T + 1)[B], label: index(C)[B]
  param  emb: [V, D] ~ normal(0.1)
  use    head = Linear[D -> C]
  let    x = sum[T](where(iota[T]() < len, emb[V: ids], 0)) / max(len, 1)
  let    logits = head(x)
  out    logits
  loss   ce = mean(cross_entropy[C](logits, label))
}
train Tiny as rows {
  bind      B = 4, T = 4
  data      = single(file = "three.tsv", vocab = "words.txt", held_out = 0.25)
  loss      = ce
  optimizer = sgd(lr = 1e-30)
  steps     = 1
}
"""
WORDS = ["[PAD]", "[UNK]", "a", "b", "c", "d", "e", "f"]


def rows(path, labels, first=""):
    with open(path, "w", encoding="utf-8") as file:
        file.write(first)
        for i in range(40):
            file.write(f"{labels[i % len(labels)]}\t{WORDS[2 + i % 6]} {WORDS[2 + i // 6 % 6]}\n")


def lines(path, texts):
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(text + "\n" for text in texts))


def make(folder):
    def at(name):
        return os.path.join(folder, name)
    with open(at("tiny.tn"), "w", encoding="utf-8") as file:
        file.write(SPEC)
    with open(at("wide.tn"), "w", encoding="utf-8") as file:
        file.write(SPEC.replace("C = 3", "C = 4"))
    with open(at("loads.tn"), "w", encoding="utf-8") as file:
        file.write(SPEC.replace("C = 3", "C = 4").replace("  loss      =", '  init      = load("w.safetensors")\n  loss      ='))
    lines(at("words.txt"), WORDS)
    lines(at("swapped.txt"), WORDS[:2] + WORDS[:1:-1])
    lines(at("more.txt"), WORDS + ["g"])
    rows(at("three.tsv"), ["plain", "question", "shout"])
    rows(at("two.tsv"), ["question", "shout"])
    rows(at("new.tsv"), ["question", "shout", "answer"])
    rows(at("other.tsv"), ["no", "yes"])
    rows(at("numbers.tsv"), ["0", "1"])
    rows(at("mixed.tsv"), ["0", "1"], "label\ta b\n")


def header(path):
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8:8 + size]), content[8 + size:]


def note(path):
    return json.loads(header(path)[0]["__metadata__"]["tenon.vocabulary"])


command, *files = sys.argv[1:]
if command == "make":
    make(files[0])
elif command == "classes":
    print(note(files[0])["unit"], note(files[0]).get("classes"))
elif command == "same":
    print("same symbols" if note(files[0])["xxh3"] == note(files[1])["xxh3"] else "WRONG: other symbols")
else:
    found, values = header(files[0])
    old = note(files[0])
    del old["classes"]
    old["xxh3"] = files[1]
    found["__metadata__"]["tenon.vocabulary"] = json.dumps(old)
    text = json.dumps(found).encode()
    with open(files[2], "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + values)
