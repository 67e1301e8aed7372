"""How far one step of rate 1 moved the layers of a run; fails where a layer moved by another length. recipe_edges.py RUN BOUND"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
import driver  # noqa: E402
import tensors  # noqa: E402

run, bound = sys.argv[1], float(sys.argv[2])
driver.tenon("export", run, "-o", "after.safetensors", folder=".")
driver.tenon("init", os.path.join(HERE, "Inputs", "recipe-edges.tn"), "-o", "before.safetensors", folder=".")
before, after = tensors.load_safetensors("before.safetensors"), tensors.load_safetensors("after.safetensors")
moved = []
for depth in range(3):
    names = [name for name in after if name.startswith(f"blocks.{depth}.")]
    moved.append(math.sqrt(sum((a - b) ** 2 for name in names for a, b in zip(after[name].values, before[name].values))))
print("layers", *(f"{length:.4f}" for length in moved), "together", f"{math.sqrt(sum(length ** 2 for length in moved)):.4f}")
sys.exit(any(abs(length - bound) > 1e-4 for length in moved))
