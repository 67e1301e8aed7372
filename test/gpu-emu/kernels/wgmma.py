#!/usr/bin/env python3
"""Writes a kernel of one wgmma by one warpgroup, whose operands threads have written to shared memory, and its launch file.

wgmma.py FORM_A FORM_B COLUMNS TYPE FOLDER [--fresh] [--spoil TEXT]

FORM: k or mn, the one of which neighbours lie beside each other, with the swizzle in bytes: k128, mn128, k0 ..; of A also
"registers". Where elements lie is by the canonical layouts that CUTLASS publishes (include/cute/arch/mma_sm90_desc.hpp), which
lane has which element of A and which sum by ALayout_64x16 and CLayout_64xN (include/cute/atom/mma_traits_sm90_gmma.hpp):
transcribed, not derived from the emulator. --fresh: sums that were there are not added to. --spoil deletes calls whose name
begins with TEXT from the kernel, or is one of: stride, leading (of the second operand one chunk too far), swizzle (none), sums,
fragment (two strides exchanged).
"""
import argparse
import json
import math
import os
import random
import struct

BYTES, SECOND = 65536, 32768  # of shared memory; where the second operand begins
# Chunks of 16 bytes by swizzle: K-major ((8, n), 2) : ((R, SBO), 1), without swizzle ((1, SBO), LBO); MN-major
# ((R, n), (8, k)) : ((1, LBO), (R, SBO)), without swizzle ((X, SBO), (1, LBO)).
ROW = {128: 8, 64: 4, 32: 2}
MODE = {0: 0, 128: 1, 64: 2, 32: 3}


class Operand:
    def __init__(self, form, lines):
        self.transposed = form.startswith("mn")
        self.swizzle = int(form.lstrip("kmn"))
        self.lines, row = lines, ROW.get(self.swizzle, 1)
        if self.transposed and self.swizzle:
            self.leading, self.stride = 2 * 8 * row, 8 * row      # pieces of 8 R lines by 16 steps
        elif self.transposed:
            self.leading, self.stride = lines // 8 * 8, 8
        else:
            self.leading, self.stride = (1 if self.swizzle else lines), 8 * row
            if not self.swizzle:
                self.leading = lines // 8 * 8

    def place(self, line, k):
        """Byte from the start of the operand."""
        row = ROW.get(self.swizzle, 1)
        if not self.transposed:
            chunk = line % 8 * row + line // 8 * self.stride + k // 8 * (1 if self.swizzle else self.leading)
        elif self.swizzle:
            chunk = line // 8 % row + line // 8 // row * self.leading + k % 8 * row + k // 8 * self.stride
        else:
            chunk = line // 8 * self.stride + k % 8 + k // 8 * self.leading
        byte = 16 * chunk + 2 * ((line if self.transposed else k) % 8)
        return byte ^ (byte >> 7 & (self.swizzle // 16 - 1 if self.swizzle else 0)) << 4

    def bits(self, spoil):
        stride, leading = self.stride + (spoil == "stride"), self.leading + (spoil == "leading")
        mode = 0 if spoil == "swizzle" else MODE[self.swizzle]
        return stride << 32 | leading << 16 | mode << 62


class Fragment:
    """ALayout_64x16: lanes (4, 8, 4) : (128, 1, 16), values (2, 2, 2) : (64, 8, 512), column by column of 64 rows. Eight elements
    of a thread lie beside each other."""
    transposed = False

    def __init__(self, spoil):
        steps = (64, 512, 8) if spoil == "fragment" else (64, 8, 512)
        self.places = {}
        for thread in range(128):
            for value in range(8):
                place = (thread % 4 * 128 + thread // 4 % 8 + thread // 32 * 16
                         + sum((value >> bit & 1) * step for bit, step in enumerate(steps)))
                self.places[place % 64, place // 64] = 2 * (8 * thread + value)

    def place(self, line, k):
        return self.places[line, k]


def rounded(kind, value):
    if kind == "f16":
        return struct.unpack("<e", struct.pack("<e", value))[0]
    bits, = struct.unpack("<I", struct.pack("<f", value))
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]


def statement(columns, kind, a, b, fresh):
    count, is_fragment = columns // 2, isinstance(a, Fragment)
    second = count + (4 if is_fragment else 1)
    names = [f"${i}" for i in range(second + 1)]
    first = f"{{{', '.join(names[count:second])}}}" if is_fragment else names[count]
    orders = [int(operand.transposed) for operand in ([] if is_fragment else [a]) + [b]]
    words = [f"{{{', '.join(names[:count])}}}", first, names[second], "p", 1, 1, *orders]
    return (f"{{ .reg .pred p; setp.ne.b32 p, {int(not fresh)}, 0; "
            f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{kind}.{kind} {', '.join(map(str, words))}; }}")


# Threads bring the operands from x to shared memory.
FILLED = """target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
@memory = internal addrspace(3) global [65536 x i8] undef, align 1024
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
declare void @llvm.nvvm.wgmma.fence.sync.aligned()
declare void @llvm.nvvm.wgmma.commit_group.sync.aligned()
declare void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 immarg)
define ptx_kernel void @product(ptr addrspace(1) %x, ptr addrspace(1) %d) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %fill
fill:
  %i = phi i32 [ %tid, %entry ], [ %next, %fill ]
  %from = getelementptr i16, ptr addrspace(1) %x, i32 %i
  %v = load i16, ptr addrspace(1) %from, align 2
  %to = getelementptr i16, ptr addrspace(3) @memory, i32 %i
  store i16 %v, ptr addrspace(3) %to, align 2
  %next = add i32 %i, 128
  %more = icmp ult i32 %next, 32768
  br i1 %more, label %fill, label %ready
ready:
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %at = ptrtoint ptr addrspace(3) @memory to i32
  %low = lshr i32 %at, 4
  %bits = and i32 %low, 16383
  %wide = zext i32 %bits to i64"""


def kernel(options, a, b):
    columns, kind, spoil = options.columns, options.type, options.spoil
    count, is_fragment = columns // 2, isinstance(a, Fragment)
    floats = ", ".join(["float"] * count)
    constraints = "=f," * count + ("r,r,r,r,l" if is_fragment else "l,l")
    inputs = "i32 %a0, i32 %a1, i32 %a2, i32 %a3, i64 %b" if is_fragment else "i64 %a, i64 %b"
    if not options.fresh:
        constraints += "".join(f",{i}" for i in range(count))
        inputs += ", float 1.0" * count
    signed = [bits - (1 << 64) if bits >> 63 else bits for bits in (0 if is_fragment else a.bits(None), b.bits(spoil))]
    lines = [FILLED,
             f"  %a = or i64 %wide, {signed[0]}",
             f"  %second = add i64 %wide, {SECOND >> 4}",
             f"  %b = or i64 %second, {signed[1]}",
             "  %own = mul i32 %tid, 4",
             *(f"  %i{i} = add i32 %own, {i}\n  %at{i} = getelementptr i32, ptr addrspace(1) %x, i32 %i{i}\n"
               f"  %a{i} = load i32, ptr addrspace(1) %at{i}, align 4" for i in range(4)),
             "  call void @llvm.nvvm.wgmma.fence.sync.aligned()",
             f"  %r = call {{ {floats} }} asm sideeffect \"{statement(columns, kind, a, b, options.fresh)}\", \"{constraints}\""
             f"({inputs})",
             "  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()",
             "  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)",
             *(f"  %u{i} = extractvalue {{ {floats} }} %r, {i}" for i in range(count)),
             f"  %h = call {{ {floats} }} asm sideeffect \"\", \"{'=f,' * count}{','.join(map(str, range(count)))}\""
             f"({', '.join(f'float %u{i}' for i in range(count))})",
             f"  %first = mul i32 %tid, {count}"]
    for i in range(count):
        lines += [f"  %v{i} = extractvalue {{ {floats} }} %h, {i}", f"  %n{i} = add i32 %first, {i}",
                  f"  %p{i} = getelementptr float, ptr addrspace(1) %d, i32 %n{i}",
                  f"  store float %v{i}, ptr addrspace(1) %p{i}, align 4"]
    lines += ["  ret void", "}"]
    text = "\n".join(lines).splitlines()
    return "\n".join(line for line in text if not (spoil and f"call void @llvm.nvvm.{spoil}" in line)) + "\n"


def main():
    parser = argparse.ArgumentParser()
    for name in ("a", "b", "columns", "type", "folder"):
        parser.add_argument(name, type=int if name == "columns" else str)
    parser.add_argument("--spoil")
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    columns, draw = options.columns, random.Random(5)
    a = Fragment(options.spoil) if options.a == "registers" else Operand(options.a, 64)
    b = Operand(options.b, columns)
    values = [77.0] * (BYTES // 2)
    rows, lines = ([[rounded(options.type, draw.uniform(-1, 1)) for _ in range(16)] for _ in range(count)]
                   for count in (64, columns))
    for operand, start, numbers in ((a, 0, rows), (b, SECOND, lines)):
        for line, steps in enumerate(numbers):
            for k, number in enumerate(steps):
                values[(start + operand.place(line, k)) // 2] = number
    # CLayout_64xN: lanes (4, 8, 4) : (128, 1, 16), values (2, 2, N / 8) : (64, 8, 512), column by column of 64 rows.
    quad, pair = (64, 128) if options.spoil == "sums" else (128, 64)
    expected = []
    for thread in range(128):
        for value in range(columns // 2):
            place = (thread % 4 * quad + thread // 4 % 8 + thread // 32 * 16
                     + value % 2 * pair + value // 2 % 2 * 8 + value // 4 * 512)
            row, column = place % 64, place // 64
            expected.append(math.fsum([float(not options.fresh)] + [rows[row][k] * lines[column][k] for k in range(16)]))
    os.makedirs(options.folder, exist_ok=True)
    with open(os.path.join(options.folder, "product.ll"), "w", encoding="utf-8") as file:
        file.write(kernel(options, a, b))
    with open(os.path.join(options.folder, "launch.json"), "w", encoding="utf-8") as file:
        json.dump({"kernel": "product", "block": [128], "arguments": [
            {"buffer": "x", "type": options.type, "values": values},
            {"buffer": "d", "expected": expected, "tolerance": 1e-6}]}, file)


main()
