#!/usr/bin/env python3
"""Parameters that are kept in 16 bits (`numerics = policy(params = bf16)`), in the commands and over the C interface.

usage: short_parameters.py resume|files|steps [--spoil]

  resume  runs that were stopped come to the bytes of one that was not, in every combination of types, with accumulate, slices
          and what is frozen; checkpoints hold parameters of 16 bits and moments of f32
          --spoil: the second part of the run has another seed
  files   files of f32 are rounded as they are loaded, by `init`, --weights and a run that goes on; those of 16 bits load under
          any numerics; a run evaluates and generates under others; `export` writes 16 bits, also transposed and under public
          names; numbers that f16 cannot hold are refused
          --spoil: the rounding that is expected is to the other type
  steps   a step in two halves has the bits of a whole one, for 1 and 3 threads; what is set is rounded, what is read is of f32
          --spoil: the second half has other gradients
"""
import argparse
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "numerics"))
import checkpoints  # noqa: E402
import properties  # noqa: E402
from bf16 import SHORT  # noqa: E402
from checkpoints import bytes_of, file_of  # noqa: E402
from properties import Wrong, driver  # noqa: E402
import library  # noqa: E402
from tensors import Tensor, load_safetensors, save_safetensors  # noqa: E402

os.environ["TENON_QUICK"] = "1"  # here and in split_parameters.py: files, commands and steps, which no optimization touches
SETS = {"V": 256, "D": 72, "E": 24, "F": 100, "L": 128, "N": 2}
WEIGHTS = ["--recipe", "small", *driver.settings(SETS)]
SIZES = [*driver.settings(SETS), "--bind", "B=4", "--bind", "T=41"]
COMBINATIONS = (("bf16", "compute = bf16", ""), ("bf16", "", "accumulate = 2"), ("f16", "compute = f16", "slices = 2"),
                ("bf16", "compute = f16, reduce = f64", ""),
                ("f16", 'compute = bf16, f32 = "*.c_fc*"', "freeze = \"wpe\""))


def specification(policy, more=""):
    """GPT-2, whose table of words is its head, too, with this policy."""
    with open(driver.model("gpt2.tn"), encoding="utf-8") as file:
        text = file.read()
    return driver.specification(text.replace("train GPT2 as small {",
                                             f"train GPT2 as small {{\n  numerics = policy({policy})\n  {more}\n"), "gpt2")


def kept(kind, policy, more=""):
    """With parameters of this type."""
    return specification(", ".join(filter(None, (f"params = {kind}", policy))), more)


def train(folder, spec, name, steps, *words):
    return checkpoints.train(folder, spec, name, steps, *words, sizes=SIZES)


def kinds(path):
    return {value.kind for value in load_safetensors(path).values()}


def rounded(path, kind):
    return {name: [SHORT[kind][0](x) for x in value.values] for name, value in load_safetensors(path).items()}


def numbers(path):
    return {name: list(value.values) for name, value in load_safetensors(path).items()}


def resume(folder, spoil):
    for kind, policy, more in COMBINATIONS:
        spec, what = kept(kind, policy, more), f"params = {kind}, {policy} {more}"
        number = len(os.listdir(folder))
        whole = train(folder, spec, f"whole{number}", 9)
        train(folder, spec, f"parts{number}", 4)
        parts = train(folder, spec, f"parts{number}", 9) if not spoil else train(folder, spec, f"other{number}", 9, "--seed", 7)
        for name in ("parameters", "moment1", "moment2"):
            if bytes_of(file_of(whole, 9, name)) != bytes_of(file_of(parts, 9, name)):
                raise Wrong(f"{what}: {name} of the stopped run has other bits")
            if kinds(file_of(whole, 9, name)) != {kind if name == "parameters" else "f32"}:
                raise Wrong(f"{what}: {name} is of {kinds(file_of(whole, 9, name))}")
        said = driver.tenon("inspect", whole, "--entry", "train")
        if f"parameters in {kind}" not in said or "copies" in said:
            raise Wrong(f"{what}: inspect says {said}")
        print(f"{what}: nine steps, stopped and whole, have the same bits")


def held_out(words):
    return json.loads(driver.tenon("eval", *words, "--json"))["lm"]


def files(folder, spoil):
    text, plain = properties.sample(folder), driver.model("gpt2.tn")
    wide = train(folder, plain, "wide", 3)
    for kind, other in (("bf16", "f16"), ("f16", "bf16")):
        spec = kept(kind, f"compute = {kind}")
        want = rounded(file_of(wide, 3), other if spoil else kind)
        loaded = os.path.join(folder, f"loaded-{kind}.safetensors")
        # --weights, and a run of f32 that goes on: no step is made.
        driver.tenon("export", spec, *WEIGHTS, "--weights", file_of(wide, 3), "-o", loaded)
        if kinds(loaded) != {kind} or numbers(loaded) != want:
            raise Wrong(f"a file of f32 is loaded as {kinds(loaded)}, or rounded otherwise")
        started = kept(kind, f"compute = {kind}", f'init = load("{file_of(wide, 3)}")')
        first = train(folder, started, f"init-{kind}", 1)
        second = train(folder, spec, f"weights-{kind}", 1, "--weights", loaded)
        if bytes_of(file_of(first, 1)) != bytes_of(file_of(second, 1)):
            raise Wrong(f"{kind}: one step from `init` of f32 and from weights of 16 bits has other bits")
        # Under other numerics: the same numbers, in another type.
        for numerics in ("f32", other):
            changed = os.path.join(folder, f"{kind}-as-{numerics}.safetensors")
            driver.tenon("export", plain, *WEIGHTS, "--weights", loaded, "-o", changed)
            if kinds(changed) != {"f32"} or numbers(changed) != numbers(loaded):
                raise Wrong(f"{kind}: parameters of 16 bits load as other numbers in f32")
        loss = {numerics: held_out([first, "--text", text, *words])
                for numerics, words in (("own", []), ("f32", ["--numerics", "f32"]), (other, ["--numerics", other]))}
        if not all(abs(value - loss["f32"]) <= 2e-3 * loss["f32"] for value in loss.values()) or loss["own"] == loss["f32"]:
            raise Wrong(f"{kind}: evaluated as {loss}")
        if len(driver.tenon("generate", first, "--prompt", "and so", "--length", 20, "--greedy")) != len("and so") + 20 + 1:
            raise Wrong(f"{kind}: the generated text has another length")
        # The run goes on in f32 from what has 16 bits, and in 16 bits from that.
        train(folder, first, f"init-{kind}", 2, "--numerics", "f32")
        if kinds(file_of(first, 2)) != {"f32"}:
            raise Wrong(f"{kind}: a run that goes on in f32 writes {kinds(file_of(first, 2))}")
        train(folder, first, f"init-{kind}", 3)
        if kinds(file_of(first, 3)) != {kind}:
            raise Wrong(f"{kind}: a run that goes on writes {kinds(file_of(first, 3))}")
        public = os.path.join(folder, f"public-{kind}.safetensors")
        driver.tenon("export", first, "--names", "hf", "-o", public)
        again = os.path.join(folder, f"again-{kind}.safetensors")
        driver.tenon("export", spec, *WEIGHTS, "--weights", public, "--weight-names", "hf", "-o", again)
        if kinds(public) != {kind} or numbers(again) != numbers(file_of(first, 3)):
            raise Wrong(f"{kind}: what is exported under public names is of {kinds(public)}, or loads as other numbers")
    large = load_safetensors(file_of(wide, 3))
    name = sorted(large)[0]
    large[name] = Tensor("f32", large[name].shape, [70000.0, *list(large[name].values)[1:]])
    path = os.path.join(folder, "large.safetensors")
    save_safetensors(path, large)
    spec = kept("f16", "compute = f16")
    try:
        driver.tenon("export", spec, *WEIGHTS, "--weights", path, "-o", os.path.join(folder, "no"))
    except driver.Failed as error:
        if "is 70000, more than f16 holds (65504)" not in str(error):
            raise Wrong(f"70000 as f16: {error}") from error
    else:
        raise Wrong("70000 is loaded as f16")
    print("files of 16 bits and of f32 load each other")


def steps(folder, spoil):
    for kind, policy, more in COMBINATIONS:
        if "accumulate" in more or "slices" in more:
            continue
        artifact = driver.compiled(kept(kind, policy, more), "--recipe", "small", "--entry", "train", "--tier",
                                   driver.best_tier(), *SIZES)
        results = {}
        for what in ("whole", "halves", "threads"):
            model = library.Model(artifact, "train", {}, threads=3 if what == "threads" else 1)
            draw = random.Random(3)
            for name, (_, info) in model.inputs().items():
                model.set_input(name, Tensor("i32", tuple(info.shape[:info.rank]),
                                             [draw.randrange(SETS["V"]) for _ in range(info.bytes // 4)]))
            for number in range(200, 203):
                if what != "halves":
                    model.run(number, seed=5)
                    continue
                model.half("gradients", number, seed=5)
                if spoil:
                    name = next(iter(model.parameters()))
                    gradient = model.gradient(name)
                    model.set_gradient(name, Tensor("f32", gradient.shape, [-x for x in gradient.values]))
                model.half("update", number, seed=5)
            results[what] = {name: list(model.parameter(name).values) for name in model.parameters()}
            if any(SHORT[kind][0](x) != x for values in results[what].values() for x in values):
                raise Wrong(f"{kind}: a parameter is no number of 16 bits")
            name = next(iter(model.parameters()))
            value = model.parameter(name)
            third = [1 / 3 + k / 1000 for k in range(len(value.values))]
            model.set_parameter(name, Tensor("f32", value.shape, third))
            if list(model.parameter(name).values) != [SHORT[kind][0](x) for x in third]:
                raise Wrong(f"{kind}: what is set is not what was set, rounded")
            try:
                model.set_parameter(name, Tensor("f32", value.shape, [3.4e38] * len(third)))
            except library.Refused as error:
                if f"more than {kind} holds" not in str(error):
                    raise Wrong(f"{kind}: 3.4e38 is refused by: {error}") from error
            else:
                raise Wrong(f"{kind}: 3.4e38 is set")
            if list(model.parameter(name).values) != [SHORT[kind][0](x) for x in third]:
                raise Wrong(f"{kind}: what was refused has changed a parameter")
            model.close()
        if not results["whole"] == results["halves"] == results["threads"]:
            raise Wrong(f"{kind}, {policy}: halves, or other threads, give other bits")
    print("a step in two halves, and by three threads, has the same bits")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("property", choices=["resume", "files", "steps"])
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            {"resume": resume, "files": files, "steps": steps}[options.property](folder, options.spoil)
        except Wrong as error:
            print(f"WRONG: {error}")
            return 1
    print("HOLDS")
    return 0


if __name__ == "__main__":
    sys.exit(main())
