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


def ring(folder, pieces=7):
    x = drawn(8, 32 * pieces)
    sums = [math.fsum(x[lane::32]) for lane in range(32)]
    return {"kernel": "ring", "block": [64], "arguments": [
        {"buffer": "x", "values": save(folder, "x", x)},
        {"buffer": "sums", "expected": save(folder, "sums", sums), "tolerance": 1e-6}, {"i32": pieces}]}


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


def to_f16(value):
    """The bits; what is too large becomes infinite."""
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0xfc00 if value < 0 else 0x7c00


def f32_bits(value):
    return struct.unpack("<i", struct.pack("<f", value))[0]


def f32_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits & 0xffffffff))[0]


# Ties and their neighbours in bf16, f16 and tf32, numbers too large or too small for f16, denormals, infinities.
EDGES = [0.0, -0.0, 1.0, 1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20, 1 + 2 ** -11, 1 + 3 * 2 ** -11,
         1 + 2 ** -11 + 2 ** -20, 1 + 2 ** -11 - 2 ** -20, -1 - 2 ** -11, 65504.0, 65519.0, 65520.0, -65520.0, 1e6, 2 ** -14,
         2 ** -14 - 2 ** -25, 2 ** -24, 2 ** -25, 3 * 2 ** -26, 3 * 2 ** -25, 5 * 2 ** -25, 1e-40, 3.4e38, math.inf, -math.inf,
         1 + 2 ** -12, 1 - 2 ** -12]


def conversions(folder):
    x = EDGES + drawn(5, 64 - len(EDGES))
    expected = []
    for value in x:
        bits = f32_bits(value) & 0xffffffff
        bf16 = bits >> 16 if math.isinf(value) else (bits + 0x7fff + (bits >> 16 & 1)) >> 16
        tf32 = bits if math.isinf(value) else bits + 0x1000 & ~0x1fff  # away from zero
        pair = to_f16(value) << 16 | 0x3c00
        expected += [bf16, to_f16(value), pair - (pair >> 31 << 32), f32_bits(f32_of(tf32)), f32_bits(f32_of(bf16 << 16)),
                     f32_bits(struct.unpack("<e", struct.pack("<H", to_f16(value)))[0])]
    return {"kernel": "conversions", "block": [len(x)], "arguments": [
        {"buffer": "x", "values": save(folder, "x", x)}, {"buffer": "d", "type": "i32", "expected": expected}]}


def approximations(folder):
    x = drawn(6, 64)
    expected = []
    for value in x:
        half = struct.unpack("<e", struct.pack("<e", value))[0]
        expected += [2 ** value, math.log2(abs(value)), abs(value) ** -0.5, 1 / value, to_bf16(to_bf16(value) ** 2 + 1),
                     struct.unpack("<e", struct.pack("<e", half * half + 1))[0]]
    # The instructions have an error of some units in the last place; fma in 16 bits is rounded once.
    return {"kernel": "approximations", "block": [len(x)], "arguments": [
        {"buffer": "x", "values": save(folder, "x", x)}, {"buffer": "d", "expected": expected, "tolerance": 1e-6}]}


def main(argv):
    if len(argv) < 3:
        sys.exit(__doc__)
    kernel, folder = argv[1:3]
    os.makedirs(folder, exist_ok=True)
    launch = globals()[kernel](folder, *map(int, argv[3:]))
    with open(os.path.join(folder, "launch.json"), "w", encoding="utf-8") as file:
        json.dump(launch, file)


main(sys.argv)
