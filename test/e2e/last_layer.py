#!/usr/bin/env python3
"""What the last layer of a stack leaves out changes nothing: of specs/last-layer.tn, whose recipe `part` reads some places,
losses are those of `whole`, which reads all of them times 0, to all digits printed (of f32, to the bit), with what dropout
draws. Gradients agree: they are sums over fewer terms.

usage: last_layer.py [--places | --behind] [--spoil]

  --places  of specs/last-layer-places.tn instead: what a layer knows of each place
  --behind  of specs/last-layer-behind.tn: rows that are read behind a final norm
  --spoil   `whole` has another seed of the draws, which must be noticed
"""
import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402

SPECS = os.path.join(HERE, "specs")
B, T, K, D = 3, 37, 5, 12


def given(element, recipe, places):
    count = B * T * D
    values = {"x": ([B, T, D], [0.05 * (k * 7 % 41) - 1 for k in range(count)]),
              "g": ([B, T, D], [0.1 * (k * 3 % 17) - 0.8 for k in range(count)])}
    if recipe == "whole":
        values["zero"] = ([B], [0.0] * B)
    inputs = {name: tensors.Tensor(element, shape, list(numbers)) for name, (shape, numbers) in values.items()}
    if places:
        return inputs
    inputs["at"] = tensors.Tensor("i32", [B, K], [(11 * k + 4) % T for k in range(B * K)])
    inputs["last"] = tensors.Tensor("i32", [B], [T - 1, 20, 0])
    return inputs


def size(values):
    return sum(value * value for value in values) ** 0.5


def apart(ours, theirs, least):
    """In L2, relative to theirs or to `least`: the gradient of a key's bias is 0 but for rounding."""
    return size(a - b for a, b in zip(ours.values, theirs.values, strict=True)) / max(size(theirs.values), least)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", action="store_true")
    parser.add_argument("--behind", action="store_true")
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    name = "last-layer-places" if options.places else "last-layer-behind" if options.behind else "last-layer"
    spec = os.path.join(SPECS, f"{name}.tn")
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for element, words, bound in (("f64", ["--f64"], 1e-12), ("f32", [], 2e-5)):
            for rate in (0.2, 0.0):
                (loss, part), (other, whole) = [
                    driver.gradients(folder, spec, given(element, recipe, options.places), "--recipe", recipe, *words,
                                     *driver.settings({"rate": rate}), "--init", "--seed",
                                     6 if options.spoil and recipe == "whole" else 5, "--tier", driver.best_tier())
                    for recipe in ("part", "whole")]
                case = f"{element}, rate {rate}"
                if loss["some"] != other["some"]:
                    wrong.append(f"{case}: losses {loss['some']} and {other['some']}")
                least = 1e-3 * size(value for gradient in whole.values() for value in gradient.values)
                for name, gradient in part.items():
                    count += 1
                    if not (distance := apart(gradient, whole[name], least)) <= bound:
                        wrong.append(f"{case}: gradients of {name} are {distance:.1e} apart")
    for text in wrong:
        print("WRONG:", text)
    print(f"{count} gradients, {len(wrong)} findings")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
