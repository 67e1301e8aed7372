"""Files of frozen.test."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import save_npy, save_safetensors, tensor  # noqa: E402

SPEC = """model Twins {
  config D = 2
  dim    B
  in     x: [B, D]
  use    policy, reference, other, chooser = Linear[D -> D](bias = false)
  param  fixed: [D] = 1
  let    gap = policy(x) - stop_gradient(reference(x) + other(x)) * fixed
  loss   size = mean(gap * gap)
  loss   pick = mean(chooser(x) ^ 2)
}
train Twins as small {
  bind      B = 4
  data      = arrays(x = "x.npy")
  loss      = size
  optimizer = sgd(lr = 0.1)
  freeze    = ("reference.*", "other.*", "fixed")
  steps     = 1
}
"""
SQUARE = tensor("f32", [[1.0, 0.5], [-0.5, 2.0]])

folder = sys.argv[1]
with open(os.path.join(folder, "twins.tn"), "w", encoding="utf-8") as spec:
    spec.write(SPEC)
save_npy(os.path.join(folder, "x.npy"), tensor("f32", [[float(i), 1.0] for i in range(8)]))
for file, names in (("policy", ("policy",)), ("most", ("policy", "reference")), ("reference", ("reference", "other"))):
    save_safetensors(os.path.join(folder, file + ".safetensors"), {f"{name}.weight": SQUARE for name in names})
