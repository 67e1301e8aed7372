"""A run that was trained from an artifact gives in each of the numerics what a run of the specification gives.

    kept_sources.py FOLDER [--spoil]

FOLDER has tiny.tn (a recipe of 3 steps), other.tn and gpt2.tn, which both import. Behind this it has `moved/model`, the artifact,
`moved/run`, trained from it, `reference`, trained from the specification, and other specifications where these were.
--spoil: another seed for the reference
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import load_npy, save_npy, tensor  # noqa: E402

NUMERICS = {"f32": ["--numerics", "f32"], "bf16": ["--numerics", "bf16"], "f16": ["--numerics", "f16"], "f64": ["--f64"]}
TRAIN = ["--text", "text.txt", "--threads", "1", "--quiet"]


class Wrong(Exception):
    pass


def tenon(*words, compiler=None):
    environment = {**os.environ, "TENON_COMPILER": compiler} if compiler else None
    done = subprocess.run(["tenon", *words], capture_output=True, text=True, check=False, env=environment,
                          errors="backslashreplace")
    if done.returncode:
        raise Wrong(f"tenon {' '.join(words)}: {done.stderr}")
    return done.stdout


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def same(what, left, right):
    if left != right:
        raise Wrong(f"{what}: {left} and {right}")


def different(what, values):
    if len({repr(value) for value in values}) != len(values):
        raise Wrong(f"{what} has no effect: {values}")


def weights(run):
    return os.path.join(run, "checkpoints", "step-3")


def prepare(spoil):
    """Artifact and runs; then the specification is gone, with others in its place, and the artifact elsewhere."""
    with open("text.txt", "w", encoding="utf-8") as file:
        file.write("the quick brown fox jumps over the lazy dog.\n" * 90)
    tenon("compile", "tiny.tn", "--quick", "--tier", os.environ["TENON_TIER"], "-o", "moved/model")
    tenon("train", "tiny.tn", *TRAIN, "--seed", "8" if spoil else "7", "--out", "reference")
    for name in ("tiny.tn", "gpt2.tn"):
        same(f"the kept {name}", contents("moved/model/tiny.sources/files" + os.path.abspath(name)), contents(name))
    text = contents("gpt2.tn").decode()
    if "gelu_tanh" not in text:
        raise Wrong("gpt2.tn is another than it was")
    with open("gpt2.tn", "w", encoding="utf-8") as file:
        file.write(text.replace("gelu_tanh", "relu"))
    os.rename("other.tn", "tiny.tn")
    shutil.move("moved", "away")
    os.rename("away", "moved")
    tenon("train", "moved/model", *TRAIN, "--seed", "7", "--out", "moved/run", compiler="/nowhere")
    if not spoil:
        same("parameters", *(contents(weights(run) + "/parameters.safetensors") for run in ("moved/run", "reference")))


def evaluation(source, *words):
    return json.loads(tenon("eval", source, "--json", *words))["lm"]


def compare():
    save_npy("ids.npy", tensor("i32", [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]))
    losses, logits, wholes = [], [], []
    for name, numerics in NUMERICS.items():
        losses.append(evaluation("moved/run", *numerics))
        same(f"losses in {name}", losses[-1], evaluation("reference", *numerics))
        given = [*numerics, "--text", "text.txt", "--weights"]
        wholes.append(evaluation("moved/model/libtiny.so", *given, weights("reference")))
        same(f"losses of the artifact in {name}", wholes[-1], evaluation("reference", *given, weights("moved/run")))
        values = []
        for source in ("moved/run", "reference"):
            tenon("run", source, "--entry", "infer", *numerics, "--input", "ids=@ids.npy", "--output", "logits=@logits.npy")
            values.append(list(load_npy("logits.npy").values))
        same(f"logits in {name}", *values)
        logits.append(values[0])
        words = ["--prompt", "the q", "--seed", "3", *numerics]
        same(f"texts in {name}", tenon("generate", "moved/run", *words), tenon("generate", "reference", *words))
    same("without --numerics", evaluation("moved/run"), losses[0])
    for what, values in (("eval --numerics", losses), ("eval --numerics of the artifact", wholes), ("run --numerics", logits)):
        different(what, values)
    print(f"in {', '.join(NUMERICS)}: eval, run and generate as of the specification")


def go_on():
    """Trained in bf16 from the artifact, or behind 3 steps in f32: as from the specification."""
    for source in ("moved/run", "reference"):
        shutil.copytree(source, source + "-further")
        tenon("train", source + "-further", "--numerics", "bf16", "--steps", "4", "--quiet", "--threads", "1")
    tenon("train", "moved/model", *TRAIN, "--numerics", "bf16", "--out", "moved/short")
    same("a step in bf16", evaluation("moved/run-further"), evaluation("reference-further"))
    different("train --numerics", [evaluation("moved/short", "--numerics", "f32"), evaluation("moved/run", "--numerics", "f32")])
    # Compiled from what was kept, it keeps that under the paths that it had.
    for path in ("gpt2.tn", "tiny.tn"):
        kept = "/model/sources/files" + os.path.abspath(path)
        same(f"the kept {path}", contents("moved/short" + kept), contents("reference" + kept))
    print("training in bf16 goes on, and begins")


def main():
    os.chdir(sys.argv[1])
    try:
        prepare("--spoil" in sys.argv)
        compare()
        go_on()
    except Wrong as wrong:
        print(f"WRONG: {str(wrong)[:400]}")
        return 1
    return 0


sys.exit(main())
