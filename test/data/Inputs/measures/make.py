#!/usr/bin/env python3
"""Makes cases.json: what sacrebleu 2.6.0, seqeval 1.2.2, scikit-learn 1.9.1 and scipy 1.17.1 say of small cases, some of them drawn. `python make.py`
in this folder; not part of the tests, which read what it wrote."""
import json
import random
import warnings

from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import f1_score as f1_of_classes, matthews_corrcoef
from seqeval.metrics import f1_score, precision_score, recall_score

LINES = [
    "Hello, world!", "It's 1,234.5 or .5, 3. and U.S.A.", "a-b 3-4 x-3- -", "&quot;Q&amp;A&quot; &lt;b&gt; &amp;lt;",
    "x<skipped>y (z) [w] {v} a/b c|d ~e ^f `g", "na\u00efve caf\u00e9, \u00fcber. \u00ab\u00a0oui\u00a0\u00bb \u3000\u4f60\u597d\u3002 a\u2003b",
    "..., ,. .. 1. 2, 3,a ,4 a,5", "  two  blanks\tand a tab\x1cb\x85c ", "", "!@#$%&*()_+:;<=>?'\"\\", "price: $3.50-$4,000.00.", "1990-1995, 7-", ".,", "9.,9",
    "The cat sat on the mat.", "A\u0301, \ud83d\ude00. \u0663,\u0664 5\u00b2,6",
]
CORPORA = [  # texts, references of each
    (["the cat is on the mat", "there is a cat on the mat ."], [["The cat is on the mat.", "there is a cat on the mat."]]),
    (["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
     [["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
      ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."]]),
    (["the the the the the the the", "a b c d e"], [["the cat is on the mat", "a b x d e f g"], ["there is a cat", "a b c"]]),
    (["a b", "c"], [["a b", "c d"]]),                         # no four words in a row
    (["a b c d x y z w"], [["a c b d x z y w"]]),             # orders without a match are smoothed
    (["x y z w v"], [["a b c d e"]]),                         # nothing matches
    (["", "a b c d e f"], [["x", "a b c d e f"]]),
    (["a b c d"], [["a b c", ], ["a b c d e"]]),              # lengths that are as near: the shorter
    (["Er kostet 3,50 EUR, sagte sie."], [["Es kostet 3,50 EUR, sagt sie."]]),
]
TAGS = ["B-LOC", "B-ORG", "B-PER", "I-LOC", "I-ORG", "I-PER", "O"]
ROWS = [  # right, found
    ([["O", "O", "B-MISC", "I-MISC", "B-MISC", "I-MISC", "O"], ["B-PER", "I-PER"]],
     [["O", "O", "B-MISC", "I-MISC", "B-MISC", "O", "O"], ["B-PER", "I-PER"]]),
    ([["I-PER", "I-PER", "O", "I-LOC"]], [["B-PER", "I-PER", "O", "B-LOC"]]),     # IOB1 and IOB2 mark the same
    ([["I-PER", "B-PER", "I-PER"]], [["I-PER", "I-PER", "I-PER"]]),
    ([["B-PER", "I-LOC", "I-LOC"]], [["B-PER", "I-PER", "B-LOC"]]),
    ([["O", "O"]], [["O", "B-LOC"]]),
    ([["B-LOC"]], [["O"]]),
    ([["B-PER"], ["I-PER"]], [["B-PER"], ["I-PER"]]),                              # a span ends where its row does
    ([["B-A-B", "I-A-B", "O"]], [["B-A-B", "I-A-B", "I-A"]]),
]
NUMBERS = [([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]), ([0, 0, 1, 1, 2], [0.5, 0.5, 0.5, 3, -1]), ([1, 2], [4, 3]),
           ([2.5, 4.0, 0.0, 5.0, 3.2, 2.5], [2.1, 3.9, 0.4, 4.1, 3.9, 2.5])]
CLASSES = [([0, 1, 1, 0, 1], [0, 1, 0, 0, 1]), ([0, 0, 1], [0, 0, 0]), ([1, 1], [1, 1]), ([0, 0], [0, 0]), ([0, 1], [1, 0])]


def main():
    warnings.simplefilter("ignore")
    draw = random.Random(7)
    words = "the a cat dog sat ran on in mat . , 3.5 it's".split()
    for references in (1, 1, 3):
        texts = [" ".join(draw.choices(words, k=draw.randint(0, 14))) for _ in range(12)]
        rights = []
        for _ in range(references):
            rights.append([" ".join(word if draw.random() < 0.7 else draw.choice(words) for word in text.split()) or "mat"
                           for text in texts])
        CORPORA.append((texts, rights))
    for _ in range(6):
        right = [[draw.choice(TAGS) for _ in range(draw.randint(1, 12))] for _ in range(8)]
        ROWS.append((right, [[tag if draw.random() < 0.8 else draw.choice(TAGS) for tag in row] for row in right]))
    for _ in range(4):
        x = [draw.randint(0, 9) / 2 for _ in range(40)]
        NUMBERS.append((x, [value + draw.gauss(0, 1) for value in x]))
    for kinds in (2, 2, 2, 3, 5):
        right = [draw.randrange(kinds) for _ in range(40)]
        CLASSES.append((right, [each if draw.random() < 0.6 else draw.randrange(kinds) for each in right]))
    tokenizer, bleu = Tokenizer13a(), BLEU()
    cases = {
        "words": [[line, tokenizer(line.rstrip()).split()] for line in LINES],
        "bleu": [], "spans": [], "numbers": [[x, y, pearsonr(x, y)[0], spearmanr(x, y)[0]] for x, y in NUMBERS],
        "classes": [[right, found, matthews_corrcoef(right, found), f1_of_classes(right, found) if max(right) < 2 else None]
                    for right, found in CLASSES],
    }
    for texts, references in CORPORA:
        found = bleu.corpus_score(texts, references)
        cases["bleu"].append([texts, references, [found.score, *found.precisions, found.bp, found.sys_len, found.ref_len]])
    for right, found in ROWS:
        cases["spans"].append([right, found, [precision_score(right, found), recall_score(right, found),
                                              f1_score(right, found)]])
    with open("cases.json", "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(json.dumps(name) + ": [\n" + ",\n".join(json.dumps(each, default=float) for each in all_) + "\n]"
                                      for name, all_ in cases.items()) + "\n}\n")


main()
