"""Files of public-states.test, the numbers that follow from them, and what an export has. Without the runtime."""
import json
import math
import os
import random
import struct
import sys

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


def write(path, tensors, columns=0):
    """Vectors, or with `columns` matrices of so many."""
    header, data = {}, b""
    for name, values in tensors.items():
        packed = struct.pack(f"<{len(values)}d", *values)
        shape = [len(values) // columns, columns] if columns else [len(values)]
        header[name] = {"dtype": "F64", "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {name: (info["dtype"], data[slice(*info["data_offsets"])]) for name, info in header.items() if name != "__metadata__"}


def npy(path, rows):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(rows) * len(rows[0])}f", *(value for row in rows for value in row)))


def weights():
    draw = random.Random(7)
    return {f"layer.{layer}.{name}": [round(draw.uniform(low, high), 3) for _ in range(3)] for layer in (1, 2)
            for name, low, high in (("weight", 0.5, 2), ("bias", -1, 1), ("running_mean", -1, 1), ("running_var", 0.2, 3))}


def make(folder):
    with open(os.path.join(folder, "normed.tn"), "w", encoding="utf-8") as file:
        file.write(SPEC)
    npy(os.path.join(folder, "x.npy"), ROWS)
    npy(os.path.join(folder, "rows.npy"), [[math.sin(i + 2 * c) for c in range(3)] for i in range(16)])
    write(os.path.join(folder, "public.safetensors"), weights())
    write(os.path.join(folder, "lacking.safetensors"),
          {name: values for name, values in weights().items() if name != "layer.2.running_var"})


def check(path, spoil):
    with open(path, "rb") as file:
        found = struct.unpack("<6d", file.read()[-48:])
    w, expected = weights(), []
    for row in ROWS:
        for layer in (1, 2):
            row = [(x - m) / math.sqrt(v + 1e-5) * scale + shift for x, m, v, scale, shift in
                   zip(row, *(w[f"layer.{layer}.{name}"] for name in ("running_mean", "running_var", "weight", "bias")))]
        expected += row
    expected[0] += 1e-9 if spoil else 0
    good = all(abs(a - b) < 1e-13 * max(1, abs(b)) for a, b in zip(found, expected))
    print("as computed by hand" if good else f"WRONG: {found} instead of {expected}")
    return good


def compare(folder):
    public, own = read(os.path.join(folder, "trained.safetensors")), read(os.path.join(folder, "own.safetensors"))
    before = read(os.path.join(folder, "public.safetensors"))
    names = [name for name in public if "running" in name]
    same = all(public[name] == own[name.replace("layer.1", "norms.0").replace("layer.2", "norms.1")] for name in public)
    moved = all(public[name][1] != struct.pack("<3f", *struct.unpack("<3d", before[name][1])) for name in names)
    good = same and moved and len(public) == len(own)
    print(f"running statistics of {len(names) // 2} layers under public names" if good else "WRONG")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "compare":
        compare(sys.argv[2])
    else:
        sys.exit(0 if check(sys.argv[2], "--spoil" in sys.argv) else 1)
