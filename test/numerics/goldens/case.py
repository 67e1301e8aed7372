"""One golden case on one code tier: runs `tenon` and compares with the stored values."""
import json
import math
import os
import re

import weights
import driver  # test/support, which weights.py has put in the path
from tensors import save_safetensors, tensor

HERE = os.path.dirname(os.path.abspath(__file__))
VALUES = r"(value\.|c_attn\.|qkv_net|rel_attn\.v|in_proj_weight|weight_ih_l0|proj\.weight|layer2\.0\.conv2|WV\.weight)"
SIZES = {"V": 30, "D": 16, "F": 32, "N": 2}


def flat(nested):
    return [x for row in nested for x in flat(row)] if isinstance(nested, list) else [nested]


class Case:
    """One call after the other of one model with the same weights; keeps the worst difference."""

    def __init__(self, options, folder, tier):
        self.options, self.folder, self.tier = options, folder, tier
        with open(os.path.join(HERE, "values.json"), encoding="utf-8") as file:
            self.values = json.load(file)[options.case]
        self.worst, self.bits = [], {}
        self.scheme = "hf"

    def weights(self, names, more=None):
        """`more`: tensors that no formula makes."""
        made = {name: weights.filled(name, shape, self.values.get("amplitude", 0.5)) for name, shape in names.items()}
        made |= more or {}
        if self.options.spoil == "weight":  # of a value matrix: every output depends on it
            inner = [name for name in made if re.search(VALUES, name)][0]
            made[inner].values[-5] += 1e-2
        self.path = os.path.join(self.folder, "weights.safetensors")
        save_safetensors(self.path, made)

    def words(self, sets, more=()):
        precision = ["--f64"] if self.options.f64 else []
        return ["--weights", self.path, "--names", self.scheme, *precision, *driver.settings(sets), *more]

    def environment(self):
        """Compiled for this tier alone, once for all calls of all tests: the cache goes by specification and sizes. Quickly:
        peers/ has the same models with care."""
        return {"TENON_TIER": self.tier, "TENON_QUICK": "1"}

    def ids(self, rows):
        rows = [list(row) for row in rows]
        if self.options.spoil == "order":
            rows[0][0], rows[0][1] = rows[0][1], rows[0][0]
        return tensor("i32", rows)

    def run(self, spec, sets, inputs, outputs, *more):
        return driver.run(self.folder, spec, inputs, outputs, *self.words(sets, more), environment=self.environment())

    def kind(self):
        return "f64" if self.options.f64 else "f32"

    def loss(self, spec, sets, inputs, names, *more):
        losses, _ = driver.gradients(self.folder, spec, inputs, *self.words(sets, more), environment=self.environment())
        return sum(losses[name] for name in names)

    def same(self, what, got, want, tolerance=None):
        """`want` is stored with nine digits: half a unit of the ninth is the most that f64 may differ by, but not less than
        2e-8."""
        if self.options.spoil == "nan":
            got = [math.nan] + list(got[1:])
        if self.options.spoil == "digit":
            got = [a + 4e-8 * (1 <= abs(b) < 10) for a, b in zip(got, want)]
        if len(got) != len(want):
            raise SystemExit(f"{self.options.case} {what}: {len(got)} values instead of {len(want)}")
        self.bits[what] = list(got)
        worst, at = 0.0, 0
        for k, (a, b) in enumerate(zip(got, want)):
            digits = 5e-9 * 10 ** math.floor(math.log10(abs(b))) if b else 0
            bound = (tolerance or max(2e-8, digits)) if self.options.f64 else max(tolerance or 0, 2e-5 * max(1, abs(b)))
            ratio = abs(a - b) / bound if math.isfinite(a) else math.inf
            if ratio > worst:
                worst, at = ratio, k
        verdict = "ok" if worst <= 1 else "DIFFERS"
        print(f"{self.tier} {self.options.case} {what}: {verdict}, {worst:.3g} of the tolerance at [{at}]: {got[at]!r}, expected "
              f"{want[at]!r}")
        self.worst.append(worst)
