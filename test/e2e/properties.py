#!/usr/bin/env python3
"""What must hold for any weights and inputs, checked over the command line of `tenon`.

usage: properties.py causal|batch|threads|tiers|walk|depth|artifact|compile-time MODEL [--spoil]

  causal        outputs at a place do not depend on later places            --spoil: a bidirectional model, which must be noticed
  batch         permuting the rows of a batch permutes the outputs          --spoil: the rows are compared without permuting them back
  threads       1, 2, 3 and 8 threads give the same bits, run and training  --spoil: another seed, which must be noticed
  tiers         the AVX2 and the AVX-512 code give the same bits, the portable one nearly the same results
                --spoil: another seed, which must be noticed
  walk          greedy generation with kept keys and values gives what the whole text gives at once
                --spoil: the whole text is run with other weights
  depth         2 and 48 layers differ by at most 2 % in code size          --spoil: the deep one is compiled without its training step
  artifact      libraries needed, exported symbols, size
  compile-time  the published sizes compile in at most 20 s of CPU time
"""
import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
from tensors import tensor  # noqa: E402

# Odd sizes that end inside tiles: lengths, heads, widths, vocabulary. `text`: further inputs of the entry `infer` besides ids.
MODELS = {
    "gpt2": ({"V": 97, "D": 72, "E": 24, "F": 100, "L": 300, "N": 2}, 131, "logits"),
    "transformer_xl": ({"V": 97, "D": 72, "H": 3, "F": 100, "M": 67, "N": 2}, 41, "logits"),
    "bert": ({"V": 97, "D": 72, "E": 24, "F": 100, "L": 300, "N": 2}, 67, "h"),
    "xlnet": ({"V": 97, "D": 72, "H": 3, "F": 100, "M": 17, "R": 17, "N": 2}, 67, "h"),
}
ROWS = 3


class Wrong(Exception):
    pass


def inputs(name, ids):
    """Every input of the entry `infer` for these rows of ids."""
    rows, length = len(ids), len(ids[0])
    given = {"ids": tensor("i32", ids)}
    if name == "bert":
        given |= {"seg": tensor("i32", [[k % 2 for k in range(length)]] * rows), "len": tensor("i32", [length - 2] * rows)}
    if name == "xlnet":
        given |= {"seg": tensor("i32", [[0] * length] * rows), "rank": tensor("i32", [list(range(length))] * rows),
                  "back": tensor("bool", [0] * rows)}
    return given


def outputs(folder, name, ids, *options):
    sets, _, output = MODELS[name]
    words = ["--init", *(() if "--seed" in options else ("--seed", "1")), "--entry", "infer", *driver.settings(sets), *options]
    return driver.run(folder, driver.model(name + ".tn"), inputs(name, ids), [output], *words)[output]


def some_ids(name, seed=5):
    sets, length, _ = MODELS[name]
    draw = random.Random(seed)
    return [[draw.randrange(sets["V"]) for _ in range(length)] for _ in range(ROWS)]


def close(got, want, what):
    """The order of sums may depend on the row's place in a tile: 1e-5 of the largest value, in f32."""
    bound = 1e-5 * max(1.0, max(abs(x) for x in want))
    worst = max(range(len(want)), key=lambda k: abs(got[k] - want[k]) if got[k] == got[k] else float("inf"))
    if not abs(got[worst] - want[worst]) <= bound:
        raise Wrong(f"{what}: {got[worst]} and {want[worst]} at [{worst}]")


def causal(name, folder, spoil):
    ids = some_ids(name)
    length = len(ids[0])
    first = outputs(folder, "bert" if spoil else name, ids)
    for cut in (1, length // 2, length - 1):
        changed = [row[:cut] + [(x + 1) % 97 for x in row[cut:]] for row in ids]
        second = outputs(folder, "bert" if spoil else name, changed)
        for row in range(ROWS):
            for place in range(cut):
                close(second.row(row, place), first.row(row, place), f"tokens from {cut} on were changed, row {row}, place {place}")
        if second.row(0, length - 1) == first.row(0, length - 1):
            raise Wrong(f"changing tokens from {cut} on changed nothing at the last place")


def batch(name, folder, spoil):
    ids = some_ids(name)
    order = [2, 0, 1]
    given = outputs(folder, name, ids)
    permuted = outputs(folder, name, [ids[k] for k in order])
    for place, row in enumerate(order):
        close(permuted.row(place), given.row(place if spoil else row), f"row {row} at place {place}")


def threads(name, folder, spoil):
    found = {}
    for count in (1, 2, 3, 8):
        run = os.path.join(folder, f"run{count}")
        sets = dict(MODELS[name][0])
        sets["V"] = 300  # bytes and the special ids
        seed = 8 if spoil and count == 3 else 7
        driver.tenon("train", driver.model(name + ".tn"), "--recipe", "small", *driver.settings(sets), "--set", "rate=0.1", "--bind", "B=3",
                     "--bind", f"T={131 if name == 'xlnet' else 41}", *(["--bind", "K=5"] if name in ("bert", "xlnet") else []), "--text", sample(folder), "--steps", 4,
                     "--seed", seed, "--threads", count, "--out", run, "--quiet")
        found[count] = weights_of(run)
        found[count].append(bytes(outputs(folder, name, some_ids(name), "--threads", count).values))
    for count, value in found.items():
        if value != found[1]:
            raise Wrong(f"{count} threads gave other bits than 1 thread")


def weights_of(run):
    """Bytes of every safetensors file of the last checkpoint."""
    folder = os.path.join(run, "checkpoints")
    last = sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))[-1]
    files = sorted(name for name in os.listdir(os.path.join(folder, last)) if name.endswith(".safetensors"))
    if not files:
        raise Wrong(f"no weights in {os.path.join(folder, last)}")
    found = []
    for name in files:
        with open(os.path.join(folder, last, name), "rb") as file:
            found.append(file.read())
    return found


def sample(folder):
    path = os.path.join(folder, "text.txt")
    draw = random.Random(3)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(400):
            file.write(" ".join("".join(draw.choice("etaoins") for _ in range(draw.randint(1, 8))) for _ in range(9)) + ".\n")
            if draw.random() < 0.1:
                file.write("\n")
    return path


def compiled(folder, name, sets, recipe="small"):
    """The artifact's library, its code size in bytes, CPU seconds of the compiler."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    target = os.path.join(folder, f"artifact-{name}-{sets.get('N', 0)}")
    driver.tenon("compile", driver.model(name + ".tn"), "-o", target, *(["--recipe", recipe] if recipe else []), *driver.settings(sets))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    library = os.path.join(target, f"lib{name}.so")
    table = subprocess.run(["llvm-size", "-A", library], check=True, capture_output=True, text=True).stdout
    text = next(int(line.split()[1]) for line in table.split("\n") if line.startswith(".text"))
    return library, text, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tiers(name, folder, spoil):
    ids = some_ids(name)
    wide = outputs(folder, name, ids, "--tier", "x86-64-v4")
    narrow = outputs(folder, name, ids, "--tier", "x86-64-v3", *(["--seed", "2"] if spoil else []))
    if bytes(wide.values) != bytes(narrow.values):
        raise Wrong(f"{name}: the AVX2 and the AVX-512 code differ")
    close(outputs(folder, name, ids, "--tier", "portable").values, wide.values, "portable code")


def walk(name, folder, spoil):
    """The most probable next byte, twenty times: by `tenon generate`, and by running the entry `infer` on the whole text so far."""
    sets = MODELS[name][0] | {"V": 256}
    words, prompt, count = driver.settings(sets), "In the beginning", 20
    text = subprocess.run(["tenon", "generate", driver.model(name + ".tn"), *words, "--init", "--seed", "1", "--greedy", "--prompt", prompt,
                           "--length", str(count), *(["--block", "bytes"] if name == "gpt2" else [])], check=True, capture_output=True)
    made = text.stdout[len(prompt):len(prompt) + count]
    if len(made) != count:
        raise Wrong(f"{len(made)} bytes instead of {count}")
    ids = list(prompt.encode())
    for place in range(count):
        found = driver.run(folder, driver.model(name + ".tn"), {"ids": tensor("i32", [ids])}, ["logits"], "--init", "--seed", 2 if spoil else 1,
                           "--entry", "infer", *words)["logits"]
        row = found.row(0, len(ids) - 1)
        best = max(range(256), key=lambda k: row[k])
        if row[made[place]] < row[best] - 1e-4:  # equal logits may be decided either way
            raise Wrong(f"byte {place}: generated {made[place]}, the whole text gives {best}")
        ids.append(made[place])


def depth(name, folder, spoil):
    sets = MODELS[name][0]
    _, shallow, seconds = compiled(folder, name, sets | {"N": 2})
    _, deep, more_seconds = compiled(folder, name, sets | {"N": 48}, None if spoil else "small")
    print(f"{name}: .text {shallow} bytes with 2 layers, {deep} with 48; {seconds:.1f} s and {more_seconds:.1f} s of CPU time")
    if abs(deep - shallow) > 0.02 * shallow:
        raise Wrong(f"{name}: the code size depends on the number of layers: {shallow} and {deep} bytes")
    if more_seconds > 1.3 * seconds + 0.5:
        raise Wrong(f"{name}: the compile time depends on the number of layers: {seconds:.1f} and {more_seconds:.1f} s")


def artifact(name, folder, _spoil):
    library, _, _ = compiled(folder, name, MODELS[name][0])
    needed = subprocess.run(["llvm-readelf", "--needed-libs", library], check=True, capture_output=True, text=True).stdout.split()
    needed = sorted(word for word in needed if ".so" in word)
    if not set(needed) <= {"libc.so.6", "libm.so.6"}:
        raise Wrong(f"the artifact needs {needed}")
    symbols = subprocess.run(["llvm-nm", "-D", "--defined-only", "--just-symbol-name", library], check=True, capture_output=True, text=True)
    foreign = [name for name in symbols.stdout.split() if not name.startswith("tn_")]
    if foreign:
        raise Wrong(f"the artifact exports {foreign[:5]}")
    if "tn_artifact" not in symbols.stdout.split():
        raise Wrong("the artifact does not export tn_artifact")
    size = sum(os.path.getsize(os.path.join(os.path.dirname(library), file)) for file in os.listdir(os.path.dirname(library)))
    if size > 5 << 20:
        raise Wrong(f"the artifact has {size} bytes")
    program = subprocess.run(["sh", "-c", "ldd $(command -v tenon)"], check=True, capture_output=True, text=True).stdout
    if "libLLVM" in program or "libMLIR" in program:
        raise Wrong("tenon is linked with the compiler's libraries")
    print(f"{name}: {size} bytes, needs {needed}")


def compile_time(name, folder, _spoil):
    _, _, seconds = compiled(folder, name, {}, recipe=None)
    print(f"{name}: {seconds:.1f} s of CPU time")
    if seconds > 20:
        raise Wrong(f"{name} at its published size takes {seconds:.1f} s to compile")


def main():
    kinds = {"causal": causal, "batch": batch, "threads": threads, "tiers": tiers, "walk": walk, "depth": depth, "artifact": artifact, "compile-time": compile_time}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("property", choices=kinds)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            kinds[options.property](options.model, folder, options.spoil)
        except Wrong as error:
            print(f"WRONG: {error}")
            return 1
    print("HOLDS")
    return 0


sys.exit(main())
