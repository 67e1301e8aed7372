"""coverage.py FOLDER [control]: evaluations of the specifications in FOLDER against plain Python; `control` leaves one place out
of the first reference."""
import json
import math
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import Tensor, save_npy  # noqa: E402

FOLDER = sys.argv[1]
CONTROL = "control" in sys.argv[2:]


def evaluated(spec, *words):
    done = subprocess.run(["tenon", "eval", os.path.join(FOLDER, spec), "--init", "--json", *words], capture_output=True,
                          text=True, cwd=FOLDER)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def expect(what, found, errors, covered, all_of, names=("l",)):
    """`errors`: what the numbers are means of."""
    want = sum(errors) / len(errors)
    for name in names:
        if not (isinstance(found, dict) and math.isclose(found[name], want, rel_tol=1e-5)
                and (found["covered"], found["of"]) == (covered, all_of)):
            sys.exit(f"WRONG: {what}: {found}, expected {name} {want} of {covered} of {all_of}")


def streams():
    draw, count = random.Random(3), 0
    for length in (150, 160):
        x, y = [[draw.uniform(-1, 1) for _ in range(length)] for _ in range(2)]
        for name, values in (("x", x), ("y", y)):
            save_npy(os.path.join(FOLDER, name + ".npy"), Tensor("f32", [length], values))
        for spec in ("places", "rows"):
            errors = [(a - b) ** 2 for a, b in zip(x, y)]
            expect(f"{spec}, stream of {length}", evaluated(spec + ".tn", "--data", FOLDER), errors[:-1] if CONTROL else errors,
                   length, length)
            count += 1
    print(f"streams: {count} agree")


def write(length):
    draw = random.Random(length)
    values = bytes(draw.randrange(32, 127) for _ in range(length))
    path = os.path.join(FOLDER, "text.txt")
    with open(path, "wb") as file:
        file.write(values)
    return path, [value / 256 for value in values]


def pairs(values, begin, end):
    """Errors of the predictions within these places."""
    return [(values[k] - values[k + 1]) ** 2 for k in range(begin, min(end, len(values)) - 1)]


def shifted():
    count = 0
    for length in (2, 3, 8, 9, 10, 15, 170, 171, 192):
        path, values = write(length)
        apart = [error for begin in range(0, length, 8) for error in pairs(values, begin, begin + 8)]
        for recipe in ("stream", "blocks"):
            found = evaluated("shifted.tn", "--recipe", recipe, "--text", path)
            expect(f"shifted, {recipe}, {length} symbols", found, apart, len(apart), length, ("l", "again"))
            count += 1
    for length in (2, 8, 20, 171):
        path, values = write(length)
        for stride in (3, 7):
            found = evaluated("shifted.tn", "--recipe", "blocks", "--text", path, "--stride", str(stride))
            expect(f"shifted, stride {stride}, {length} symbols", found, pairs(values, 0, length), length - 1, length,
                   ("l", "again"))
            count += 1
    print(f"shifted: {count} agree")


def order():
    count = 0
    for length in (66, 330, 513):
        path, values = write(length)
        found = evaluated("order.tn", "--text", path)
        names = ("l", "renamed", "flipped", "both")
        expect(f"order, {length} symbols", found, pairs(values, 0, length), length - 1, length, names)
        count += len(names)
    print(f"names and order: {count} agree")


streams()
shifted()
order()
found = evaluated("shifted.tn", "--recipe", "stream", "--text", write(1)[0])
print("one symbol:", "there is nothing to predict" if "an evaluation needs 2" in str(found) else found)
