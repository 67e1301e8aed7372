"""Files of grow.test, and what training by them leaves."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import Tensor, load_safetensors, save_npy, save_safetensors, tensor  # noqa: E402

SPEC = """model Words {
  config V = 6, D = 2
  dim    B
  in     x: [B, V]
  param  table: [V, D] = 0.5
  let    y = dot[V](x, table)
  out    y
  loss   size = mean(y * y)
}
train Words as small {
  bind      B = 4
  data      = arrays(x = "x.npy")
  init      = load("small.safetensors", grow = ("table"))
  loss      = size
  optimizer = sgd(lr = 1e-30)
  steps     = 1
}
"""
ROWS = [0.25, -1.0, 2.0, 0.125, -0.75, 3.0, 1.5, -2.5]

folder = sys.argv[2]
if sys.argv[1] == "make":
    with open(os.path.join(folder, "words.tn"), "w", encoding="utf-8") as file:
        file.write(SPEC)
    save_npy(os.path.join(folder, "x.npy"), tensor("f32", [[float(i == c) for c in range(6)] for i in range(8)]))
    save_safetensors(os.path.join(folder, "small.safetensors"), {"table": Tensor("f64", (4, 2), ROWS)})
    save_safetensors(os.path.join(folder, "narrow.safetensors"), {"table": Tensor("f64", (8, 1), ROWS)})
else:
    found = list(load_safetensors(folder)["table"].values)
    expected = ROWS + [0.5] * (3 if "--spoil" in sys.argv else 4)
    if "--rows" in sys.argv: # (2, 0), the first again behind them
        expected = ROWS + ROWS[4:6] + ROWS[0:2]
    print("the file's 4 rows, and 2 more" if found == expected else f"WRONG: {found}")
    sys.exit(0 if found == expected else 1)
