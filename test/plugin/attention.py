#!/usr/bin/env python3
"""Runs `train` of attention.mlir, compiled to a library: the loss beside plain Python, the gradient of w beside its central
differences. usage: attention.py LIBRARY [--spoil]"""
import ctypes
import math
import random
import sys

from libraries import GRADIENTS, PARAMETERS, Block, call, compared

B, I, J, H, E, F = 2, 5, 7, 2, 4, 3


def loss(x, w, k, v):
    """The sum of y^2; x [B, I, H, E], w [E, E], k [B, J, H, E] and v [B, J, H, F] as flat lists."""
    total = 0
    for b in range(B):
        for h in range(H):
            keys = [k[((b * J + j) * H + h) * E:][:E] for j in range(J)]
            for i in range(I):
                row = x[((b * I + i) * H + h) * E:][:E]
                query = [sum(w[out * E + e] * row[e] for e in range(E)) for out in range(E)]
                scores = [sum(a * b for a, b in zip(query, key)) for key in keys]
                weights = [math.exp(2 * s / (1 + abs(s))) for s in scores]
                for f in range(F):
                    y = sum(p * v[((b * J + j) * H + h) * F + f] for j, p in enumerate(weights)) / sum(weights)
                    total += y * y
    return total


def main():
    draw = random.Random(3)
    x, w, k, v = ([draw.uniform(-1, 1) for _ in range(count)] for count in (B * I * H * E, E * E, B * J * H * E, B * J * H * F))
    found, gradients = Block(1, ctypes.c_double), Block(E * E)
    status = call(sys.argv[1], "train", [Block(x), Block(k), Block(v)], [found], {PARAMETERS: Block(w), GRADIENTS: gradients})
    step = 1e-5
    shifted = [[loss(x, w[:n] + [w[n] + shift] + w[n + 1:], k, v) for shift in (step, -step)] for n in range(E * E)]
    expected = [loss(x, w, k, v), *((up - down) / (2 * step) for up, down in shifted)]
    return compared(status, found.values() + gradients.values(), expected, "--spoil" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
