#!/usr/bin/env python3
"""Parameters of f32 in two halves (`numerics = policy(compute = bf16)`): a bf16 that contractions read, and what rounding to it
took.

usage: split_parameters.py bits|resume|files|trajectory [--spoil]

  bits        of random numbers, ties, denormals, infinities, NaNs every bit comes back: when they are set and read, from a file,
              from a gather in f32, out of a stack, from a step that changes nothing, from a checkpoint. A contraction reads the
              nearest bf16, ties away from zero
              --spoil: ties to even are expected
  resume      runs that were stopped come to the bytes of one that was not; checkpoints hold f32, most of it no bf16
              --spoil: the second part of the run has another seed
  files       a checkpoint loads into f32 and back with its bytes, under public names too, and goes on under either
              --spoil: one number of the file is another by its last place
  trajectory  steps are those of masters of f32: their gradients at what these masters are, updated by the code of f32, by bits
              --spoil: the masters lose their remainders after each step
"""
import argparse
import array
import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "numerics"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # first: both have a short_parameters.py
from properties import Wrong, driver  # noqa: E402
import library  # noqa: E402
from rounding import to_bf16  # noqa: E402
from short_parameters import SETS, SIZES, WEIGHTS, bytes_of, file_of, kinds, specification, train  # noqa: E402
from tensors import Tensor, load_safetensors, save_safetensors  # noqa: E402

WIDTH, ROWS, BATCH, DEPTHS = 53, 64, 5, 3
SPEC = """
model Bits {
  config W = 53, V = 64, N = 3
  dim    B
  in     ids: index(V)[B], x: [B, W]
  param  emb: [V, W], gain: [W] = 0
  layer Put(z: [B, W]) -> [B, W] {
    param scale: [W] = 0
    return 0 * z + scale
  }
  use    blocks = stack[N] Put
  let    turned: [W, V] = emb + 0
  let    rows = emb[V: ids]
  let    product = dot[W](x, emb)
  let    each = blocks[N](x)
  let    gained = 0 * x + gain
  out    rows, turned, product, each, gained
  loss   l = mean(dot[W](blocks(x), emb)) + mean(gain)
}
train Bits as still {
  bind       B = 5
  data       = caller
  optimizer  = adamw(lr = 0.01)
  groups     = (group("*", lr = 0))
  numerics   = policy(compute = bf16)
}
"""
COMBINATIONS = (("compute = bf16", ""), ("compute = bf16", "accumulate = 2"), ("compute = bf16, reduce = f64", "slices = 2"),
                ('compute = bf16, f32 = "*.c_fc*"', "freeze = \"wpe\""))


def reals(bits):
    return array.array("f", struct.pack(f"<{len(bits)}I", *bits))


def bits_of(values):
    return list(struct.unpack(f"<{len(values)}I", array.array("f", values).tobytes()))


def upper(bits):
    return (bits + 0x8000) & 0xFFFF0000


def even(bits):
    return struct.unpack("<I", struct.pack("<f", to_bf16(struct.unpack("<f", struct.pack("<I", bits))[0])))[0]


def is_nan(bits):
    return bits & 0x7FFFFFFF > 0x7F800000


def normal(draw):
    """Of moderate size; a quarter lies in the middle of two bf16, others beside it."""
    lower = draw.choice((0x8000, 0x7FFF, 0x8001, draw.randrange(0x10000)))
    return draw.randrange(2) << 31 | draw.randrange(0x3E00, 0x4100) << 16 | lower


def special(draw):
    zero, denormal, huge, infinite, nan = 0, draw.randrange(1, 0x800000), 0x7F7FFFFF - draw.randrange(0x9000), 0x7F800000, \
        draw.choice((0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0x7F80FFFF, 0x7F808000))
    return draw.randrange(2) << 31 | draw.choice((zero, denormal, huge, infinite, nan))


def expect(what, got, want):
    """NaNs stay NaNs; all else stays."""
    for k, (a, b) in enumerate(zip(got, want, strict=True)):
        if a != b and not (is_nan(a) and is_nan(b)):
            raise Wrong(f"{what}: [{k}] is {a:08x} instead of {b:08x}")


def drawn(model, draw, function):
    numbers = {}
    for name, info in model.parameters().items():
        numbers[name] = [function(draw) for _ in range(info.bytes // 4)]
        model.set_parameter(name, Tensor("f32", (info.bytes // 4,), reals(numbers[name])))
    return numbers


def same_parameters(what, model, numbers):
    for name, want in numbers.items():
        expect(f"{what}: {name}", bits_of(model.parameter(name).values), want)


def check_reading(artifact, tier, numbers, rounded, everything):
    model = library.Model(artifact, "infer", {"B": BATCH}, threads=2, tier=tier)
    for name, bits in numbers.items():
        model.set_parameter(name, Tensor("f32", (len(bits),), reals(bits)))
    ids, emb = [3, 63, 0, 3, 17], numbers["emb"]
    model.set_input("ids", Tensor("i32", (BATCH,), ids))
    model.set_input("x", Tensor("f32", (BATCH, WIDTH), [float(k == 7 * b) for b in range(BATCH) for k in range(WIDTH)]))
    found = {name: bits_of(value.values) for name, value in model.run().items()}
    model.close()
    expect("gathered", found["rows"], [x for k in ids for x in emb[k * WIDTH:(k + 1) * WIDTH]])
    if not everything:
        return
    expect("turned", found["turned"], [emb[v * WIDTH + w] for w in range(WIDTH) for v in range(ROWS)])
    expect("contracted", found["product"], [rounded(emb[v * WIDTH + 7 * b]) for b in range(BATCH) for v in range(ROWS)])
    expect("in a stack", found["each"], [x for d in range(DEPTHS) for x in numbers[f"blocks.{d}.scale"] * BATCH])
    expect("beside rows", found["gained"], numbers["gain"] * BATCH)


def bits(folder, spoil):
    draw = random.Random(4)
    spec = driver.specification(SPEC, "bits")
    for tier in dict.fromkeys((driver.best_tier(), driver.other_tier(), "portable")):
        artifact = driver.compiled(spec, "--recipe", "still", "--tier", tier)
        model = library.Model(artifact, "train", {}, threads=2, tier=tier)
        numbers = drawn(model, draw, special)
        same_parameters("what was set", model, numbers)
        path = os.path.join(folder, "saved.safetensors")
        model.save(path)
        for name, value in load_safetensors(path).items():
            expect(f"the file's {name}", bits_of(value.values), numbers[name])
        drawn(model, draw, normal)
        model.load(path)
        same_parameters("what was loaded", model, numbers)
        check_reading(artifact, tier, numbers, None, False)
        numbers = drawn(model, draw, normal)
        model.set_input("x", Tensor("f32", (BATCH, WIDTH), [0.5] * BATCH * WIDTH))
        for step in range(2):
            model.run(step)
        same_parameters("after two steps at the rate 0", model, numbers)
        model.close()
        check_reading(artifact, tier, numbers, even if spoil else upper, True)
    print("all bits come back")


def resume(folder, spoil):
    for policy, more in COMBINATIONS:
        spec, what = specification(policy, more), f"{policy} {more}"
        number = len(os.listdir(folder))
        whole = train(folder, spec, f"whole{number}", 9)
        train(folder, spec, f"parts{number}", 4)
        parts = train(folder, spec, f"parts{number}", 9) if not spoil else train(folder, spec, f"other{number}", 9, "--seed", 7)
        for name in ("parameters", "moment1", "moment2"):
            if bytes_of(file_of(whole, 9, name)) != bytes_of(file_of(parts, 9, name)):
                raise Wrong(f"{what}: {name} of the stopped run has other bits")
            if kinds(file_of(whole, 9, name)) != {"f32"}:
                raise Wrong(f"{what}: {name} is of {kinds(file_of(whole, 9, name))}")
        values = [x for value in load_safetensors(file_of(whole, 9)).values() for x in bits_of(value.values)]
        if sum(x & 0xFFFF != 0 for x in values) < 0.9 * len(values):
            raise Wrong(f"{what}: most parameters of the checkpoint are numbers of bf16")
        said = driver.tenon("inspect", whole, "--entry", "train")
        if "their remainders" not in said or "copies" in said:
            raise Wrong(f"{what}: inspect says {said}")
        print(f"{what}: nine steps, stopped and whole, have the same bits")


def files(folder, spoil):
    plain, spec = driver.model("gpt2.tn"), specification("compute = bf16")
    run = train(folder, spec, "run", 3)
    trained = os.path.join(folder, "trained.safetensors")
    values = load_safetensors(file_of(run, 3))
    if spoil:
        first = values["wpe"].values
        first[5] = reals([bits_of(first)[5] ^ 1])[0]
    save_safetensors(trained, values)
    for names in ([], ["--names", "hf"]):
        wide, again = (os.path.join(folder, f"{part}{len(names)}.safetensors") for part in ("wide", "again"))
        driver.tenon("export", plain, *WEIGHTS, "--weights", trained, *names, "-o", wide)
        driver.tenon("export", run, *names, "-o", again)
        if {name: value.values.tobytes() for name, value in load_safetensors(wide).items()} != \
                {name: value.values.tobytes() for name, value in load_safetensors(again).items()}:
            raise Wrong(f"exported from f32 and from two halves, {names}, the numbers differ")
        back = os.path.join(folder, f"back{len(names)}.safetensors")
        driver.tenon("export", spec, *WEIGHTS, "--weights", wide, *(["--weight-names", "hf"] if names else []), "-o", back)
        if any(value.values.tobytes() != load_safetensors(back)[name].values.tobytes() for name, value in values.items()):
            raise Wrong(f"loaded in two halves, {names}, the numbers differ")
    train(folder, run, "run", 4, "--numerics", "f32")
    train(folder, run, "run", 5)
    if kinds(file_of(run, 4)) | kinds(file_of(run, 5)) != {"f32"}:
        raise Wrong("a run that goes on under other numerics writes other types")
    print("files are those of f32")


def trajectory(folder, spoil):
    """Of weights that lie row-major, and of weights in panels."""
    for sets in (SETS, {**SETS, "D": 64, "E": 32, "F": 128}):
        compare_steps(folder, spoil, [*driver.settings(sets), *SIZES[-4:]])


def compare_steps(folder, spoil, sizes):
    draw = random.Random(3)
    ours, gradients, masters = (library.Model(driver.compiled(spec, "--recipe", "small", "--entry", "train", "--tier",
                                                              driver.best_tier(), "--quick", *sizes), "train", {}, threads=2)
                                for spec in (specification("compute = bf16"),) * 2 + (driver.model("gpt2.tn"),))
    for name, (_, info) in ours.inputs().items():
        ids = Tensor("i32", tuple(info.shape[:info.rank]), [draw.randrange(SETS["V"]) for _ in range(info.bytes // 4)])
        for model in (ours, gradients, masters):
            model.set_input(name, ids)
    start = {name: ours.parameter(name).values.tobytes() for name in ours.parameters()}
    for step in range(200, 204):
        ours.run(step, seed=5)
        gradients.half("gradients", step, seed=5)
        for name in ours.parameters():
            masters.set_gradient(name, gradients.gradient(name))
        masters.half("update", step, seed=5)
        for name in ours.parameters():
            value = masters.parameter(name)
            if ours.parameter(name).values.tobytes() != value.values.tobytes():
                raise Wrong(f"{name} after step {step} is no master of f32")
            for number in (0, 1):
                if ours.moment(number, name).values.tobytes() != masters.moment(number, name).values.tobytes():
                    raise Wrong(f"moment {number} of {name} after step {step} differs")
            if spoil:
                value = Tensor("f32", value.shape, reals([upper(x) for x in bits_of(value.values)]))
                masters.set_parameter(name, value)
            gradients.set_parameter(name, value)
    if any(ours.parameter(name).values.tobytes() == values for name, values in start.items()):
        raise Wrong("a parameter did not change: the test shows nothing")
    for model in (ours, gradients, masters):
        model.close()
    print("four steps are those of masters of f32")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("property", choices=["bits", "resume", "files", "trajectory"])
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            {"bits": bits, "resume": resume, "files": files, "trajectory": trajectory}[options.property](folder, options.spoil)
        except Wrong as error:
            print(f"WRONG: {error}")
            return 1
    print("HOLDS")
    return 0


if __name__ == "__main__":
    sys.exit(main())
