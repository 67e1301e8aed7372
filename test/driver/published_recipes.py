#!/usr/bin/env python3
"""Trains every published recipe of models/*.tn for two steps: on data of the kind that it names, in small sizes, from drawn
weights.

usage: published_recipes.py MODELS FOLDER [--only TEXT] [--spoil]

Sizes are those of the recipe `small`, but for batches and lengths, which are the published ones up to MOST. A recipe that is not
supported yet has to say so, and one of `arrays` is left out. --spoil: texts of one task are read without their vocabulary.
"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MOST = {"B": 4, "T": 128, "S": 64, "K": 12, "M": 16, "R": 9}
WORDS = [f"w{number}" for number in range(30)]
# Configs that published data ask for, so that they stay as published: most places, pictures of 224 x 224, ids of seven tasks.
KEPT = {"resnet": "XYK", "vit": "CXYPK", "ernie2": "J"}


class Data:
    """Files of every name that a recipe has, in one folder."""

    def __init__(self, folder):
        self.folder, self.draw = folder, random.Random(1)
        for name, marks in {"vocab.txt": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "."], "words.txt": ["<pad>", "<unk>"],
                            "ptb.vocab.txt": ["<unk>", "<eos>"], "bpe.vocab": ["<pad>", "<eos>", "<unk>"]}.items():
            self.write(name, marks + WORDS)
        self.texts()
        self.rows()
        self.questions()
        self.byte_pairs()
        pieces = os.path.join(HERE, "..", "data", "tokenizers", "pieces")
        shutil.copy(os.path.join(pieces, "xlnet.model"), os.path.join(folder, "spiece.model"))
        shutil.copy(os.path.join(pieces, "llama.model"), os.path.join(folder, "tokenizer.model"))
        for name in ("ones", "others"):
            for number in range(4):
                pixels = bytes(self.draw.randrange(256) for _ in range(40 * 30 * 3))
                self.write(f"imagenet/train/{name}/{number}.ppm", b"P6\n40 30\n255\n" + pixels)

    def write(self, name, lines):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(lines if isinstance(lines, bytes) else "".join(line + "\n" for line in lines).encode())

    def text(self, count=8, between=" "):
        return between.join(self.draw.choice(WORDS) for _ in range(count))

    def texts(self):
        def documents(between):
            return [self.draw.choice(["", self.text(5, between) + " .", self.text(9, between) + " ."]) for _ in range(1000)]

        for name in ("wiki/a", "zh/a", "corpus/a", "c4/a", "books/a", "webtext/a", "pile/a", "en/a", "text"):
            self.write(name + ".txt", documents(" "))
        for name in ("zh/a.seg", "en/a.seg"):
            self.write(name, documents("\t "))  # a tab behind each unit
        for name in ("wikitext-103/train.txt", "ptb.train.txt", "ptb.valid.txt", "train.en", "train.de", "train.src",
                     "train.tgt"):
            self.write(name, [self.text() for _ in range(3000)])

    def rows(self):
        for name, labels, texts in (("mnli/train", "abc", 2), ("snli/train", "abc", 2), ("rte/train", "ab", 2), ("cola", "01", 1),
                                    ("stsb", ("0.5", "2.25"), 2), ("mnli", "abc", 2), ("qnli", "01234567", 9),
                                    ("discourse", "0123", 2), ("clicks", "012", 2), ("imdb", ("neg", "pos"), 1),
                                    ("sst/train", "01", 1)):
            self.write(name + ".tsv", ["\t".join([self.draw.choice(labels)] + [self.text() for _ in range(texts)])
                                       for _ in range(40)])
        tags = [[f"{word} {self.draw.choice(['O', 'B-X', 'I-X'])}" for word in self.text().split()] + [""] for _ in range(40)]
        self.write("train.conll", sum(tags, []))

    def questions(self):
        def paragraph(number, lacks):
            words = self.text(40).split()
            place = self.draw.randrange(20)
            answer = {"text": words[place], "answer_start": len(" ".join(words[:place] + [""]))}
            asked = {"id": str(number), "question": self.text(5), "answers": [] if lacks else [answer],
                     "is_impossible": lacks}
            return {"context": " ".join(words), "qas": [asked]}

        for name, every in (("squad/train-v1.1.json", 99), ("squad/train-v2.0.json", 3), ("train-v1.1.json", 99)):
            paragraphs = [paragraph(number, number % every == every - 1) for number in range(30)]
            self.write(name, [json.dumps({"version": "0", "data": [{"title": "", "paragraphs": paragraphs}]})])

    def byte_pairs(self):
        """Of GPT-2's kind: every byte as a character, one merge, and the marks of all recipes."""
        shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
        symbols = [chr(byte) if byte in shown else chr(256 + sum(other not in shown for other in range(byte)))
                   for byte in range(256)]
        marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "[start]", "[delim]", "[extract]", "<|endoftext|>"]
        self.write("vocab.json", [json.dumps({symbol: number for number, symbol in enumerate(marks + symbols + ["\u0120w"])})])
        self.write("merges.txt", ["#version: 0.2", "\u0120 w"])


def sizes(name, model, body, text):
    """Options of `tenon train`: configs of the recipe `small`, dims of this one."""
    header = re.search(rf"^model {model} \{{(.*?)^  in ", text, re.M | re.S).group(1)

    def is_config(size):
        return re.search(rf"\b{size} = ", header)

    def bound(recipe):
        lines = re.search(r"^  bind +(.*?)(?=^  [a-z#])", recipe, re.M | re.S)
        return re.findall(r"\b(\w+) = (\d[\d_]*)\b(?!\.)", lines.group(1)) if lines else []

    small = re.search(rf"^train {model} as small \{{(.*?)^\}}", text, re.M | re.S)
    chosen = {size: value for size, value in bound(small.group(1) if small else "")
              if is_config(size) and size != "L" and size not in KEPT.get(name, "")}
    chosen |= {"V": "400"} if is_config("V") and name != "transformer_xl_adaptive" else {}
    dims = {size: min(int(value.replace("_", "")), MOST.get(size, 1 << 30)) for size, value in bound(body) if not is_config(size)}
    return [word for size, value in chosen.items() for word in ("--set", f"{size}={value}")], dims


def train(command, dims, folder):
    """Again with sizes that the recipe leaves to whoever trains."""
    while True:
        words = [word for size, value in dims.items() for word in ("--bind", f"{size}={value}")]
        done = subprocess.run(command + words, cwd=folder, capture_output=True, text=True, check=False)
        left = re.search(r"leaves ([A-Z](?:, [A-Z])*) open", done.stderr)
        if done.returncode == 0 or not left:
            return done
        dims |= {size: MOST[size] for size in left.group(1).split(", ")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models")
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    models, data = os.path.join(options.folder, "models"), os.path.join(options.folder, "data")
    shutil.copytree(options.models, models)
    Data(data)
    started, wrong = 0, 0
    for name in sorted(os.listdir(models)):
        path = os.path.join(models, name)
        if not name.endswith(".tn"):
            continue
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"^  init +=.*\n", "", file.read(), flags=re.M)  # public weights have the published sizes
        if options.spoil:
            text = re.sub(r'(groups\(file = "qnli.tsv"), vocab = "vocab.txt"', r"\1", text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        for model, recipe, body in re.findall(r"^train (\w+) as (\w+) \{(.*?)^\}", text, re.M | re.S):
            if recipe == "small" or "arrays(" in body or options.only not in f"{name} {recipe}":
                continue
            sets, dims = sizes(name[:-3], model, body, text)
            out = os.path.join(options.folder, "runs", f"{name[:-3]}-{recipe}")
            done = train(["tenon", "train", path, "--model", model, "--recipe", recipe, *sets, "--steps", "2", "--quiet", "--out",
                          out], dims, data)
            waits = re.search(r"not supported yet: .*", done.stderr)
            if done.returncode == 0:
                started += 1
            elif done.returncode == 1 and waits:
                print(f"{name} {recipe}: {waits.group()}")
            else:
                wrong += 1
                print(f"{name} {recipe}: WRONG: {' '.join(done.args)}\n{done.stderr}")
    print(f"{started} recipes start, {wrong} wrong")
    sys.exit(1 if wrong or not started else 0)


if __name__ == "__main__":
    main()
