#!/usr/bin/env python3
"""Runs `train` of train.mlir, compiled to a library: the loss beside plain Python, the gradient of w beside its central
differences. usage: train.py LIBRARY TIER [--spoil]"""
import ctypes
import random
import sys

from libraries import GRADIENTS, PARAMETERS, Block, call, compared

LAYERS, ROWS, WIDTH = 3, 5, 8


def loss(x, w):
    """The sum of h behind the layers, h = mirror(softsign(h w^T)) + h; x [ROWS, WIDTH] and w [LAYERS, WIDTH, WIDTH] are flat."""
    total = 0
    for row in range(ROWS):
        h = x[row * WIDTH:][:WIDTH]
        for layer in range(LAYERS):
            lines = [w[(layer * WIDTH + out) * WIDTH:][:WIDTH] for out in range(WIDTH)]
            sums = [sum(a * b for a, b in zip(h, line)) for line in lines]
            h = [z / (1 + abs(z)) + old for z, old in zip(reversed(sums), h)]
        total += sum(h)
    return total


def main():
    draw = random.Random(5)
    x, w = ([draw.uniform(-1, 1) for _ in range(count)] for count in (ROWS * WIDTH, LAYERS * WIDTH * WIDTH))
    found, gradients = Block(1, ctypes.c_double), Block(len(w))
    status = call(sys.argv[1], "train", [Block(x)], [found], {PARAMETERS: Block(w), GRADIENTS: gradients}, tier=sys.argv[2])
    step = 1e-5
    shifted = [[loss(x, w[:n] + [w[n] + shift] + w[n + 1:]) for shift in (step, -step)] for n in range(len(w))]
    expected = [loss(x, w), *((up - down) / (2 * step) for up, down in shifted)]
    return compared(status, found.values() + gradients.values(), expected, "--spoil" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
