#!/usr/bin/env python3
"""results.json: the figures that stand in the documents, and the tables made of them.

  test/bench/results.py            writes the tables of README.md and docs/measurements.md anew
  test/bench/results.py --check    exit 1 if a table differs from results.json

A table stands between the lines <!-- bench NAME --> and <!-- end -->; NAME is a function of TABLES below. `1.16 (`gpt2`)` in
another table is the ratio of that row of the summary.
"""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STORED = os.path.join(HERE, "results.json")
DOCUMENTS = ["README.md", os.path.join("docs", "measurements.md")]
TITLES = {
    "gpt2": "GPT-2 124M, B 4 T 64", "gpt2_long": "GPT-2 124M, B 2 T 512", "bert": "BERT-base, B 8 T 128, 19 predicted",
    "transformer_xl": "Transformer-XL 16 x 410, B 4 T 150 M 150",
    "transformer_xl_adaptive": "Transformer-XL 4 x 1024, adaptive, V 267,735, B 2 T 128 M 128",
    "xlnet": "XLNet-base, two streams, B 4 T 128, 21 predicted",
    "quickstart": "the quickstart's Transformer-XL", "relative_short": "relative attention alone, B 4 H 8 D 64 T 192 M 192",
    "relative_long": "relative attention alone, B 1 H 16 D 64 T 512 M 512",
    "lstm": "LSTM 2 x 650, B 20 T 35", "rnn": "RNN 2 x 650, B 20 T 35", "gru": "GRU 2 x 650, B 20 T 35",
    "resnet18": "ResNet-18, B 8, 64 x 64 (images/s)",
    "resnet50": "ResNet-50, B 4, 224 x 224 (images/s)",
    "transformer": "Transformer-base, B 16 S 32 T 32", "universal_transformer": "Universal Transformer 6 x 512, B 8 S 32 T 32",
    "llama": "Llama-type 12 x 768, 4 heads of keys, B 4 T 128", "star_transformer": "Star-Transformer, B 32 T 32",
    "gpt1": "GPT-1, 4 x 768, B 2 T 128", "nezha": "NEZHA, 4 x 768, B 2 T 128, 19 predicted",
    "unilm": "UniLM, 4 x 768, two masks, B 2 T 128, 19 predicted", "ernie": "ERNIE 2.0, 4 x 768, three losses, B 2 T 128",
    "roberta": "RoBERTa, 4 x 768, B 2 T 128, 19 predicted", "ernie1": "ERNIE 1.0, 4 x 768, two losses, B 2 T 128",
    "mtdnn": "MT-DNN, 4 x 768, pairs, B 4 T 64", "electra": "ELECTRA-small, 12 x 256 and 12 x 64, B 8 T 128, 19 drawn",
    "t5": "T5-small, B 4 S 64 T 64", "vit": "ViT-S/16, B 2, 224 x 224 (images/s)",
    "alibi": "ALiBi decoder 8 x 512, B 1 T 256", "moe": "mixture of 8 experts, 4 x 512, B 4 T 64",
    "mamba": "Mamba, 4 x 768, B 2 T 128"}


def key(row):
    return (list(TITLES).index(row["row"]), row["threads"], row["dropout"], row["tier"], numerics(row) != "f32", numerics(row))


def numerics(row):
    return row.get("numerics", "f32")


def store(machine, rows):
    """Puts the rows in place of those of the same name, threads, dropout, tier and numerics; what the tables do not need is left
    out."""
    kept = {key(row): row for row in load()["rows"]}
    kept.update({key(row): {name: value for name, value in row.items() if name not in ("seconds", "size")} | {"machine": machine}
                 for row in rows})
    with open(STORED, "w", encoding="utf-8") as file:
        json.dump({"rows": [kept[place] for place in sorted(kept)]}, file, indent=1)
        file.write("\n")


def load():
    if not os.path.exists(STORED):
        return {"rows": []}
    with open(STORED, encoding="utf-8") as file:
        return json.load(file)


def wanted(row):
    """Floor and goal that rows.json has now, also where they were others when the row was timed."""
    with open(os.path.join(HERE, "rows.json"), encoding="utf-8") as file:
        now = json.load(file)[row["row"]]
    now |= now.get(numerics(row) if numerics(row) != "f32" else row["tier"], {})
    return str(now["floor"]), str(now["goal"])


def rate(row, side):
    return f"{row[side]['tokens_per_second']:.{0 if row[side]['tokens_per_second'] >= 10 else 2}f}" if side in row else ""


def plain(rows, heads, cells):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(cells(row)) + " |" for row in rows])


def summarised(rows):
    return [row for row in rows if row["tier"] == "best" and numerics(row) == "f32" and row["dropout"] == 0
            and row["threads"] == (2 if row["row"] == "quickstart" else 1)]


def summary(rows):
    """README: the fastest peer alone."""
    heads = ["model", "threads", "Tenon", "fastest peer", "ratio", "share of peak", "peak, GFLOP/s", "memory, MiB, ours / theirs"]
    return plain(summarised(rows), heads, lambda row: [
        TITLES[row["row"]], str(row["threads"]), rate(row, "tenon"), f"{rate(row, row['fastest'])} ({row['fastest']})",
        f"{row['ratio']:.2f}", f"{row['tenon']['share_of_peak']:.0%}", f"{row['peak_gflops']:.0f}",
        f"{row['tenon']['peak_bytes'] >> 20} / {row[row['fastest']]['peak_bytes'] >> 20}"])


def whole(rows):
    """docs/measurements.md: every form of the peer."""
    rows = [row for row in rows if numerics(row) == "f32"]
    heads = ["row", "threads", "dropout", "tier", "Tenon", "stock", "eager", "compiled", "JAX", "ratio", "floor", "goal",
             "share of peak, ours / theirs", "peak, GFLOP/s", "memory, MiB, ours / theirs", "date"]
    return plain(rows, heads, lambda row: [
        TITLES[row["row"]], str(row["threads"]), str(row["dropout"]), row["tier"], rate(row, "tenon"), rate(row, "stock"),
        rate(row, "eager"), rate(row, "compiled"), rate(row, "jax"),
        f"**{row['ratio']:.2f}** ({row['spread'][0]:.2f}-{row['spread'][1]:.2f})", *wanted(row),
        f"{row['tenon']['share_of_peak']:.0%} / {row[row['fastest']]['share_of_peak']:.0%}", f"{row['peak_gflops']:.0f}",
        f"{row['tenon']['peak_bytes'] >> 20} / {row[row['fastest']]['peak_bytes'] >> 20}", row["date"]])


def mixed(rows):
    """docs/measurements.md: bf16 on both sides. Shares are of the peak of the instruction that is named, where it was probed."""
    heads = ["row", "threads", "tier", "Tenon", "stock", "eager", "compiled", "ratio", "share of peak, ours / theirs",
             "peak, GFLOP/s", "memory, MiB, ours / theirs", "date"]

    def shares(row):
        if "peak_of" not in row:
            return ["", ""]
        return [f"{row['tenon']['share_of_peak']:.0%} / {row[row['fastest']]['share_of_peak']:.0%}",
                f"{row['peak_gflops']:.0f}, `{row['peak_of']}`"]
    return plain([row for row in rows if numerics(row) == "bf16"], heads, lambda row: [
        TITLES[row["row"]], str(row["threads"]), row["tier"], rate(row, "tenon"), rate(row, "stock"), rate(row, "eager"),
        rate(row, "compiled"), f"**{row['ratio']:.2f}**", *shares(row),
        f"{row['tenon']['peak_bytes'] >> 20} / {row[row['fastest']]['peak_bytes'] >> 20}", row["date"]])


TABLES = {"summary": summary, "whole": whole, "mixed": mixed}


def filled(text, rows):
    """The document with its tables and the ratios in other tables made anew."""
    text = re.sub(r"(<!-- bench (\w+) -->\n).*?(<!-- end -->)",
                  lambda found: found[1] + "\n" + TABLES[found[2]](rows) + "\n\n" + found[3], text, flags=re.S)
    ratios = {row["row"]: f"{row['ratio']:.2f}" for row in summarised(rows)}
    cell = rf"\d+\.\d+ \(`({'|'.join(ratios)})`\)"
    return "\n".join(re.sub(cell, lambda found: f"{ratios[found[1]]} (`{found[1]}`)", line) if line.startswith("| ") else line
                     for line in text.split("\n"))


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    rows, stale = load()["rows"], []
    for name in DOCUMENTS:
        path = os.path.join(ROOT, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        fresh = filled(text, rows)
        if fresh == text:
            continue
        stale.append(name)
        if not arguments:
            with open(path, "w", encoding="utf-8") as file:
                file.write(fresh)
    for name in stale:
        print(f"{name}: {'its tables differ from test/bench/results.json' if arguments else 'written'}")
    return 1 if stale and arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
