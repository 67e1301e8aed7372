"""Files of public-states.test, the numbers that follow from them, and what an export has. Without the runtime."""
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import load_npy, load_safetensors, save_npy, save_safetensors, tensor  # noqa: E402

SPEC = """model Normed {
  config C = 3
  dim    B
  in     x: [B, C]
  use    norms = stack[2] BatchNorm[C]
  let    y = norms(x)
  out    y
  loss   size = mean(y * y)
}
names Normed as pub { "norms.*" = "layer.{1+1}" }
train Normed as small { bind B = 4  data = arrays(x = "x.npy")  loss = size  optimizer = sgd(lr = 0.1) }
"""
ROWS = [[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]]


def weights():
    draw = random.Random(7)
    return {f"layer.{layer}.{name}": tensor("f64", [round(draw.uniform(low, high), 3) for _ in range(3)]) for layer in (1, 2)
            for name, low, high in (("weight", 0.5, 2), ("bias", -1, 1), ("running_mean", -1, 1), ("running_var", 0.2, 3))}


def make(folder):
    with open(os.path.join(folder, "normed.tn"), "w", encoding="utf-8") as file:
        file.write(SPEC)
    save_npy(os.path.join(folder, "x.npy"), tensor("f32", ROWS))
    save_npy(os.path.join(folder, "rows.npy"), tensor("f32", [[math.sin(i + 2 * c) for c in range(3)] for i in range(16)]))
    save_safetensors(os.path.join(folder, "public.safetensors"), weights())
    save_safetensors(os.path.join(folder, "lacking.safetensors"),
                     {name: values for name, values in weights().items() if name != "layer.2.running_var"})


def check(path, spoil):
    found = load_npy(path).values
    w, expected = weights(), []
    for row in ROWS:
        for layer in (1, 2):
            row = [(x - m) / math.sqrt(v + 1e-5) * scale + shift for x, m, v, scale, shift in
                   zip(row, *(w[f"layer.{layer}.{name}"].values for name in ("running_mean", "running_var", "weight", "bias")))]
        expected += row
    expected[0] += 1e-9 if spoil else 0
    good = all(abs(a - b) < 1e-13 * max(1, abs(b)) for a, b in zip(found, expected))
    print("as computed by hand" if good else f"WRONG: {found} instead of {expected}")
    return good


def compare(folder, spoil):
    public, own, before = (load_safetensors(os.path.join(folder, name + ".safetensors")) for name in ("trained", "own", "public"))
    if spoil:
        public["layer.2.running_mean"] = public["layer.1.running_mean"]
    names = [name for name in public if "running" in name]
    same = all(public[name].values == own[name.replace("layer.1", "norms.0").replace("layer.2", "norms.1")].values
               for name in public)
    moved = all(list(public[name].values) != list(before[name].values) for name in names)
    good = same and moved and len(public) == len(own)
    print(f"running statistics of {len(names) // 2} layers under public names" if good else "WRONG")
    return good


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        judge = compare if sys.argv[1] == "compare" else check
        sys.exit(0 if judge(sys.argv[2], "--spoil" in sys.argv) else 1)
