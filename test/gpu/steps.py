#!/usr/bin/env python3
"""Whole training steps on a GPU that is emulated, against the CPU.

usage: steps.py MODEL [--steps N] [--f64] [--spoil]

The model of models/ with its recipe `small`, at small sizes, is compiled for sm_80, and trains on the stand-in for NVIDIA's
driver (test/gpu-emu), which executes the LLVM code of its kernels. Losses, norms of gradients and rates of every step are those
of the CPU within 1e-5, the parameters at the end within 1e-4 of the largest one.  --spoil: another seed, which must be noticed
"""
import argparse
import json
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
from tensors import load_safetensors  # noqa: E402

# Sizes with dropout: ends inside of tiles, fewer elements than a block has threads. Emulated, a block of threads takes its time.
MODELS = {
    "gpt2": ({"V": 256, "D": 24, "E": 12, "F": 40, "L": 32, "N": 2, "rate": 0.1}, {"B": 2, "T": 19}),
    "transformer_xl": ({"V": 256, "D": 24, "H": 2, "F": 40, "M": 11, "N": 2, "rate": 0.1}, {"B": 2, "T": 13}),
    "bert": ({"V": 256, "D": 24, "E": 12, "F": 40, "L": 32, "N": 2, "rate": 0.1}, {"B": 2, "T": 19, "K": 3}),
    "lstm": ({"V": 256, "C": 24, "N": 2}, {"B": 2, "T": 7}),
    "llama": ({"V": 256, "D": 24, "E": 12, "K": 1, "F": 40, "L": 32, "N": 2}, {"B": 2, "T": 19}),
}
LOSS_ERROR, PARAMETER_ERROR = 1e-5, 1e-4


def stand_in():
    """The environment of a program that takes the emulator for a GPU."""
    build = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("tenon"))))
    return {"TENON_LIBCUDA": os.path.join(build, "lib", "gpu-emu", "libcuda.so.1")}


def train(name, target, seed, options, folder):
    """Numbers of each step, and the parameters at the end."""
    sets, bound = MODELS[name]
    code, artifact, run = (os.path.join(folder, f"{part}-{target}") for part in ("ir", "artifact", "run"))
    os.makedirs(code)
    words = ["--f64"] if options.f64 else []
    words += ["--save-gpu-ir", code] if target != "cpu" else ["--tier", driver.best_tier()]
    driver.tenon("compile", driver.model(name + ".tn"), "--recipe", "small", "--target", target, *driver.settings(sets),
                 *(word for pair in bound.items() for word in ("--bind", f"{pair[0]}={pair[1]}")), *words, "-o", artifact)
    text = os.path.join(folder, "text.txt")
    with open(text, "w", encoding="utf-8") as file:
        file.write("".join(chr(33 + (i * i + i // 7) % 60) for i in range(4000)))
    driver.tenon("train", artifact, "--text", text, "--steps", options.steps, "--seed", seed, "--out", run, "--quiet",
                 environment={**stand_in(), "TENON_GPU_IR": code})
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        steps = [line for line in map(json.loads, file) if "loss" in line]
    weights = os.path.join(folder, f"{target}.safetensors")
    driver.tenon("export", run, "-o", weights, environment={**stand_in(), "TENON_GPU_IR": code})
    return steps, {parameter: value.values for parameter, value in load_safetensors(weights).items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--f64", action="store_true")
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        expected, of_cpu = train(options.model, "cpu", 7, options, folder)
        found, of_gpu = train(options.model, "sm_80", 8 if options.spoil else 7, options, folder)
    worst = 0.0
    for before, after in zip(expected, found, strict=True):
        for key in ("loss", "grad_norm", "learning_rate"):
            if key in before:
                worst = max(worst, abs(before[key] - after[key]) / max(abs(before[key]), 1e-3))
    parameters = max(max(abs(a - b) for a, b in zip(of_cpu[name], of_gpu[name], strict=True)) /
                     max(1e-3, *(abs(a) for a in of_cpu[name])) for name in of_cpu)
    print(f"{options.model}: {len(found)} steps, losses and norms within {worst:.1e}, parameters within {parameters:.1e}")
    if not (len(found) == options.steps and worst <= LOSS_ERROR and parameters <= PARAMETER_ERROR):
        print("WRONG")
        sys.exit(1)


if __name__ == "__main__":
    main()
