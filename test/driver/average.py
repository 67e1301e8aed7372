"""The means of parameters that `average` keeps, against what follows from the parameters of every step.

average.py ema RUN EVERY INITIAL DECAY [ramp]  RUN began with the file INITIAL and has average = ema(DECAY), EVERY is the same
                                               run without it and with a checkpoint after each update
average.py rounded RUN EVERY INITIAL DECAY     the same, of means that are rounded to bf16 after each update, but
                                               for those of `emb`
average.py types RUN                           the types of parameters and averages in the newest checkpoint
average.py last RUN EVERY COUNT                RUN has average = last(COUNT), and checkpoints each 4 steps
average.py same RUN OTHER                      the newest checkpoints of both have the same files
average.py parameters RUN OTHER                of the newest checkpoints the parameters are the same: they know nothing of means
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tensors  # noqa: E402


def steps(run):
    return sorted(int(name[5:]) for name in os.listdir(os.path.join(run, "checkpoints")) if name.startswith("step-"))


def values(path):
    return {key: list(tensor.values) for key, tensor in tensors.load_safetensors(path).items()}


def read(run, step, name):
    return values(os.path.join(run, "checkpoints", f"step-{step}", name + ".safetensors"))


def distance(a, b):
    return max(abs(x - y) for key in b for x, y in zip(a[key], b[key], strict=True))


def compare(what, got, wanted, bound):
    if sorted(got) != sorted(wanted) or not distance(got, wanted) <= bound:
        sys.exit(f"WRONG: {what} differs by {distance(got, wanted):.3g}")


def bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


def types(run):
    for name in ("parameters", "average"):
        path = os.path.join(run, "checkpoints", f"step-{max(steps(run))}", name + ".safetensors")
        found = sorted((key, tensor.kind) for key, tensor in tensors.load_safetensors(path).items())
        print(f"{name}:", ", ".join(f"{key} {kind}" for key, kind in found))


def check_ema(run, every, initial, decay, ramp=False, rounded=False):
    last = max(steps(run))
    mean = values(initial)
    for step in range(1, last + 1):
        now = read(every, step, "parameters")
        share = 1 - (min(decay, (1 + step) / (10 + step)) if ramp else decay)
        mean = {key: [m + share * (x - m) for m, x in zip(mean[key], now[key])] for key in mean}
        if rounded:
            mean = {key: [bf16(m) for m in mean[key]] if key != "emb" else mean[key] for key in mean}
        if step in steps(run):
            compare(f"the average of step {step}", read(run, step, "average"), mean, 2e-6)
    if last < 8 or distance(mean, now) < 1e-3:
        sys.exit(f"WRONG: {last} updates, {distance(mean, now):.3g} away from the parameters: nothing is shown")
    print(f"moving averages of {last} updates, {len(steps(run))} checkpoints")


def check_last(run, every, count):
    saved = steps(run)
    for step in saved:
        of = [step] + [each for each in range(4, step, 4)][::-1][:count - 1]
        all_of = [read(every, each, "parameters") for each in of]
        mean = {key: [sum(column) / len(of) for column in zip(*(one[key] for one in all_of))] for key in all_of[0]}
        compare(f"the average of step {step}", read(run, step, "average"), mean, 2e-7)
    if len(saved) < count or len(of) != count:
        sys.exit(f"WRONG: {saved} are there, {of} make the mean")
    print(f"means of {count} checkpoints")


def contents(run, only=""):
    folder = os.path.join(run, "checkpoints", f"step-{max(steps(run))}")
    result = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".safetensors") and name.startswith(only):
            with open(os.path.join(folder, name), "rb") as file:
                result[name] = file.read()
    return result


def main():
    if sys.argv[1] == "types":
        return types(sys.argv[2])
    what, run, other = sys.argv[1:4]
    if what in ("ema", "rounded"):
        return check_ema(run, other, sys.argv[4], float(sys.argv[5]), len(sys.argv) > 6, what == "rounded")
    if what == "last":
        return check_last(run, other, int(sys.argv[4]))
    a, b = (contents(each, "parameters" if what == "parameters" else "") for each in (run, other))
    if a != b:
        sys.exit(f"WRONG: {[name for name in a if a[name] != b.get(name)]} of {run} and {other} differ")
    return print("same:", ", ".join(a))


if __name__ == "__main__":
    main()
