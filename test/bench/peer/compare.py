"""Do two gradient files say the same? Prints the worst tensor; exit 1 if a norm of differences exceeds the bound.

usage: compare.py OURS.safetensors THEIRS.safetensors BOUND
"""
import sys

import torch
from safetensors.torch import load_file


def main():
    ours, theirs, bound = load_file(sys.argv[1]), load_file(sys.argv[2]), float(sys.argv[3])
    missing = sorted(set(theirs) - set(ours))
    if missing:
        sys.exit(f"not in {sys.argv[1]}: {missing[:5]}")
    worst, at = 0.0, ""
    total = torch.stack([theirs[n].double().norm() for n in theirs]).norm().item()
    for name, value in theirs.items():
        a, b = ours[name].double().reshape(-1), value.double().reshape(-1)
        if a.numel() != b.numel():
            sys.exit(f"{name}: {a.numel()} values, {b.numel()} expected")
        # A tensor whose gradient cancels (the bias of a key) is judged against the whole gradient.
        scale = max(b.norm().item(), 1e-3 * total)
        difference = (a - b).norm().item() / scale
        if not difference <= worst:
            worst, at = difference, name
    print(f"{len(theirs)} tensors, worst {worst:.2e} in {at}")
    sys.exit(0 if worst <= bound else 1)


main()
