"""Rows for bad-row.test, one of them with a square that f32 cannot hold, and the running averages that training over them leaves.

    bad_row.py write FOLDER
    bad_row.py check RUN
"""
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import load_safetensors, save_npy, tensor  # noqa: E402


def write(folder):
    # Batches of whichever 4 rows: means of good ones lie from 1 to 5, unbiased variances below 6.
    rows = [[1.0, 5.0], [5.0, 1.0]] * 8
    save_npy(os.path.join(folder, "same.npy"), tensor("f32", rows))
    save_npy(os.path.join(folder, "bad.npy"), tensor("f32", [[1e30, 1e30]] * 4))
    rows[5] = [1e30, 1.0]
    save_npy(os.path.join(folder, "rows.npy"), tensor("f32", rows))


def check(run):
    file, = glob.glob(os.path.join(run, "checkpoints", "step-4", "parameters.safetensors"))
    values = {name: list(value.values) for name, value in load_safetensors(file).items()}
    mean, var = values["norm.running_mean"], values["norm.running_var"]
    print(f"mean {mean}, variance {var}")
    if not all(1 <= each <= 5 for each in mean) or not all(0 < each < 8 for each in var):
        sys.exit("WRONG: they are not")
    print("running_mean and running_var are those of the good rows")


{"write": write, "check": check}[sys.argv[1]](sys.argv[2])
