"""The case star_transformer of golden.py: satellites and relay after two layers. The nodes are the rows of the table of words."""
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
import driver  # noqa: E402
from tensors import Tensor, count, save_safetensors, tensor  # noqa: E402

D, PLACES, LAYERS, POSITIONS = 8, 5, 2, 10
SETS = {"V": PLACES, "X": D, "D": D, "N": LAYERS, "L": POSITIONS, "H": 2, "E": 4, "rate": 0}


def public_shapes():
    shapes = {"pos_emb.weight": (POSITIONS, D)}
    for n in range(LAYERS):
        shapes |= {f"norm.{n}.weight": (D,), f"norm.{n}.bias": (D,)}
        for part in ("ring_att", "star_att"):
            for matrix in ("WQ", "WK", "WV", "WO"):
                shapes |= {f"{part}.{n}.{matrix}.weight": (D, D), f"{part}.{n}.{matrix}.bias": (D,)}
    return shapes


def filled(name, shape):
    """As golden.py's rule."""
    phase = sum(name.encode()) % 97
    one = 1.0 if re.match(r"norm\.\d+\.weight", name) else 0.0
    return Tensor("f64", shape, [0.5 * math.sin(0.37 * k + phase) + one for k in range(count(shape))])


def run(case):
    v = case.values
    made = {name: filled(name, shape) for name, shape in public_shapes().items()}
    if case.options.spoil == "weight":
        made["ring_att.1.WV.weight"].values[-5] += 1e-2
    made["word"] = Tensor("f64", (PLACES, D), [math.sin(0.11 * k) for k in range(PLACES * D)])
    made["emb_fc.weight"] = Tensor("f64", (D, D), [float(k % (D + 1) == 0) for k in range(D * D)])
    made["emb_fc.bias"] = Tensor("f64", (D,), [0.0] * D)
    path = os.path.join(case.folder, "weights.safetensors")
    save_safetensors(path, made)
    asked = {"ids": case.ids([list(range(PLACES))]), "len": tensor("i32", [sum(v["mask"][0])])}
    found = driver.run(case.folder, driver.model("star_transformer.tn"), asked, ["h", "relay"], "--entry", "encoded", "--weights",
                       path, "--names", "fastnlp", "--partial", *(["--f64"] if case.options.f64 else []), *driver.settings(SETS),
                       environment=case.environment())
    case.same("satellites", list(found["h"].values), [x for row in v["nodes"][0] for x in row])
    case.same("relay", list(found["relay"].values), v["relay"][0])
