"""Writes a .safetensors file of states: random_states.py FILE SEED NAME=SHAPE.. for reals between -1 and 1, NAME=NUMBER,NUMBER
for 32-bit integers.

A shape is 2x3x41. What does not fit the model is refused by `--states`, so a wrong shape cannot go unnoticed.
"""
import random
import sys

from tensors import Tensor, count, save_safetensors

path, seed, *states = sys.argv[1:]
draw, made = random.Random(int(seed)), {}
for word in states:
    name, text = word.split("=")
    if "x" in text:
        shape = [int(size) for size in text.split("x")]
        made[name] = Tensor("f64", shape, [draw.uniform(-1, 1) for _ in range(count(shape))])
    else:
        values = [int(value) for value in text.split(",")]
        made[name] = Tensor("i32", (len(values),), values)
save_safetensors(path, made)
