#!/usr/bin/env python3
"""The kernels of the tests on a GPU, launch by launch, against what the emulator makes of the same memory.

usage: hardware.py record FOLDER [--only TEXT]
       hardware.py run FOLDER [--only TEXT] [--libcuda FILE] [--spoil] [--jobs N]

`record` runs the tests' kernels on the emulator, and writes their launches; `run`, where a GPU is, runs them there and compares.
A folder of FOLDER holds the launches of one run of tenon-gpu-kernel-test, or the first launch of each kernel of a training step
(test/gpu-emu/Record.h). `run` needs Python, NVIDIA's driver and FOLDER, where this file lies, too. Before each launch memory is
what it was on the emulator, so that no launch inherits the differences of another one. What the kernel wrote must
agree within the test's tolerance, as |got - expected| / (|expected| + root mean square of what was written beside it); of 16 bits
within a unit in the last place as well; whole numbers, and all that it did not write, to the bit.
  --only     cases with TEXT in their names
  --spoil    negative control: one number of each launch is expected to be another
  --jobs     processes, one per case (default 8)
"""
import argparse
import array
import concurrent.futures
import ctypes
import gzip
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CPU = os.path.join(HERE, "..", "lowering", "cpu")

# Name: file of the kernel form or arguments of products.py; dims; tolerance.
RECORDED = {
    "nest": ("nest", "1,1 2,3 17,2 67,3", 2e-6),
    "math": ("math", "2011", 2e-6),
    "rows": (os.path.join(HERE, "rows.mlir"), "1,5 3,70 33,300", 2e-6),
    "scatter": ("scatter", "1 3 67", 4e-6),
    "short-reals": ("short-reals", "1", 0),
    "loss-scale": ("loss-scale", "1 17", 4e-6),
    "stack": ("stack", "3", 4e-6),
    "skip": ("skip", "1 17", 2e-6),
    "gemm": ("gemm", "1,1 2,3 17,2 131,1", 2e-5),
    "gemm-short": ("gemm-short", "1,1 2,3 17,2 67,3", 2e-5),
    "gemm-computed": ("gemm-computed", "1,1 17,2", 2e-5),
    "products-single": (["2"], "1,1,1 31,33,17 33,31,290 65,3,0", 2e-5),
    "products-16": (["2", "--factors", "8,8,8"], "1,1,1 5,3,37 4,4,4", 2e-5),
    "products-8-f16": (["2", "--factors", "4,4,4", "--type", "f16"], "1,1,1 9,7,35", 2e-5),
    "products-4": (["2", "--factors", "2,2,2"], "1,1,1 17,15,35", 2e-5),
    **{f"products-tile{tile}": ([tile, "--factors", "8,8,8", "--only", "mk_nk", "mk_kn", "km_nk", "km_kn"], dims, 2e-5)
       for tile, dims in {"0": "17,15,13", "1": "9,7,17", "3": "3,9,41", "4": "9,3,41"}.items()},
    "products-f32": (["0", "--type", "f32"], "31,33,17 65,67,40", 2e-5),
    "products-tf32": (["2", "--type", "tf32", "--factors", "4,4,4"], "1,1,1 9,7,35 33,31,17", 2e-5),
    "attention-content": ("attention-content", "1,0,2 17,40,2 67,30,1", 2e-5),
    "attention-relative": ("attention-relative", "17,40,1", 2e-5),
    "attention-streams": ("attention-streams", "17,25,1", 2e-5),
    "attention-groups": ("attention-groups", "17,20,2", 2e-5),
    "attention-step": ("attention-step", "17,20,2", 2e-5),
    "attention-keys": ("attention-keys", "17,20,1", 2e-5),
    "attention-values": ("attention-values", "17,20,1", 2e-5),
    "attention-computed": ("attention-computed", "17,20,2", 2e-5),
    "attention-f64": ("attention-f64", "17,10,1", 1e-11),
}
PACKED = ("kernels.ptx", "data.bin", "launches.json")
# By the letter of a type: bytes, what |got - expected| may be of |expected| whatever the tolerance is.
TYPES = {"f": (4, 0), "d": (8, 0), "h": (2, 2 ** -10), "b": (2, 2 ** -7), "i": (1, 0)}
# Training steps of specs/ and models/ (steps.py), with their numerics.
STEPS = {"gpt2-bf16": ("gpt2", "bf16"), "gpt2-f16": ("gpt2", "f16"), "short": ("short", None),
         "transformer_xl": ("transformer_xl", "f32"), "bert-bf16": ("bert", "bf16"), "xlnet": ("xlnet", "f32"),
         "llama-bf16": ("llama", "bf16"), "lstm": ("lstm", "f32")}


def record_kernels(source, dims, tolerance, folder):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        if isinstance(source, list):
            products = [sys.executable, os.path.join(HERE, "products.py"), *source]
            file.write(subprocess.run(products, check=True, capture_output=True, text=True).stdout)
            file.flush()
            source = file.name
        path = source if os.path.isabs(source) else os.path.join(CPU, source + ".mlir")
        subprocess.run(["tenon-gpu-kernel-test", path, *("--dims=" + each for each in dims.split()), f"--tolerance={tolerance}",
                        "--record=" + folder], check=True)


def record_steps(model, numerics, folder):
    import steps  # which needs the compiler

    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TENON_GPU_EMU"] = "checked,record=" + os.path.join(scratch, "record")
        os.environ["TENON_CACHE"] = os.path.join(scratch, "cache")
        steps.train("sm_80", 7, argparse.Namespace(model=model, steps=1, f64=False, numerics=numerics, commands=False,
                                                   target="sm_80", hardware=None), scratch)
        (made,) = os.listdir(os.path.join(scratch, "record"))
        shutil.copytree(os.path.join(scratch, "record", made), folder)


def record(folder, only):
    for table, maker in ((RECORDED, record_kernels), (STEPS, record_steps)):
        for name, how in table.items():
            if only not in name:
                continue
            path = os.path.join(folder, name)
            shutil.rmtree(path, ignore_errors=True)
            maker(*how, path)
            for made in PACKED:
                with open(os.path.join(path, made), "rb") as file, gzip.open(os.path.join(path, made + ".gz"), "wb", 6) as to:
                    to.write(file.read())
                os.remove(os.path.join(path, made))
    shutil.copy(os.path.abspath(__file__), folder)


class Gpu:
    """The driver's interface, of one device."""

    def __init__(self, library):
        self.cuda = ctypes.CDLL(library)
        self.call("cuInit", 0)
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, len(name), device)
        self.name = name.value.decode()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, function, *arguments, log=None):
        result = getattr(self.cuda, function)(*arguments)
        if result:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(result, ctypes.byref(text))
            more = ": " + log.value.decode() if log else ""
            raise RuntimeError(f"{function}: {(text.value or b'?').decode()} ({result}){more}")

    def load(self, ptx):
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(5, 6)  # where errors are written, and how many bytes of them
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), len(log))
        self.call("cuModuleLoadDataEx", ctypes.byref(module), ctypes.c_char_p(ptx), 2, options, values, log=log)
        return module

    def allocate(self, count):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(count))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def put(self, address, content):
        self.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), ctypes.c_char_p(bytes(content)),
                  ctypes.c_size_t(len(content)), None)
        self.call("cuStreamSynchronize", None)

    def get(self, address, count):
        content = ctypes.create_string_buffer(count)
        self.call("cuMemcpyDtoHAsync_v2", content, ctypes.c_uint64(address), ctypes.c_size_t(count), None)
        self.call("cuStreamSynchronize", None)
        return bytearray(content.raw)

    def launch(self, module, launch, slots):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, launch["kernel"].encode())
        if launch["shared"] > 48 << 10:
            self.call("cuFuncSetAttribute", function, 8, launch["shared"])
        words = [ctypes.c_uint64(slot & (1 << 64) - 1) for slot in slots]
        pointers = (ctypes.c_void_p * max(1, len(words)))(*map(ctypes.addressof, words))
        self.call("cuLaunchKernel", function, *launch["grid"], *launch["block"], launch["shared"], None, pointers, None)
        self.call("cuStreamSynchronize", None)


def numbers(kind, content):
    """Of bytes; floating-point types only."""
    if kind == "h":
        return [value for value, in struct.iter_unpack("<e", content)]
    if kind == "b":  # the upper half of an f32
        return array.array("f", b"".join(b"\0\0" + content[at:at + 2] for at in range(0, len(content), 2))).tolist()
    return array.array(kind, content).tolist()


def same(got, expected):
    return got == expected or (math.isnan(got) and math.isnan(expected))


def error_of(kind, got, expected):
    """The largest one of a run of elements, and the element."""
    if kind == "i" or len(got) % TYPES[kind][0]:
        return math.inf, next(at for at in range(len(got)) if got[at] != expected[at])
    got, expected = numbers(kind, bytes(got)), numbers(kind, bytes(expected))
    finite = [value for value in expected if math.isfinite(value)]
    scale = math.sqrt(sum(value * value for value in finite) / max(1, len(finite)))
    worst, where = 0, 0
    for at, (one, other) in enumerate(zip(got, expected, strict=True)):
        if same(one, other):
            continue
        off = abs(one - other) - TYPES[kind][1] * abs(other)
        error = off / (abs(other) + scale) if math.isfinite(off) and abs(other) + scale > 0 else math.inf
        if not error <= worst:
            worst, where = error, at
    return worst, where


class Case:
    """A folder's launches, one after the other."""

    def __init__(self, gpu, folder):
        self.gpu = gpu
        ptx, self.data, launches = (gzip.open(os.path.join(folder, name + ".gz")).read() for name in PACKED)
        self.case = json.loads(launches)
        self.module = gpu.load(ptx)
        self.memory = {}  # by the number of a buffer: address, and what it held on the emulator

    def run(self, spoil):
        """Prints what is wrong; how many launches there were, how many of them are wrong, and the largest error that may be."""
        wrong, largest = 0, 0
        for number, launch in enumerate(self.case["launches"]):
            complaints, error = self.step(launch, spoil)
            for complaint in complaints[:3]:
                print(f"  launch {number}, {launch['kernel']}: {complaint}")
            wrong, largest = wrong + bool(complaints), max(largest, error)
        return len(self.case["launches"]), wrong, largest

    def step(self, launch, spoil):
        present = {int(number): count for number, count in launch["buffers"].items()}
        for number in [number for number in self.memory if number not in present]:
            self.gpu.free(self.memory.pop(number)[0])
        for number in [number for number in present if number not in self.memory]:
            self.memory[number] = (self.gpu.allocate(present[number]), bytearray(b"\xff" * present[number]))
        for number, at, count, place in launch["set"]:
            self.memory[number][1][at:at + count] = self.data[place:place + count]
        for address, content in self.memory.values():
            self.gpu.put(address, content)
        slots = [self.memory[slot[0]][0] + slot[1] if isinstance(slot, list) else slot for slot in launch["arguments"]]
        self.gpu.launch(self.module, launch, slots)
        for number, at, count, place, _ in launch["written"]:
            self.memory[number][1][at:at + count] = self.data[place:place + count]
        if spoil and launch["written"]:
            number, at, count, _, kind = launch["written"][0]
            self.memory[number][1][at + TYPES[kind][0] - 1] ^= 0x40
        return self.compare(launch)

    def compare(self, launch):
        complaints, largest = [], 0
        for number, (address, content) in self.memory.items():
            got = self.gpu.get(address, len(content))
            if got == content:
                continue
            for at, count, kind in [(at, count, kind) for one, at, count, _, kind in launch["written"] if one == number]:
                if got[at:at + count] == content[at:at + count]:
                    continue
                error, element = error_of(kind, got[at:at + count], content[at:at + count])
                largest = max(largest, error)
                if error > self.case["tolerance"]:
                    place = f"element {element} of those from byte {at} on ({kind})"
                    complaints.append(f"buffer {number}, {place}: error {error:.1e}")
                got[at:at + count] = content[at:at + count]
            if got != content:
                at = next(at for at, (one, other) in enumerate(zip(got, content, strict=True)) if one != other)
                complaints.append(f"buffer {number}, byte {at}: written, which it is not on the emulator")
        return complaints, largest


def run_one(folder, options):
    """In a process of its own, since a fault of a kernel ends the context."""
    environment = dict(os.environ)
    environment.setdefault("TENON_GPU_IR", folder)  # of the emulator's stand-in for the driver
    words = ["--libcuda", options.libcuda, *(["--spoil"] if options.spoil else [])]
    try:
        done = subprocess.run([sys.executable, os.path.abspath(__file__), "case", folder, *words], capture_output=True, text=True,
                              timeout=180, env=environment)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return 1, "  no end after 180 s\n"


def run(options):
    names = sorted(name for name in os.listdir(options.folder)
                   if options.only in name and os.path.exists(os.path.join(options.folder, name, PACKED[-1] + ".gz")))
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folders = [os.path.join(options.folder, name) for name in names]
        for name, (status, text) in zip(names, pool.map(lambda folder: run_one(folder, options), folders), strict=True):
            print(f"{name}: {'ok' if status == 0 else 'WRONG'}\n{text}", end="", flush=True)
            wrong += status != 0
    print(f"{len(names) - wrong} of {len(names)} cases are right")
    return 1 if wrong or not names else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n", maxsplit=2)[1])
    parser.add_argument("what", choices=["record", "run", "case"])
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--libcuda", default="libcuda.so.1")
    parser.add_argument("--spoil", action="store_true")
    parser.add_argument("--jobs", type=int, default=8)
    options = parser.parse_args()
    if options.what == "record":
        return record(options.folder, options.only)
    if options.what == "run":
        return run(options)
    try:
        gpu = Gpu(options.libcuda)
        launches, wrong, largest = Case(gpu, options.folder).run(options.spoil)
    except (RuntimeError, OSError) as error:
        print(f"  {error}")
        return 1
    print(f"  {launches} launches on {gpu.name}, {wrong} wrong, largest error {largest:.1e}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
