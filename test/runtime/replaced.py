"""A model that is opened from a folder which has been compiled again is the new one, also while models of the old one are open;
these go on as they were.

usage: replaced.py SPECIFICATION FOLDER

SPECIFICATION says FACTOR, which the versions replace by numbers.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import library  # noqa: E402
from tensors import Tensor  # noqa: E402


def opened(text, folder, factor):
    spec = os.path.join(folder, "times.tn")
    with open(spec, "w", encoding="utf-8") as file:
        file.write(text.replace("FACTOR", str(factor)))
    subprocess.run(["tenon", "compile", spec, "--quick", "-o", os.path.join(folder, "times")], check=True)
    return another(folder)


def another(folder):
    return library.Model(os.path.join(folder, "times"), "infer", {"B": 1})


def value(model):
    model.set_input("x", Tensor("f32", (1,), [1.0]))
    return int(model.run()["y"].values[0])


def main():
    path, folder = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    os.makedirs(folder)
    first = opened(text, folder, 2)
    second = opened(text, folder, 3)
    again = another(folder)
    print("three models:", value(first), value(second), value(again))
    first.close()
    third = opened(text, folder, 5)
    print("the first one closed:", value(second), value(again), value(third))
    second.close()
    again.close()
    fourth = opened(text, folder, 7)
    print("the second ones closed:", value(third), value(fourth), value(another(folder)))


if __name__ == "__main__":
    main()
