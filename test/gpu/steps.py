#!/usr/bin/env python3
"""Whole training steps on a GPU that is emulated, against the CPU.

usage: steps.py MODEL [--steps N] [--f64 | --numerics POLICY] [--commands] [--spoil] [--target CHIP | --hardware CHIP]

The model of models/, of specs/ here or of ../numerics/fused/Inputs/, with its recipe `small`, at small sizes, is compiled for a
GPU, and trains on the stand-in for NVIDIA's driver (test/gpu-emu), which executes the LLVM code of its kernels; or, with
`--hardware CHIP`, for that chip and on the GPU of this machine. Some models are given a text, the others (TASKS) the data of
their task in test/learn, of which some rows are held out. Losses, norms of gradients and rates of every step, and held-out
losses at the end, are those of the CPU within 1e-5, the parameters at the end within 1e-4 of the largest one (but for LEVEL);
with 16 bits, 1e-3, and 2e-2 in relative L2; under tf32 the same of a CPU in f32.
  --target    sm_80, the default, or sm_90a
  --numerics  of both: f32, bf16, f16; tf32 of the GPU; default: the recipe's
  --commands  the run is also evaluated, with losses within 1e-5, and generates the same text, place by place
  --spoil     another seed, which must be noticed
"""
import argparse
import json
import math
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "learn")]
import driver  # noqa: E402
import learn  # noqa: E402
import rows  # noqa: E402
from tensors import load_safetensors  # noqa: E402

# Sizes with dropout; those of `-wide` have heads and widths that fit tensor cores: ends inside of tiles, fewer elements than
# a block has threads. Emulated, a block of threads takes its time.
MODELS = {
    "accumulated": ({}, {}),
    "factored": ({}, {}),
    "sliced": ({}, {}),
    "recurrent": ({}, {}),
    "short": ({}, {}),
    "masters": ({}, {}),
    "scaled": ({}, {}),
    "grid": ({}, {}),
    "rounds": ({}, {}),
    "states": ({}, {}),
    "latent": ({}, {}),
    "gpt2": ({"V": 256, "D": 24, "E": 12, "F": 40, "L": 32, "N": 2, "rate": 0.1}, {"B": 2, "T": 19}),
    "gpt2-wide": ({"V": 261, "D": 64, "E": 32, "F": 72, "L": 48, "N": 1, "rate": 0.1}, {"B": 2, "T": 40}),
    "transformer_xl": ({"V": 256, "D": 24, "H": 2, "F": 40, "M": 11, "N": 2, "rate": 0.1}, {"B": 2, "T": 13}),
    "bert": ({"V": 264, "D": 24, "E": 12, "F": 40, "L": 32, "N": 2, "rate": 0.1}, {"B": 2, "T": 19, "K": 3}),
    "lstm": ({"V": 256, "C": 24, "N": 2}, {"B": 2, "T": 7}),
    "xlnet": ({"V": 264, "D": 24, "H": 2, "F": 40, "M": 7, "R": 5, "N": 2, "rate": 0.1}, {"B": 2, "T": 18, "K": 5}),
    "nezha": ({"V": 264, "D": 64, "N": 2, "rate": 0.1}, {"B": 2, "T": 19, "K": 3}),
    "transformer_xl-wide": ({"V": 256, "D": 32, "H": 2, "F": 40, "M": 11, "N": 2, "rate": 0.1}, {"B": 2, "T": 13}),
    "alibi": ({"V": 256, "D": 24, "H": 2, "N": 2}, {"B": 2, "T": 37}),
    "llama": ({"V": 256, "D": 24, "E": 12, "K": 1, "F": 40, "L": 32, "N": 2}, {"B": 2, "T": 19}),
}
# The row of ../learn/rows.py, and sizes other than there: few rows, and dropout.
TASKS = {
    "bert_heads": ("bert, classes", {"B": 2, "rate": 0.1}),
    "electra": ("electra", {"B": 2, "rate": 0.1}),
    "ernie1": ("ernie1", {"B": 2, "rate": 0.1}),
    "ernie2": ("ernie2", {"B": 2, "N": 1, "rate": 0.1}),
    "gpt1": ("gpt1", {"B": 2, "D": 24, "E": 12, "rate": 0.1}),
    "gru": ("gru", {"B": 2, "X": 12, "C": 20, "N": 2, "rate": 0.1}),
    "mamba": ("mamba", {"B": 2, "D": 24}),
    "moe": ("moe", {"B": 2, "D": 24, "E": 12, "F": 40}),
    "mtdnn": ("mtdnn", {"B": 2, "rate": 0.1}),
    "resnet": ("resnet", {"B": 2}),
    "rnn": ("rnn", {"B": 2, "X": 12, "C": 20, "rate": 0.1}),
    "roberta": ("roberta", {"B": 2, "rate": 0.1}),
    "roberta_heads": ("roberta, tags", {"B": 2, "rate": 0.1}),
    "star_transformer": ("star_transformer", {"B": 2, "X": 12, "D": 24, "F": 40, "H": 2, "E": 12, "rate": 0.1}),
    "t5": ("t5", {"B": 2, "D": 24, "E": 12, "F": 40, "rate": 0.1}),
    "transformer": ("transformer", {"B": 2, "D": 24, "F": 40, "rate": 0.1}),
    "transformer_xl_adaptive": ("transformer_xl_adaptive", {"B": 2, "D": 24, "F": 40, "M": 11, "rate": 0.1}),
    "unilm": ("unilm", {"B": 2, "rate": 0.1}),
    "universal_transformer": ("universal_transformer", {"B": 2, "D": 24, "F": 40, "rate": 0.1}),
    "vit": ("vit", {"B": 2, "D": 24, "E": 12, "rate": 0.1}),
    "xlnet_heads": ("xlnet, spans", {"B": 2, "D": 24, "F": 40, "rate": 0.1}),
}
NAMES = (*MODELS, *TASKS)
# Parameters without a gradient, since each is added to all scores that a softmax is over: of what rounding leaves of it, Adam
# makes a step.
LEVEL = re.compile(r"\b(wk|star\.WK|start|start_logits|end_logits|end_norm)\.bias$")
# By the numerics: of losses and the like, of parameters.
WIDE, SHORT = (1e-5, 1e-4), (1e-3, 2e-2)


def stand_in(code, target="sm_80", hardware=None):
    """The environment of a program that takes the emulator for a GPU; `code`: where the code of kernels is."""
    if hardware:
        return {"TENON_GPU_IR": code}  # read by the stand-in alone, which a test of hardware_training.py names
    mode = ",".join(word for word in (os.environ.get("TENON_GPU_EMU"), "sm=90" if target == "sm_90a" else None) if word)
    build = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("tenon"))))
    return {"TENON_LIBCUDA": os.path.join(build, "lib", "gpu-emu", "libcuda.so.1"), "TENON_GPU_IR": code,
            "TENON_GPU_EMU": mode}


def write(path, length):
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join("\n" if i % 17 == 16 else chr(33 + (i * i + i // 7) % 60) for i in range(length)))
    return path


def losses(report):
    """Of an evaluation, by name."""
    return {name: value for name, value in report.items() if isinstance(value, float) and "second" not in name}


def of_text(model, folder):
    """Specification, options of `tenon compile` and, for the data, of `tenon train`."""
    sets, bound = MODELS[model]
    own = [os.path.join(HERE, *folder, model + ".tn") for folder in (("specs",), ("..", "numerics", "fused", "Inputs"))]
    spec = next(filter(os.path.exists, own), None) or driver.model(model.removesuffix("-wide") + ".tn")
    sizes = [word for dim, size in bound.items() for word in ("--bind", f"{dim}={size}")]
    return spec, ["--recipe", "small", *driver.settings(sets), *sizes], ["--text", write(os.path.join(folder, "text.txt"), 4000)]


def of_task(model, folder):
    """The same, with the optimizer and the schedule of the recipe."""
    name, sizes = TASKS[model]
    row = {**rows.MODELS[name], "settings": {}, "steps": 60}
    row["sizes"] = {**row["sizes"], **sizes}
    settings, data, _ = learn.prepare(folder, row, 1, (), held=16)
    return learn.specification(folder, row, {}, settings), learn.of_model(row), data


def compile_for(target, artifact, code, model, words=(), entries=("train", "eval")):
    """Options of `tenon train` for the data, which lies beside the artifact. `code`: the folder for that of kernels. `entries`:
    empty for all. What the GPU's kernels are held against is compiled quickly."""
    folder = artifact + "-data"
    os.makedirs(folder)
    spec, chosen, data = (of_text if model in MODELS else of_task)(model, folder)
    words = [*words, *(["--save-gpu-ir", code] if target != "cpu" else ["--tier", driver.best_tier()])]
    words += ["--quick"] if target == "cpu" and "--quick" not in words else []
    words += [word for entry in entries for word in ("--entry", entry)]
    driver.tenon("compile", spec, *chosen, "--target", target, *words, "-o", artifact)
    return data


def train(target, seed, options, folder):
    """Numbers of each step, parameters at the end, losses of evaluations, a text."""
    code, artifact, run = (os.path.join(folder, f"{part}-{target}") for part in ("code", "artifact", "run"))
    os.makedirs(code)
    numerics = "f32" if options.numerics == "tf32" and target == "cpu" else options.numerics
    words = ["--f64"] if options.f64 else ["--numerics", numerics] if numerics else []
    if options.model in TASKS and not options.hardware:  # the same bits (quick.test), and those of texts are compiled with care
        words = [*words, "--quick"]
    data = compile_for(target, artifact, code, options.model, words, *([()] if options.commands else []))
    environment = stand_in(code, options.target, options.hardware)
    weights = os.path.join(folder, f"{target}.safetensors")
    driver.tenon("train", artifact, *data, "--steps", options.steps, "--seed", seed, "--out", run, "--quiet",
                 environment=environment)
    driver.tenon("export", run, "-o", weights)  # which needs no GPU
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    steps, evaluated, generated = [line for line in lines if "loss" in line], {}, ""
    for line in lines:
        evaluated |= losses({name: value for name, value in line.items() if name.startswith("valid_")})
    if options.commands:
        short = write(os.path.join(folder, "short.txt"), 150)
        evaluated |= losses(json.loads(driver.tenon("eval", run, "--text", short, "--json", environment=environment)))
        generated = driver.tenon("generate", run, "--prompt", "abc", "--length", 8, "--greedy", environment=environment)
    return steps, {name: value.values for name, value in load_safetensors(weights).items()}, evaluated, generated


def distance(before, after):
    return abs(before - after) / max(abs(before), 1e-3)


def furthest(before, after):
    """Of a tensor, relative to its largest element."""
    return max(abs(a - b) for a, b in zip(before, after, strict=True)) / max(1e-3, *map(abs, before))


def difference(before, after):
    """Relative L2 over all parameters: of one whose gradient is rounding alone, Adam's first steps are as long as any."""
    squares = sum((a - b) ** 2 for name in before for a, b in zip(before[name], after[name], strict=True))
    return math.sqrt(squares / sum(a * a for values in before.values() for a in values))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=NAMES)
    parser.add_argument("--target", choices=["sm_80", "sm_90a"], default="sm_80")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--f64", action="store_true")
    parser.add_argument("--numerics", choices=["f32", "bf16", "f16", "tf32"])
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--spoil", action="store_true")
    parser.add_argument("--hardware", metavar="CHIP")
    options = parser.parse_args()
    if options.commands and options.model in TASKS:
        parser.error("--commands is for models of a text")
    with tempfile.TemporaryDirectory() as folder:
        steps, parameters, evaluated, text = train("cpu", 7, options, folder)
        chip = options.hardware or options.target
        found, values, losses_found, text_found = train(chip, 8 if options.spoil else 7, options, folder)
    worst = max(distance(before[key], after[key]) for before, after in zip(steps, found, strict=True)
                for key in ("loss", "grad_norm", "lr", "loss_scale") if key in before)
    worst = max([worst] + [distance(value, losses_found[name]) for name, value in evaluated.items()])
    is_short = options.numerics in ("bf16", "f16", "tf32") or options.model in ("short", "scaled", "masters")
    off = difference(parameters, values) if is_short else max(furthest(parameters[name], values[name]) for name in parameters
                                                              if not LEVEL.search(name))
    print(f"{options.model}: {len(found)} steps, losses and norms within {worst:.1e}, parameters within {off:.1e}"
          + (f"; evaluated {', '.join(evaluated)}; generated {len(text)} symbols" if options.commands else ""))
    loss_error, parameter_error = SHORT if is_short else WIDE
    if len(found) < options.steps or worst > loss_error or off > parameter_error or text != text_found:
        print("WRONG")
        sys.exit(1)


if __name__ == "__main__":
    main()
