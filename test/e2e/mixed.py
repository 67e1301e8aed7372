#!/usr/bin/env python3
"""Mixed precision in the commands: the recipe's policy and --numerics, checkpoints and weights under the other numerics.

usage: mixed.py policy|checkpoints|tiers [--spoil]

  policy       `numerics = policy(compute = bf16)` trains the bits that --numerics bf16 trains; --numerics f32 and --f64 set it
               aside
               --spoil: the recipe has no policy
  checkpoints  a run in bf16 evaluates, generates and goes on in f32, and the other way round: parameters and moments are f32
               --spoil: weights of an earlier step
  tiers        an artifact of all tiers, which share kernels, trains on each tier of the machine the bits of one that was compiled
               for that tier alone
               --spoil: another seed
"""
import argparse
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import properties  # noqa: E402
from properties import Wrong, driver  # noqa: E402
from tensors import load_safetensors  # noqa: E402

SIZES = ["--recipe", "small", *driver.settings({"V": 256, "D": 72, "E": 24, "F": 100, "L": 100, "N": 2}), "--bind", "B=3",
         "--bind", "T=41"]
NEAR = 2e-3  # of a loss; found: 3e-5


def train(folder, spec, name, *words):
    """The folder of the run."""
    run = os.path.join(folder, name)
    driver.tenon("train", spec, *([] if os.path.isdir(spec) else SIZES), "--text", properties.sample(folder), "--out", run,
                 "--quiet", *words)
    return run


def weights(run, steps):
    return os.path.join(run, "checkpoints", f"step-{steps}", "parameters.safetensors")


def held_out(run):
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        return [json.loads(line)["valid_lm"] for line in file if "valid_lm" in line][-1]


def near(what, left, right, other=None):
    if not abs(left - right) <= NEAR * abs(right):
        raise Wrong(f"{what}: {left} and {right}")
    print(f"{what}: {left} and {right}")


def policy(folder, spoil):
    with open(driver.model("gpt2.tn"), encoding="utf-8") as file:
        text = file.read()
    plain, said = driver.model("gpt2.tn"), "numerics = policy(params = f32, compute = bf16, reduce = f32)"
    spec = plain if spoil else driver.specification(text.replace("train GPT2 as small {", f"train GPT2 as small {{\n  {said}\n"),
                                                    "gpt2")

    def bits(path, *words):
        with open(weights(train(folder, path, f"run{len(os.listdir(folder))}", "--steps", 4, *words), 4), "rb") as file:
            return file.read()
    f32, bf16, f64 = bits(plain), bits(plain, "--numerics", "bf16"), bits(plain, "--f64")
    for what, got, want in (("the policy and --numerics bf16", bits(spec), bf16),
                            ("the policy with --numerics f32 and no policy", bits(spec, "--numerics", "f32"), f32),
                            ("the policy with --f64 and no policy with it", bits(spec, "--f64"), f64)):
        if got != want:
            raise Wrong(f"{what} train other bits")
    if f32 == bf16:
        raise Wrong("bf16 trains the bits of f32")


def checkpoints(folder, spoil):
    spec, text = driver.model("gpt2.tn"), properties.sample(folder)
    runs = {}
    for numerics in ("bf16", "f32"):
        runs[numerics] = train(folder, spec, numerics, "--numerics", numerics, "--steps", 8, "--checkpoint-every", 4, "--keep", 3)
    for numerics, other in (("bf16", "f32"), ("f32", "bf16")):
        run, file = runs[numerics], weights(runs[numerics], 8)
        if {value.kind for value in load_safetensors(file).values()} != {"f32"}:
            raise Wrong(f"{file} holds something else than f32")
        files = {numerics: file, other: weights(runs[numerics], 4) if spoil else file}
        loss = {each: json.loads(driver.tenon("eval", spec, *SIZES, "--numerics", each, "--weights", files[each], "--text", text,
                                              "--json"))["lm"] for each in runs}
        near(f"trained in {numerics}, evaluated in {numerics} and in {other}", loss[numerics], loss[other])
        # The run keeps its specification: it is evaluated in other numerics by itself, with the digits of the specification.
        of_run = json.loads(driver.tenon("eval", run, "--numerics", other, "--text", text, "--json"))["lm"]
        if of_run != loss[other]:
            raise Wrong(f"the run in {numerics} gives {of_run} in {other}, its specification {loss[other]}")
        if loss["f32"] == loss["bf16"]:
            raise Wrong("an evaluation in bf16 gives the digits of f32")
        ids = properties.tensor("i32", [[(7 * row + place) % 256 for place in range(41)] for row in range(3)])
        logits = {each: driver.run(folder, spec, {"ids": ids}, ["logits"], *SIZES, "--entry", "infer", "--numerics", each,
                                   "--weights", file)["logits"].values for each in runs}
        largest = max(abs(x) for x in logits["f32"])
        far = max(abs(a - b) for a, b in zip(logits["f32"], logits["bf16"], strict=True))
        if not 0 < far <= 2 * NEAR * largest:
            raise Wrong(f"trained in {numerics}: logits differ by {far}, the largest is {largest}")
        made = {each: driver.tenon("generate", spec, *SIZES, "--block", "bytes", "--numerics", each, "--weights", file,
                                   "--prompt", "and so", "--length", 20, "--greedy") for each in runs}
        if {len(one) for one in made.values()} != {len("and so") + 20 + 1}:
            raise Wrong(f"trained in {numerics}: generated {made}")
        # From the newest checkpoint, and from an earlier one, under the other numerics: as near as the two runs are to each
        # other.
        train(folder, spec, numerics, "--numerics", other, "--steps", 12, "--keep", 3)
    near("8 steps in bf16 and 4 in f32, 8 in f32 and 4 in bf16", held_out(runs["bf16"]), held_out(runs["f32"]))
    gone_on = held_out(runs["f32"])
    train(folder, spec, "f32", "--numerics", "f32", "--from", 4, "--steps", 12)
    near("4 steps in f32, then 8 in bf16 and f32 and 8 in f32", gone_on, held_out(runs["f32"]))
    if held_out(runs["f32"]) == gone_on:
        raise Wrong("going on in bf16 gave the digits of f32")


def tiers(folder, spoil):
    def bits(model, name, tier, seed):
        words = ["--numerics", "bf16"] if model.endswith(".tn") else []
        run = os.path.join(folder, name)
        driver.tenon("train", model, *(SIZES if words else []), *words, "--text", properties.sample(folder), "--out", run,
                     "--quiet", "--steps", 4, "--seed", seed, environment={"TENON_TIER": tier})
        with open(weights(run, 4), "rb") as file:
            return file.read()
    every, here = driver.compiled(driver.model("gpt2.tn"), *SIZES, "--numerics", "bf16", "--quick"), driver.tiers.of_bf16()
    for tier in here:
        if bits(every, f"every-{tier}", tier, 4) != bits(driver.model("gpt2.tn"), f"one-{tier}", tier, 5 if spoil else 4):
            raise Wrong(f"the code for {tier} among others trains other bits than alone")
    print(f"{', '.join(here)}: the bits of each alone")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("property", choices=["policy", "checkpoints", "tiers"])
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            {"policy": policy, "checkpoints": checkpoints, "tiers": tiers}[options.property](folder, options.spoil)
        except Wrong as error:
            print(f"WRONG: {error}")
            return 1
    print("HOLDS")
    return 0


if __name__ == "__main__":
    sys.exit(main())
