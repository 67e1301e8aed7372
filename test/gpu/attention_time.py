#!/usr/bin/env python3
"""Forward attention on an H100 or H200, alone: by warps (mma) and by warpgroups (wgmma, tiles of several sizes), right or wrong,
and their time beside PyTorch's.

usage: attention_time.py prepare FOLDER    here: PTX of both forms, by tenon-gpu-kernel-test from PATH
       attention_time.py run FOLDER        where the GPU is, with PyTorch: numbers against f32, then microseconds of each

The tile that is chosen stands in lowering/gpu/WarpgroupAttention.cpp.
"""
import ctypes
import json
import os
import re
import sys

from warpgroups_time import Driver, encode, seconds, write_ptx

HEADS = 12
TILES = [None, *((rows, keys, stages) for rows, keys in ((128, 64), (128, 96), (128, 128), (192, 64))
                 for stages in (2, 3))]
REGISTERS = {128: 232, 192: 160}
PROCESSORS = 132
# (case of attention.py, widths of keys and values, B, T); sizes of tests first, among them ragged ones.
SHAPES = (("causal", (64, 64), 2, 333), ("full", (64, 128), 2, 333), ("wide", (128, 128), 2, 333),
          ("causal", (64, 64), 16, 1024), ("causal", (64, 64), 2, 8192),
          ("wide", (128, 128), 16, 1024), ("wide", (128, 128), 2, 8192))


def shared(tile, widths):
    """Bytes of a block: WarpgroupAttentionTile::shared."""
    rows, keys, stages = tile
    of_key, of_value = (-(-width // 64) * 128 for width in widths)
    return 2 * rows * of_key + stages * keys * (of_key + of_value) + 32 * (stages + 1)


def chosen(tile):
    numbers = dict(zip(("rows", "keys", "stages"), tile, strict=True)) | {"registers": REGISTERS[tile[0]], "blocks": PROCESSORS}
    return "{form = \"wgmma\", " + ", ".join(f"{name} = {number} : i64" for name, number in numbers.items()) + "}"


def prepare(folder):
    os.makedirs(folder, exist_ok=True)
    made = []
    for case, widths in sorted({shape[:2] for shape in SHAPES}):
        for tile in TILES:
            if tile and shared(tile, widths) > 227 << 10:
                continue
            words = ["--forward", "--target", "sm_90a", "--heads", str(HEADS), case]
            words += ["--chosen", chosen(tile)] if tile else []
            name = f"{case}-{'x'.join(map(str, tile)) if tile else 'mma'}.ptx"
            write_ptx(folder, "attention.py", words, name)
            made.append({"ptx": name, "case": case, "tile": tile})
    with open(os.path.join(folder, "kernels.json"), "w", encoding="utf-8") as file:
        json.dump(made, file)


def launcher(torch, driver, folder, kernel, tensors, sizes):
    """What starts a kernel. Tensors: y, m, s, q, k, v; sizes: queries, keys that are more than these, rows of the batch."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    with open(os.path.join(folder, kernel["ptx"]), "rb") as file:
        text = file.read()
    driver.cuModuleLoadData(ctypes.byref(module), text + b"\0")
    driver.cuModuleGetFunction(ctypes.byref(function), module, re.search(rb"\.entry (\w+)\(", text).group(1))
    threads, tile = int(re.search(rb"\.reqntid (\d+)", text).group(1)), kernel["tile"]
    maps, dynamic, rows = [], 0, 64
    if tile:
        rows, keys, _ = tile
        dynamic = shared(tile, (tensors[3].shape[3], tensors[5].shape[3]))
        driver.cuFuncSetAttribute(function, 8, dynamic)
        maps = [encode(driver, tensor, (64, 1, lines, 1)) for tensor, lines in zip(tensors[3:], (rows, keys, keys), strict=True)]
    none = tensors[0].data_ptr()  # index operands, which no mask of these cases reads
    words = [tensor.data_ptr() for tensor in tensors] + [none] * 3 + list(sizes)
    values = (ctypes.c_uint64 * len(words))(*words)
    first = ctypes.addressof(values)
    count = len(maps) + len(words)
    pointers = (ctypes.c_void_p * count)(*(at for at, _ in maps), *(first + 8 * i for i in range(len(words))))
    blocks = min(sizes[2] * HEADS * -(-sizes[0] // (2 * rows)), PROCESSORS) if tile else sizes[2] * HEADS * -(-sizes[0] // rows)
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def start():
        driver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, dynamic, stream, pointers, None)
    start.kept = (maps, values)
    return start


def compare(torch, driver, folder, kernels, shape):
    """Prints a row; whether all numbers are right."""
    case, widths, batch, length = shape
    make = lambda width: torch.randn(batch, length, HEADS, width, device="cuda", dtype=torch.bfloat16)
    q, k, v = make(widths[0]), make(widths[0]), make(widths[1])
    causal = case != "full"
    attend = torch.nn.functional.scaled_dot_product_attention
    theirs = [tensor.transpose(1, 2) for tensor in (q, k, v)]
    expected = attend(*(tensor[:1].float() for tensor in theirs), is_causal=causal).transpose(1, 2)
    texts, good = [f"PyTorch {1e6 * seconds(torch, lambda: attend(*theirs, is_causal=causal)):.0f}"], True
    for kernel in kernels:
        if kernel["case"] != case:
            continue
        y = torch.full((batch, length, HEADS, widths[1]), float("nan"), device="cuda", dtype=torch.bfloat16)
        rows = [torch.empty(batch, HEADS, length, device="cuda") for _ in range(2)]
        name = kernel["ptx"][len(case) + 1:-4]
        try:
            ours = seconds(torch, launcher(torch, driver, folder, kernel, [y, *rows, q, k, v], (length, 0, batch)))
        except (SystemExit, RuntimeError) as error:  # of the driver; of what runs behind a kernel that failed
            texts.append(f"{name} FAILED {str(error).splitlines()[0]}")
            good = False
            continue
        off = ((y[:1].float() - expected).norm() / expected.norm()).item()
        good &= off < 1e-2
        texts.append(f"{name} {1e6 * ours:.0f}{'' if off < 1e-2 else f' WRONG {off:.1e}'}")
    print(f"{case} {widths}, B {batch} T {length}: {', '.join(texts)} us", flush=True)
    return good


def run(folder):
    import torch  # pylint: disable=import-outside-toplevel
    torch.zeros(1, device="cuda")
    driver = Driver()
    with open(os.path.join(folder, "kernels.json"), encoding="utf-8") as file:
        kernels = json.load(file)
    sys.exit(0 if all([compare(torch, driver, folder, kernels, shape) for shape in SHAPES]) else 1)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("prepare", "run"):
        sys.exit(__doc__)
    (prepare if sys.argv[1] == "prepare" else run)(sys.argv[2])
