"""Training on one's own arrays and lines of JSON.

own_data.py SPEC FOLDER TEST      TEST is learn, resume, messages, elsewhere, lines, classes, fixed, weights, stream, large or
                                  spoil
"""
import json
import math
import os
import random
import re
import resource
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from tensors import Tensor, load_npy, load_safetensors, save_npy, save_safetensors  # noqa: E402

WORDS = {"animal": ["cat", "dog", "horse"], "colour": ["red", "green", "blue"], "number": ["one", "seven", "ten"]}
KINDS = sorted(WORDS)


def tenon(*arguments, code=0, folder=None, memory=None):
    """Output of the command, which must end with `code`; `memory` bounds its address space in bytes."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))) if memory else None
    done = subprocess.run(["tenon", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          preexec_fn=limit, check=False)
    if done.returncode != code:
        sys.exit(f"WRONG: tenon {' '.join(arguments)}: exit code {done.returncode}, expected {code}\n{done.stdout}")
    return done.stdout


def words(count, seed):
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        kind = draw.choice(KINDS)
        rows.append((" ".join(draw.choice(WORDS[kind]) for _ in range(draw.randint(1, 4))), kind))
    return rows


def make_ragged(folder, rows):
    os.makedirs(folder, exist_ok=True)
    data, offsets = b"".join(text.encode() for text, _ in rows), [0]
    for text, _ in rows:
        offsets.append(offsets[-1] + len(text))
    save_npy(os.path.join(folder, "ids.npy"), Tensor("u8", [len(data)], data))
    save_npy(os.path.join(folder, "offsets.npy"), Tensor("i64", [len(offsets)], offsets))
    save_npy(os.path.join(folder, "label.npy"), Tensor("i64", [len(rows)], [KINDS.index(kind) for _, kind in rows]))


def make_lines(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for text, kind in rows:
            file.write(json.dumps({"text": text, "kind": kind, "more": [1, {"a": None}]}) + "\n")


def make_rows(folder, kind="f64", count=200):
    draw = random.Random(1)
    os.makedirs(folder, exist_ok=True)
    tensors = {}
    for prefix, size in (("", count), ("held_", 29)): # 29: the last batch of an evaluation is not whole
        labels = [draw.randrange(3) for _ in range(size)]
        values = [draw.gauss(0, 1) + 2 * (label == axis) for label in labels for axis in range(5)]
        tensors[prefix + "x"] = Tensor(kind, [size, 5], values)
        save_npy(os.path.join(folder, prefix + "keep.npy"), Tensor("bool", [size], [draw.random() < 0.9 for _ in labels]))
        save_npy(os.path.join(folder, prefix + "label.npy"), Tensor("i64", [size], labels))
    save_safetensors(os.path.join(folder, "all.safetensors"), tensors)


def metrics(run):
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def held_out(run):
    return [line["valid_nll"] for line in metrics(run) if "valid_nll" in line]


def below(value, bound, what):
    print(f"{what}: {'below' if value < bound else 'NOT BELOW'} {bound}")
    if not value < bound:
        sys.exit(f"WRONG: {what} is {value}")


def learn(spec, folder):
    """Ragged bytes with labels; the loss of rows that training never saw is far below ln 3 = 1.0986, in both precisions."""
    make_ragged(folder, words(300, 1))
    for more in ([], ["--f64"]):
        run = os.path.join(folder, "run" + "".join(more))
        tenon("train", spec, "--model", "Bytes", "--recipe", "ragged", "--out", run, "--quiet", *more, folder=folder)
        below(held_out(run)[-1], 0.3, "held out")
    output = tenon("eval", run, folder=folder)
    print("eval agrees:", f"nll {held_out(run)[-1]:.6f}" in output)
    make_rows(folder)
    run = os.path.join(folder, "rows")
    tenon("train", spec, "--model", "Rows", "--recipe", "small", "--out", run, "--quiet", folder=folder)
    print("evaluations:", len(held_out(run)))
    below(held_out(run)[-1], 0.7, "rows of numbers")


def spoil(spec, folder):
    """Labels that say nothing: the bound of `learn` must not hold."""
    draw = random.Random(2)
    make_ragged(folder, [(text, draw.choice(KINDS)) for text, _ in words(300, 1)])
    run = os.path.join(folder, "run")
    tenon("train", spec, "--model", "Bytes", "--recipe", "ragged", "--out", run, "--quiet", folder=folder)
    below(held_out(run)[-1], 0.3, "held out")


def resume(spec, folder):
    """Stopped and gone on with, against not stopped: the same bytes, with shuffled rows."""
    make_rows(folder)
    weights = []
    for name, stops in (("whole", ["60"]), ("parts", ["13", "44", "60"])):
        run = os.path.join(folder, name)
        for steps in stops:
            tenon("train", spec, "--model", "Rows", "--recipe", "small", "--out", run, "--steps", steps, "--threads", "2",
                  "--quiet", folder=folder)
        with open(os.path.join(run, "checkpoints", "step-60", "parameters.safetensors"), "rb") as file:
            weights.append(file.read())
        weights.append([line["loss"] for line in metrics(run) if "loss" in line])
    print("same bytes:", weights[0] == weights[2], "same losses:", weights[1] == weights[3], "of", len(weights[1]), "steps")


def messages(spec, folder):
    """Every mistake in the files is one sentence with file, row and value, and code 3."""
    def says(text, *more):
        output = tenon("train", spec, "--model", "Rows", "--recipe", "small", "--out", os.path.join(folder, "run"), "--quiet",
                       *more, code=3, folder=folder)
        output = output.replace(folder + "/", "")
        print("says:" if text in output and output.count("\n") == 1 else f"WRONG, expected {text!r}:", output.strip())
    labels = [i % 3 for i in range(200)]

    def label(kind, shape, values):
        make_rows(folder)
        save_npy(os.path.join(folder, "label.npy"), Tensor(kind, shape, values))

    label("i64", [200], labels[:17] + [7] + labels[18:])
    says("label.npy: row 17 holds 7, but the input 'label' takes 0 to 2")
    label("i64", [200], labels[:17] + [1 << 40] + labels[18:])
    says("label.npy: row 17 is 1099511627776, outside of 32 bits")
    label("f32", [200], labels)
    says("label.npy holds f32 values, but the input 'label' takes whole numbers")
    label("i64", [100, 2], labels)
    says("label.npy has 100 rows")
    label("i64", [200, 1], labels)
    says("label.npy has the shape [200, 1], but the input 'label' takes [rows]")
    label("i64", [200], labels)
    os.remove(os.path.join(folder, "keep.npy"))
    says("keep.npy")
    make_rows(folder, count=5)
    says("fewer than the 8 of one batch")
    make_rows(folder)
    says("all.safetensors has no tensor 'y'; it has ", "--data", "x=all.safetensors:y")
    says("which tensor? write \"all.safetensors:NAME\"", "--data", "x=all.safetensors")
    with open(os.path.join(folder, "keep.npy"), "wb") as file:
        file.write(b"no array")
    says("it is not a .npy file")
    for kind, value in (("f32", "nan"), ("f64", "inf"), ("f64", "-inf")):  # in a row that the first batches do not read
        make_rows(folder)
        save_npy(os.path.join(folder, "x.npy"), Tensor(kind, [200, 5], [0.5] * 992 + [float(value)] + [0.5] * 7))
        says(f"x.npy: row 198, element [2] is {value}, not a ", "--data", "x=x.npy")


def elsewhere(spec, folder):
    """A compiled model trains on files of another folder and under other names; a later command finds them again."""
    make_rows(os.path.join(folder, "there"))
    model, run = os.path.join(folder, "model"), os.path.join(folder, "run")
    tenon("compile", spec, "--model", "Rows", "--recipe", "small", "-o", model)
    os.rename(os.path.join(folder, "there", "label.npy"), os.path.join(folder, "classes.npy"))
    tenon("train", model, "--out", run, "--steps", "20", "--quiet", code=3, folder=folder)
    tenon("train", model, "--out", run, "--data", "there", "--data", "label=classes.npy", "--steps", "20", "--quiet",
          folder=folder)
    tenon("train", run, "--steps", "40", "--quiet")
    print("went on:", [line["step"] for line in metrics(run) if "loss" in line] == list(range(1, 41)))
    os.rename(os.path.join(folder, "classes.npy"), os.path.join(folder, "again.npy"))
    print("another file is said:", "before they were" in tenon("train", run, "--steps", "41", "--data", "label=again.npy",
                                                               folder=folder))
    whole = json.loads(tenon("eval", run, "--json"))
    given = json.loads(tenon("eval", run, "--json", "--data", "x=all.safetensors:held_x", "--data", "keep=held_keep.npy",
                             "--data", "label=held_label.npy", folder=os.path.join(folder, "there")))
    print("eval on files of the same contents agrees:", whole["nll"] == given["nll"])
    part = tenon("eval", run, "--data", "x=all.safetensors:held_x", folder=os.path.join(folder, "there"))
    print("what stays is said:", re.findall(r"note: the files of (.*) stay those of the recipe", part))
    print(tenon("train", run, "--text", "book.txt", code=2).strip())
    print(tenon("train", run, "--data", "z=z.npy", code=2).strip())


def without_metadata(path, other):
    """A copy of a weights file as other programs write it."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__")
    text = json.dumps(header).encode()
    with open(other, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def weights(spec, folder):
    """Weights without their run: evaluated on what the recipe holds out, and with the classes that they were trained with."""
    os.makedirs(folder, exist_ok=True)
    run, exported, bare = (os.path.join(folder, name) for name in ("run", "w.safetensors", "bare.safetensors"))
    model = ("--model", "Bytes", "--recipe", "lines")

    def evaluate(*arguments, code=0):
        return tenon("eval", *arguments, code=code, folder=folder).replace(folder + "/", "")

    make_lines(os.path.join(folder, "lines.jsonl"), words(300, 3))
    tenon("train", spec, *model, "--out", run, "--quiet", folder=folder)
    tenon("export", run, "-o", exported)
    without_metadata(exported, bare)
    others = os.path.join(folder, "others.jsonl")
    make_lines(others, [(text, kind) for text, kind in words(50, 4) if kind != "animal"])
    checkpoint = os.path.join(run, "checkpoints", "step-80", "parameters.safetensors")
    for what in (("--data", folder), ("--text", others)):
        wanted = evaluate(run, *(what if what[0] == "--text" else ()))
        same = [evaluate(spec, *model, "--weights", file, *what) == wanted for file in (exported, checkpoint)]
        print(wanted.splitlines()[-1], "as in the run:", same)
    print(evaluate(spec, *model, "--weights", bare, "--text", others, code=3).strip())
    print(*(line for line in evaluate(spec, *model, "--weights", bare, "--data", folder).splitlines() if "classes" in line))
    make_lines(others, [(text, kind + "s") for text, kind in words(50, 4)])
    tenon("train", spec, *model, "--text", others, "--out", run + "2", "--steps", "1", "--quiet", folder=folder)
    print(evaluate(run, "--weights", os.path.join(run + "2", "checkpoints", "step-1", "parameters.safetensors"), code=3).strip())


def lines(spec, folder):
    """Texts and names of classes; the names stay those of the run."""
    os.makedirs(folder, exist_ok=True)
    path, run = os.path.join(folder, "lines.jsonl"), os.path.join(folder, "run")

    def train(*more, code=0):
        return tenon("train", spec, "--model", "Bytes", "--recipe", "lines", "--out", run, "--quiet", *more, code=code,
                     folder=folder).replace(folder + "/", "").strip()

    make_lines(path, words(300, 3))
    train()
    below(held_out(run)[-1], 0.3, "held out")
    with open(os.path.join(run, "vocabulary.json"), encoding="utf-8") as file:
        print("classes:", json.load(file)["classes"])
    other = os.path.join(folder, "other.jsonl")
    make_lines(other, [(text, kind) for text, kind in words(50, 4) if kind != "animal"]) # ids must not move up
    figures = json.loads(tenon("eval", run, "--text", other, "--json").splitlines()[-1])    # behind notes
    below(figures["nll"], 0.3, "a file without the first class")
    for line in ('{"text": "x", "kind": "plant"}', '{"text": "x", "kind": 3}', '{"text": "x"', '{"text": "x"}',
                 '{"text": ["x"], "kind": "number"}',
                 '["x"]', '{"text": [1, 256], "kind": "number"}'):
        with open(path, "a", encoding="utf-8") as file:
            file.write("\n" + line + "\n")
        print(train("--steps", "90", code=3))
        make_lines(path, words(300, 3))
    make_lines(path, [("x" * 20, "a"), ("y", "b"), ("z", "c"), ("w", "d")] * 5)
    print(train("--fresh", code=3))


def classes(spec, folder):
    """Training says how many rows each class has, and names those that are misspelt."""
    os.makedirs(folder, exist_ok=True)
    path, run = os.path.join(folder, "lines.jsonl"), os.path.join(folder, "run")

    def train(*more, code=0, recipe="lines", fresh=True):
        output = tenon("train", spec, "--model", "Bytes", "--recipe", recipe, "--out", run, *(["--fresh"] if fresh else []),
                       *more, code=code, folder=folder)
        return output.replace(folder + "/", "").strip()

    def said(output, start):
        return [line for line in output.splitlines() if line.startswith(start)]

    rows = words(300, 3)
    count = {kind: sum(1 for _, other in rows if other == kind) for kind in KINDS}
    make_lines(path, rows)
    every = "classes of label: " + ", ".join(f"{number} {kind}: {count[kind]}" for number, kind in enumerate(KINDS))
    print("of all rows:", said(train("--steps", "1", "--held-out", "0"), "classes of") == [every])
    part = said(train("--steps", "1"), "classes of")[0]
    print("of those for training:", sum(map(int, re.findall(r": (\d+)(?:,|$)", part))), re.sub(r": \d+(,|$)", r"\1", part))
    print("quiet:", said(train("--steps", "1", "--quiet"), "classes of"))
    print(said(train("--steps", "1", "--set", "C=20", "--held-out", "0"), "classes of")[0])
    make_lines(path, [row for row in rows if row[1] != "animal"])
    print(said(train("--steps", "1", "--quiet"), "warning"))
    make_ragged(folder, rows)
    print("of an array:", said(train("--steps", "1", "--held-out", "0", recipe="ragged"), "classes of") ==
          ["classes of label: " + ", ".join(f"{number}: {count[kind]}" for number, kind in enumerate(KINDS))])

    make_lines(path, rows[:40] + [("one", "nunber"), ("ten", "number")] + rows[40:])
    print(train("--quiet", code=3))
    make_lines(path, rows)
    train("--quiet", "--steps", "1")
    make_lines(path, rows + [("red", "color")])
    print(train("--quiet", "--steps", "2", code=3, fresh=False))
    make_lines(os.path.join(folder, "other.jsonl"), [("seven", "numbers")])
    make_lines(path, rows)
    print(train("--quiet", "--valid-text", "other.jsonl", code=3))
    print(tenon("eval", run, "--text", "other.jsonl", code=3, folder=folder).strip())


def cross_entropy(logits, label):
    top = max(logits)
    return top + math.log(sum(math.exp(value - top) for value in logits)) - logits[label]


def fixed(spec, folder):
    """An input that is the same in every batch, through train, eval and export: the loss of the exported weights, computed
    here."""
    make_rows(folder)
    rarity = [0.5, 2.0, 0.0]
    save_npy(os.path.join(folder, "rarity.npy"), Tensor("f64", [3], rarity))
    run, exported = os.path.join(folder, "run"), os.path.join(folder, "w.safetensors")
    model = ("--model", "Rare", "--recipe", "small")
    tenon("train", spec, *model, "--out", run, "--quiet", folder=folder)
    tenon("export", run, "-o", exported)
    of_run = json.loads(tenon("eval", run, "--json", folder=folder))["nll"]
    of_weights = json.loads(tenon("eval", spec, *model, "--weights", exported, "--json", folder=folder))["nll"]
    weights, data = load_safetensors(exported), load_safetensors(os.path.join(folder, "all.safetensors"))
    matrix, bias, x = (source[name].values for source, name in ((weights, "head.weight"), (weights, "head.bias"),
                                                                (data, "held_x")))
    labels = load_npy(os.path.join(folder, "held_label.npy")).values
    own = [rarity[label] * cross_entropy([bias[c] + sum(matrix[5 * c + f] * x[5 * row + f] for f in range(5)) for c in range(3)],
                                         label)
           for row, label in enumerate(labels)]
    print("eval of the run and of its weights agree:", of_run == of_weights == held_out(run)[-1]
          or (of_run, of_weights, held_out(run)[-1]))
    print("and so does the formula:", abs(sum(own) / 29 - of_run) < 1e-5 or (sum(own) / 29, of_run))
    losses = [line["loss"] for line in metrics(run) if "loss" in line]
    print("the loss falls:", sum(losses[-10:]) < 0.8 * sum(losses[:10]))
    save_npy(os.path.join(folder, "rarity.npy"), Tensor("f64", [3], [1.0, 1.0, 1.0]))
    print("another file is another loss:",
          json.loads(tenon("eval", run, "--json", folder=folder).splitlines()[-1])["nll"] != of_run)
    save_npy(os.path.join(folder, "rarity.npy"), Tensor("f64", [2], [1.0, 1.0]))
    print(tenon("train", run, "--steps", "130", code=3, folder=folder).strip())


def stream(spec, folder):
    """Measurements in time, with a state that goes on from segment to segment."""
    os.makedirs(folder, exist_ok=True)
    draw = random.Random(5)
    values = [draw.gauss(0, 1) for _ in range(400)]
    save_npy(os.path.join(folder, "x.npy"), Tensor("f64", [200, 2], values))
    save_npy(os.path.join(folder, "y.npy"),
             Tensor("f32", [200], [0.5 * values[2 * t] - 0.2 * values[2 * t + 1] for t in range(200)]))
    run = os.path.join(folder, "run")
    tenon("train", spec, "--model", "Drift", "--recipe", "small", "--out", run, "--quiet", folder=folder)
    losses = [line["loss"] for line in metrics(run) if "loss" in line]
    print("the loss falls:", sum(losses[-10:]) < 0.7 * sum(losses[:10]))


def large(spec, folder):
    """A file that is larger than the address space of the command: it is read row by row."""
    make_rows(folder)
    rows, wide = 40_000_000, os.path.join(folder, "wide.npy")
    header = repr({"descr": "<f8", "fortran_order": False, "shape": (rows, 5)})
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(wide, "wb") as file: # 1.6 GB with holes: no disk
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        file.truncate(10 + len(header) + rows * 40)
    for name, size in (("keep", 1), ("label", 8)):
        header = repr({"descr": "|b1" if size == 1 else "<i8", "fortran_order": False, "shape": (rows,)})
        header += " " * (-(10 + len(header) + 1) % 64) + "\n"
        with open(os.path.join(folder, f"wide_{name}.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
            file.truncate(10 + len(header) + rows * size)
    run, model = os.path.join(folder, "run"), os.path.join(folder, "model")
    tenon("compile", spec, "--model", "Rows", "--recipe", "small", "-o", model)
    tenon("train", model, "--out", run, "--quiet", "--steps", "5", "--threads", "1", "--data", f"x={wide}", "--data",
          "keep=wide_keep.npy", "--data", "label=wide_label.npy", folder=folder, memory=1200 << 20)
    print("steps:", len([line for line in metrics(run) if "loss" in line]))


if __name__ == "__main__":
    specification, place, test = sys.argv[1:]
    place = os.path.abspath(place)
    os.makedirs(place, exist_ok=True)
    {"learn": learn, "resume": resume, "messages": messages, "elsewhere": elsewhere, "lines": lines, "classes": classes,
     "fixed": fixed, "weights": weights, "stream": stream, "large": large,
     "spoil": spoil}[test](os.path.abspath(specification), place)
