"""data = caller: a program feeds the batches that `arrays(.., stream = true)` makes, and comes to the same bytes as `tenon
train`.

caller.py SPEC LIBRARY FOLDER [--spoil]     --spoil: the program feeds one value of another
"""
import array
import ctypes
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from own_data import tenon  # noqa: E402
from tensors import Tensor, load_safetensors, save_npy  # noqa: E402

STEPS, ROWS, PLACES, FEATURES, ALL, HELD = 20, 2, 4, 2, 200, 40


class Library:
    """The C interface; an error ends the test."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(path)
        self.functions.tn_error_message.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        function = getattr(self.functions, name)
        function.restype = ctypes.c_void_p
        error = function(*arguments)
        if error:
            sys.exit(f"WRONG: {name}: {self.functions.tn_error_message(ctypes.c_void_p(error)).decode()}")


def train(library, model_path, x, y, weights):
    model, context = ctypes.c_void_p(), ctypes.c_void_p()
    library.call("tn_model_open", os.fsencode(model_path), None, ctypes.byref(model))
    library.call("tn_model_initialize", model, ctypes.c_uint64(0))
    library.call("tn_context_create", model, b"train", None, 0, None, ctypes.byref(context))
    length = (ALL - HELD) // ROWS
    for step in range(STEPS):
        for name, values, width in ((b"x", x, FEATURES), (b"y", y, 1)):
            batch = array.array("f")
            for row in range(ROWS):
                begin = (row * length + step * PLACES) * width
                batch.extend(values[begin:begin + PLACES * width])
            data = (ctypes.c_char * (len(batch) * 4)).from_buffer(batch)
            library.call("tn_context_set_input", context, library.functions.tn_context_input_find(context, name), data,
                         ctypes.c_uint64(len(batch) * 4))
        library.functions.tn_context_set_step(context, ctypes.c_uint64(step))
        library.call("tn_context_run", context)
    library.call("tn_model_save", model, os.fsencode(weights), None)


def main():
    spec, path, folder = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    draw = random.Random(5)
    x, y = [draw.gauss(0, 1) for _ in range(ALL * FEATURES)], [draw.gauss(0, 1) for _ in range(ALL)]
    save_npy(os.path.join(folder, "x.npy"), Tensor("f64", [ALL, FEATURES], x))
    save_npy(os.path.join(folder, "y.npy"), Tensor("f64", [ALL], y))
    run, model, weights = (os.path.join(folder, name) for name in ("run", "model", "weights.safetensors"))
    tenon("train", spec, "--model", "Drift", "--recipe", "small", "--out", run, "--steps", str(STEPS), "--quiet", folder=folder)
    tenon("compile", spec, "--model", "Drift", "--recipe", "program", "-o", model)
    if "--spoil" in sys.argv:
        x[5] += 0.001
    train(Library(path), model, x, y, weights)
    theirs, ours = load_safetensors(os.path.join(run, "checkpoints", f"step-{STEPS}",
                                                 "parameters.safetensors")), load_safetensors(weights)
    same = sorted(theirs) == sorted(ours) and all(theirs[name].values == ours[name].values for name in ours)
    print(f"{len(ours)} parameters of {STEPS} steps: {'the same' if same else 'OTHER'} bytes")
    if not same:
        sys.exit("WRONG: the program's training is another one")


main()
