"""A search of the C interface over inputs that have a multiple of a dim: what it finds, or why it refuses.

usage: search_dims.py SPEC WEIGHTS PLACES"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
from library import Beam, Model, Refused  # noqa: E402
from tensors import tensor  # noqa: E402


def main(spec, weights, places):
    artifact = driver.compiled(spec, "--tier", driver.best_tier())
    model = Model(artifact, "step", {"B": 1, "A": 1, "T": 1})
    model.load(weights)
    beam = Beam(1, 0.0, 2, -1, 0, 5, 0, -1)
    try:
        found = model.search(beam, {"mel": tensor("f32", [[0.5] * int(places)])}, [[1]])
    except Refused as refused:
        sys.exit(str(refused))
    print(json.dumps([[symbols, round(score, 4)] for symbols, score, _ in found[0]]))


if __name__ == "__main__":
    main(*sys.argv[1:])
