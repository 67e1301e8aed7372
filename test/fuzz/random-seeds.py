#!/usr/bin/env python3
"""Random right specifications (test/numerics/random/generate.py) as seeds of frontend-fuzz: together they have every construct.

usage: random-seeds.py FOLDER NUMBER [SEED]   another seed each time where none is said; it is printed
"""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "numerics", "random"))
import generate  # noqa: E402


def main():
    folder, number = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(10**6)
    print(f"first random specification {first}")
    os.makedirs(folder, exist_ok=True)
    for seed, picked in generate.specifications(first, number, -(-len(generate.CONSTRUCTS) // number)):
        with open(os.path.join(folder, f"random-{seed}.tn"), "w", encoding="utf-8") as file:
            file.write(generate.Specification(seed, picked).specification())


main()
