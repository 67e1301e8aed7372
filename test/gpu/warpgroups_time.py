#!/usr/bin/env python3
"""Products by warpgroups on a GPU, alone: right or wrong, and their time beside cuBLAS, by form, tile and slices of the depth.

usage: warpgroups_time.py prepare FOLDER    here: PTX of every product and many tiles, by tenon-gpu-kernel-test from PATH
       warpgroups_time.py run FOLDER        where an H100 or H200 is, with PyTorch: numbers against f64, then TFLOP/s of each

The tiles are those of lowering/gpu/WarpgroupTiles.def, also with other numbers of stages; its figures are chosen by what this
prints. Time of slices is with the kernel that adds them. cuBLAS has results of bf16, as the products of PRODUCTS but the first.
"""
import ctypes
import json
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FORMS = {"warpgroups": ("TILE", 3), "pingpong": ("TURNS", 2)}  # rows of the table, and which number the stages are
TILES = (("warpgroups", 1, 3), ("warpgroups", 2, 4), ("pingpong", 0, 3), ("pingpong", 0, 4), ("pingpong", 0, 5),
         ("pingpong", 1, 4))  # row, stages
# (rows, columns, depth), operands in memory, slices. The first one for its numbers; then those of GPT-2 (124M) at 16 x 1024
# places: forward, gradients of inputs, logits and theirs, gradients of weights.
PRODUCTS = (((264, 1096, 4104), "mk_kn", (1, 3)),
            ((16384, 2304, 768), "mk_kn", (1,)), ((16384, 768, 768), "mk_kn", (1,)), ((16384, 3072, 768), "mk_kn", (1,)),
            ((16384, 768, 3072), "mk_kn", (1,)), ((16384, 768, 3072), "mk_nk", (1,)), ((16384, 3072, 768), "mk_nk", (1,)),
            ((16384, 50304, 768), "mk_nk", (1,)), ((16384, 768, 50304), "mk_kn", (1,)), ((50304, 768, 16384), "km_kn", (1,)),
            ((3072, 768, 16384), "km_kn", (1, 3, 5, 7, 11)), ((768, 768, 16384), "km_kn", (4, 7, 11)))


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
        table = file.read()
    made = []
    for number, (sizes, layout, slices) in enumerate(PRODUCTS):
        for form, row, stages in TILES:
            rows = re.findall(rf"^{FORMS[form][0]}\(([\d, ]+)\)", table, re.MULTILINE)
            tile = list(map(int, rows[row].split(",")))
            for count in slices:
                result = "f32" if number == 0 else "bf16"
                name = f"{number}-{form}-{tile[0]}x{tile[1]}-{stages}-{count}.ptx"
                words = [str(row), "--factors", "8,8,8", "--columns", str(sizes[1]), f"--{form}", "--stages", str(stages),
                         "--slices", str(count), "--result", result, "--only", layout]
                write_ptx(folder, "products.py", words, name)
                made.append({"ptx": name, "product": number, "form": form, "rows": tile[0], "columns": tile[1],
                             "stages": stages, "slices": count, "blocks": tile[3] if form == "pingpong" else None})
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


def shared_of(tile):
    """Bytes of a block: stages, sums in their place or behind them, barriers."""
    rows, columns, stages = tile["rows"], tile["columns"], tile["stages"]
    ring = stages * (rows + columns) * 128
    return 16 * stages + (ring + 8 * 16 * (64 + 8) * 4 if tile["form"] == "pingpong" else max(ring, 4 * rows * (columns + 8)))


def launcher(torch, driver, functions, tile, sizes, operands, layout, result, bias):
    """What starts the kernel of the product, and behind it that of the slices, if there are some."""
    rows, columns, slices = tile["rows"], tile["columns"], tile["slices"]
    shared = shared_of(tile)
    driver.cuFuncSetAttribute(functions[0], 8, shared)
    lines = (rows, columns)
    maps = [encode(driver, tensor, (64, lines[i] if part.endswith("k") else 64))
            for i, (tensor, part) in enumerate(zip(operands, layout.split("_"), strict=True))]
    parts = torch.empty(slices * sizes[0] * sizes[1] if slices > 1 else 0, device="cuda")
    reads, dims = [tensor.data_ptr() for tensor in (*operands, bias)], [size // 8 for size in sizes]
    words = [result.data_ptr(), *reads, *dims] if slices == 1 else [*reads, parts.data_ptr(), *dims]
    blocks = slices * -(-sizes[0] // rows) * -(-sizes[1] // columns)
    threads = 384 if tile["form"] == "pingpong" else 32 + 2 * rows
    launches = [(functions[0], min(blocks, tile["blocks"] or blocks), threads, shared, maps, words)]
    if slices > 1:
        launches.append((functions[1], -(-sizes[0] // 16) * -(-sizes[1] // 64), 256, 0, [],
                         [result.data_ptr(), *reads, parts.data_ptr(), *dims]))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    ready = []
    for function, count, threads, memory, of_maps, numbers in launches:
        values = (ctypes.c_uint64 * len(numbers))(*numbers)
        first = ctypes.addressof(values)
        pointers = (ctypes.c_void_p * (len(of_maps) + len(numbers)))(*(at for at, _ in of_maps),
                                                                     *(first + 8 * i for i in range(len(numbers))))
        ready.append((function, count, threads, memory, pointers, values))

    def start():
        for function, count, threads, memory, pointers, _ in ready:
            driver.cuLaunchKernel(function, count, 1, 1, threads, 1, 1, memory, stream, pointers, None)
    start.kept = (maps, parts, ready)
    return start


def bound_of(tile, sizes):
    """Of the relative L2 of the difference: roundings of a chain of sums grow as the root of its length, by less than 4 times
    those of single sums, since tensor cores cut off what does not fit; those of the result to bf16 are 2^-9 at most."""
    return 4 * 2**-24 * math.sqrt(sizes[2]) if tile["product"] == 0 else 2**-9


def compare(torch, folder, driver, tile):
    """(relative L2 of the difference, our seconds, those of cuBLAS)"""
    sizes, layout, _ = PRODUCTS[tile["product"]]
    module = ctypes.c_void_p()
    with open(os.path.join(folder, tile["ptx"]), "rb") as file:
        text = file.read()
    driver.cuModuleLoadData(ctypes.byref(module), text + b"\0")
    functions = []
    for name in re.findall(rb"\.entry (\w+)\(", text):
        functions.append(ctypes.c_void_p())
        driver.cuModuleGetFunction(ctypes.byref(functions[-1]), module, name)
    rows, columns, depth = sizes
    shape = {"mk": (rows, depth), "km": (depth, rows), "nk": (columns, depth), "kn": (depth, columns)}
    parts = layout.split("_")
    operands = [torch.randn(shape[part], device="cuda", dtype=torch.bfloat16) for part in parts]
    result = torch.zeros(rows, columns, device="cuda", dtype=torch.float32 if tile["product"] == 0 else torch.bfloat16)
    bias = torch.randn(columns, device="cuda")
    left = operands[0] if parts[0] == "mk" else operands[0].T
    right = operands[1].T if parts[1] == "nk" else operands[1]
    start = launcher(torch, driver, functions, tile, sizes, operands, layout, result, bias)
    ours, theirs = seconds(torch, start), seconds(torch, lambda: left @ right)
    worst = 0.0
    for part in (slice(0, min(rows, 256)), slice(max(rows - 256, 0), rows)):
        expected = left[part].double() @ right.double() + bias.double()
        worst = max(worst, ((result[part] - expected).norm() / expected.norm()).item())
    driver.cuModuleUnload(module)
    return worst, ours, theirs


def run(folder):
    import torch  # pylint: disable=import-outside-toplevel
    torch.zeros(1, device="cuda")
    driver, good = Driver(), True
    with open(os.path.join(folder, "tiles.json"), encoding="utf-8") as file:
        tiles = json.load(file)
    for number, (sizes, layout, _) in enumerate(PRODUCTS):
        flops, texts = 2e-12 * sizes[0] * sizes[1] * sizes[2], []
        for tile in tiles:
            if tile["product"] == number:
                off, ours, theirs = compare(torch, folder, driver, tile)
                is_right = off < bound_of(tile, sizes)
                good &= is_right
                texts.append(f"{tile['ptx'].split('-', 1)[1][:-4]} {flops / ours:.0f}{'' if is_right else f' WRONG {off:.1e}'}")
        print(f"{sizes} {layout}: cuBLAS {flops / theirs:.0f}, {', '.join(texts)} TFLOP/s", flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("prepare", "run"):
        sys.exit(__doc__)
    (prepare if sys.argv[1] == "prepare" else run)(sys.argv[2])
