#!/usr/bin/env python3
"""Kernels and control flow of a schedule form on standard input, against what a program consists of where everything was taken
apart (docs/architecture.md). Exit 1: others, or a part of these that a training step has is not there."""
import re
import sys

NEEDED = {"nest", "gemm", "scatter_add", "optimize", "loop"}
CLOSED = NEEDED | {"append_state", "copy", "skip", "sum_slices"}  # skip: control, as loop is; sum_slices: of a recipe with slices
INSIDE = {"at", "each", "fold", "place", "put", "random_bits", "random_keep", "size_value", "yield"}  # of a kernel: its code
AROUND = {"parameter", "ready"}  # what it trains, and which gradients are there

found = {match[1] for match in re.finditer(r'^ *(?:%[\w:, %]+ = )?"?tenon\.(\w+)"?', sys.stdin.read(), re.MULTILINE)}
wrong = [f"tenon.{op} is left" for op in sorted(found - CLOSED - INSIDE - AROUND)]
wrong += [f"there is no tenon.{op}" for op in sorted(NEEDED - found)]
for each in wrong:
    print("WRONG: " + each)
print("of the closed list: " + ", ".join(sorted(found & CLOSED)))
sys.exit(1 if wrong else 0)
