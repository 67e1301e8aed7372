#!/usr/bin/env python3
"""`slices = n` in the models of this repository: the losses and gradients of a batch, but for rounding, in f64.

usage: sliced_models.py FILE.. [--spoil]

FILE: of models/, without `.tn`: its recipes of CASES, at small sizes, in 2 or 4 slices of 4 rows by turns, models of BOTH in
both. Weights and masks are 0 for some places, and not the same for all rows.
--spoil: some weights of the second run are others, which has to be noticed.
"""
import argparse
import json
import os
import random
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
from tensors import Tensor  # noqa: E402

SMALL = {"T": 8, "V": 24, "D": 64, "N": 2, "L": 16}
GPT = {**SMALL, "D": 16, "E": 8}
HEADS = {**SMALL, "K": 3}
XL = {"T": 8, "V": 24, "D": 16, "H": 2, "F": 16, "N": 2, "M": 4}
# Per file: models with their sizes, of the recipe `small`; a text: why it has no slices. Not ELECTRA and MT-DNN: their losses
# hang on draws, and those of a slice are others than those of the batch; not ERNIE 2.0, whose tasks are entries of their own
# (sliced_tasks.py).
CASES = {
    "alibi": {"MPT": {"T": 8, "V": 24, "D": 16, "H": 2, "N": 2}},
    "bert": {"BERT": {**HEADS, "E": 8, "F": 16}},
    "bert_heads": {"Classify": {**SMALL, "C": 3}, "Span": SMALL, "Tag": {**SMALL, "C": 3}, "Choice": {**SMALL, "A": 2}},
    "ernie1": {"Ernie1": HEADS},
    "gpt1": {"GPT1": GPT, "GPT1Tasks": {**GPT, "C": 3}},
    "gpt2": {"GPT2": GPT},
    "gru": {"ClassifyGRU": {"T": 6, "V": 24, "X": 8, "C": 8}, "GRULM": {"T": 6, "V": 24, "C": 8}},
    "llama": {"Llama": {**GPT, "K": 1, "F": 16}},
    "lstm": {"TagLSTM": {"T": 6, "V": 24, "X": 8, "C": 8, "R": 4}, "LSTMLM": {"T": 6, "V": 24, "C": 8}},
    "mamba": {"Mamba": {"T": 8, "V": 24, "D": 16, "N": 2}},
    "moe": {"MoE": "a value of loss balance is computed over its rows"},
    "nezha": {"Nezha": {key: size for key, size in HEADS.items() if key != "L"}},
    "resnet": {"ResNet": "whose first axis is not B"},
    "rnn": {"TagRNN": {"T": 6, "V": 24, "X": 8, "C": 8, "R": 4}, "RNNLM": {"T": 6, "V": 24, "C": 8}},
    "roberta": {"Roberta": HEADS},
    "star_transformer": {"StarTransformer": {"T": 6, "V": 24, "X": 8, "D": 8, "F": 16, "H": 2, "E": 4}},
    "t5": {"T5": {"S": 6, "T": 8, "V": 24, "D": 16, "H": 2, "E": 8, "F": 16}},
    "transformer": {"Transformer": {"S": 6, "T": 8, "V": 24, "D": 16, "H": 2, "F": 16}},
    "transformer_xl": {"TransformerXL": XL},
    "transformer_xl_adaptive": {"TransformerXL": {"T": 8, "D": 16, "H": 2, "F": 16, "M": 4, "shrink": 2}},
    "unilm": {"UniLM": HEADS},
    "universal_transformer": {"Universal": {"S": 6, "T": 8, "V": 24, "D": 16, "H": 2, "F": 16, "A": 2}},
    "vit": {"ViT": {"D": 16, "E": 8}},
    "xlnet": {"XLNet": {"T": 8, "K": 3, "V": 24, "D": 16, "H": 2, "F": 16, "N": 2, "M": 4, "R": 4}},
}
ROWS = 4
BOTH = ("BERT", "GPT2", "TagLSTM")


class Wrong(Exception):
    pass


def artifact(name, model, sizes, slices):
    """Of the model's recipe `small` with a setting more; what it imports stands beside it."""
    path = driver.model(name + ".tn")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    begin = text.index(f"train {model} as small {{")
    end = text.index("\n}\n", begin)
    if slices > 1:
        text = text[:end] + f"\n  slices     = {slices}" + text[end:]
    body = text[text.index(f"model {model} "):]
    dims = re.findall(r"^  dim +(.*)$", body[:body.index("\n}\n")], re.M)
    named = {re.split(r"[ <=]", each.strip())[0] for line in dims for each in line.split("#")[0].split(",")}
    words = []
    for size, value in {"B": ROWS, **sizes}.items():
        words += ["--bind-recipe" if size in named else "--set", f"{size}={value}"]
    return driver.compiled(beside(path, text), "--model", model, "--recipe", "small", "--entry", "train", "--f64", "--tier",
                           driver.best_tier(), "--quick", *words)


def beside(path, text):
    """The text in a folder that has links to all other specifications."""
    made = driver.specification(text, os.path.basename(path)[:-3])
    for other in os.listdir(os.path.dirname(path)):
        link = os.path.join(os.path.dirname(made), other)
        if other.endswith(".tn") and not os.path.lexists(link):
            os.symlink(os.path.join(os.path.dirname(path), other), link)
    return made


def inputs(model, path, draw):
    entries = json.loads(driver.tenon("inspect", path, "--entry", "train", "--json"))["entries"]
    bounds = {each["name"]: each["bound"] for entry in entries if entry["name"] == "train" for each in entry["inputs"]}
    result = {}
    for name, (_, info) in model.inputs().items():
        shape = tuple(info.shape[:info.rank])
        count = 1
        for size in shape:
            count *= size
        kind = library.KINDS[info.type]
        if kind == "i32":
            high = bounds[name] if isinstance(bounds[name], int) else 2
            values = [draw.randrange(max(1, high)) for _ in range(count)]
        elif kind == "bool":
            values = [draw.randrange(2) for _ in range(count)]
        else:
            values = [draw.choice((0.0, 0.0, 1.0, draw.random())) for _ in range(count)]
        result[name] = Tensor(kind, shape, values)
    return result


def numbers(model, values):
    for name, tensor in values.items():
        model.set_input(name, tensor)
    found = {f"loss {name}": tensor for name, tensor in model.half("gradients").items()
             if name not in ("grad_norm", "learning_rate")}
    return found | {name: model.gradient(name) for name in model.parameters()}


def check(name, model, sizes, spoil):
    if isinstance(sizes, str):
        try:
            artifact(name, model, {}, 2)
        except driver.Failed as failed:
            if "T0644" not in failed.text and "T0690" not in failed.text or sizes not in failed.text:
                raise Wrong(f"{name} {model}: {failed.text}") from None
            return f"refused: {sizes}"
        raise Wrong(f"{name} {model} is not refused")
    path = artifact(name, model, sizes, 1)
    plain = library.Model(path, "train", {})
    values = inputs(plain, path, random.Random(3))
    wanted = numbers(plain, values)
    largest = max(abs(x) for tensor in wanted.values() for x in tensor.values)
    if not 0 < largest < float("inf"):
        raise Wrong(f"{name} {model}: gradients up to {largest}")
    worst = 0
    cuts = (2, 4) if model in BOTH else (2,) if sorted(CASES).index(name) % 2 else (4,)
    for slices in cuts:
        if spoil:
            for key, tensor in values.items():
                if tensor.kind == "f64":
                    values[key] = Tensor(tensor.kind, tensor.shape, [1.0 - x for x in tensor.values])
        found = numbers(library.Model(artifact(name, model, sizes, slices), "train", {}), values)
        for key, want in wanted.items():
            scale = max(max(map(abs, want.values)), 1e-3 * largest)  # of what is 0 by its formula
            differs = max(abs(x - y) for x, y in zip(found[key].values, want.values, strict=True)) / scale
            worst = max(worst, differs)
            if not differs <= 1e-12:
                raise Wrong(f"{name} {model} in {slices} slices: {key} differs by {differs} of its largest")
    return f"{' and '.join(map(str, cuts))} slices, {worst:.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", choices=sorted(CASES))
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    for name in options.files:
        for model, sizes in CASES[name].items():
            print(f"{name} {model}: {check(name, model, sizes, options.spoil)}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
