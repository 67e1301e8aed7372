"""Values of test/e2e/specs/carries.tn: every loop gives, bit for bit, what its steps give one after the other.

    carries.py SPEC FOLDER
"""
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from tensors import load_npy, save_npy, tensor  # noqa: E402

spec, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
paths = {name: os.path.join(folder, name + ".npy") for name in ("x", "t", "looped", "unrolled")}
numbers = random.Random(1)
for name in "xt":
    save_npy(paths[name], tensor("f64", [[numbers.uniform(-1, 1) for _ in range(5)] for _ in range(3)]))
subprocess.run(["tenon", "run", spec, "--f64", "--init"] + [f"--input={name}=@{paths[name]}" for name in "xt"]
               + [f"--output={name}=@{paths[name]}" for name in ("looped", "unrolled")], check=True)
with open(paths["looped"], "rb") as looped, open(paths["unrolled"], "rb") as unrolled:
    same = looped.read() == unrolled.read()
rows = load_npy(paths["looped"])
print("values", rows)
print("the loops are their steps" if same else "WRONG: the loops are not their steps")
sys.exit(0 if same else 1)
