"""Rows whose right and found labels are those of a case of ../data/Inputs/measures/cases.json, by a model that finds what letters
say, and what its measures should be. measures.py FOLDER CASES: writes; with --check NAME it compares the numbers that `tenon eval
--json` or `tenon score --json` gives (standard input) with the case, and says how many are right."""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import Tensor, save_safetensors  # noqa: E402

FIRST = ord("a")


def save(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def tagged(folder, right, found):
    """Each word is the letter of the tag that is found, and at times an x, of whose place nothing counts."""
    labels, draw = sorted({tag for row in right for tag in row}), random.Random(3)
    save(os.path.join(folder, "words.conll"), "\n".join(
        "".join(f"{chr(FIRST + labels.index(other))}{draw.choice(['', 'x', 'xx'])} {tag}\n" for tag, other in zip(row, others))
        for row, others in zip(right, found)))
    scores = [0.0] * (264 * len(labels))
    for number in range(len(labels)):
        scores[(FIRST + number) * len(labels) + number] = 1.0
    save_safetensors(os.path.join(folder, "tags.safetensors"), {"emb": Tensor("f32", [264, len(labels)], scores)})


def scored(folder, right, found):
    """Each row is one byte, whose number is what is found."""
    numbers = [0.0] * 264
    for row, number in enumerate(found):
        numbers[48 + row] = number
    save(os.path.join(folder, "scores.tsv"), "".join(f"{score}\t{chr(48 + row)}\n" for row, score in enumerate(right)))
    save_safetensors(os.path.join(folder, "scores.safetensors"), {"emb": Tensor("f32", [264], numbers)})


def sorted_(folder, right, found):
    """Each row is one byte, which says the class that is found."""
    scores = [0.0] * (264 * 2)
    for row, kind in enumerate(found):
        scores[(48 + row) * 2 + kind] = 1.0
    save(os.path.join(folder, "kinds.tsv"), "".join(f"{kind}\t{chr(48 + row)}\n" for row, kind in enumerate(right)))
    save_safetensors(os.path.join(folder, "kinds.safetensors"), {"emb": Tensor("f32", [264, 2], scores)})


def main(folder, path, *options):
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)
    kinds = next(case for case in reversed(cases["classes"]) if case[3] is not None)
    spans, numbers, bleu = cases["spans"][-1], cases["numbers"][-1], cases["bleu"][-1]
    wanted = {"tags": dict(zip(("span_precision", "span_recall", "span_f1"), (100 * each for each in spans[2]))),
              "scores": {"pearson": numbers[2], "spearman": numbers[3]},
              "kinds": {"matthews": kinds[2], "f1": kinds[3]},
              "texts": dict(zip(("bleu", *(f"precision_{order}" for order in range(1, 5)), "brevity_penalty", "words",
                                 "reference_words"), bleu[2]))}
    if options:
        given, all_ = json.load(sys.stdin), wanted[options[1]]
        right = [name for name, value in all_.items() if abs(given.get(name, 1e9) - value) < 1e-5 * max(1, abs(value))]
        print(f"{len(right)} of {len(all_)} right")
        return
    tagged(folder, *spans[:2])
    scored(folder, *numbers[:2])
    sorted_(folder, *kinds[:2])
    save(os.path.join(folder, "found.txt"), "".join(text + "\n" for text in bleu[0]))
    for number, references in enumerate(bleu[1]):
        save(os.path.join(folder, f"right{number}.txt"), "".join(text + "\n" for text in references))


main(*sys.argv[1:])
