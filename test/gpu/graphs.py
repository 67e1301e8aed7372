#!/usr/bin/env python3
"""Training with steps as CUDA graphs (the default) against the same with kernels launched one by one, on an emulated GPU.

usage: graphs.py MODEL [--steps N]

Metrics of all steps and the exported parameters must be the same to the bit. Prints how many graphs ran, and how many of their
kernels were given other numbers, as the emulator counts them (TENON_GPU_EMU with `counts`), and how many launches were written
down in the first run and in the last. Models: those of steps.py.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import steps
from steps import driver

OTHER = ("second", "memory")  # in names of what a run may have otherwise


def train(artifact, code, folder, graphs, options):
    """Lines of the metrics without times, parameters, what the emulator says, how many launches each run wrote down."""
    run = os.path.join(folder, f"run{graphs}")
    text = steps.write(os.path.join(folder, "text.txt"), 4000)
    words = ["tenon", "train", artifact, "--text", text, "--steps", str(options.steps), "--seed", str(options.seed),
             "--out", run, "--quiet"]
    profile = os.path.join(folder, f"profile{graphs}.json")
    done = subprocess.run(words, env={**os.environ, **steps.stand_in(code), "TENON_CUDA_GRAPHS": str(graphs),
                                      "TENON_GPU_PROFILE": "runs:" + profile}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    weights = os.path.join(folder, f"{graphs}.safetensors")
    driver.tenon("export", run, "-o", weights)
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        lines = [{key: value for key, value in json.loads(line).items() if not any(word in key for word in OTHER)}
                 for line in file]
    parameters = {name: value.values for name, value in steps.load_safetensors(weights).items()}
    with open(profile, encoding="utf-8") as file:
        written = next(entry["written"] for entry in json.load(file)["entries"] if entry["name"] == "train")
    return [line for line in lines if "loss" in line], parameters, done.stderr, written


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=steps.MODELS)
    parser.add_argument("--steps", type=int, default=5)
    options = parser.parse_args()
    options.seed = 7
    with tempfile.TemporaryDirectory() as folder:
        code, artifact = os.path.join(folder, "code"), os.path.join(folder, "artifact")
        os.makedirs(code)
        steps.compile_for("sm_80", artifact, code, options.model)
        plain, weights, _, _ = train(artifact, code, folder, 0, options)
        found, values, report, written = train(artifact, code, folder, 1, options)
    ran = re.search(r"\d+ graphs launched, \d+ kernels of them changed", report)
    is_same = plain == found and weights == values and len(found) == options.steps
    print(f"{options.model}: {len(found)} steps, {'the same' if is_same else 'WRONG'} bits; {ran.group() if ran else '?'}; "
          f"{written[0]} launches written down in the first run, {written[-1]} in the last")
    sys.exit(0 if is_same else 1)


if __name__ == "__main__":
    main()
