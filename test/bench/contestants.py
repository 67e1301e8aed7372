"""The two sides of a bench row: long-lived processes that make training steps when asked to, and rest otherwise."""
import contextlib
import glob
import hashlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DIMS = ["B", "T", "K"]  # bound at compile time of the train entry, where a row names no `dims`; every other size is a config


def median_rate(theirs, ours):
    return statistics.median(theirs) / statistics.median(ours)


# The forms of the peer: PyTorch as it is shipped; with MKL's code for the processor's vectors (peer/mkl_vectors.c), eager and by
# torch.compile; JAX.
FORMS = ("stock", "eager", "compiled", "jax")


def preloaded(folder):
    """peer/mkl_vectors.c as a library to preload."""
    path = os.path.join(folder, "mkl_vectors.so")
    if not os.path.exists(path):
        checked([compiler(), "-shared", "-fPIC", "-O1", os.path.join(HERE, "peer", "mkl_vectors.c"), "-o", path])
    return path


def compiler():
    return next(name for name in ("clang-22", "gcc", "cc") if shutil.which(name))


class Peer:
    """PyTorch or JAX: peer/worker.py or peer/MODULE_jax.py, spoken to through its standard input. `form`: one of FORMS."""

    def __init__(self, python, module, size, threads, form, folder, tier=None, numerics="f32"):
        script = f"{module}_jax.py" if form == "jax" else "worker.py"
        command = [python, os.path.join(HERE, "peer", script), module, "--size", json.dumps(size), "--threads", str(threads)]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONDONTWRITEBYTECODE": "1", "JAX_PLATFORMS": "cpu"}
        if tier == "x86-64-v3":  # its libraries choose their code by the processor otherwise
            environment |= {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
                            "XLA_FLAGS": "--xla_cpu_max_isa=AVX2"}
        if form in ("eager", "compiled"):
            environment["LD_PRELOAD"] = preloaded(folder)
        command += ["--compile"] if form == "compiled" else []
        command += ["--numerics", numerics] if form != "jax" else []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)
        self.about = self.answer()
        self.peak, self.losses = 0, []

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the peer's process ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.answer()

    def steps(self, count):
        """Seconds of `count` steps after one that is left out, as on the other side: the first step after a rest is slower."""
        found = self.ask(f"step {count + 1}")
        self.peak = found["peak_bytes"]
        self.losses += found.get("losses", [])
        return found["seconds"][1:]

    def save(self, path):
        return self.ask(f"save {path}")

    def load(self, path):
        return self.ask(f"load {path}")

    def gradients(self, path):
        return self.ask(f"grads {path}")

    def exact(self, path):
        return self.ask(f"exact {path}")

    def peak_bytes(self):
        return self.peak

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait()


def words(row, size):
    """--set for configs, --bind for dims; the bench recipe comes from specs/. `as`: what the specification calls a size; `rates`:
    the configs that are the rate of dropout; `in_recipe`: dims that the recipe binds itself, since generate blocks count them
    at run time."""
    spec = os.path.join(HERE, "specs", row["spec"] + ".bench.tn")
    left_out, names = ("rate", *row.get("in_recipe", [])), row.get("as", {})
    configs = {names.get(name, name): value for name, value in size.items() if name not in left_out}
    configs |= {name: size["rate"] for name in row.get("rates", ["rate"])}
    dims = {name: configs.pop(name) for name in row.get("dims", DIMS) if name in configs}
    result = ["--model", row["model"]]
    for name, value in configs.items():
        result += ["--set", f"{name}={value}"]
    for name, value in dims.items():
        result += ["--bind", f"{name}={value}"]
    return spec, result


def useful_operations(artifact):
    """Floating-point operations of one training step as the compiler counts them: masked pairs and unread rows are not among
    them."""
    manifest = json.loads(checked(["tenon", "inspect", artifact, "--json"]))
    return sum(int(kernel["flops"]) for entry in manifest["entries"] if entry["name"] == "train" for kernel in entry["kernels"])


def checked(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")  # bytes of random symbols are no text
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[:3])} ended with status {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


LOSS_BOUND, EXACT_BOUND = {"f32": 1e-4, "bf16": 1e-2}, 1e-9


def gradients_agree(python, peers, row, size, folder, bound, numerics):
    """All sides from the first peer's weights and inputs, dropout off; raises RuntimeError when a loss or gradient differs.
    Returns what was compared."""
    saved = peers[0].save(os.path.join(folder, "weights.safetensors"))
    theirs, ours = os.path.join(folder, "theirs.safetensors"), os.path.join(folder, "ours.safetensors")
    command = gradient_command(python, row, {**size, "rate": 0}, saved, ours)
    if row.get("exact"):  # roundings turn ReLUs and norms of a batch make much of it: both sides in f64, from the same weights
        expected = peers[0].exact(theirs)
        losses = json.loads(checked([*command, "--f64"]))
        return "Tenon in f64 " + compared(python, losses, ours, expected["losses"], theirs, EXACT_BOUND, EXACT_BOUND)
    expected = peers[0].gradients(theirs)
    found = []
    for peer in peers[1:]:
        if "jax" in peer.about:
            peer.load(saved["weights"])
            other = os.path.join(folder, "jax.safetensors")
            found.append("JAX " + compared(python, peer.gradients(other)["losses"], other, expected["losses"], theirs, bound,
                                           LOSS_BOUND[numerics]))
    losses = json.loads(checked([*command, "--numerics", numerics]))
    return "; ".join([*found, "Tenon " + compared(python, losses, ours, expected["losses"], theirs, bound, LOSS_BOUND[numerics])])


STEPS_COMPARED = 3


def steps_agree(sides, numerics, least=0.0):
    """Of a row whose sides train on one batch from the same weights: the losses of the first steps. The optimizer is in them.
    `least`: what the row's forms of PyTorch differ by among themselves."""
    bound = max(10 * LOSS_BOUND[numerics], least)
    expected = next(iter(sides.values())).losses[:STEPS_COMPARED]
    for form, side in sides.items():
        for number, (found, value) in enumerate(zip(side.losses, expected), 1):
            if not abs(found - value) <= bound * abs(value):
                raise RuntimeError(f"the loss of step {number} is {found} ({form}), PyTorch says {value}")
    return f"losses of {len(expected)} steps within {bound:g}"


def compared(python, losses, ours, expected, theirs, bound, loss_bound):
    for name, value in expected.items():
        if not abs(losses[name] - value) <= loss_bound * abs(value):
            raise RuntimeError(f"the loss {name} is {losses[name]}, PyTorch says {value}")
    return checked([python, os.path.join(HERE, "peer", "compare.py"), ours, theirs, str(bound)]).strip()


def gradient_command(python, row, size, saved, output):
    spec, options = words(row, size)
    command = ["tenon", "grad", spec, "--recipe", "bench", *options, "--weights", saved["weights"], "--output", output]
    if row.get("names"):
        command += ["--names", row["names"], "--output-names", row["names"]]
    files = sorted(os.listdir(saved["inputs"]))
    if row["module"] == "xlnet":
        checked([python, "-c", "import numpy, sys; numpy.save(sys.argv[1], numpy.zeros(int(sys.argv[2]), bool))",
                 os.path.join(saved["inputs"], "back.npy"), str(size["B"])])
        files.append("back.npy")
    for file in files:
        command += ["--input", f"{file[:-4]}=@{os.path.join(saved['inputs'], file)}"]
    return command + ["--json"]


class Tenon:
    """`tenon train` on a compiled artifact, stopped by SIGSTOP whenever it is not its turn. Step times come from metrics.jsonl: a
    line's `seconds` is the time since the start, so the step between two lines took their difference."""

    def __init__(self, row, size, threads, folder, text, tier=None, numerics="f32"):
        self.text = os.path.join(folder, "text.txt")
        if not text:
            write_text(self.text)
        elif not os.path.exists(self.text):
            os.symlink(os.path.abspath(text), self.text)
        spec, options = words(row, size)
        artifact, run = os.path.join(folder, "artifact"), os.path.join(folder, "run")
        for left in (artifact, run):  # of the run before, in a folder that is kept
            shutil.rmtree(left, ignore_errors=True)
        begin = time.monotonic()
        checked(["tenon", "compile", spec, "-o", artifact, "--recipe", "bench", "--numerics", numerics, *options])
        self.compile_seconds = time.monotonic() - begin
        self.artifact_bytes = sum(os.path.getsize(os.path.join(artifact, name)) for name in os.listdir(artifact))
        self.flops = useful_operations(artifact)
        self.metrics = os.path.join(run, "metrics.jsonl")
        self.log = open(os.path.join(folder, "train.log"), "w+", encoding="utf-8")
        data = ["--text", self.text]
        if row.get("files"):  # the peer's batch, from the peer's weights
            weights = os.path.join(folder, "weights")
            data = ["--data", weights, "--weights", weights + ".safetensors"]
            data += ["--names", row["names"]] if row.get("names") else []
        self.process = subprocess.Popen(["tenon", "train", artifact, "--out", run, *data, "--threads", str(threads),
                                         *(["--tier", tier] if tier else [])],
                                        stdout=self.log, stderr=self.log, cwd=folder)
        self.running = True
        self.read, self.seconds, self.losses = 0, [], []  # bytes of metrics.jsonl; the ends of the steps in them

    def ends(self):
        """`seconds` of every step so far. Only what is new is read: this process shares the processors with the one it times."""
        if os.path.exists(self.metrics) and os.path.getsize(self.metrics) > self.read:
            with open(self.metrics, "rb") as file:
                file.seek(self.read)
                fresh = file.read()
            whole = fresh[:fresh.rfind(b"\n") + 1]
            self.read += len(whole)
            lines = [json.loads(line) for line in whole.splitlines() if line]
            steps = [line for line in lines if "tokens_per_second" in line]
            self.seconds += [line["seconds"] for line in steps]
            self.losses += [line["loss"] for line in steps]
        return self.seconds

    def turn(self, on):
        if on != self.running:
            self.process.send_signal(signal.SIGCONT if on else signal.SIGSTOP)
            self.running = on

    def steps(self, count):
        """Seconds of `count` whole steps. The step that was under way when the process was stopped is left out."""
        before = len(self.ends())
        self.turn(True)
        while True:
            ends = self.ends()
            if len(ends) >= before + 1 + count:
                break
            if self.process.poll() is not None:
                self.log.seek(0)
                raise RuntimeError(f"tenon train ended with status {self.process.returncode}: {self.log.read()}")
            time.sleep(0.2)  # looking costs the processor of a thread that is being timed
        self.turn(False)
        return [ends[k] - ends[k - 1] for k in range(before + 1, before + 1 + count)]

    def peak_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.turn(True)
            self.process.wait()
        self.log.close()


class Kept:
    """What precedes the timing of a row, in its folder: the comparison, the peer's weights and inputs. It holds for one compiler,
    one text of specification and peers, one row. The artifact is made anew: how long that takes is a figure of the row."""

    def __init__(self, folder, row, size, numerics):
        self.path = os.path.join(folder, "agreed.json")
        self.stamp = stamp(row, size, numerics)
        self.agreed = None
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                found = json.load(file)
            if found["stamp"] == self.stamp:
                self.agreed = found["agreed"]

    def store(self, agreed):
        for name in ("ours", "theirs", "jax"):  # gradients, as large as the weights
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(os.path.dirname(self.path), name + ".safetensors"))
        self.agreed = agreed
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"stamp": self.stamp, "agreed": agreed}, file)


def stamp(row, size, numerics):
    tenon = os.path.realpath(shutil.which("tenon"))
    libraries = glob.glob(os.path.join(os.path.dirname(tenon), "..", "lib", "libtenon-*.so"))
    files = [os.stat(path) for path in (tenon, *sorted(libraries))]
    built = [[file.st_mtime_ns, file.st_size] for file in files]
    made = hashlib.sha256(json.dumps([row, size, numerics, built], sort_keys=True).encode())
    for pattern in ("bench/peer/*", "bench/specs/*", "../models/*"):
        for path in sorted(glob.glob(os.path.join(os.path.dirname(HERE), pattern))):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    made.update(file.read())
    return made.hexdigest()


def write_text(path):
    """Half a megabyte of words: what is in them does not matter for the time."""
    state, words_made = 1, []
    while len(words_made) < 100_000:
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        words_made.append("abcdefghijklmnopqrstuvwxyz"[state >> 59 if state >> 59 < 26 else 4] * (1 + (state >> 56 & 3)))
    lines = [" ".join(words_made[k:k + 12]) + "." for k in range(0, len(words_made), 12)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join("\n".join(lines[k:k + 20]) + "\n" for k in range(0, len(lines), 20)))
