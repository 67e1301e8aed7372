#!/usr/bin/env python3
"""Runs `infer` of run.mlir, compiled to a library, and compares with y = x + x / (1 + |x|). usage: run.py LIBRARY [--spoil]"""
import sys

from libraries import Block, call

ROWS, WIDTH = 5, 8


def main():
    values = [(i * 37 % 29 - 14) / 4 for i in range(ROWS * WIDTH)]
    result = Block(len(values))
    status = call(sys.argv[1], "infer", [Block(values)], [result])
    expected = [x + x / (1 + abs(x)) + (0.1 if "--spoil" in sys.argv else 0) for x in values]
    worst = max(abs(a - b) for a, b in zip(result.values(), expected))
    if status or worst > 1e-6:
        print(f"WRONG: status {status}, largest difference {worst}")
        return 1
    print(f"ok: largest difference {worst}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
