#!/usr/bin/env python3
"""adafactor over tensors of several shapes: matrices that are taller and wider than a tile, tensors of three dimensions, a stack,
a vector, a number. Steps, and the means of squares that the C interface has, are those of optimizer_rules.py.

usage: factored.py [--spoil]

--spoil: the rule written out takes the rows of the tall matrix for its columns
"""
import math
import sys

import optimizers
from optimizer_rules import Rule
from optimizers import Wrong, same, step
from tensors import Tensor

# The gradient of each is a sine of products of two rows, which no product of rows and columns is.
MODEL = """
model Shapes {
  config R = 600, C = 33, W = 1100, E = 5, F = 6, G = 7, N = 2, V = 8
  dim    B, T
  in     ids: index(V)[B, T]
  param  tall: [R, C], wide: [E, W], cube: [E, F, G], vector: [W], number: [], few: [E, F], rows: [V, R], columns: [V, W] = 0
  let    a = stop_gradient(rows[V: ids])
  let    b = stop_gradient(columns[V: ids])
  let    narrow = b[W: 0 .. C -> C]
  let    five = a[R: 0 .. E -> E]
  let    six = a[R: 0 .. F -> F]
  let    seven = b[W: 0 .. G -> G]
  let    pairs = five * expand[E](six)
  layer Block(x: [B, T, C]) -> [B, T, C] {
    param w: [E, C] = 0
    return x + sum[E](w * sin(five * expand[E](narrow) * real(depth + 1)))
  }
  use    blocks = stack[N] Block
  let    of_matrices = sum[B, T, C](sum[R](tall * sin(a * expand[R](narrow))) + blocks(0.0 * narrow))
  let    of_wide = sum[B, T, W](sum[E](wide * sin(five * expand[E](b))) + vector * b)
  let    of_cube = sum[B, T, E, F](sum[G](cube * sin(pairs * expand[E, F](seven))) + few * sin(pairs))
  loss   l = of_matrices + of_wide + of_cube + number * sum[B, T, W](b)
}"""
SHAPES = {"tall": (600, 33), "wide": (5, 1100), "cube": (5, 6, 7), "vector": (1100,), "number": (), "few": (5, 6),
          "blocks.0.w": (5, 33), "blocks.1.w": (5, 33)}
STEPS = 4
CASES = {
    "adafactor(lr = 0.02, decay = 0.1)": lambda: Rule("adafactor", 0.02, 0.1),
    "adafactor(lr = 0.02, momentum = 0.6, min_dim_size_to_factor = 6)": lambda: Rule("adafactor", 0.02, momentum=0.6, least=6),
    "adafactor(lr = 0.3, decay = 0.1, form = torch)": lambda: Rule("adafactor", 0.3, 0.1, form="torch"),
}


def table(width, base):
    return [[(0.3 + 0.2 * r) * math.sin(base * k + 1.3 * r) for k in range(width)] for r in range(STEPS)]


ROWS, COLUMNS = table(600, 0.7), table(1100, 0.4)


def gradients(number):
    a, b = ROWS[number], COLUMNS[number]
    found = {"tall": [math.sin(x * y) for x in a for y in b[:33]], "wide": [math.sin(x * y) for x in a[:5] for y in b],
             "cube": [math.sin(x * y * z) for x in a[:5] for y in a[:6] for z in b[:7]], "vector": b, "number": [math.fsum(b)],
             "few": [math.sin(x * y) for x in a[:5] for y in a[:6]]}
    for depth in (0, 1):
        found[f"blocks.{depth}.w"] = [math.sin(x * y * (depth + 1)) for x in a[:5] for y in b[:33]]
    return found


def follow(text, rule, kind, number, spoil):
    model = optimizers.opened(MODEL, "Shapes", f"optimizer = {text}", number, kind)
    for name, rows, width in (("rows", ROWS, 600), ("columns", COLUMNS, 1100)):
        flat = [x for row in rows for x in row] + [0.0] * ((8 - STEPS) * width)
        model.set_parameter(name, Tensor(kind, (8, width), flat))
    rule.shapes = dict(SHAPES, **({"tall": (33, 600)} if spoil else {}))
    values = {name: [math.cos(0.3 * k + len(name)) for k in range(math.prod(shape))] for name, shape in SHAPES.items()}
    for name, start in values.items():
        model.set_parameter(name, Tensor(kind, SHAPES[name], start))
    near = 1e-11 if kind == "f64" else 2e-5
    for t in range(STEPS):
        step(model, t, t)
        rule.update(values, gradients(t), 1, {})
        for name, want in values.items():
            same(f"{text}, {kind}: {name} after step {t}", model.parameter(name).values, want, lambda x: near * max(1, abs(x)))
    means = {(name, ""): name for name in SHAPES} | {(name, part): f"{name}.{part}" for name in SHAPES
                                                     for part in ("rows", "columns")}
    names = model.moment_tensors(0)
    for key, want in rule.means.items():
        if means[key] not in names:
            raise Wrong(f"{text}: there are no means called {means[key]}, only {', '.join(names)}")
        same(f"{text}, {kind}: means {means[key]}", model.moment(0, means[key]).values, want, lambda x: near * max(1, abs(x)))
    others = set(names) - {means[key] for key in rule.means}
    if others:
        raise Wrong(f"{text}: means of nothing: {', '.join(sorted(others))}")
    model.close()


def main():
    spoil = "--spoil" in sys.argv[1:]
    try:
        for number, (text, make) in enumerate(CASES.items()):
            for kind in ("f64", "f32"):
                follow(text, make(), kind, number, spoil)
    except Wrong as error:
        print(f"WRONG: {error}")
        return 1
    print(f"{len(CASES)} rules, {len(SHAPES)} tensors, {STEPS} steps each")
    print("AGREES")
    return 0


if __name__ == "__main__":
    sys.exit(main())
