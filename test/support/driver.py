"""Calls `tenon` for the tests: inputs and outputs as tensors, a failed command as an exception that carries its messages."""
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tensors  # noqa: E402
import tiers  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Failed(Exception):
    """A command ended with another status than 0."""

    def __init__(self, command, status, text):
        super().__init__(f"{' '.join(command)}\nstatus {status}\n{text}")
        self.status, self.text = status, text


def tenon(*words, folder=None, environment=None):
    """Standard output of `tenon words...`."""
    command = ["tenon"] + [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        raise Failed(command, done.returncode, done.stderr + done.stdout)
    return done.stdout


def compiled(spec, *words, beside=()):
    """An artifact of `tenon compile SPEC words...`, made once for all tests of a run that want the same. Read it only; it is not
    removed.

    The key is the text of the file, the words, the compiler's files and those `beside` it; imports are not followed.
    """
    shelf = os.environ["TENON_TEST_ARTIFACTS"]
    command = os.path.realpath(shutil.which("tenon"))
    library = os.path.join(os.path.dirname(os.path.dirname(command)), "lib", "libtenon-compiler.so")
    key = hashlib.sha256(repr([str(word) for word in words]).encode())
    with open(spec, "rb") as file:
        key.update(file.read())
    for path in (command, library, os.path.join(ROOT, "models", "std.tn"), *beside):
        key.update(repr((path, os.stat(path).st_mtime_ns, os.stat(path).st_size)).encode())
    made = os.path.join(shelf, key.hexdigest()[:24])
    os.makedirs(shelf, exist_ok=True)
    with open(made + ".lock", "w", encoding="utf-8") as lock, contextlib.ExitStack() as stack:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(made):
            part = made + ".part"
            stack.callback(shutil.rmtree, part, ignore_errors=True)
            tenon("compile", spec, *words, "-o", part)
            os.rename(part, made)
    return made


def specification(text, name):
    """A file NAME.tn with this text, at the same place for all tests of a run: the cache of compiled models goes by the place."""
    folder = os.path.join(os.environ["TENON_TEST_ARTIFACTS"], "specifications", hashlib.sha256(text.encode()).hexdigest()[:24])
    path = os.path.join(folder, name + ".tn")
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(path):
        part = f"{path}.{os.getpid()}"
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(part, path)
    return path


def model(name):
    return os.path.join(ROOT, "models", name)


def best_tier():
    """The widest code that this machine can run. Compiling for it alone takes a third of the time."""
    return tiers.best()


def other_tier():
    """A test with many parts runs some of them on this one, so that both are tested."""
    return tiers.other()


def reference_tier():
    """For code that only serves as a reference, on whatever tier the test itself runs."""
    return tiers.widest()


def code_of(tier):
    """Environment of a command that compiles for itself: code of this tier, of others than the widest ones of f32 and bf16
    `--quick`."""
    return {"TENON_TIER": tier, "TENON_QUICK": "" if tier in (tiers.best(), tiers.of_bf16()[0]) else "1"}


def settings(values):
    """--set name=value for each."""
    words = []
    for name, value in values.items():
        words += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    return words


def given(folder, inputs):
    """Writes the inputs and returns --input name=@file for each."""
    words = []
    for name, value in inputs.items():
        path = os.path.join(folder, f"in-{name}.npy")
        tensors.save_npy(path, value)
        words += ["--input", f"{name}=@{path}"]
    return words


def run(folder, spec, inputs, outputs, *options, **keywords):
    """`tenon run`: the named outputs as tensors."""
    words = given(folder, inputs)
    paths = {name: os.path.join(folder, f"out-{name}.npy") for name in outputs}
    for name, path in paths.items():
        if os.path.exists(path):
            os.unlink(path)
        words += ["--output", f"{name}=@{path}"]
    tenon("run", spec, *words, *options, **keywords)
    return {name: tensors.load_npy(path) for name, path in paths.items()}


def gradients(folder, spec, inputs, *options, **keywords):
    """`tenon grad`: losses by name, and the gradient of every parameter by name."""
    path = os.path.join(folder, "gradients.safetensors")
    if os.path.exists(path):
        os.unlink(path)
    losses = json.loads(tenon("grad", spec, *given(folder, inputs), "--json", "--output", path, *options, **keywords))
    return losses, tensors.load_safetensors(path)
