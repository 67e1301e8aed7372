#!/usr/bin/env python3
"""Training in f16: the loss scale goes as torch.amp.GradScaler's, a step whose gradients are not finite changes nothing, and a
run that was stopped has the bits of one that was not.

usage: loss_scale.py sequence|skip|said|resume|near [--spoil]

  sequence  over `tenon train`, with one batch per update, with several, and with slices of a batch: the scales of metrics.jsonl
            are those of a GradScaler that saw the same skipped updates; some are skipped at the beginning, and some after it grew
            --spoil: a scaler with another growth
  skip      over the C interface: an update by gradients that overflow leaves parameters and moments as they are and halves the
            scale; a smaller scale gives an update, and gradients grow as the scale does
            --spoil: the scale that overflows is a small one
  said      what `tenon train` says of skipped updates, that a fixed scale which always overflows ends the training, and what
            `tenon inspect` says of the scale
            --spoil: the fixed scale is a small one
  resume    a run that was stopped after 7 of 12 updates, with its scale and its count of good ones, comes to the same bits
            --spoil: the scale in the checkpoint is another one
  near      held-out losses after 60 updates differ by less than 1 % from those in f32
            --spoil: fewer updates
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import properties  # noqa: E402
from properties import Wrong, driver  # noqa: E402
import library  # noqa: E402
from tensors import Tensor  # noqa: E402

SETS = {"V": 256, "D": 72, "E": 24, "F": 100, "L": 100, "N": 2}
SIZES = [*driver.settings(SETS), "--bind", "B=4", "--bind", "T=41"]
INITIAL, EVERY = 1 << 28, 3  # overflows some times, and again soon after it has grown


def specification(policy, more=""):
    """GPT-2 whose recipe `small` has this policy and these further settings."""
    with open(driver.model("gpt2.tn"), encoding="utf-8") as file:
        text = file.read()
    return driver.specification(text.replace("train GPT2 as small {",
                                             f"train GPT2 as small {{\n  numerics = policy({policy})\n  {more}\n"), "gpt2")


def dynamic(initial=INITIAL, every=EVERY):
    return f"compute = f16, scale = dynamic(initial = {initial}, every = {every})"


def train(folder, spec, name, steps, *words):
    run = os.path.join(folder, name)
    driver.tenon("train", spec, "--recipe", "small", *SIZES, "--text", properties.sample(folder), "--out", run, "--quiet",
                 "--steps", steps, *words)
    return run


def lines(run):
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class GradScaler:
    """As torch/amp/grad_scaler.py and the kernel amp_update_scale do it."""

    def __init__(self, scale, every, growth=2.0, backoff=0.5):
        self.scale, self.every, self.growth, self.backoff, self.good = scale, every, growth, backoff, 0

    def update(self, found_inf):
        if found_inf:
            self.scale, self.good = self.scale * self.backoff, 0
            return
        self.good += 1
        if self.good == self.every:
            self.scale, self.good = self.scale * self.growth, 0


def sequence(folder, spoil):
    for more in ("", "accumulate = 2", "slices = 2"):
        run = train(folder, specification(dynamic(), more), f"run{more[:3]}", 12)
        scaler, skipped = GradScaler(INITIAL, EVERY, growth=4.0 if spoil else 2.0), []
        for line in lines(run):
            if "valid_lm" in line:
                continue
            if line["loss_scale"] != scaler.scale:
                raise Wrong(f"{more or 'plain'}: step {line['step']} has the loss scale {line['loss_scale']}, and a GradScaler "
                            f"{scaler.scale}")
            skipped.append("skipped" in line)
            if skipped[-1] and not line["loss"] < 10:
                raise Wrong(f"{more or 'plain'}: the loss of a skipped step is {line['loss']}")
            scaler.update(skipped[-1])
        first = skipped.index(False)
        if first < 2 or True not in skipped[first:]:
            raise Wrong(f"{more or 'plain'}: skipped are {skipped}")
        print(f"{more or 'plain'}: {first} skipped before the first update, {sum(skipped[first:])} after it")


def skip(folder, spoil):
    huge = 1 << (4 if spoil else 36)
    results, gradients = {}, {}
    for scale in (huge, 1 << 10, 1 << 11):
        spec = specification(dynamic(scale, 2000))
        made = driver.compiled(spec, "--recipe", "small", "--entry", "train", *SIZES, "--tier", driver.best_tier(), "--quick")
        model = library.Model(made, "train", {})
        before = {name: model.parameter(name) for name in model.parameters()}
        draw = random.Random(3)
        for name, (_, info) in model.inputs().items():
            model.set_input(name, Tensor("i32", tuple(info.shape[:info.rank]),
                                         [draw.randrange(SETS["V"]) for _ in range(info.bytes // 4)]))
        model.run(200, seed=5)  # a step of the schedule with a rate
        after = {name: model.parameter(name) for name in model.parameters()}
        kept = all(bytes(memoryview(after[name].values)) == bytes(memoryview(before[name].values)) for name in before)
        moved = any(bool(value) for number in range(2) for name in before for value in model.moment(number, name).values)
        now, good = model.loss_scale()
        if (scale == huge) != kept or (scale == huge) == moved:
            raise Wrong(f"the loss times {scale}: parameters {'kept' if kept else 'changed'}, moments "
                        f"{'changed' if moved else 'kept'}")
        if (now, good) != ((scale / 2, 0) if scale == huge else (scale, 1)):
            raise Wrong(f"the loss times {scale}: the scale becomes {now}, good updates {good}")
        results[scale] = after
        gradients[scale] = [x for name in sorted(before) for x in model.gradient(name).values]
        if scale == huge:  # the same context goes on, with a scale that does not overflow
            model.set_loss_scale(1 << 10, 0)
            model.run(200, seed=5)
            results["later"] = {name: model.parameter(name) for name in model.parameters()}
    for name in results["later"]:
        if bytes(memoryview(results["later"][name].values)) != bytes(memoryview(results[1 << 10][name].values)):
            raise Wrong(f"{name}: an update behind a skipped one has other bits than the first one")
    far = sum((2 * a - b) ** 2 for a, b in zip(gradients[1 << 10], gradients[1 << 11], strict=True))
    if not 0 < sum(b * b for b in gradients[1 << 11]) or far > 1e-6 * sum(b * b for b in gradients[1 << 11]):
        raise Wrong("a scale of 2^11 has other gradients than twice those of 2^10")
    print("an update that overflows changes nothing but the scale")


def said(folder, spoil):
    def output(spec, name):
        words = ["tenon", "train", spec, "--recipe", "small", *SIZES, "--text", properties.sample(folder), "--out",
                 os.path.join(folder, name), "--steps", "9"]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr
    searching, fixed = dynamic(), f"compute = f16, scale = fixed({8 if spoil else 1 << 36})"
    for policy, status, sentences in (
            (searching, 0, [f"step 1: the gradients of the loss times {INITIAL} are not finite, the loss scale becomes "
                            f"{INITIAL // 2}; the update is skipped", "finite again, after 7 skipped updates",
                            " updates skipped, loss scale "]),
            (fixed, 4, [f"the gradients of the loss times {1 << 36} are not finite (scale = fixed(..) of the recipe); the update "
                        "is skipped", "10 updates in a row had a loss or gradient that is not finite"])):
        got, text = output(specification(policy), f"run{status}")
        missing = [sentence for sentence in sentences if sentence not in text]
        if got != status or missing:
            raise Wrong(f"{policy}: status {got}, not said: {missing}\n{text}")
    rule = f"from {INITIAL}, times 2 after {EVERY} updates with finite gradients, times 0.5 after others"
    for policy, line in ((searching, f"loss scale: {rule}\n"), (fixed, f"loss scale: {1 << 36}, fixed\n")):
        if line not in driver.tenon("inspect", specification(policy), "--recipe", "small", *SIZES):
            raise Wrong(f"inspect does not say: {line}")
    print("what is skipped is said")


def checkpoint(run, step, name):
    with open(os.path.join(run, "checkpoints", f"step-{step}", name), "rb") as file:
        return file.read()


def resume(folder, spoil):
    spec = specification(dynamic())
    whole = train(folder, spec, "whole", 12)
    train(folder, spec, "parts", 7)
    other = specification(dynamic(1 << 12)) if spoil else spec
    words = ["--fresh"] if spoil else []
    parts = train(folder, other, "parts", 12, *words)
    for name in ("parameters", "moment1", "moment2"):
        if checkpoint(whole, 12, name + ".safetensors") != checkpoint(parts, 12, name + ".safetensors"):
            raise Wrong(f"{name} of the stopped run has other bits")
    seen = [[(line["step"], line.get("loss_scale"), "skipped" in line) for line in lines(run) if "valid_lm" not in line]
            for run in (whole, parts)]
    if seen[0] != seen[1]:
        raise Wrong(f"the scales differ: {seen}")
    print(f"{len(seen[0])} tries for 12 updates, stopped and whole, have the same bits")


def near(folder, spoil):
    found = {}
    for numerics in ("f32", "f16"):
        run = train(folder, driver.model("gpt2.tn"), numerics, 20 if spoil and numerics == "f16" else 60,
                    "--numerics", numerics)
        found[numerics] = [line["valid_lm"] for line in lines(run) if "valid_lm" in line][-1]
    if not abs(found["f16"] - found["f32"]) <= 0.01 * found["f32"]:
        raise Wrong(f"held-out losses are {found}")
    if found["f16"] == found["f32"]:
        raise Wrong("f16 gives the digits of f32")
    print(f"held-out losses: {found}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("property", choices=["sequence", "skip", "said", "resume", "near"])
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            {"sequence": sequence, "skip": skip, "said": said, "resume": resume,
             "near": near}[options.property](folder, options.spoil)
        except Wrong as error:
            print(f"WRONG: {error}")
            return 1
    print("HOLDS")
    return 0


if __name__ == "__main__":
    sys.exit(main())
