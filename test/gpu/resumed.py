#!/usr/bin/env python3
"""Runs of an emulated GPU that go on from a checkpoint.

usage: resumed.py devices [--spoil]
       resumed.py fault KERNEL [--spoil]

devices: Transformer-XL, with memory and dropout, trains 3 steps on the GPU, goes on for 2 on the CPU, then for 2 on the GPU. Each
step's losses and norms, and evaluations of the end on either device, are within 1e-5 those of 7 steps on the CPU, parameters
within 1e-4 of the largest one.
fault: GPT-2 trains 2 steps and goes on for 2 in which the first kernel whose name begins with KERNEL lacks a barrier; the
emulator reports a race, once with steps as graphs and once with every kernel waited for. Prints how both end and what checkpoints
stay. Without the fault the run goes on from there to the same bytes as one that never stopped.
  --spoil  what it is compared with has another seed, which must be noticed
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import steps
from steps import driver

GPU, CPU = "sm_80", "cpu"


class Compiled:
    """A model for both devices."""

    def __init__(self, folder, model):
        self.folder, self.code, self.data = folder, os.path.join(folder, "code"), {}
        os.makedirs(self.code)
        for device in (GPU, CPU):
            self.data[device] = steps.compile_for(device, self.artifact(device), self.code, model, ["--quick"])

    def artifact(self, device):
        return os.path.join(self.folder, device)

    def environment(self, **more):
        return {**os.environ, **steps.stand_in(self.code), **more}

    def train(self, run, device, last, seed=7, **more):
        """To step `last`. Exit code, and what it says."""
        words = ["tenon", "train", self.artifact(device), *self.data[device], "--steps", str(last), "--seed", str(seed), "--out",
                 os.path.join(self.folder, run), "--quiet"]
        done = subprocess.run(words, env=self.environment(**more), stderr=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stderr

    def to(self, run, device, last, seed=7):
        status, text = self.train(run, device, last, seed)
        if status:
            sys.exit(f"WRONG: {run}, {device}, to step {last}: exit code {status}\n{text}")

    def steps_of(self, run):
        with open(os.path.join(self.folder, run, "metrics.jsonl"), encoding="utf-8") as file:
            return [line for line in map(json.loads, file) if "loss" in line]

    def weights(self, run):
        path = os.path.join(self.folder, run + ".safetensors")
        driver.tenon("export", os.path.join(self.folder, run), "-o", path)
        return path

    def evaluated(self, device, run):
        text = steps.write(os.path.join(self.folder, "short.txt"), 150)
        return steps.losses(json.loads(driver.tenon("eval", self.artifact(device), "--weights", self.weights(run), "--text", text,
                                                    "--json", environment=self.environment())))

    def checkpoint(self, run, step):
        """Bytes of its tensors by file."""
        folder, found = os.path.join(self.folder, run, "checkpoints", f"step-{step}"), {}
        for name in os.listdir(folder):
            if name.endswith(".safetensors"):
                with open(os.path.join(folder, name), "rb") as file:
                    found[name] = file.read()
        return found


def devices(folder, seed):
    model = Compiled(folder, "transformer_xl")
    for device, last in ((GPU, 3), (CPU, 5), (GPU, 7)):
        model.to("mixed", device, last)
    model.to("plain", CPU, 7, seed)
    found, expected = model.steps_of("mixed"), model.steps_of("plain")
    worst = max(steps.distance(before[key], after[key]) for before, after in zip(expected, found, strict=True)
                for key in ("loss", "grad_norm", "lr"))
    reference = model.evaluated(CPU, "plain")
    for device in (CPU, GPU):
        evaluated = model.evaluated(device, "mixed")
        worst = max([worst] + [steps.distance(value, evaluated[name]) for name, value in reference.items()])
    values, others = (steps.load_safetensors(model.weights(run)) for run in ("plain", "mixed"))
    off = max(steps.furthest(values[name].values, others[name].values) for name in values)
    print(f"{len(found)} steps on two devices, losses, norms and evaluations within {worst:.1e}, parameters within {off:.1e}")
    return [line["step"] for line in found] == list(range(1, 8)) and worst < 1e-5 and off < 1e-4


def fault(folder, kernel, seed):
    model = Compiled(folder, "gpt2")
    table = driver.tenon("inspect", model.artifact(GPU))
    name = next(word for word in table.split() if word.startswith("train_" + kernel))
    model.to("run", GPU, 2)
    before = model.checkpoint("run", 2)
    for graphs in ("1", "each"):
        status, text = model.train("run", GPU, 4, TENON_GPU_EMU=f"checked,mutant={name}:0", TENON_CUDA_GRAPHS=graphs)
        print(f"exit code {status}: {text.splitlines()[-1]}")
    print("left:", *os.listdir(os.path.join(folder, "run", "checkpoints")))
    is_left = model.checkpoint("run", 2) == before
    model.to("run", GPU, 4)
    model.to("whole", GPU, 4, seed)
    is_same = model.checkpoint("run", 4) == model.checkpoint("whole", 4)
    print(f"{len(before)} files, {'the same' if is_same and is_left else 'other'} bytes")
    return is_left and is_same


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("devices", "fault"))
    parser.add_argument("kernel", nargs="?")
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    seed = 8 if options.spoil else 7
    with tempfile.TemporaryDirectory() as folder:
        good = devices(folder, seed) if options.what == "devices" else fault(folder, options.kernel, seed)
    if not good:
        print("WRONG")
        sys.exit(1)


if __name__ == "__main__":
    main()
