#!/usr/bin/env python3
"""Products for tenon-gpu-kernel-test, as a file of the kernel form.

usage: products.py TILE [--factors M,N,K] [--columns N] [--depth K] [--type bf16|f16|f32|tf32] [--result bf16|f32]
                   [--only LAYOUT..] [--warpgroups | --pingpong] [--stages N] [--blocks N] [--slices N]

A function per layout: both operands with the depth outside or inside, in batches, with an operand that is computed, or is some
rows of each entry of a batch, with the result transposed, with code behind the sums that draws. TILE is a row of
lowering/gpu/GemmTiles.def, from 0 on (not of f32), or with --warpgroups or --pingpong of WarpgroupTiles.def, for sm_90a; these
kernels take no computed operand.
The dims are M, N and K; rows, columns and depth of a product are these times the factors, which say how pieces of memory are
aligned. With --columns or --depth these are a known number; results are stored as vectors where it is a multiple of 2, 4 or 8.
"""
import argparse
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))


def tensor(sizes, element):
    if all(size.isdigit() for size in sizes):
        return f"tensor<{'x'.join(sizes)}x{element}>"
    text = ", ".join(sizes)
    shape = "".join(f"{size if size.isdigit() else '?'}x" for size in sizes)
    return f"tensor<{shape}{element}, affine_map<(d0, d1, d2) -> ({text})>>"


def chosen(options):
    if options.type == "f32" and not options.rounded:
        return ""
    warpgroups = options.warpgroups or options.pingpong
    table = "WarpgroupTiles.def" if warpgroups else "GemmTiles.def"
    rows = "TURNS" if options.pingpong else "TILE"
    with open(os.path.join(HERE, "..", "..", "lowering", "gpu", table), encoding="utf-8") as file:
        row = re.findall(rf"^{rows}\(([\d, ]+)\)", file.read(), re.MULTILINE)[options.tile].split(", ")
    names = (("rows", "columns", "stages", "blocks") if options.pingpong else
             ("rows", "columns", "depth", *(() if warpgroups else ("warp_rows", "warp_columns")), "stages", "registers"))
    tile = dict(zip(names, row, strict=False))
    if options.rounded:
        tile["depth"] = int(tile["depth"]) // 2
    if options.stages:
        tile["stages"] = options.stages
    if options.blocks:
        tile["blocks"] = options.blocks
    tile["slices"] = options.slices
    numbers = ", ".join(f"{name} = {number} : i64" for name, number in tile.items())
    form = "tf32" if options.rounded else "pingpong" if options.pingpong else "wgmma" if warpgroups else "mma"
    chip = "sm_90a" if warpgroups else "sm_80"
    return f"attributes {{tenon.chosen = {{{chip} = {{form = \"{form}\", {numbers}}}}}}} "


def function(name, options, a, b, batch=(), computed=False, transposed=False, drawn=False):
    """`a`, `b`: "mk" or "km", "nk" or "kn"; `batch`: sizes in front of both."""
    size = {letter: f"d{i} * {factor}" if factor > 1 else f"d{i}"
            for i, (letter, factor) in enumerate(zip("mnk", options.factors, strict=True))}
    if options.columns:
        size["n"] = options.columns
    if options.depth:
        size["k"] = options.depth
    label = {"m": len(batch), "n": len(batch) + 1, "k": len(batch) + 2}
    types = [tensor([*batch, *(size[letter] for letter in part)], options.type) for part in (a, b)]
    labels = [[*range(len(batch)), *(label[letter] for letter in part)] for part in (a, b)]
    rank, order = len(batch) + 2, "nm" if transposed else "mn"
    result = tensor([*batch, *(size[letter] for letter in order)], options.result)
    bias = tensor([size["n"]], "f32")
    outer = "".join(f"%z{i}, " for i in range(len(batch)))
    indices = "".join(f"%z{i}: index, " for i in range(len(batch)))
    left = "element" if computed else "%a"
    put = outer + ", ".join(f"%{letter}" for letter in order)
    lines = [f"func.func @{name}(%M: index, %N: index, %K: index, %a: {types[0]}, %b: {types[1]}, %bias: {bias}) {{",
             f"  %y = tenon.gemm {left}{labels[0]}, %b{labels[1]} rank {rank} : {types[0]}, {types[1]} -> {result} "
             f"{chosen(options)}{{",
             f"  ^bb0({indices}%m: index, %n: index, %sum: f32):",
             f"    %c = tenon.at %bias[%n] : {bias} -> f32",
             "    %s = arith.addf %sum, %c : f32"]
    if drawn:
        lines += ["    %zero = arith.constant 0.0 : f32",
                  "    %keep = tenon.random_keep %m site 5 threshold 30000",
                  "    %t = arith.select %keep, %s, %zero : f32"]
    value = "%t" if drawn else "%s"
    if options.result != "f32":
        lines.append(f"    %rounded = arith.truncf {value} : f32 to {options.result}")
        value = "%rounded"
    lines.append(f"    tenon.put 0 [{put}], {value} : {options.result}")
    if computed:
        arguments = indices + ", ".join(f"%{letter}: index" for letter in a)
        lines += ["  } a {", f"  ^bb0({arguments}):",
                  f"    %e = tenon.at %a[{outer}{', '.join('%' + letter for letter in a)}] : {types[0]} -> {options.type}",
                  *([f"    %w = arith.extf %e : {options.type} to f32", "    %t = arith.addf %w, %w : f32",
                     f"    %r = arith.truncf %t : f32 to {options.type}"]
                    if options.type != "f32" else ["    %r = arith.addf %e, %e : f32"]),
                  f"    tenon.yield %r : {options.type}"]
    lines += ["  }", f'  tenon.output 0 "y", %y : {result}', "  return", "}"]
    return "\n".join(lines)


def slice_of(name, options, ofDepth):
    """Of two entries of a batch the rows from 8 on: lines of the product, or steps of it, too."""
    m, n, k = (f"d{i} * {factor}" for i, factor in enumerate(options.factors))
    lines, inner = (k, m) if ofDepth else (m, k)
    memory, a = (tensor(["2", size, inner], options.type) for size in (f"{lines} + 8", lines))
    b = tensor(["2", k, n] if ofDepth else [k, n], options.type)
    result = tensor([m, n] if ofDepth else ["2", m, n], "f32")
    labels, own = ("[2, 3, 0], %b[2, 3, 1] rank 2", "%m, %n") if ofDepth else ("[0, 1, 3], %b[3, 2] rank 3", "%z, %m, %n")
    indices = ", ".join(f"{name}: index" for name in own.split(", "))
    return "\n".join([
        f"func.func @{name}(%M: index, %N: index, %K: index, %a: {memory}, %b: {b}) {{",
        f"  %y = tenon.gemm element{labels} : {a}, {b} -> {result} {chosen(options)}{{",
        f"  ^bb0({indices}, %sum: f32):", f"    tenon.put 0 [{own}], %sum : f32", "  } a {",
        "  ^bb0(%z: index, %line: index, %inner: index):", "    %first = arith.constant 8 : index",
        "    %place = arith.addi %first, %line : index",
        f"    %e = tenon.at %a[%z, %place, %inner] : {memory} -> {options.type}", f"    tenon.yield %e : {options.type}", "  }",
        f'  tenon.output 0 "y", %y : {result}', "  return", "}"])


FORMS = {"mk_nk": ("mk", "nk", {}), "mk_kn": ("mk", "kn", {}), "km_nk": ("km", "nk", {}), "km_kn": ("km", "kn", {}),
         "batch": ("mk", "kn", {"batch": ("2", "3")}), "computed": ("mk", "nk", {"computed": True}),
         "computed_km": ("km", "kn", {"computed": True}), "transposed": ("mk", "nk", {"transposed": True}),
         "drawn": ("mk", "kn", {"drawn": True})}
SLICES = {"rows_of": False, "steps_of": True}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tile", type=int)
    parser.add_argument("--factors", type=lambda text: [int(part) for part in text.split(",")], default=[1, 1, 1])
    parser.add_argument("--type", default="bf16")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--warpgroups", action="store_true")
    parser.add_argument("--pingpong", action="store_true")
    parser.add_argument("--columns")
    parser.add_argument("--depth")
    parser.add_argument("--result", default="f32")
    parser.add_argument("--blocks", type=int)
    parser.add_argument("--stages", type=int)
    parser.add_argument("--slices", type=int, default=1)
    options = parser.parse_args()
    options.rounded = options.type == "tf32"
    if options.rounded:
        options.type = "f32"
    everything = [name for name in FORMS if not ((options.warpgroups or options.pingpong) and name.startswith("computed"))]
    for name in options.only or everything:
        if name in SLICES:
            print(slice_of(name, options, SLICES[name]))
        else:
            a, b, more = FORMS[name]
            print(function(name, options, a, b, **more))


if __name__ == "__main__":
    main()
