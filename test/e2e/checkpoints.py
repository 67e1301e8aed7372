"""Runs of `tenon train` on the tests' text, and the files of their checkpoints."""
import os

import properties
from properties import driver


def train(folder, spec, name, steps, *words, sizes=()):
    """The run `name`; `spec` may be one that goes on, whose sizes are settled."""
    run = os.path.join(folder, name)
    recipe = [] if os.path.isdir(spec) else ["--recipe", "small", *sizes]
    driver.tenon("train", spec, *recipe, "--text", properties.sample(folder), "--out", run, "--quiet", "--steps", steps, *words)
    return run


def file_of(run, step, name="parameters"):
    return os.path.join(run, "checkpoints", f"step-{step}", name + ".safetensors")


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()
