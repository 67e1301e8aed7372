"""The numbers of `tenon eval` over batches of unequal size, against the same numbers computed here from all symbols at once.

metrics.py FOLDER          FOLDER has table.tn; says what it compared
metrics.py FOLDER control  expects means over batches instead, which must be refused
"""
import json
import math
import os
import struct
import subprocess
import sys

V, D = 256, 4
TEXT = ("the quick brown fox jumps over the lazy dog, and the dog sleeps on; " * 5)[:333]


def tenon(*words):
    done = subprocess.run(["tenon", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"WRONG: {' '.join(words)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def parameters(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header, data = json.loads(file.read(size)), file.read()
    return {name: struct.unpack(f"<{V * D}f", data[slice(*header[name]["data_offsets"])]) for name in ("emb", "head")}


class Symbols:
    """What the model says of each symbol but the first, given the one before it."""

    def __init__(self, weights):
        rows = {name: [values[i * D : i * D + D] for i in range(V)] for name, values in weights.items()}
        self.penalty = 0.01 * sum(x * x for x in weights["emb"])
        text = TEXT.encode()
        self.target = text[1:]
        self.loss, self.hit = [], []
        for here, following in zip(text, text[1:]):
            logits = [sum(a * b for a, b in zip(rows["emb"][here], head)) for head in rows["head"]]
            top = max(logits)
            self.loss.append(math.log(sum(math.exp(x - top) for x in logits)) + top - logits[following])
            self.hit.append(logits.index(top) == following)

    def numbers(self, places, rows):
        """Of these places as one batch of so many rows."""
        total = sum(self.loss[i] for i in places)
        mean = total / len(places)
        weight = sum(self.target[i] for i in places)
        hits = {symbol: [self.hit[i] for i in places if self.target[i] == symbol] for symbol in {self.target[i] for i in places}}
        return {"nll": mean, "reg": mean + self.penalty, "acc": sum(self.hit[i] for i in places) / len(places),
                "errors": sum(not self.hit[i] for i in places), "weighted": sum(self.loss[i] * self.target[i] for i in places) /
                weight,
                "per_row": total / rows, "per_symbol": math.exp(mean), "perplexity": math.exp(mean),
                "worst": max(self.loss[i] for i in places), "letters": len(hits),
                "macro": sum(sum(of) / len(of) for of in hits.values()) / len(hits),
                "odds": sum(self.hit[i] for i in places) / max(sum(not self.hit[i] for i in places), 1)}


def stream(rows, length):
    """Batches of byte_stream: each place of the text once, in rows of one length, a segment of each. Where the rows do not divide
    the text, those behind the remainder begin with a place of the row before, which does not count twice."""
    share, rest = divmod(len(TEXT) - 1, rows)
    size = share + (rest > 0)
    begins = [row * share + min(row, rest) - (rest > 0 and row >= rest) for row in range(rows)]
    return [[begins[row] + t for row in range(rows) for t in range(s, min(s + length, size)) if t > 0 or rest == 0 or row < rest]
            for s in range(0, size, length)]


def blocks(rows, length):
    """Batches of lm_blocks: whole blocks, then fewer, then a part of one."""
    whole, rest = divmod(len(TEXT) - 1, length)
    places = [list(range(b * length, (b + 1) * length)) for b in range(whole)]
    batches = [sum(places[i : i + rows], []) for i in range(0, whole, rows)]
    return batches + ([list(range(whole * length, whole * length + rest))] if rest else [])


def compare(name, got, wanted, places):
    for key, value in wanted.items():
        if not abs(got[key] - value) <= 2e-5 * max(1, abs(value)):
            sys.exit(f"WRONG: {name}: {key} is {got[key]}, expected {value}")
    if (got["covered"], got["of"]) != (places, len(TEXT)):
        sys.exit(f"WRONG: {name}: covered {got['covered']} of {got['of']}, expected {places} of {len(TEXT)}")
    print(f"{name}: {len(wanted)} numbers over {places} symbols")


def main():
    control = sys.argv[2:] == ["control"]
    os.chdir(sys.argv[1])
    with open("text.txt", "w", encoding="ascii") as file:
        file.write(TEXT)
    tenon("init", "table.tn", "-o", "w.safetensors", "--seed", "5")
    symbols = Symbols(parameters("w.safetensors"))
    cases = [("streams", "streams", 3, 8, stream, []), ("one batch", "wide", 60, 8, stream, []),
             ("blocks", "blocks", 3, 16, blocks, []),
             ("windows", "blocks", 3, 16, blocks, ["--stride", "5"]),
             ("two batches", "blocks", 3, 16, blocks, ["--batches", "2"])]
    for name, recipe, rows, length, task, options in cases:
        got = json.loads(tenon("eval", "table.tn", "--recipe", recipe, "--weights", "w.safetensors", "--text", "text.txt",
                               "--json", *options))
        batches = task(rows, length)[: 2 if "--batches" in options else None]
        places = sum(batches, [])
        wanted = symbols.numbers(places, len(places) / length)
        if control:
            each = [symbols.numbers(batch, len(batch) / length) for batch in batches]
            wanted = {key: sum(numbers[key] for numbers in each) / len(each) for key in wanted}
        if task is blocks and "--stride" not in options:  # a block has its places in order
            at = [[symbols.loss[i] for i in places if i % length == t] for t in range(length)]
            wanted["worst_place"] = max(sum(losses) / len(losses) for losses in at)
        if "--stride" in options:
            del wanted["per_row"]  # rows of windows overlap
        compare(name, got, wanted, len(places))


if __name__ == "__main__":
    main()
