#!/usr/bin/env python3
"""Code of `tenon compile --quick` for a GPU has the bits of code that is made with care, on an emulated one.

usage: quick.py MODEL [--steps N] [--spoil]

Metrics of all steps and the exported parameters are compared. Models: those of steps.py that read a text. --spoil: quick code
trains with another seed, which must be noticed.
"""
import argparse
import os
import sys
import tempfile

import graphs
import steps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=steps.MODELS)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    results, kernels = [], []
    with tempfile.TemporaryDirectory() as folder:
        for words in ([], ["--quick"]):
            place = os.path.join(folder, "-".join(["made", *words]))
            code, artifact = os.path.join(place, "code"), os.path.join(place, "artifact")
            os.makedirs(code)
            steps.compile_for("sm_80", artifact, code, options.model, words)
            options.seed = 8 if options.spoil and words else 7
            results.append(graphs.train(artifact, code, place, 1, options)[:2])
            kernels.append(os.listdir(code))  # named by what they hold
    is_same = results[0] == results[1] and len(results[0][0]) == options.steps
    is_other = len(kernels[0]) == len(kernels[1]) and not set(kernels[0]) & set(kernels[1])
    print(f"{options.model}: {options.steps} steps, {'the same' if is_same else 'WRONG'} bits of "
          f"{'other' if is_other else 'THE SAME'} code")
    sys.exit(0 if is_same and is_other else 1)


if __name__ == "__main__":
    main()
