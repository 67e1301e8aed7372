#!/usr/bin/env python3
"""Writes the launch file of a kernel of layouts.ll. Which lane has which element is by the strides that CUTLASS publishes
(include/cute/atom/mma_traits_sm80.hpp and copy_traits_sm75.hpp): transcribed, not derived from the emulator.

layouts.py mma_TYPE_DEPTH|ldmatrix_MATRICES[_trans] FOLDER [--spoil]: with two strides exchanged
"""
import json
import math
import os
import random
import struct
import sys


# Strides over lane % 4, lane / 4, and the bits of the number of a value. What they add up to is a place, column by column: of A
# (row, depth), of B (column, depth), of C (row, column).
C16X8 = (32, 1, (16, 8))
LAYOUTS = {  # (type, depth): A, B
    ("bf16", 16): ((32, 1, (16, 8, 128)), (16, 1, (8, 64))),
    ("f16", 16): ((32, 1, (16, 8, 128)), (16, 1, (8, 64))),
    ("bf16", 8): (C16X8, (16, 1, (8,))),
    ("f16", 8): (C16X8, (16, 1, (8,))),
    ("tf32", 8): ((16, 1, (8, 64)), (8, 1, (32,))),
    ("tf32", 4): ((16, 1, (8,)), (8, 1, ())),
}


def places(strides):
    """The place of each value, lane by lane."""
    quad, group, bits = strides
    return [lane % 4 * quad + lane // 4 * group + sum((value >> bit & 1) * stride for bit, stride in enumerate(bits))
            for lane in range(32) for value in range(1 << len(bits))]


def rounded(kind, value):
    if kind == "f16":
        return struct.unpack("<e", struct.pack("<e", value))[0]
    bits, = struct.unpack("<I", struct.pack("<f", value))
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000 if kind == "bf16" else bits
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def seen(kind, value):
    """As the product takes it: tf32 ignores the last 13 bits."""
    bits, = struct.unpack("<I", struct.pack("<f", value))
    return struct.unpack("<f", struct.pack("<I", bits & ~0x1fff))[0] if kind == "tf32" else value


def mma(kind, depth, spoil):
    draw = random.Random(4)
    a, b, c = ([rounded(of, draw.uniform(-1, 1)) for _ in range(count)]
               for count, of in ((16 * depth, kind), (8 * depth, kind), (128, "f32")))
    d = [math.fsum([c[row + 16 * column]] + [seen(kind, a[row + 16 * k]) * seen(kind, b[column + 8 * k]) for k in range(depth)])
         for column in range(8) for row in range(16)]
    of_a, of_b = LAYOUTS[kind, depth]
    layouts = ((*of_a[:2], of_a[2][::-1]) if spoil else of_a, of_b, C16X8)
    kind = "f32" if kind == "tf32" else kind
    buffers = [{"buffer": name, "type": of, "values": [values[place] for place in places(layout)]}
               for name, of, values, layout in zip("abc", (kind, kind, "f32"), (a, b, c), layouts)]
    return [*buffers, {"buffer": "d", "expected": [d[place] for place in places(C16X8)], "tolerance": 1e-6}]


def ldmatrix(matrices, transposed):
    """Value i of the warp's 32 rows of 8 is i. What a lane gets, in bits: of plain matrices 32 bits from 32 * lane on, per
    register 1024 further; of transposed ones, halves of registers from 256 * (lane % 4) + 16 * (lane / 4) on, 128 apart."""
    expected = []
    for lane in range(32):
        for register in range(matrices):
            for half in range(2):
                bit = 256 * (lane % 4) + 16 * (lane // 4) + 128 * half if transposed else 32 * lane + 16 * half
                expected.append((bit + 1024 * register) // 16)
    numbers = {"type": "bf16", "tolerance": 0}  # whole numbers up to 255 have 8 bits
    return [{"buffer": "x", **numbers, "values": list(range(256))}, {"buffer": "d", **numbers, "expected": expected}]


def main(argv):
    spoil = argv[3:] == ["--spoil"]
    if len(argv) != 3 + spoil:
        sys.exit(__doc__)
    kernel, folder = argv[1:3]
    what, *words = kernel.split("_")
    arguments = mma(words[0], int(words[1]), spoil) if what == "mma" else ldmatrix(int(words[0]), (len(words) > 1) != spoil)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, kernel + ".json"), "w", encoding="utf-8") as file:
        json.dump({"kernel": kernel, "block": [32], "arguments": arguments}, file)


main(sys.argv)
