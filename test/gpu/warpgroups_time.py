#!/usr/bin/env python3
"""Products by warpgroups on a GPU, alone: right or wrong, and their time beside cuBLAS, by tile and layout.

usage: warpgroups_time.py prepare FOLDER    here: PTX of every layout and of many tiles, by tenon-gpu-kernel-test from PATH
       warpgroups_time.py run FOLDER        where an H100 or H200 is, with PyTorch: numbers against f32, then TFLOP/s of each

The tiles are those of lowering/gpu/WarpgroupTiles.def with other numbers of stages; its figures are chosen by what this prints.
"""
import ctypes
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LAYOUTS = {"mk_nk": ("mk", "nk"), "mk_kn": ("mk", "kn"), "km_nk": ("km", "nk"), "km_kn": ("km", "kn")}
STAGES = {0: (4, 6), 1: (3, 4, 6), 2: (3, 4)}  # by row of the table
# GPT-2 (124M) at 16 x 1024 places: projections, both ways; gradients of weights; logits.
SHAPES = ((16384, 2304, 768), (16384, 768, 3072), (16384, 3072, 768), (3072, 768, 16384), (16384, 50304, 768))


def write_ptx(folder, script, words, name):
    """The PTX for sm_90a of the kernel that a script of this folder writes for these words, as a file of the folder."""
    source = os.path.join(folder, "kernel.mlir")
    with open(source, "w", encoding="utf-8") as file:
        subprocess.run([sys.executable, os.path.join(HERE, script), *words], stdout=file, check=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        subprocess.run(["tenon-gpu-kernel-test", source, "--target=sm_90a", "--print=ptx"], stdout=file, check=True)


def prepare(folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(HERE, "..", "..", "lowering", "gpu", "WarpgroupTiles.def"), encoding="utf-8") as file:
        tiles = [list(map(int, row.split(","))) for row in re.findall(r"^TILE\(([\d, ]+)\)", file.read(), re.MULTILINE)]
    made = []
    for number, counts in STAGES.items():
        for stages in counts:
            words = [str(number), "--factors", "8,8,8", "--warpgroups", "--stages", str(stages), "--only", *LAYOUTS]
            name = f"{tiles[number][0]}x{tiles[number][1]}-{stages}.ptx"
            write_ptx(folder, "products.py", words, name)
            made.append({"ptx": name, "rows": tiles[number][0], "columns": tiles[number][1], "stages": stages})
    with open(os.path.join(folder, "tiles.json"), "w", encoding="utf-8") as file:
        json.dump(made, file)


class Driver:
    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def __getattr__(self, name):
        def call(*arguments):
            if status := getattr(self.library, name)(*arguments):
                sys.exit(f"{name}: error {status}")
        return call


def encode(driver, tensor, box):
    """The map of a tensor without gaps, 128 bytes on a border of 128, and what keeps it alive. Box: innermost first."""
    room, rank = ctypes.create_string_buffer(256), len(box)
    at = ctypes.addressof(room) + -ctypes.addressof(room) % 128
    strides = [2 * stride for stride in tensor.stride()[::-1][1:]]
    driver.cuTensorMapEncodeTiled(
        ctypes.c_void_p(at), 1, rank, ctypes.c_void_p(tensor.data_ptr()), (ctypes.c_uint64 * rank)(*tensor.shape[::-1]),
        (ctypes.c_uint64 * (rank - 1))(*strides), (ctypes.c_uint32 * rank)(*box), (ctypes.c_uint32 * rank)(*[1] * rank),
        0, 3, 3, 0)
    return at, room


def seconds(torch, start, count=20):
    start()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    events[0].record()
    for _ in range(count):
        start()
    events[1].record()
    torch.cuda.synchronize()
    return events[0].elapsed_time(events[1]) / 1e3 / count


def launcher(torch, driver, function, tile, sizes, operands, layout, result, bias):
    rows, columns, stages = tile["rows"], tile["columns"], tile["stages"]
    shared = max(stages * (rows + columns) * 128, 4 * rows * (columns + 8)) + 16 * stages
    driver.cuFuncSetAttribute(function, 8, shared)
    lines = (rows, columns)
    maps = [encode(driver, tensor, (64, lines[i] if part.endswith("k") else 64))
            for i, (tensor, part) in enumerate(zip(operands, layout, strict=True))]
    words = [tensor.data_ptr() for tensor in (result, *operands, bias)] + [size // 8 for size in sizes]
    values = (ctypes.c_uint64 * len(words))(*words)
    first = ctypes.addressof(values)
    pointers = (ctypes.c_void_p * (2 + len(words)))(*(at for at, _ in maps), *(first + 8 * i for i in range(len(words))))
    blocks = -(-sizes[0] // rows) * -(-sizes[1] // columns)
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def start():
        driver.cuLaunchKernel(function, blocks, 1, 1, 32 + 2 * rows, 1, 1, shared, stream, pointers, None)
    start.kept = (maps, values)
    return start


def compare(torch, folder, driver, tile, name, sizes):
    """(relative L2 of the difference, our seconds, those of cuBLAS)"""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    with open(os.path.join(folder, tile["ptx"]), "rb") as file:
        text = file.read()
    kernel = re.search(rb"\.entry (" + name.encode() + rb"_gemm\w+)\(", text).group(1)
    driver.cuModuleLoadData(ctypes.byref(module), text + b"\0")
    driver.cuModuleGetFunction(ctypes.byref(function), module, kernel)
    rows, columns, depth = sizes
    shape = {"mk": (rows, depth), "km": (depth, rows), "nk": (columns, depth), "kn": (depth, columns)}
    operands = [torch.randn(shape[part], device="cuda", dtype=torch.bfloat16) for part in LAYOUTS[name]]
    result, bias = torch.empty(rows, columns, device="cuda"), torch.randn(columns, device="cuda")
    left = operands[0] if LAYOUTS[name][0] == "mk" else operands[0].T
    right = operands[1].T if LAYOUTS[name][1] == "nk" else operands[1]
    start = launcher(torch, driver, function, tile, sizes, operands, LAYOUTS[name], result, bias)
    ours, theirs = seconds(torch, start), seconds(torch, lambda: left @ right)
    part = slice(0, min(rows, 512))
    expected = left[part].double() @ right.double() + bias.double()
    off = ((result[part] - expected).norm() / expected.norm()).item()
    driver.cuModuleUnload(module)
    return off, ours, theirs


def run(folder):
    import torch  # pylint: disable=import-outside-toplevel
    torch.zeros(1, device="cuda")
    driver, good = Driver(), True
    with open(os.path.join(folder, "tiles.json"), encoding="utf-8") as file:
        tiles = json.load(file)
    for sizes, names in [((264, 1096, 4104), LAYOUTS), *((shape, ("mk_kn", "mk_nk", "km_kn")) for shape in SHAPES)]:
        flops = 2e-12 * sizes[0] * sizes[1] * sizes[2]
        for name in names:
            texts = []
            for tile in tiles:
                off, ours, theirs = compare(torch, folder, driver, tile, name, sizes)
                good &= off < 1e-5
                texts.append(f"{tile['ptx'][:-4]} {flops / ours:.0f}{'' if off < 1e-5 else f' WRONG {off:.1e}'}")
            print(f"{sizes} {name}: cuBLAS {flops / theirs:.0f}, {', '.join(texts)} TFLOP/s", flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("prepare", "run"):
        sys.exit(__doc__)
    (prepare if sys.argv[1] == "prepare" else run)(sys.argv[2])
