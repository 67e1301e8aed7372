"""Files that the data tasks of recipes read, whose best held-out loss is known: the same letters as everywhere else in a row tell
what is hidden, so that the optimum is 0. `labels` are what the losses count, as often as they come.
"""
import os

from tasks import Loss

LETTERS = "ABCD"


MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class Files:
    """Lines by the name of the file, and a vocabulary of marks and `symbols`, each a word."""

    def __init__(self, symbols, **labels):
        self.lines, self.symbols = {}, [*MARKS, *symbols]
        self.losses = {loss: Loss(list(each), [0.0] * len(each)) for loss, each in labels.items()}

    def add(self, name, line):
        self.lines.setdefault(name, []).append(line + "\n")

    def save(self, folder, *before):
        """Behind the lines of `before`."""
        os.makedirs(folder, exist_ok=True)
        for name, lines in self.lines.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                for part in before:
                    file.writelines(part.lines[name])
                file.writelines(lines)
        with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as file:
            file.writelines(symbol + "\n" for symbol in self.symbols)


def spaced(letters):
    return " ".join(letters)


# Lines of one letter -----------------------------------------------------------------------------------------------------------


def even(size):
    return lambda _draw, letter: spaced(letter * size)


def turns(draw, _letter):
    """Two letters take turns."""
    return spaced("".join(draw.choice(LETTERS) for _ in range(2)) * 3)


def units(draw, letter):
    return "\t".join(spaced(letter * draw.randint(2, 3)) for _ in range(draw.randint(2, 3)))


def entities(draw, letter):
    return "\t".join(draw.choice(("{}", "[[{}]]")).format(spaced(letter * draw.randint(2, 3)))
                     for _ in range(draw.randint(2, 3)))


def documents(draw, lines, line, pairs=None, labels=LETTERS):
    """A document for each letter: a hidden symbol is that of its neighbours, and two texts belong together (the loss `pairs`)
    where they have one letter."""
    files = Files(LETTERS, mlm=labels, **({pairs: (0, 1)} if pairs else {}))
    for letter in LETTERS:
        for _ in range(lines // len(LETTERS)):
            files.add("text.txt", line(draw, letter))
        files.add("text.txt", "")
    return files


# ERNIE 2.0 ---------------------------------------------------------------------------------------------------------------------


def seven_tasks(draw, rows):
    """Two documents of four lines. A line is three times a letter that no other line has, so that two letters say how far apart
    their lines are, and a mark: `.` in all lines of a document, or a digit in this one alone. Classes of two texts: their
    letters, and how near these are."""
    text, files = [], Files("ABCDefgh.0123pqr")
    for letters, marks in (("ABCD", "...."), ("efgh", "0123")):
        for letter, mark in zip(letters, marks):
            text.append(3 * letter + mark)
            files.add("text.txt", spaced(text[-1]))
        files.add("text.txt", "")
    letters = [(i, j) for i in range(3) for j in range(3)]
    for _ in range(rows):
        i, j = draw.choice(letters)
        for name, label in (("relations.tsv", 5 * i + j), ("relevance.tsv", 2 - abs(i - j))):
            files.add(name, "\t".join((str(label), spaced("pqr"[i] * 2), spaced("pqr"[j] * 2))))
    # Of a pair two lines of four symbols and three marks: three of them are capitals in half of the lines, and in half of the
    # documents one of them stands elsewhere, too. The last line of four has no second one to be exchanged with.
    labels = {"mask": "".join(text), "capital": [1] * 3 + [0] * 8, "document": [1] + [0] * 10,
              "reorder": [0] * 10 + [1] * 3 + [2] * 3, "apart": range(3), "discourse": range(9),
              "retrieve": [2 - abs(i - j) for i, j in letters]}
    files.losses = Files("", **labels).losses
    return files


# One of several texts ----------------------------------------------------------------------------------


def choices(draw, rows, answers, digits):
    """The candidate that has the letter of the text's digit (x for 0 and so on) is the right one."""
    files = Files("abcdefgh012xyz", ce=range(answers))
    for _ in range(rows):
        label, wanted = draw.randrange(answers), draw.randrange(digits)
        others = [digit for digit in range(digits) if digit != wanted]

        def around(symbol):
            letters = [draw.choice("abcdefgh") for _ in range(2)]
            letters[draw.randrange(2)] = symbol
            return spaced(letters)

        texts = [around("xyz"[wanted if answer == label else draw.choice(others)]) for answer in range(answers)]
        files.add("choices.tsv", "\t".join((str(label), around("012"[wanted]), *texts)))
    return files
