#!/usr/bin/env python3
"""Writes the launch file of a kernel by hand, its inputs and what must come out, computed here in f64.

launches.py KERNEL FOLDER [SIZE..]
"""
import json
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import tensors  # noqa: E402


def save(folder, name, values):
    tensors.save_npy(os.path.join(folder, name + ".npy"), tensors.Tensor("f32", [len(values)], values))
    return name + ".npy"


def drawn(seed, count):
    """f32 values in -1 to 1."""
    source = random.Random(seed)
    return list(tensors.Tensor("f32", [count], [source.uniform(-1, 1) for _ in range(count)]).values)


def block_sum(folder, count=2500, threads=256):
    x = drawn(1, count)
    sums = [math.fsum(x[i:i + 1024]) for i in range(0, count, 1024)]
    # A sum of 1024 values of size up to 1, in f32, as a tree of depth 5 + 4 of sums of up to 8.
    return {"kernel": "block_sum", "grid": [len(sums)], "block": [threads], "arguments": [
        {"buffer": "x", "values": save(folder, "x", x)},
        {"buffer": "sums", "expected": save(folder, "sums", sums), "tolerance": 1e-6}, {"i32": count}]}


def to_bf16(value):
    """Nearest, ties to even."""
    bits, = struct.unpack("<I", struct.pack("<f", value))
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]


def gemm_bf16(folder, m=40, n=24, k=56):
    a, b = ([to_bf16(value) for value in drawn(seed, count)] for seed, count in ((2, m * k), (3, k * n)))
    c = [math.fsum(a[i * k + p] * b[p * n + j] for p in range(k)) for i in range(m) for j in range(n)]
    # Products are exact in f32, and so are sums of few of them; what is lost is some units in the last place.
    return {"kernel": "gemm_bf16", "grid": [(n + 15) // 16, (m + 31) // 32], "block": [64], "shared": 3072, "arguments": [
        {"buffer": "a", "type": "bf16", "values": save(folder, "a", a)},
        {"buffer": "b", "type": "bf16", "values": save(folder, "b", b)},
        {"buffer": "c", "expected": save(folder, "c", c), "tolerance": 1e-6}, {"i32": m}, {"i32": n}, {"i32": k}]}


def main(argv):
    if len(argv) < 3:
        sys.exit(__doc__)
    kernel, folder = argv[1:3]
    os.makedirs(folder, exist_ok=True)
    launch = globals()[kernel](folder, *map(int, argv[3:]))
    with open(os.path.join(folder, "launch.json"), "w", encoding="utf-8") as file:
        json.dump(launch, file)


main(sys.argv)
