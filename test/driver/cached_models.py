"""A small model for each size, compiled into a cache of the test's own."""
import os
import shutil
import sys

SPEC = ("model M {{\n  config D = {size}\n  dim    B\n  in     x: [B, D]\n  param  w: [D] = 1\n  let    y = x * w\n  "
        "out    y\n}}\n")
folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
cache = os.path.join(folder, "cache")
os.makedirs(cache)
environment = {**os.environ, "TENON_CACHE": cache}


def command(size):
    """What compiles the model of that size: the command's words."""
    path = os.path.join(folder, f"size{size}.tn")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SPEC.format(size=size))
    return ["tenon", "inspect", path]
