#!/usr/bin/env python3
"""Parameters of f64 beside others of f32, in the commands and in files.

usage: wide_parameters.py resume|files [--spoil]

  resume  runs that were stopped come to the bytes of one that was not, with one thread and with three, with words on parameters
          and `params = f64`, beside f32, halves and copies, with accumulate, slices, groups and averages; files hold each
          parameter, its moments and its average in its type; averages are those of the parameters, in doubles
          --spoil: the second part of the run has another seed
  files   f32 becomes f64 and f32 again with all its bits; f64 is rounded where f32 holds it; parts of one public tensor may be of
          two types; a run goes on under other numerics
          and comes back; it evaluates and generates
          --spoil: the file of f64 is rounded before it is read
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checkpoints import bytes_of, file_of, train  # noqa: E402
from properties import Wrong, driver  # noqa: E402
import library  # noqa: E402
from rounding import to_f32  # noqa: E402
from tensors import Tensor, load_safetensors, save_safetensors  # noqa: E402

TEXT = """model Tiny {
  config V = 256, D = 16, F = 24, N = 2
  dim    B, T
  in     ids: index(V)[B, T], target: index(V)[B, T]
  param  emb: f64[V, D] ~ normal(0.5)
  layer Block(x: [B, T, D]) -> [B, T, D] {
    use    up = Linear[D -> F]
    use    down = Linear[F -> D]
    param  gain: f64[D] = 1
    param  shift: [D] = 0
    return x + down(gelu(up(x))) * gain + shift
  }
  use    blocks = stack[N] Block
  let    logits = dot[D](blocks(emb[V: ids]), emb)
  out    step(T) = logits
  loss   nll = mean(cross_entropy[V](logits, target))
}
train Tiny as small {
  bind       B = 4, T = 8
  data       = byte_stream(text = "text.txt", held_out = 0.2)
  loss       = nll
  optimizer  = adam(lr = 1e-2)
  clip       = global_norm(0.5)
  checkpoint = every(1, keep = 9)
  numerics   = policy(POLICY)
  MORE
}
names Tiny as hf { "emb" = "words"  "blocks.*" = "layers.*" }
names Block as hf { "up.*" = "up.*"  "down.*" = "down.*"  "gain" = part("affine", 0, 2)  "shift" = part("affine", 1, 2) }
generate Tiny as sample { entry = step  method = sample(temperature = 0.8, limit = 20)  start = "a" }
"""
GROUPS = 'groups = (group("emb", lr = 0.5), group("*.gain", clip = 0.1))'
# Policy, further settings, whether the words on the parameters stay.
COMBINATIONS = (("compute = f32", f"average = ema(0.75)\n  accumulate = 2\n  {GROUPS}", True),
                ("compute = bf16", "average = ema(0.75)\n  slices = 2", True),
                ("params = f64, compute = bf16", "", False))
DECAY = 0.75


def specification(folder, policy, more, words):
    text = TEXT if words else TEXT.replace("f64[", "[")
    spec = os.path.join(folder, f"tiny-{len(os.listdir(folder))}.tn")
    with open(spec, "w", encoding="utf-8") as file:
        file.write(text.replace("POLICY", policy).replace("MORE", more))
    return spec


def check_kinds(what, path, words):
    for name, value in load_safetensors(path).items():
        is_wide = not words or name == "emb" or name.endswith("gain")
        if value.kind != ("f64" if is_wide else "f32"):
            raise Wrong(f"{what}: {name} is of {value.kind} in {os.path.basename(path)}")


def check_averages(what, run, step):
    """From one checkpoint to the next."""
    before, now, mean = (load_safetensors(path) for path in (file_of(run, step - 1, "average"), file_of(run, step),
                                                             file_of(run, step, "average")))
    for name, value in mean.items():
        near = 1e-15 if value.kind == "f64" else 2e-7
        for old, new, got in zip(before[name].values, now[name].values, value.values, strict=True):
            if abs(old + (1 - DECAY) * (new - old) - got) > near * max(1, abs(got)):
                raise Wrong(f"{what}: the average of {name} is {got!r}")


def resume(folder, spoil):
    for number, (policy, more, words) in enumerate(COMBINATIONS):
        spec, what = specification(folder, policy, more, words), f"{policy}, {more}"
        whole = train(folder, spec, f"whole{number}", 5)
        train(folder, spec, f"parts{number}", 2)
        parts = train(folder, spec, f"parts{number}", 5, "--threads", 3) if not spoil else \
            train(folder, spec, f"other{number}", 5, "--seed", 7)
        for name in ("parameters", "moment1", "moment2", *(["average"] if "average" in more else [])):
            if bytes_of(file_of(whole, 5, name)) != bytes_of(file_of(parts, 5, name)):
                raise Wrong(f"{what}: {name} of the stopped run has other bits")
            check_kinds(what, file_of(whole, 5, name), words)
        if "average" in more:
            check_averages(what, whole, 5)


def opened(folder, policy, words):
    spec = specification(folder, policy, "", words)
    made = spec.removesuffix(".tn")
    driver.tenon("compile", spec, "--recipe", "small", "--entry", "train", "--tier", driver.best_tier(), "--quick", "-o", made)
    return library.Model(made, "train", {})


def values_of(path):
    return {name: list(value.values) for name, value in load_safetensors(path).items()}


def convert(folder, spoil):
    """Weights from f32 into f64 and back, and of f64 into f32."""
    narrow, wide = opened(folder, "compute = f32", False), opened(folder, "params = f64", False)
    first, second, third = (os.path.join(folder, f"{name}.safetensors") for name in ("first", "second", "third"))
    narrow.save(first)
    wide.load(first)
    wide.save(second)
    narrow.load(second)
    narrow.save(third)
    if bytes_of(first) != bytes_of(third) or values_of(first) != values_of(second):
        raise Wrong("f32 that was f64 has other bits")
    fine = {name: Tensor("f64", value.shape, [to_f32(x / 3) if spoil else x / 3 for x in value.values])
            for name, value in load_safetensors(first).items()}
    save_safetensors(second, fine)
    narrow.load(second)
    wide.load(second)
    for name, value in load_safetensors(first).items():
        if list(wide.parameter(name).values) != [x / 3 for x in value.values]:
            raise Wrong(f"{name} of f64 is not what was loaded")
        if list(narrow.parameter(name).values) != [to_f32(x / 3) for x in value.values]:
            raise Wrong(f"{name} of f32 is not what was loaded, rounded")
    narrow.close()
    wide.close()
    mixed, third_of = opened(folder, "compute = f32", True), [(k + 1) / 3 for k in range(16)]
    mixed.set_parameter("blocks.1.gain", Tensor("f64", (16,), third_of))
    mixed.set_parameter("blocks.1.shift", Tensor("f32", (16,), third_of))
    shift = [to_f32(x) for x in third_of]
    mixed.save(first, "hf")
    if values_of(first)["layers.1.affine"] != third_of + shift:
        raise Wrong("parts of one tensor in two types are written as something else")
    mixed.set_parameter("blocks.1.gain", Tensor("f64", (16,), shift))
    mixed.load(first, "hf")
    if list(mixed.parameter("blocks.1.gain").values) != third_of or list(mixed.parameter("blocks.1.shift").values) != shift:
        raise Wrong("parts of one tensor in two types are read as something else")
    mixed.close()


def files(folder, spoil):
    convert(folder, spoil)
    run = train(folder, specification(folder, "params = f64", "", False), "run", 2)
    other = os.path.join(folder, "other")
    shutil.copytree(run, other)
    train(folder, other, "other", 3, "--numerics", "f32")
    if {value.kind for value in load_safetensors(file_of(other, 3)).values()} != {"f32"}:
        raise Wrong("--numerics f32 does not set the policy aside")
    train(folder, other, "other", 4)
    check_kinds("back again", file_of(other, 4), False)
    check_kinds("back again", file_of(other, 4, "moment1"), False)
    for words in (("eval", run), ("eval", other, "--numerics", "f32"), ("generate", run, "--length", "5")):
        if not subprocess.run(["tenon", *words], check=True, stdout=subprocess.PIPE).stdout:  # some bytes are no text
            raise Wrong(f"{words} says nothing")
    exported = os.path.join(folder, "weights.safetensors")
    driver.tenon("export", run, "-o", exported)
    check_kinds("export", exported, False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["resume", "files"])
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            {"resume": resume, "files": files}[options.what](folder, options.spoil)
        except Wrong as error:
            print(f"WRONG: {error}")
            return 1
    print("AGREES")
    return 0


if __name__ == "__main__":
    sys.exit(main())
