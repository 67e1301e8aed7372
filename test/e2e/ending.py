#!/usr/bin/env python3
"""Loops that end early: models/universal_transformer.tn beside the same text with an `until` that is false, whose rounds all run.

usage: ending.py bits|work [--spoil]

  bits  three training steps and an output: losses, gradients and parameters are the same numbers, on 1, 2, 3 and 8 threads and
        both vector tiers                      --spoil: the other text halts at another mass, which must be noticed
  work  a step in which all halt after 2 of 16 rounds takes less than half of the processor time of all rounds (about a sixth)
        --spoil: all rounds are held against all rounds, which must be noticed
"""
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import library  # noqa: E402
from tensors import tensor  # noqa: E402

DIMS = {"B": 3, "S": 23, "T": 29}
RECIPE = """train Universal as here {
  bind       B = 3, S = 23, T = 29, V = 67, D = 40, F = 100, H = 2, A = %d, rate = 0.1
  data       = caller
  loss       = nll + 0.01 * ponder
  optimizer  = adam(lr = 1e-2)
}
"""


class Wrong(Exception):
    pass


def compiled(rounds, change, *words):
    with open(driver.model("universal_transformer.tn"), encoding="utf-8") as file:
        text = change(file.read().split("\ntrain ")[0])
    models = os.path.join(driver.ROOT, "models")
    spec = driver.specification(text + "\n" + RECIPE % rounds, "universal")
    return driver.compiled(spec, "--recipe", "here", *words, "--entry", "train", "--entry", "infer", "--model-root", models,
                           beside=[os.path.join(models, "transformer.tn")])


def without(text):
    """Its conditions are false; what is drawn goes by places in the text, so that these stay."""
    if text.count("until  act and") != 2:
        raise Wrong("the text has not two `until`")
    return text.replace("until  act and", "until  1>2 and")


def inputs(step):
    draw = random.Random(step)

    def symbols(length):
        return tensor("i32", [[draw.randrange(1, 67) for _ in range(length)] for _ in range(3)])
    return {"src": symbols(23), "src_len": tensor("i32", [23, 7, 18]), "tgt": symbols(29), "label": symbols(29)}


def opened(artifact, entry, halting, **options):
    """`halting`: what the weights of the halting units are multiplied by; 0: each place has the mass 0.73 per round."""
    model = library.Model(artifact, entry, DIMS, **options)
    for name in ("encoder.halting.w", "decoder.halting.w"):
        values = model.parameter(name)
        values.values = type(values.values)(values.values.typecode, [halting * x for x in values.values])
        model.set_parameter(name, values)
    return model


def give(model, step):
    given = inputs(step)
    for name in model.inputs():
        model.set_input(name, given[name])


def trained(artifact, **options):
    found = {}
    model = opened(artifact, "infer", 0.3, **options)
    give(model, 9)
    found["logits"] = model.run()["logits"].values
    model.close()
    model = opened(artifact, "train", 0.3, **options)
    for step in range(3):
        give(model, step)
        found[f"loss {step}"] = model.run(step=step)["loss"].values
        found |= {f"gradient of {name} {step}": model.gradient(name).values for name in model.parameters()}
    found |= {name: model.parameter(name).values for name in model.parameters()}
    model.close()
    return found


def bits(spoil):
    tiers = [driver.best_tier(), driver.other_tier()]  # the same one where there is one
    limit = (lambda text: without(text).replace("limit = 0.01", "limit = 0.4")) if spoil else without
    ends = compiled(8, str, *(word for tier in dict.fromkeys(tiers) for word in ("--tier", tier)))
    runs = compiled(8, limit, "--tier", tiers[0], "--quick")
    first = trained(runs, tier=tiers[0])
    for threads, tier in ((1, tiers[0]), (2, tiers[0]), (3, tiers[0]), (8, tiers[0]), (2, tiers[1])):
        for name, values in trained(ends, tier=tier, threads=threads).items():
            if values != first[name]:
                raise Wrong(f"{name} differs from that of all rounds, with {threads} threads and the code for {tier}")


def seconds(artifact):
    model = opened(artifact, "train", 0)
    give(model, 0)
    best = float("inf")
    for _ in range(4):
        start = time.process_time()
        model.run(gradients_only=True)
        best = min(best, time.process_time() - start)
    model.close()
    return best


def work(spoil):
    code = ["--tier", driver.best_tier(), "--quick"]
    runs = compiled(16, without, *code)
    every, some = seconds(runs), seconds(runs if spoil else compiled(16, str, *code))
    print(f"2 of 16 rounds: {some / every:.2f} of the time of all")
    if not some < every / 2:
        raise Wrong("a step whose rows have halted early takes as long as one of all rounds")


def main():
    try:
        {"bits": bits, "work": work}[sys.argv[1]]("--spoil" in sys.argv)
    except Wrong as wrong:
        print("WRONG:", wrong)
        return 1
    print(sys.argv[1], "PASSED")
    return 0


if __name__ == "__main__":
    sys.exit(main())
